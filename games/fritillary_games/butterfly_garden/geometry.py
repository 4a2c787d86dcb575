"""The geometry of the game as data: board, gateways, tiles, owners.

Cells are axial ``(q, r)`` of hexagons that stand on a corner, with
``max(|q|, |r|, |q + r|) <= 4`` (I-a). Edges count clockwise: 0 NW, 1 NE, 2 E, 3 SE,
4 SW, 5 W; the opposite edge is 3 further on.
"""

from __future__ import annotations

from typing import Final, NamedTuple, TypeAlias

#: Axial coordinates ``(q, r)``.
Cell: TypeAlias = tuple[int, int]


class Corner(NamedTuple):
    """A corner treasure tile (I-d): where it lies, what it does to a route.

    Args:
        cell: where it lies.
        gem: the edge at which its treasure waits; it faces the centre.
        uturn: the two edges that its one route joins.
    """

    cell: Cell
    gem: int
    uturn: tuple[int, int]


class Gateway(NamedTuple):
    """A side of the board with its six exits (I-e).

    Args:
        edges: the two outer edges of each of its cells.
        cells: its three cells.
    """

    edges: tuple[int, int]
    cells: tuple[Cell, Cell, Cell]


class Kind(NamedTuple):
    """A kind of path tile (I-c).

    Args:
        pairs: the edges that each route joins, unturned.
        copies: how many there are.
        turns: in how many ways it can lie.
    """

    pairs: tuple[tuple[int, int], tuple[int, int], tuple[int, int]]
    copies: int
    turns: int


RADIUS: Final = 4

#: The step from a cell across each edge.
OFFSETS: Final[tuple[Cell, ...]] = ((0, -1), (1, -1), (1, 0), (0, 1), (-1, 1), (-1, 0))

CENTRE: Final[Cell] = (0, 0)

CORNERS: Final = (
    Corner((0, -4), 3, (2, 4)),
    Corner((4, -4), 4, (3, 5)),
    Corner((4, 0), 5, (4, 0)),
    Corner((0, 4), 0, (5, 1)),
    Corner((-4, 4), 1, (0, 2)),
    Corner((-4, 0), 2, (1, 3)),
)

#: Gateways 1 to 6, clockwise from the top.
GATEWAYS: Final = (
    Gateway((0, 1), ((1, -4), (2, -4), (3, -4))),
    Gateway((1, 2), ((4, -3), (4, -2), (4, -1))),
    Gateway((2, 3), ((3, 1), (2, 2), (1, 3))),
    Gateway((3, 4), ((-1, 4), (-2, 4), (-3, 4))),
    Gateway((4, 5), ((-4, 3), (-4, 2), (-4, 1))),
    Gateway((5, 0), ((-3, -1), (-2, -2), (-1, -3))),
)

#: The kinds of tile in the order T0 to T4 of the rules.
KINDS: Final = (
    Kind(((0, 2), (1, 4), (3, 5)), 14, 3),
    Kind(((0, 3), (1, 4), (2, 5)), 6, 1),
    Kind(((0, 5), (1, 4), (2, 3)), 14, 3),
    Kind(((0, 5), (1, 3), (2, 4)), 14, 6),
    Kind(((0, 5), (1, 2), (3, 4)), 6, 2),
)

#: The seats that own each gateway, 1 to 6, by the number of seats (I-f).
OWNERS: Final[dict[int, tuple[tuple[int, ...], ...]]] = {
    2: ((0,), (1,), (0,), (1,), (0,), (1,)),
    3: ((0,), (0, 1), (2,), (2, 0), (1,), (1, 2)),
    4: ((0, 1), (1, 2), (0, 3), (3, 1), (2, 0), (2, 3)),
}

#: The same for three seats that share no gateway.
OWNERS_EXCLUSIVE: Final = ((0,), (1,), (2,), (0,), (1,), (2,))
