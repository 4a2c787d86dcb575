"""Explanations: the first rule that forbids an action, from what the seat knows."""

from __future__ import annotations

import pytest
from tests.games.lepidoptery.support import (
    GAME,
    OPTIONS,
    action,
    play,
    position,
    states,
)

from fritillary import IllegalActionError
from fritillary_games.lepidoptery.actions import ACTIONS, notation
from fritillary_games.lepidoptery.model import Combo, Options, Play

HIGHER = "its lowest rank must be higher, or the same with more cards"
ONLY_WITHOUT = "the leader may pass only without a legal play"


@pytest.mark.parametrize(
    ("text", "wanted", "reason"),
    [
        (
            "hand 0: 7 7\nmarker 0: pair",
            "pair 7",
            "your marker shows a pair: you may not play a pair again until you pass",
        ),
        (
            "hand 0: 7 7\ncolumn pair: 0 1 0 1 0 1",
            "pair 7",
            "the pair column is full",
        ),
        (
            "hand 0: 6\ntable: single 7",
            "single 6",
            f"single 6 does not beat single 7: {HIGHER}",
        ),
        (
            "hand 0: 7 8\ntable: pair 7",
            "run2 7-8",
            f"run2 7-8 does not beat pair 7: {HIGHER}",
        ),
        (
            "hand 0: 7\njoker 0: used",
            "pair 7*",
            "your joker is face down until you pass",
        ),
        (
            "hand 0: 7 8 8",
            "triple 8",
            "triple 8 takes three 8 from your hand, which holds two",
        ),
        (
            "hand 0: 7 9",
            "run3 7-8-9",
            "run3 7-8-9 takes one 8 from your hand, which holds no",
        ),
        (
            "hand 0: 2 4\njoker 0: used",
            "pass",
            f"you lead: {ONLY_WITHOUT}, and you can play single 2",
        ),
        (
            "hand 0: 7\nto move: 1",
            "single 7",
            "it is not your turn: seat 1 is to move",
        ),
        (
            "hand 0: none\ndeck 0: none\nwinner: 0 by all-shed\ntable: single 7",
            "pass",
            "the game is over: seat 0 has won",
        ),
        ("hand 0: 7", "single 7", "single 7 is legal"),
        ("hand 0: 7\ntable: single 9", "pass", "pass is legal"),
    ],
)
def test_reasons(text: str, wanted: str, reason: str) -> None:
    seen = GAME.observe(position(text), 0)
    assert GAME.explain(seen, action(wanted)) == reason


def test_the_same_type_where_it_may_not_beat() -> None:
    state = position("hand 0: 9\ntable: single 7", Options(same_type_may_beat=False))
    assert GAME.explain(GAME.observe(state, 0), action("single 9")) == (
        "a single may not beat a single, and you have to beat single 7"
    )


def test_a_spectator_does_not_play() -> None:
    seen = GAME.observe(position("hand 0: 7"), None)
    assert GAME.explain(seen, action("single 7")) == "a spectator does not play"


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (Play(Combo.SINGLE, 7, 7), "the joker is never played as a single"),
        (Play(Combo.PAIR, 7, 8), "the joker cannot stand for 8 in a pair"),
        (Play(Combo.RUN3, 9), "there is no run3 from 9: ranks go from 1 to 10"),
    ],
)
def test_what_is_no_combination(wrong: Play, reason: str) -> None:
    assert GAME.explain(GAME.observe(position("hand 0: 7"), 0), wrong) == reason


def test_a_refused_action_leaves_the_state_untouched_and_says_why() -> None:
    state = position("hand 0: 7 7\nmarker 0: pair")
    before = GAME.codec.encode_state(state)
    with pytest.raises(IllegalActionError, match="your marker shows a pair"):
        play(state, "pair 7")
    assert GAME.codec.encode_state(state) == before


@pytest.mark.parametrize("name", OPTIONS)
def test_whatever_is_illegal_has_a_reason_and_nothing_else_has(name: str) -> None:
    for number, state in enumerate(states(OPTIONS[name], 6)):
        if number % 3 or GAME.outcome_of(state) is not None:
            continue
        seen = GAME.observe(state, state.to_move)
        legal = GAME.legal_actions(state)
        for each in ACTIONS:
            fine = GAME.explain(seen, each) == f"{notation(each)} is legal"
            assert fine == (each in legal), notation(each)
