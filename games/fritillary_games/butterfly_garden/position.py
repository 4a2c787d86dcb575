"""Positions as text, for tests and talk: one fact a line, written by hand.

    seats: 3                          # 2 if left out
    tiles: d5 star 0, a3 lane 1       # in order of play; several such lines are one
    tiles: c4 knot 2
    hand 0: lane star                 # a hand that is left out gets what is left over
    hand 1: knot leaf
    stack: arch knot knot lane      # the next tile first; likewise
    to move: 0                        # may be left out, as it follows from the rest

Where the treasures are and who has collected what follows from the tiles. Their
order decides no more than which route bears the last treasure of the centre and
which tile is the last placed.

What follows ``#`` is a comment. The order of the other lines does not matter.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

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
from fritillary_games.butterfly_garden.board import CELLS, EMPTY, NAMES, PLACES
from fritillary_games.butterfly_garden.explain import no_placement
from fritillary_games.butterfly_garden.model import REASONS, Options, State
from fritillary_games.butterfly_garden.rules import apply_action, empty_board
from fritillary_games.butterfly_garden.tables import tiles_in
from fritillary_games.facts import facts_in

_BY_NAME: Final = {tile.value: tile for tile in TILES}

_BY_NOTATION: Final = {notation(place): place for place in ACTIONS}

#: Any cell, tile and turn, so that a better reason can be given than "no placement".
_NOTATION: Final = re.compile(r"([a-i][1-9]) ([a-z]+) (\d)")

_KEYS: Final = ("seats", "to move", "tiles", "stack", *(f"hand {s}" for s in range(4)))

_SEATS: Final = {str(seats): seats for seats in (2, 3, 4)}


def parse_position(text: str, options: Options | None = None) -> State:
    """Return the state of a text position.

    Tiles that are named nowhere are dealt in the order of `Tile`: first to the hands
    that are left out, then to the stack, the next tile first.

    Args:
        text: see the module.
        options: of the match; the defaults if left out.

    Raises:
        InvalidPositionError: if the text cannot be read, or if the position cannot
            arise; one line that says why.
    """
    options = Options() if options is None else options
    facts = facts_in(text, _KEYS, several={"tiles"})
    seats = _seats(facts, options)
    places = _places(facts.get("tiles", ""))
    state, sizes = _played(places, options, seats)
    _deal(state, sizes, facts, places)
    word = facts.get("to move")
    if word is not None:
        _check_turn(state, word)
    return state


def format_position(state: State) -> str:
    """Return the text of a state, complete: `parse_position` gives it back."""
    places = [
        place
        for cell, orientation in enumerate(state.board)
        if orientation != EMPTY
        for place in (PLACEMENTS[cell][orientation],)
        if place is not None
    ]
    places.sort(key=lambda place: (place == state.last, place.cell == state.released))
    lines = [f"seats: {len(state.hands)}"]
    lines += [
        f"tiles: {', '.join(map(notation, places[first : first + 5]))}"
        for first in range(0, len(places), 5)
    ]
    lines += [
        f"hand {seat}: {_listed(tiles_in(hand))}"
        for seat, hand in enumerate(state.hands)
    ]
    lines.append(f"stack: {_listed(TILES[kind] for kind in reversed(state.stack))}")
    lines.append(f"to move: {'none' if state.reason else state.to_move}")
    return "\n".join(lines) + "\n"


def _listed(tiles: Iterable[Tile]) -> str:
    return " ".join(tile.value for tile in tiles) or "none"


def _seats(facts: dict[str, str], options: Options) -> int:
    word = facts.get("seats", "2")
    if word not in _SEATS:
        raise InvalidPositionError(f"seats: {word!r}; say 2, 3 or 4")
    seats = _SEATS[word]
    if options.starter >= seats:
        msg = f"seat {options.starter} starts, but there are {seats} seats"
        raise InvalidPositionError(msg)
    for seat in range(seats, 4):
        if f"hand {seat}" in facts:
            raise InvalidPositionError(f"hand {seat}: there are {seats} seats")
    return seats


def _places(text: str) -> list[Place]:
    """Return the placements of the tiles on the board, in order of play."""
    words = [word.strip() for word in text.split(",")]
    places = [_place(word) for word in words if word not in {"", "none"}]
    cells: dict[int, Place] = {}
    for place in places:
        if place.cell in cells:
            msg = (
                f"tiles: {notation(cells[place.cell])} and {notation(place)} "
                "lie on one cell"
            )
            raise InvalidPositionError(msg)
        cells[place.cell] = place
    return places


def _place(word: str) -> Place:
    if word in _BY_NOTATION:
        return _BY_NOTATION[word]
    parts = _NOTATION.fullmatch(word)
    why = None
    if parts and parts[1] in NAMES and parts[2] in _BY_NAME:
        q, r = CELLS[NAMES.index(parts[1])]
        why = no_placement(Place(_BY_NAME[parts[2]], q, r, int(parts[3])))
    raise InvalidPositionError(
        f"tiles: {why or f'{word!r} is no placement, such as c4 knot 2'}"
    )


def _played(
    places: list[Place], options: Options, seats: int
) -> tuple[State, list[int]]:
    """Play the placements; return the state and how many tiles each seat holds."""
    sizes = [options.hand_size] * seats
    # What is drawn does not matter here, only how often.
    state = empty_board(options, [0] * seats, [0] * (PLACES - sum(sizes)))
    for number, place in enumerate(places):
        if state.reason:
            msg = (
                f"the match is over after {number} tiles ({REASONS[state.reason]}): "
                f"{notation(place)} cannot be placed"
            )
            raise InvalidPositionError(msg)
        seat = state.to_move
        left = len(state.stack)
        state.hands[seat] = place.unit
        apply_action(state, place)
        sizes[seat] += left - len(state.stack) - 1
    return state, sizes


def _deal(
    state: State, sizes: list[int], facts: dict[str, str], places: list[Place]
) -> None:
    """Put the tiles into the hands and the stack."""
    parts = [(f"hand {seat}", size) for seat, size in enumerate(sizes)]
    parts.append(("stack", len(state.stack)))
    named = {key: _tiles(key, facts[key], size) for key, size in parts if key in facts}
    used = Counter(TILE_NUMBERS[place.tile] for place in places)
    for kinds in named.values():
        used.update(kinds)
    for kind, count in enumerate(COUNTS):
        if used[kind] > count:
            msg = (
                f"{used[kind]} tiles of the kind {TILES[kind].value} are named; "
                f"there are {count}"
            )
            raise InvalidPositionError(msg)
    rest = [
        kind for kind, count in enumerate(COUNTS) for _ in range(count - used[kind])
    ]
    for key, size in parts:
        if key not in named:
            named[key], rest = rest[:size], rest[size:]
    for seat in range(len(sizes)):
        state.hands[seat] = sum(UNITS[kind] for kind in named[f"hand {seat}"])
    state.stack = named["stack"][::-1]


def _tiles(key: str, text: str, size: int) -> list[int]:
    """Return the kinds of the tiles that are named, which must be so many."""
    words = text.replace(",", " ").split()
    kinds = []
    for word in words if words != ["none"] else []:
        if word not in _BY_NAME:
            names = ", ".join(_BY_NAME)
            msg = f"{key}: {word!r} is no kind of tile; say {names} or none"
            raise InvalidPositionError(msg)
        kinds.append(TILE_NUMBERS[_BY_NAME[word]])
    if len(kinds) != size:
        raise InvalidPositionError(f"{key}: {_count(kinds)}, but it has {size}")
    return kinds


def _count(kinds: list[int]) -> str:
    return "1 tile is named" if len(kinds) == 1 else f"{len(kinds)} tiles are named"


def _check_turn(state: State, word: str) -> None:
    wanted = "none" if state.reason else str(state.to_move)
    if word != wanted:
        tiles = PLACES - state.empty.bit_count()
        why = f"the match is over after {tiles} tiles ({REASONS[state.reason]})"
        if not state.reason:
            why = f"after {tiles} tiles it is seat {wanted}"
        raise InvalidPositionError(f"to move: {word!r}, but {why}")
