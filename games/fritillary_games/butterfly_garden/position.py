"""Positions as text, for tests and talk: one fact a line, written by hand.

    seats: 3                          # 2 if left out
    tiles: d5 star 0, a3 lane 1       # in order of play; several such lines are one
    tiles: c4 knot 2
    hand 0: lane star                 # a hand that is left out gets what is left over
    hand 1: knot clover
    stack: arches, 3 knot, lane       # the next tile first; likewise
    to move: 0                        # may be left out, as it follows from the rest

Where the treasures are and who has collected what follows from the tiles. Their
order decides no more than which route bears the last treasure of the centre and
which tile is the last placed.

What follows ``#`` is a comment. The order of the other lines does not matter.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

from attrs import Factory, define

from fritillary import InvalidPositionError
from fritillary_games.butterfly_garden.actions import (
    ACTIONS,
    COUNTS,
    PLACEMENTS,
    TILE_NUMBERS,
    TILES,
    UNITS,
    Place,
    Tile,
    notation,
)
from fritillary_games.butterfly_garden.board import EMPTY
from fritillary_games.butterfly_garden.explain import no_placement
from fritillary_games.butterfly_garden.model import Options, State
from fritillary_games.butterfly_garden.rules import apply_action, empty_board
from fritillary_games.butterfly_garden.tables import tiles_in

_BY_NAME: Final = {tile.value: tile for tile in TILES}

_BY_NOTATION: Final = {notation(place): place for place in ACTIONS}

#: Any cell, tile and turn, so that a better reason can be given than "no placement".
_NOTATION: Final = re.compile(r"([a-i])([1-9]) ([a-z]+) (\d)")

_KEYS: Final = ("seats", "to move", "tiles", "stack", *(f"hand {s}" for s in range(4)))

_SEATS: Final = {str(seats): seats for seats in (2, 3, 4)}


def parse_position(text: str, options: Options | None = None) -> State:
    """Return the state of a text position.

    Args:
        text: see the module.
        options: of the match; the defaults if left out.

    Raises:
        InvalidPositionError: if the text cannot be read, or if the position cannot
            arise; one line that says why.
    """
    options = Options() if options is None else options
    facts = _lines(text)
    seats = _seats(facts, options)
    places = _places(facts.get("tiles", ""))
    state = _play(places, options, seats)
    _deal(state, facts, places)
    if "to move" in facts:
        _check_turn(state, facts["to move"])
    return state
