"""Explanations: the first rule that forbids a placement, from what a seat knows."""

from __future__ import annotations

import pytest
from tests.games.butterfly_garden.support import (
    GAME,
    SETUPS,
    action,
    position,
    states,
)

from fritillary import IllegalActionError
from fritillary_games.butterfly_garden.actions import ACTIONS, Place, Tile, notation
from fritillary_games.butterfly_garden.model import Options
from fritillary_games.butterfly_garden.position import parse_position

HOLDS = "tiles: c3 knot 2\nhand 0: star lane\nhand 1: knot arch"


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        (
            Place(Tile.KNOT, 0, -2, 0),
            "c3 knot 2 lies there already: place your tile on an empty cell",
        ),
        (Place(Tile.STAR, 0, 2, 0), "you do not hold a star, but an arch and a knot"),
        (
            Place(Tile.LEAF, 0, 2, 0),
            "you do not hold a leaf, but an arch and a knot",
        ),
        (
            Place(Tile.LEAF, 2, -4, 1),
            (
                "a3 leaf 1 would join two exits of gateway 1 with one curve: "
                "turn the tile to 0"
            ),
        ),
        (
            Place(Tile.KNOT, 3, 1, 3),
            (
                "f8 knot 3 would join two exits of gateway 3 with one curve: "
                "turn the tile to 0 or 1 or 2 or 4 or 5"
            ),
        ),
        (
            Place(Tile.KNOT, 0, 0, 0),
            "e5 is a treasure tile, which nothing is placed on",
        ),
        (
            Place(Tile.KNOT, -4, 4, 0),
            "i1 is a treasure tile, which nothing is placed on",
        ),
        (Place(Tile.KNOT, 3, 3, 0), "(3,3) is not on the board"),
        (Place(Tile.KNOT, 1, 1, 6), "a knot has turns 0 to 5, not 6"),
        (Place(Tile.ARCH, 1, 1, 3), "an arch has turns 0 to 2, not 3"),
        (Place(Tile.STAR, 1, 1, 1), "a star has turn 0, not 1"),
        (Place(Tile.KNOT, 1, 1, 4), "f6 knot 4 is legal"),
    ],
)
def test_reasons(wanted: Place, reason: str) -> None:
    assert GAME.explain(GAME.observe(parse_position(HOLDS), 1), wanted) == reason


def test_who_may_not_act() -> None:
    state = parse_position(HOLDS)
    place = action("f6 knot 4")
    assert GAME.explain(GAME.observe(state, None), place) == "a spectator does not play"
    assert GAME.explain(GAME.observe(state, 0), place) == (
        "it is not your turn: seat 1 is to move"
    )
    over = position("c3 knot 2", "c4 star 0", options=Options(max_rounds=1))
    assert GAME.explain(GAME.observe(over, 0), place) == "the game is over"


def test_a_refused_action_leaves_the_state_untouched_and_says_why() -> None:
    state = parse_position(HOLDS)
    before = GAME.codec.encode_state(state)
    with pytest.raises(IllegalActionError, match="c3 knot 2 lies there already"):
        GAME.play(state, action("c3 arch 0"))
    assert GAME.codec.encode_state(state) == before


@pytest.mark.parametrize("setup", SETUPS)
def test_whatever_is_illegal_has_a_reason_and_nothing_else_has(setup: str) -> None:
    for number, state in enumerate(states(setup, 1)):
        if number % 9 or GAME.outcome_of(state) is not None:
            continue
        seen = GAME.observe(state, state.to_move)
        legal = {*GAME.legal_actions(state)}
        for each in ACTIONS:
            fine = GAME.explain(seen, each) == f"{notation(each)} is legal"
            assert fine == (each in legal), notation(each)
