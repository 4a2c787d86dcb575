"""Local players: inline, in threads, as coroutines; and what bots may do wrong."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from examples.kuhn_poker import kuhn_poker
from examples.pig import pig
from tests.referee import race
from tests.referee.race import Options, Step
from tests.referee.support import (
    NEVER,
    SALT,
    SEED,
    SIGNER,
    Do,
    Scripted,
    played,
    policy,
    referee,
    run,
)
from tests.referee.virtual_loop import sleep

from fritillary import (
    BaseBot,
    Decision,
    Plugin,
    Registry,
    UniformBot,
)
from fritillary.record.events import ActionTaken
from fritillary.record.terms import ClockSettings, EndKind, Fault, PlayerInfo, Terms
from fritillary.record.writer import MemorySink
from fritillary.referee.match import Match
from fritillary.referee.player import Answer, LocalPlayer, PlayerFault
from fritillary.referee.seen import Ruled
from fritillary.referee.setup import MatchSetup
from fritillary.referee.verify import verify


class First(BaseBot):
    light = True

    def decide(self, ask):
        return ask.legal[0]


def local(bot):
    return LocalPlayer(bot, PlayerInfo("local"))


def answering(*answers, light=True):
    """Return a player whose bot answers from a list, then with the first action."""
    left = list(answers)

    class Bot(BaseBot):
        light: bool

        def decide(self, ask):
            answer = left.pop(0) if left else ask.legal[0]
            if isinstance(answer, BaseException):
                raise answer
            return answer

    bot = Bot()
    bot.light = light
    return local(bot)


# ------------------------------------------------- the same match, however asked


class InlineUniform(UniformBot):
    """As it is: asked inline."""


class ThreadUniform(UniformBot):
    light = False


class AsyncUniform(UniformBot):
    async def decide(self, ask):
        await asyncio.sleep(0)
        return UniformBot.decide(self, ask)


class ThoughtfulUniform(UniformBot):
    """Says more than its action, which is no part of what happened."""

    def decide(self, ask):
        legal = len(ask.legal)
        return Decision(UniformBot.decide(self, ask), "hm", (1 / legal,) * legal)


class UniformPlayer:
    """Asked as remote players are, with events and requests."""

    def __new__(cls):
        player = LocalPlayer(AsyncUniform(), PlayerInfo("local"))
        player.wants_events = True
        return player


KINDS = [InlineUniform, ThreadUniform, AsyncUniform, ThoughtfulUniform, UniformPlayer]


def play(players, game, *, seed=SEED, nonces_wanted=False, options=None):
    async def main():
        setup = MatchSetup(
            game=game,
            players=players,
            options=options,
            seed=seed,
            salt=SALT,
            nonces_wanted=nonces_wanted,
        )
        sink = MemorySink()
        return await Match(setup, sink, SIGNER).run(), sink.getvalue()

    return asyncio.run(main())


@pytest.mark.parametrize("module", [pig, kuhn_poker, race.plugin().module])
def test_a_match_is_the_same_however_its_bots_are_asked(module):
    registry = Registry()
    registry.add_game(Plugin("game", module))
    [(game_id, _)] = registry.games()
    game = registry.game(game_id)
    options = pig.Options(target=30, rounds=5) if module is pig else None
    hashes = set()
    plies = set()
    for kind in KINDS:
        bots = [kind(), kind()]
        players = [bot if kind is UniformPlayer else local(bot) for bot in bots]
        result, raw = play(players, game, options=options)
        assert result.finish.kind is EndKind.PLAYED
        verify(raw, registry)
        hashes.add(result.content_hash)
        plies.add(result.plies)
    assert len(hashes) == 1
    assert plies != {0}


def test_another_seed_makes_another_match():
    game = race.GAME
    one, _ = play([local(UniformBot()), local(UniformBot())], game)
    other, _ = play([local(UniformBot()), local(UniformBot())], game, seed=SALT)
    assert one.content_hash != other.content_hash


# ----------------------------------------------------------------- what bots answer


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


# ------------------------------------------------------------------ how bots fail


@pytest.mark.parametrize(
    "failure",
    [
        ValueError("private"),
        SystemExit(3),
        StopIteration(),
        TimeoutError(),
        PlayerFault(Fault.REFEREE_ERROR, "it was you"),
        asyncio.CancelledError(),
    ],
    ids=repr,
)
@pytest.mark.parametrize("light", [True, False])
def test_a_bot_that_raises_has_crashed(failure, light):
    async def main():
        return await referee([local(First()), answering(failure, light=light)])

    game = run(main()) if light else asyncio.run(main())
    [ruling] = game.rulings
    assert (ruling.seat, ruling.fault) == (1, Fault.CRASHED)
    assert "private" not in ruling.message
    assert game.finish.outcome.placing == (1, 2)


class Waiting(BaseBot):
    """Waits for something that is cancelled."""

    async def decide(self, ask):
        inner = asyncio.ensure_future(asyncio.sleep(10))
        asyncio.get_running_loop().call_later(1, inner.cancel)
        await inner


def test_a_bot_whose_own_task_is_cancelled_has_crashed():
    game = played([local(Waiting()), local(First())])
    [ruling] = game.rulings
    assert ruling.fault is Fault.CRASHED
    assert "CancelledError" in ruling.message


class Stubborn(BaseBot):
    """Takes no notice of being cancelled, and answers in the end."""

    async def decide(self, ask):
        while True:
            try:
                await asyncio.sleep(10)
                return ask.legal[0]
            except asyncio.CancelledError:
                await asyncio.sleep(3)
                return ask.legal[0]


def test_an_answer_after_the_time_is_late_however_it_comes():
    clock = ClockSettings(move_ms=5_000)
    game = played([local(Stubborn()), local(First())], clocks=clock)
    assert game.finish.code == "fault.late"


class Slow(BaseBot):
    light = True

    def decide(self, ask):
        sleep(2)
        return ask.legal[0]


@pytest.mark.parametrize(
    ("clock", "ceiling", "code"),
    [
        (ClockSettings(base_ms=5_000), 10**6, "fault.late"),
        (ClockSettings(), 5_000, "fault.stalled"),
    ],
)
def test_inline_bots_are_timed_as_well(clock, ceiling, code):
    terms = Terms(ceiling_ms=ceiling, margin_ms=0)
    game = played([local(Slow()), local(First())], clocks=clock, terms=terms)
    assert game.finish.code == code
    assert [a.charged_ms for a in game.all(ActionTaken) if a.seat == 0] == [2_000] * 2


def test_a_crash_of_an_inline_bot_can_be_substituted():
    terms = Terms(policy=policy(crashed="substitute"))
    game = played([answering(ValueError(), ValueError()), local(First())], terms=terms)
    assert game.finish.kind is EndKind.PLAYED
    assert [ruling.fault for ruling in game.rulings] == [Fault.CRASHED] * 2


class LostPlayer(Scripted):
    def lost(self):
        return PlayerFault(Fault.DISCONNECTED, "the link was lost 7 s ago")


@pytest.mark.parametrize(
    ("clock", "charged"),
    [(ClockSettings(move_ms=5_000), 5_000), (ClockSettings(), 9_000)],
)
def test_when_time_runs_out_on_a_lost_link_that_is_the_fault(clock, charged):
    terms = Terms(ceiling_ms=9_000, margin_ms=0)
    game = played([LostPlayer({1: NEVER}), Scripted()], clocks=clock, terms=terms)
    [ruling] = game.rulings
    assert (ruling.fault, ruling.charged_ms) == (Fault.DISCONNECTED, charged)


# ---------------------------------------------------------- beginning and ending


class Failing(First):
    def __init__(self, failure, *, light=True):
        self.failure = failure
        self.light = light

    def start(self, info):
        raise self.failure


class AsyncFailing(First):
    async def start(self, info):  # type: ignore[override]
        raise ValueError


@pytest.mark.parametrize(
    "bot",
    [
        Failing(ValueError()),
        Failing(SystemExit()),
        Failing(ValueError(), light=False),
        AsyncFailing(),
    ],
)
def test_a_bot_that_fails_to_start_refuses(bot):
    result, _ = play([local(bot), local(First())], race.GAME)
    assert result.finish.code == "fault.refused-to-start"
    assert result.finish.outcome.placing == (2, 1)


class Ending(First):
    def __init__(self):
        self.told = []

    def end(self, outcome):
        self.told.append(outcome)
        raise ValueError


class AsyncEnding(Ending):
    async def end(self, outcome):  # type: ignore[override]
        await asyncio.sleep(0)
        Ending.end(self, outcome)


@pytest.mark.parametrize("kind", [Ending, AsyncEnding])
def test_a_bot_is_told_the_end_and_may_fail_then(kind):
    bots = [kind(), kind()]

    async def main():
        game = await referee([local(bot) for bot in bots])
        await asyncio.sleep(1)
        return game

    game = run(main())
    assert [bot.told for bot in bots] == [[game.finish.outcome]] * 2


def test_a_bot_that_was_never_asked_to_start_is_not_told_the_end():
    bot = Ending()

    async def main():
        setup = MatchSetup(game=race.GAME, players=[local(bot), local(First())])
        match = Match(setup, MemorySink(), SIGNER)
        match.abort(EndKind.VOID, "match.aborted", "no")
        return await match.run()

    assert asyncio.run(main()).finish.kind is EndKind.VOID
    assert bot.told == []


# ----------------------------------------------------------------------- threads


class Pondering(BaseBot):
    """Takes its time in its thread, and notes when two calls overlap."""

    def __init__(self, seconds):
        self.seconds = seconds
        self.inside = 0
        self.overlaps = 0
        self.looks = []
        self.threads = set()

    def _work(self):
        self.threads.add(threading.get_ident())
        self.inside += 1
        self.overlaps += self.inside > 1
        time.sleep(self.seconds)
        self.inside -= 1

    def start(self, info):
        self._work()

    def decide(self, ask):
        self._work()
        self.looks.append(ask.observation.turn)
        return ask.legal[0]


def test_a_bot_that_ponders_does_not_hold_up_the_others():
    bots = [Pondering(0.05), Pondering(0.05)]

    async def main():
        ticks = 0

        async def tick():
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0.005)

        task = asyncio.ensure_future(tick())
        options = Options(rounds=1)
        game = await referee([local(bot) for bot in bots], options=options)
        task.cancel()
        return game, ticks

    game, ticks = asyncio.run(main())
    assert game.finish.kind is EndKind.PLAYED
    assert ticks > 10
    assert threading.get_ident() not in bots[0].threads | bots[1].threads


def test_a_bot_has_never_two_calls_at_a_time():
    """Late, substituted, and asked again while it still thinks of the last one."""
    bot = Pondering(0.06)
    terms = Terms(policy=policy(late="substitute"), margin_ms=0)
    clocks = [ClockSettings(move_ms=20), ClockSettings()]

    async def main():
        return await referee([local(bot), local(First())], clocks=clocks, terms=terms)

    game = asyncio.run(main())
    assert game.finish.kind is EndKind.PLAYED
    assert {ruling.fault for ruling in game.rulings} == {Fault.LATE}
    assert bot.overlaps == 0
    # It was shown what was there to see when it was asked.
    assert bot.looks == sorted(bot.looks)


def test_a_process_ends_though_a_bot_hangs(tmp_path):
    script = tmp_path / "hang.py"
    script.write_text(
        """
import asyncio, time
from tests.referee import race
from tests.referee.support import *
from fritillary import BaseBot
from fritillary.record.terms import ClockSettings, PlayerInfo
from fritillary.referee.player import LocalPlayer

class Hanging(BaseBot):
    def decide(self, ask):
        time.sleep(1000)

players = [LocalPlayer(Hanging(), PlayerInfo("x")) for _ in range(2)]
game = asyncio.run(referee(players, clocks=ClockSettings(move_ms=10)))
print(game.finish.code)
"""
    )
    done = subprocess.run(
        [sys.executable, str(script)],
        check=True,
        capture_output=True,
        text=True,
        timeout=20,
        cwd=Path(__file__).parents[2],
        env={"PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert done.stdout.split() == ["fault.late"]
