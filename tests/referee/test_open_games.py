"""Games without an action table: an index counts among the legal actions."""

from __future__ import annotations

import pytest
from tests.referee import race
from tests.referee.local import local
from tests.referee.race import Step
from tests.referee.support import Do, Scripted, played

from fritillary import BaseBot, UniformBot
from fritillary.record.events import ActionTaken
from fritillary.record.terms import EndKind, Fault
from fritillary.referee.player import Answer


def parse_action(text):
    word, _, size = text.partition(" ")
    if word != "step":
        raise ValueError(word)
    return Step(int(size))


OPEN = race.registry(all_actions=None, parse_action=parse_action)


class Answering(BaseBot):
    light = True

    def __init__(self, first):
        self.answers = [first]

    def decide(self, ask):
        return self.answers.pop() if self.answers else ask.legal[0]


@pytest.mark.parametrize(
    "answer",
    [
        Answer(index=2),
        Answer(text=" STEP  3"),
        Answer(data={"type": "step", "size": 3}),
        Answer(action=Step(3)),
    ],
    ids=["index", "text", "data", "action"],
)
def test_an_action_is_found_however_it_is_sent(answer):
    game = played([Scripted({1: Do(answer)}), Scripted()], registry=OPEN)
    assert game.finish.kind is EndKind.PLAYED
    first = game.all(ActionTaken)[0]
    assert first.index is None
    action = OPEN.game("race").codec.action_from_data({"type": "step", "size": 3})
    assert first.action == OPEN.game("race").codec.encode_action(action).hex()


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (Answer(index=3), Fault.MALFORMED),
        (Answer(text="step 9"), Fault.ILLEGAL),
        (Answer(text="jump 9"), Fault.MALFORMED),
        (Answer(data={"type": "step", "size": 9}), Fault.ILLEGAL),
        (Answer(data={"type": "step", "size": "9"}), Fault.MALFORMED),
    ],
)
def test_others_are_illegal_or_malformed(answer, fault):
    game = played([Scripted({1: Do(answer)}), Scripted()], registry=OPEN)
    assert game.rulings[0].fault is fault


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (Step(9), Fault.ILLEGAL),
        (Step("9"), Fault.MALFORMED),  # type: ignore[arg-type]
        (Step(2**60), Fault.MALFORMED),
        (Step([]), Fault.MALFORMED),  # type: ignore[arg-type]
        ("step 1", Fault.MALFORMED),
    ],
)
def test_so_it_is_for_local_bots(answer, fault):
    game = played([local(Answering(answer)), Scripted()], registry=OPEN)
    assert game.rulings[0].fault is fault


def test_local_bots_play_it():
    game = played([local(UniformBot()), local(Answering(Step(2)))], registry=OPEN)
    assert game.finish.kind is EndKind.PLAYED


def test_a_parser_that_fails_on_foreign_text_has_found_no_action():
    def broken(text):
        raise ZeroDivisionError

    registry = race.registry(all_actions=None, parse_action=broken)
    players = [Scripted({1: Do(Answer(text="step 9"))}), Scripted()]
    game = played(players, registry=registry)
    assert game.rulings[0].fault is Fault.MALFORMED


def test_a_notation_that_cannot_be_written_blames_nobody():
    def broken(action):
        raise ZeroDivisionError

    registry = race.registry(
        all_actions=None, parse_action=parse_action, format_action=broken
    )
    players = [Scripted({1: Do(Answer(text="step 1"))}), Scripted()]
    game = played(players, registry=registry)
    assert game.finish.code == "referee.error"
