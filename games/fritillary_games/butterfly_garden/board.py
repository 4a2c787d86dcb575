"""Tables that follow from the geometry: cells, orientations, steps of a treasure.

Cells have numbers: 0 to 53 are the cells for path tiles, row by row from the top
left, 54 to 59 the corners clockwise from the top left, 60 is the centre.

An *entry* ``6 * cell + edge`` is the way into a path cell over one of its edges.
A treasure that waits at the edge of a tile has an empty cell on the other side and
is known by its entry into that cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from fritillary_games.butterfly_garden.geometry import (
    CENTRE,
    CORNERS,
    GATEWAYS,
    KINDS,
    OFFSETS,
    RADIUS,
    Cell,
)

#: Three pairs of edges, each rising, in rising order.
Pairs: TypeAlias = tuple[tuple[int, int], ...]


def neighbour(cell: Cell, edge: int) -> Cell:
    """Return the cell across an edge, whether or not it is on the board."""
    q, r = OFFSETS[edge]
    return cell[0] + q, cell[1] + r


def _row(r: int) -> list[Cell]:
    return [
        (q, r)
        for q in range(-RADIUS, RADIUS + 1)
        if max(abs(q), abs(r), abs(q + r)) <= RADIUS
    ]


#: All 61 cells by row, from the top left.
ROWS: Final = tuple(tuple(_row(r)) for r in range(-RADIUS, RADIUS + 1))

_TREASURE: Final = (*(corner.cell for corner in CORNERS), CENTRE)

#: The cells by number.
CELLS: Final[tuple[Cell, ...]] = (
    *(cell for row in ROWS for cell in row if cell not in _TREASURE),
    *_TREASURE,
)

#: How many cells take a path tile.
PLACES: Final = len(CELLS) - len(_TREASURE)

NUMBERS: Final[dict[Cell, int]] = {cell: number for number, cell in enumerate(CELLS)}

#: Names by number: the row as a letter from the top, the place in it from the left.
NAMES: Final[tuple[str, ...]] = tuple(
    f"{'abcdefghi'[r + RADIUS]}{ROWS[r + RADIUS].index((q, r)) + 1}" for q, r in CELLS
)

EDGE_NAMES: Final = ("NW", "NE", "E", "SE", "SW", "W")

#: Entries are below this number; what a step leads to from here on is no entry.
ENTRIES: Final = 6 * PLACES

#: A step to ``EXIT + g`` leaves the board through gateway ``g + 1``.
EXIT: Final = ENTRIES

#: A step to here ends where a treasure starts: no treasure ever comes that way.
SOURCE: Final = EXIT + len(GATEWAYS)

#: Stands for a cell without a tile.
EMPTY: Final = 15


def turned(pairs: Iterable[Sequence[int]], turn: int) -> Pairs:
    """Return pairs of edges turned clockwise by sixths."""
    return tuple(
        sorted(tuple(sorted((edge + turn) % 6 for edge in pair)) for pair in pairs)  # type: ignore[misc]
    )


#: The pairs of edges of the 15 orientations, by kind and turn.
ORIENTATIONS: Final[tuple[Pairs, ...]] = tuple(
    turned(kind.pairs, turn) for kind in KINDS for turn in range(kind.turns)
)

#: The number of the first orientation of each kind.
FIRST: Final[tuple[int, ...]] = tuple(
    sum(kind.turns for kind in KINDS[:number]) for number in range(len(KINDS))
)

#: The kind of each orientation.
KIND_OF: Final[tuple[int, ...]] = tuple(
    number for number, kind in enumerate(KINDS) for _ in range(kind.turns)
)


def _through(pairs: Pairs) -> tuple[int, ...]:
    through = [0] * 6
    for one, other in pairs:
        through[one], through[other] = other, one
    return tuple(through)


#: By orientation and edge: the edge at the other end of the route.
THROUGH: Final[tuple[tuple[int, ...], ...]] = tuple(map(_through, ORIENTATIONS))

#: The gateway, from 0, of each exit, by cell number and edge.
EXITS: Final[dict[tuple[int, int], int]] = {
    (NUMBERS[cell], edge): number
    for number, gateway in enumerate(GATEWAYS)
    for cell in gateway.cells
    for edge in gateway.edges
}

#: The two outer edges of each border cell, by its number.
OUTER: Final[dict[int, tuple[int, int]]] = {
    NUMBERS[cell]: gateway.edges for gateway in GATEWAYS for cell in gateway.cells
}


def joins_exits(cell: int, orientation: int) -> bool:
    """Say whether a tile would join two exits with one curve (I-h)."""
    outer = OUTER.get(cell)
    return outer is not None and THROUGH[orientation][outer[0]] == outer[1]


def leave(cell: int, edge: int) -> int:
    """Return where a path cell is left to: an entry, an exit, or `SOURCE`.

    A corner is passed through at once by its U-turn (I-d).
    """
    if (cell, edge) in EXITS:
        return EXIT + EXITS[cell, edge]
    beyond = neighbour(CELLS[cell], edge)
    entered = (edge + 3) % 6
    number = NUMBERS[beyond]
    if number < PLACES:
        return 6 * number + entered
    if beyond == CENTRE:
        return SOURCE
    corner = CORNERS[number - PLACES]
    if entered == corner.gem:
        return SOURCE
    out = corner.uturn[1 - corner.uturn.index(entered)]
    return 6 * NUMBERS[neighbour(beyond, out)] + (out + 3) % 6


#: By orientation and entry: where the route through a cell that bears such a tile
#: leads next (an entry, ``EXIT + g``, or `SOURCE`).
STEP: Final[tuple[tuple[int, ...], ...]] = tuple(
    tuple(
        leave(cell, through[edge])
        for cell in range(PLACES)
        for edge in range(len(OFFSETS))
    )
    for through in THROUGH
)

#: The entry over which the centre releases a treasure into each cell next to it, by
#: the number of the cell (I-k).
RELEASE: Final[dict[int, int]] = {
    NUMBERS[neighbour(CENTRE, edge)]: 6 * NUMBERS[neighbour(CENTRE, edge)]
    + (edge + 3) % 6
    for edge in range(len(OFFSETS))
}

#: The entries at which the treasures of the corners wait at the start (I-b, I-d).
CORNER_ENTRIES: Final[tuple[int, ...]] = tuple(
    6 * NUMBERS[neighbour(corner.cell, corner.gem)] + (corner.gem + 3) % 6
    for corner in CORNERS
)


def waits_at(entry: int) -> tuple[Cell, int]:
    """Return the tile and its edge where the treasure of an entry waits."""
    cell, edge = divmod(entry, 6)
    return neighbour(CELLS[cell], edge), (edge + 3) % 6


def entry_of(cell: Cell, edge: int) -> int:
    """Return the entry of a treasure that waits at an edge of a tile.

    Raises:
        KeyError: if beyond that edge there is no cell for a path tile.
    """
    number = NUMBERS[neighbour(cell, edge)]
    if number >= PLACES:
        raise KeyError(number)
    return 6 * number + (edge + 3) % 6
