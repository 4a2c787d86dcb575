"""The variant no-pass: who can play must play."""

from __future__ import annotations

import random

import pytest
from tests.games.lepidoptery.support import (
    GAME,
    NO_PASS,
    OPTIONS,
    action,
    position,
    states,
)

from fritillary import FastDealer, IllegalActionError, Registry, playout
from fritillary_games.lepidoptery.actions import ACTIONS, notation
from fritillary_games.lepidoptery.model import Pass


def no_pass_legal(text: str) -> list[str]:
    return [notation(each) for each in NO_PASS.legal_actions(position(text))]


def test_a_follower_with_a_play_may_not_pass() -> None:
    text = "hand 0: 8\njoker 0: used\ntable: single 7"
    assert no_pass_legal(text) == ["single 8"]
    state = position(text)
    with pytest.raises(IllegalActionError) as caught:
        NO_PASS.play(state, action("pass"))
    assert caught.value.message == (
        "you may not pass while you can play, and you can play single 8"
    )


def test_a_follower_without_a_play_passes() -> None:
    assert no_pass_legal("hand 0: 6\njoker 0: used\ntable: single 7") == ["pass"]


def test_a_leader_without_a_play_passes() -> None:
    text = "hand 0: 6\njoker 0: used\nmarker 0: single"
    assert no_pass_legal(text) == ["pass"]


def test_the_rest_is_explained_as_in_the_game() -> None:
    state = position("hand 0: 6 8\njoker 0: used\ntable: single 7")
    for viewer in (0, 1, None):
        seen = NO_PASS.observe(state, viewer)
        for each in ACTIONS[:-1]:
            assert NO_PASS.explain(seen, each) == GAME.explain(seen, each)
    spectator = NO_PASS.observe(state, None)
    assert NO_PASS.explain(spectator, Pass()) == "a spectator does not play"


@pytest.mark.parametrize("name", OPTIONS)
def test_the_pass_is_legal_exactly_without_a_play(name: str) -> None:
    for state in states(OPTIONS[name], 6):
        if GAME.outcome_of(state) is None:
            plays = [a for a in GAME.legal_actions(state) if not isinstance(a, Pass)]
            legal = NO_PASS.legal_actions(state)
            assert list(legal) == (plays or [Pass()])
            seen = NO_PASS.observe(state, state.to_move)
            fine = NO_PASS.explain(seen, Pass()) == "pass is legal"
            assert fine == (not plays)


def test_matches_end() -> None:
    rng = random.Random(1)
    for number in range(50):
        playout(NO_PASS, NO_PASS.new(FastDealer(number)), rng)


def test_the_registry_knows_game_and_variant() -> None:
    registry = Registry()
    registry.load()
    assert registry.game("lepidoptery+no-pass").id == "lepidoptery+no-pass"
    assert registry.game("lepidoptery").info.title == "Lepidoptery"
