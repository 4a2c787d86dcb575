"""The actions: placements, their notation, the table of 756."""

from __future__ import annotations

import enum
from typing import Final

from attrs import field, frozen

from fritillary_games.butterfly_garden.board import (
    CELLS,
    FIRST,
    KIND_OF,
    NAMES,
    NUMBERS,
    ORIENTATIONS,
    PLACES,
    joins_exits,
)
from fritillary_games.butterfly_garden.geometry import KINDS

#: Bits of a hand that count the tiles of one kind.
COUNT_BITS: Final = 2


class Tile(enum.Enum):
    """The five kinds of path tile (I-c), named after what their routes look like."""

    #: T0: a straight route under two arcs.
    ARCH = "arch"
    #: T1: three straight routes.
    STAR = "star"
    #: T2: a straight route between two bends.
    LANE = "lane"
    #: T3: two arcs that cross, and a bend.
    KNOT = "knot"
    #: T4: three bends, like a leaf of clover.
    LEAF = "leaf"


#: The tiles by the number that the state uses for them.
TILES: Final = tuple(Tile)

TILE_NUMBERS: Final = {tile: number for number, tile in enumerate(TILES)}

#: How many there are of each kind.
COUNTS: Final = tuple(kind.copies for kind in KINDS)

#: In how many ways each kind can lie.
TURNS: Final = tuple(kind.turns for kind in KINDS)

#: A tile as a packed hand of one, by kind.
UNITS: Final = tuple(1 << COUNT_BITS * number for number in range(len(TILES)))


@frozen(cache_hash=True)
class Place:
    """Place a tile on an empty cell.

    Args:
        tile: the kind, one of those in hand.
        q: axial column of the cell, -4 to 4.
        r: axial row of the cell, -4 to 4, 0 in the middle.
        turn: sixths of a turn clockwise: 0 to 2 for arch and lane, 0 for star,
            0 to 5 for knot, 0 or 1 for leaf.
    """

    tile: Tile
    q: int
    r: int
    turn: int
    #: Number of the cell; -1 if there is no such cell for a path tile.
    cell: int = field(init=False, eq=False, repr=False)
    #: Number of the orientation; -1 if there is no such turn.
    orientation: int = field(init=False, eq=False, repr=False)
    #: The tile as a packed hand of one.
    unit: int = field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        kind = TILE_NUMBERS[self.tile]
        cell = NUMBERS.get((self.q, self.r), -1)
        # The only way into a frozen instance.
        put = object.__setattr__
        put(self, "cell", cell if cell < PLACES else -1)
        turn = FIRST[kind] + self.turn if 0 <= self.turn < TURNS[kind] else -1
        put(self, "orientation", turn)
        put(self, "unit", UNITS[kind])


def _place(cell: int, orientation: int) -> Place | None:
    """Return the placement, or nothing where I-h forbids it."""
    if joins_exits(cell, orientation):
        return None
    kind = KIND_OF[orientation]
    q, r = CELLS[cell]
    return Place(TILES[kind], q, r, orientation - FIRST[kind])


#: Every placement by cell and orientation; nothing where I-h forbids it.
PLACEMENTS: Final[tuple[tuple[Place | None, ...], ...]] = tuple(
    tuple(_place(cell, orientation) for orientation in range(len(ORIENTATIONS)))
    for cell in range(PLACES)
)

#: The table: cell by cell from the top left, on each by kind and turn.
ACTIONS: Final[tuple[Place, ...]] = tuple(
    place for row in PLACEMENTS for place in row if place is not None
)


def notation(action: Place) -> str:
    """Return cell, tile and turn, such as ``c4 knot 2``.

    A cell is named by its row, ``a`` at the top to ``i``, and its place in the row
    from the left; where no path tile can lie, coordinates stand instead.
    """
    name = f"({action.q},{action.r})" if action.cell < 0 else NAMES[action.cell]
    return f"{name} {action.tile.value} {action.turn}"
