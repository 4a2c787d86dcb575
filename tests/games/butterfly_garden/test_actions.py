"""The action table and its notation."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from tests.games.butterfly_garden.support import GAME, SETUPS, states
from tests.games.checks import check_notations

from fritillary import InvalidActionError
from fritillary_games.butterfly_garden.actions import ACTIONS, Place, Tile
from fritillary_games.butterfly_garden.model import Options

TABLE: Any = GAME.table(Options(), 2)


@pytest.mark.parametrize("setup", SETUPS)
def test_the_table_depends_on_neither_options_nor_seats(setup: str) -> None:
    assert GAME.table(*SETUPS[setup]).actions == TABLE.actions == ACTIONS


def test_every_notation_names_its_action_again() -> None:
    check_notations(TABLE, 756)


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (Place(Tile.STAR, 1, -4, 0), "a2 star 0"),
        (Place(Tile.KNOT, 0, -2, 5), "c3 knot 5"),
        (Place(Tile.LANE, -4, 1, 0), "f1 lane 0"),
        (Place(Tile.ARCH, 3, 0, 2), "e8 arch 2"),
        (Place(Tile.LEAF, -1, 4, 1), "i4 leaf 1"),
    ],
)
def test_notation(action: Place, text: str) -> None:
    assert GAME.format_action(action) == text
    assert TABLE.parse(text) == action


def test_a_placement_that_is_never_possible_has_a_notation_all_the_same() -> None:
    assert GAME.format_action(Place(Tile.STAR, 0, 0, 0)) == "(0,0) star 0"
    assert GAME.format_action(Place(Tile.STAR, 9, 0, 7)) == "(9,0) star 7"


def test_actions_are_listed_by_cell_then_kind_then_turn() -> None:
    assert TABLE.texts[:6] == (
        "a2 arch 0",
        "a2 arch 1",
        "a2 arch 2",
        "a2 star 0",
        "a2 lane 0",
        "a2 lane 2",
    )
    assert TABLE.texts[-1] == "i4 leaf 1"
    order = [(a.cell, a.orientation) for a in TABLE.actions]
    assert order == sorted(order)


def test_every_action_survives_data() -> None:
    for each in TABLE.actions:
        assert TABLE.structure(GAME.codec.action_to_data(each)) is each


def test_an_action_reads_like_a_sentence() -> None:
    assert GAME.codec.action_to_data(TABLE.parse("c3 knot 5")) == {
        "tile": "knot",
        "q": 0,
        "r": -2,
        "turn": 5,
    }


@pytest.mark.parametrize(
    "data",
    [
        {"tile": "leaf", "q": 2, "r": -4, "turn": 1},
        {"tile": "star", "q": 0, "r": 0, "turn": 0},
        {"tile": "star", "q": 0, "r": -4, "turn": 0},
        {"tile": "star", "q": 5, "r": 0, "turn": 0},
        {"tile": "star", "q": 1, "r": 0, "turn": 1},
        {"tile": "knot", "q": 1, "r": 0, "turn": 6},
        {"tile": "knot", "q": 1, "r": 0, "turn": -1},
        {"tile": "rose", "q": 1, "r": 0, "turn": 0},
        {"tile": "knot", "q": 1, "r": 0},
    ],
)
def test_what_is_no_placement_does_not_get_in(data: dict[str, object]) -> None:
    with pytest.raises(InvalidActionError):
        TABLE.structure(data)


def test_an_action_that_is_not_from_the_table_does_the_same() -> None:
    for state in itertools.islice(states("two", 2), 80):
        if GAME.outcome_of(state) is None:
            legal = GAME.legal_actions(state)[0]
            twin = GAME.codec.action_from_data(GAME.codec.action_to_data(legal))
            assert twin is not legal
            first, second = GAME.copy(state), GAME.copy(state)
            GAME.play(first, legal)
            GAME.play(second, twin)
            assert first == second
