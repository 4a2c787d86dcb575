"""Why a seat may not do something, from what the seat knows."""

from __future__ import annotations

from fritillary import hookimpl
from fritillary_games.butterfly_garden.actions import (
    TILE_NUMBERS,
    TURNS,
    Place,
    Tile,
    notation,
)
from fritillary_games.butterfly_garden.board import (
    FIRST,
    NAMES,
    NUMBERS,
    joins_exits,
)
from fritillary_games.butterfly_garden.geometry import GATEWAYS
from fritillary_games.butterfly_garden.model import Observation
from fritillary_games.turn import not_to_move


@hookimpl
def explain_illegal(observation: Observation, action: Place) -> str:
    """Name the first rule that forbids a placement (I-g, I-h)."""
    return (
        not_to_move(observation.seat, observation.to_move, "the game is over")
        or no_placement(action)
        or _obstacle(observation, action)
        or f"{notation(action)} is legal"
    )


def no_placement(action: Place) -> str | None:
    """Say why a placement is never possible, or return nothing."""
    cell = NUMBERS.get((action.q, action.r))
    if cell is None:
        return f"({action.q},{action.r}) is not on the board"
    name = NAMES[cell]
    if action.cell < 0:
        return f"{name} is a treasure tile, which nothing is placed on"
    tile = action.tile
    turns = TURNS[TILE_NUMBERS[tile]]
    if action.orientation < 0:
        span = "turn 0" if turns == 1 else f"turns 0 to {turns - 1}"
        return f"{_a(tile)} has {span}, not {action.turn}"
    if joins_exits(cell, action.orientation):
        first = FIRST[TILE_NUMBERS[tile]]
        others = [
            str(turn) for turn in range(turns) if not joins_exits(cell, first + turn)
        ]
        gateway = next(
            number
            for number, each in enumerate(GATEWAYS, start=1)
            if (action.q, action.r) in each.cells
        )
        return (
            f"{notation(action)} would join two exits of gateway {gateway} with one "
            f"curve: turn the tile to {' or '.join(others)}"
        )
    return None


def _obstacle(observation: Observation, action: Place) -> str | None:
    """Say why the seat to move may not place this now, or return nothing."""
    for tile, q, r, turn in observation.placed:
        if (q, r) == (action.q, action.r):
            there = notation(Place(tile, q, r, turn))
            return f"{there} lies there already: place your tile on an empty cell"
    hand = observation.hands[observation.seat or 0] or ()
    if action.tile not in hand:
        held = " and ".join(_a(tile) for tile in hand)
        return f"you do not hold {_a(action.tile)}, but {held}"
    return None


def _a(tile: Tile) -> str:
    """Return the tile with the article that stands before it."""
    return f"{'an' if tile is Tile.ARCH else 'a'} {tile.value}"
