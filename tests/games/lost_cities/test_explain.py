"""Explanations: the first rule that forbids an action, from what the seat knows."""

from __future__ import annotations

import pytest
from tests.games.lost_cities.support import (
    GAME,
    OPTIONS,
    action,
    finished,
    play,
    position,
    states,
)

from fritillary import IllegalActionError
from fritillary_games.lost_cities.actions import Play
from fritillary_games.lost_cities.cards import Colour

RISE = "ranks must rise: your red expedition has reached 5"


@pytest.mark.parametrize(
    ("text", "wanted", "reason"),
    [
        (
            "hand 0: red 3\nexpedition 0: red W 5",
            "play red 3",
            f"{RISE}, so 3 can only be discarded",
        ),
        (
            "hand 0: red W\nexpedition 0: red 5",
            "play red wager",
            "wagers come before numbers: your red expedition has reached 5",
        ),
        ("hand 1: red 3", "play red 3", "you have no red 3 in your hand"),
        (
            "hand 1: red W W W",
            "discard red wager",
            "you have no red wager in your hand",
        ),
        ("hand 0: red 3", "draw", "first play or discard a card, then draw"),
        ("hand 0: red 3", "take red", "first play or discard a card, then draw"),
        (
            "hand 0: red 3\nexpedition 0: red 2\ndraw: any",
            "play red 3",
            "you have played or discarded a card: now draw one",
        ),
        (
            "discards: red 3\ndraw: not red",
            "take red",
            "you may not take back the red card you just discarded",
        ),
        (
            "discards: red 3\ndraw: not red",
            "take blue",
            "the blue discard pile is empty",
        ),
        (
            "discards: red 3\ndraw: not red",
            "take purple",
            "purple is not in this game of 5 colours",
        ),
        ("", "play purple 3", "purple is not in this game of 5 colours"),
        ("to move: 1", "play red 3", "it is not your turn: seat 1 is to move"),
        ("hand 0: red 3", "play red 3", "play red 3 is legal"),
        ("discards: red 3\ndraw: not red", "draw", "draw is legal"),
    ],
)
def test_reasons(text: str, wanted: str, reason: str) -> None:
    seen = GAME.observe(position(text), 0)
    assert GAME.explain(seen, action(wanted)) == reason


def test_a_rank_that_does_not_exist() -> None:
    seen = GAME.observe(position(""), 0)
    assert GAME.explain(seen, Play(Colour.RED, 11)) == (
        "there is no red 11: ranks are 2 to 10, or 0 for a wager"
    )


def test_a_spectator_does_not_play_and_nobody_after_the_end() -> None:
    seen = GAME.observe(position(""), None)
    assert GAME.explain(seen, action("draw")) == "a spectator does not play"
    state = finished(OPTIONS["capped"])
    assert GAME.explain(GAME.observe(state, 0), action("draw")) == "the match is over"


def test_a_refused_action_leaves_the_state_untouched_and_says_why() -> None:
    state = position("hand 0: red 3\nexpedition 0: red 5")
    before = GAME.codec.encode_state(state)
    with pytest.raises(IllegalActionError, match="ranks must rise"):
        play(state, "play red 3")
    assert GAME.codec.encode_state(state) == before


@pytest.mark.parametrize("name", OPTIONS)
def test_whatever_is_illegal_has_a_reason_and_nothing_else_has(name: str) -> None:
    table = GAME.table(OPTIONS[name], 2)
    for number, state in enumerate(states(OPTIONS[name], 1)):
        if number % 7 or GAME.outcome_of(state) is not None:
            continue
        seen = GAME.observe(state, state.to_move)
        legal = GAME.legal_actions(state)
        for each, text in zip(table.actions, table.texts, strict=True):
            fine = GAME.explain(seen, each) == f"{text} is legal"
            assert fine == (each in legal), text
