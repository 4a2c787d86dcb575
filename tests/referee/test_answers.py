"""What bots answer: what is an action, what is none, and what is said beside it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from attrs import frozen
from tests.referee import race
from tests.referee.local import First, answering, local
from tests.referee.race import Step
from tests.referee.support import Do, Scripted, played, policy, referee, run

from fritillary import BaseBot, Decision
from fritillary.record.events import ActionTaken
from fritillary.record.terms import EndKind, Fault, Terms
from fritillary.referee.player import Answer
from fritillary.referee.seen import Ruled


@frozen
class Stranger:
    """Equal to everything, in its way."""

    def __eq__(self, other):
        raise ValueError

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize("light", [True, False])
@pytest.mark.parametrize(
    "answer",
    [
        None,
        0,
        "step 1",
        Stranger(),
        [1],
        {"type": "step", "size": 1},
        Step("1"),  # type: ignore[arg-type]
        Step([1]),  # type: ignore[arg-type]
        Step(9),
        race.Wind(3),
        Decision(None),
        Decision("step 1"),
        Step,
    ],
    ids=repr,
)
def test_what_is_no_action_is_malformed(answer, light):
    async def main():
        return await referee([answering(answer, light=light), local(First())])

    # Threads do not fit into virtual time.
    game = run(main()) if light else asyncio.run(main())
    [ruling] = game.rulings
    assert ruling.fault is Fault.MALFORMED
    assert ruling.offending


@pytest.mark.parametrize("light", [True, False])
def test_an_illegal_action_is_explained_to_its_seat(light):
    async def main():
        terms = Terms(policy=policy(illegal="retry:1,forfeit"))
        seen: list[Any] = []

        class Bot(BaseBot):
            light: bool

            def decide(self, ask):
                seen.extend(event.body for event in ask.events)
                return ask.legal[0] if seen else Step(4)

        bot = Bot()
        bot.light = light
        return await referee([local(bot), local(First())], terms=terms), seen

    game, seen = run(main()) if light else asyncio.run(main())
    assert game.finish.kind is EndKind.PLAYED
    [ruled] = [body for body in seen if isinstance(body, Ruled)]
    assert "4 is too far with the secret" in ruled.problem.message
    assert bytes.fromhex(game.rulings[0].offending) == b'data:{"type":"step","size":4}'


def test_an_equal_action_is_as_good_as_the_entry_of_the_table():
    applied = []

    def apply_action(state, action):
        applied.append(action)
        race.apply_action(state, action)

    game = played(
        [answering(Step(2)), local(First())],
        registry=race.registry(apply_action=apply_action),
        holds=False,
    )
    assert game.finish.kind is EndKind.PLAYED
    assert applied[0] is race.STEPS[1]


@pytest.mark.parametrize(
    ("remark", "kept"),
    [
        ({"note": "x" * 5_000}, ("x" * 2_000, ())),
        ({"note": "a\ud800b\n"}, ("a?b\n", ())),
        ({"note": 7}, ("", ())),
        ({"probabilities": (0.5, 0.25, 0.25)}, ("", (500_000, 250_000, 250_000))),
        ({"probabilities": (0.5, 0.5)}, ("", ())),
        ({"probabilities": (0.5, 0.5, 0.5)}, ("", ())),
        ({"probabilities": (float("nan"), 0.5, 0.5)}, ("", ())),
        ({"probabilities": (float("inf"), 0, 1)}, ("", ())),
        ({"probabilities": (-1, 1, 1)}, ("", ())),
        ({"probabilities": ("a", "b", "c")}, ("", ())),
        ({"probabilities": ([], None, 1)}, ("", ())),
    ],
    ids=repr,
)
def test_remarks_are_for_the_record_and_harm_nobody(remark, kept):
    decision = Decision(Step(1), **remark)
    game = played([answering(decision), Scripted()])
    assert game.finish.kind is EndKind.PLAYED
    first = game.all(ActionTaken)[0]
    assert (first.note, first.probabilities) == kept
    assert "xxx" not in repr(game.players[1].log)


def test_what_a_remote_bot_reports_of_its_time_is_kept_within_bounds():
    answer = Answer(index=0, think_ms=2**60, round_trip_ms=-5)
    game = played([Scripted({1: Do(answer)}), Scripted()])
    first = game.all(ActionTaken)[0]
    assert (first.think_ms, first.round_trip_ms) == (2**31 - 1, 0)


@pytest.mark.parametrize(
    "answer",
    [
        Answer(index=-1),
        Answer(index=4),
        Answer(index=10**30),
        Answer(index="0"),  # type: ignore[arg-type]
        Answer(text=7),  # type: ignore[arg-type]
        Answer(text="x" * 9_000),
        Answer(text="\ud800"),
        Answer(data=None),
        Answer(data={"type": "wind", "force": 1}),
        Answer(data={"type": "step", "size": 9}),
        Answer(data=[1] * 9_000),
    ],
    ids=lambda answer: repr(answer)[:40],
)
def test_what_names_no_action_is_malformed_however_it_was_sent(answer):
    game = played([Scripted({1: Do(answer)}), Scripted()])
    assert game.finish.code == "fault.malformed"
