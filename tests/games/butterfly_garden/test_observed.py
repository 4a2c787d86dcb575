"""Observations that no deal can give are refused, and none that one can give."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from tests.games.butterfly_garden.support import GAME, SETUPS, states
from tests.games.forged import check_refusals, draw_from_all, look_at_forged

from fritillary_games.butterfly_garden.actions import Place, Tile
from fritillary_games.butterfly_garden.board import ENTRIES, waits_at
from fritillary_games.butterfly_garden.model import Waiting


@pytest.mark.parametrize("setup", SETUPS)
def test_worlds_are_drawn_from_all_that_can_be_seen(setup):
    for seed in range(3):
        draw_from_all(GAME, *SETUPS[setup], seed)


@pytest.mark.parametrize("setup", SETUPS)
def test_whatever_is_made_up_is_answered(setup):
    assert look_at_forged(GAME, *SETUPS[setup], 7, 150) > 75


def seen() -> Any:
    """Return what seat 0 sees when some tiles lie on the board."""
    played = [state for state in states("two", 1, 5) if len(state.stack) == 30]
    return GAME.seen(played[0], played[0].to_move)


def moved(observation: Any, **how: int) -> tuple[Waiting, ...]:
    first, *rest = observation.waiting
    return (evolve(first, **how), *rest)


def elsewhere(observation: Any) -> tuple[Waiting, ...]:
    """Return the treasures, the first at another edge where one could wait."""
    first = observation.waiting[0]
    entries = [
        entry
        for entry in map(waits_at, range(ENTRIES))
        if entry[0] == (first.q, first.r) and entry[1] != first.edge
    ]
    return moved(observation, edge=entries[0][1])


def made_up(one: Any) -> list[tuple[dict[str, Any], str]]:
    """Return changes to an observation, with what is said of each."""
    return [
        # These would have run for ever, or into memory.
        ({"unplaced": (2**40, *one.unplaced[1:])}, "more tiles are left"),
        ({"hand_sizes": (2**40, 2)}, "at most 2 tiles"),
        ({"waiting": elsewhere(one)}, "not where the routes"),
        ({"waiting": moved(one, q=2**40)}, "where it cannot wait"),
        ({"waiting": moved(one, value=2**40)}, "where it cannot wait"),
        ({"waiting": one.waiting[1:]}, "not where the routes"),
        ({"placed": one.placed * 2**10}, "tiles lie on 54 cells"),
        ({"placed": one.placed[:1] * 2}, "two tiles lie on one cell"),
        # And these would have been played on from.
        ({"placed": ((Tile.STAR, 0, 0, 0),)}, "where it cannot lie"),
        ({"placed": ((Tile.STAR, 1, 1, 9),)}, "where it cannot lie"),
        ({"last": Place(Tile.STAR, 1, 1, 9)}, "the last placement"),
        ({"last": None}, "the last placement"),
        ({"hands": one.hands * 3}, "6 seats cannot play"),
        ({"taken": one.taken * 2}, "there are 2 seats"),
        ({"taken": ((9, 9, 9), (0, 0, 0))}, "lead other treasures"),
        ({"seat": 7}, "there is no seat 7"),
        ({"to_move": 1 - one.to_move}, "it is the turn of seat"),
        ({"to_move": None}, "either a seat is to act"),
        ({"reason": "boredom"}, "either a seat is to act"),
        ({"stack": one.stack + 1}, "hands and stack"),
        ({"hands": (None, None)}, "sees its own hand"),
        ({"hands": ((), None)}, "holds 2 tiles, not 0"),
    ]


def test_what_is_wrong_is_told_in_one_line():
    one = seen()
    check_refusals(GAME, one, made_up(one))
