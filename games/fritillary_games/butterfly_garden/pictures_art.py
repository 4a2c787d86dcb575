"""The things on the table, drawn as SVG: tiles, routes, treasures, seats."""

from __future__ import annotations

import functools
from math import cos, pi, sin
from typing import Final

from attrs import frozen

from fritillary_games.butterfly_garden.actions import TILES, Tile
from fritillary_games.butterfly_garden.board import turned
from fritillary_games.butterfly_garden.geometry import CENTRE, KINDS, RADIUS, Cell
from fritillary_games.butterfly_garden.model import VALUES, Edition
from fritillary_games.svg import box, element, group, number, text, use

INK: Final = "#22303c"
FADED: Final = "#5d6772"
PAPER: Final = "#f4eedf"
SHEET: Final = "#fffdf7"
LINE: Final = "#d8ccb0"
GOLD: Final = "#f5b800"

#: The seats' colours, and what is written upon them.
SEAT: Final = ("#1c5d99", "#f2a541", "#a8324a", "#5b8c5a")
ON_SEAT: Final = ("#ffffff", "#3a2206", "#ffffff", "#ffffff")

#: What lies on tiles: a route and its border.
_ROUTE: Final = "#f7e3b1"
_BANK: Final = "#7a5a33"


@frozen
class Palette:
    """The colours of an edition.

    Args:
        board: of the table under the cells.
        cell: of an empty cell.
        mark: of lines and words on empty cells.
        tile: of a path tile.
        special: of corners and centre.
        treasures: of the treasures worth 1, 2 and 3.
    """

    board: str
    cell: str
    mark: str
    tile: str
    special: str
    treasures: tuple[str, str, str]


PALETTES: Final = {
    Edition.BUTTERFLY_GARDEN: Palette(
        "#4e7a45",
        "#dfe9cc",
        "#6d8758",
        "#9cbf7c",
        "#6f9a5a",
        ("#2563c9", "#e0559b", "#6a2c91"),
    ),
    Edition.INDIGO: Palette(
        "#2f3468",
        "#dcdff0",
        "#6a70a3",
        "#8d95cf",
        "#5d65a8",
        ("#e8920c", "#148a58", "#1d44b8"),
    ),
}

#: How the ids of an edition begin.
PREFIXES: Final = {Edition.BUTTERFLY_GARDEN: "bg-garden", Edition.INDIGO: "bg-indigo"}

#: The size at which tiles are defined, from the middle to the corners.
_UNIT: Final = 100.0

#: What is drawn of a treasure worth 1, 2 and 3, within 12 units of the middle. The
#: shapes differ so that the colours need not be told apart.
_WINGS: Final = (
    # Round wings.
    "M1-1C3-9 10-11 11-6C12-2 7 0 1 1ZM1 1C6 1 9 4 7 7C5 10 2 7 1 2Z",
    # Pointed wings.
    "M1-1L7-10L12-9L9-1L1 1ZM1 1L8 2L9 6L4 9L1 3Z",
    # Long tails.
    "M1-1L6-9C10-12 13-8 11-4L8 0L1 1ZM1 1L7 1C9 3 7 5 6 5L9 12L4 7L1 3Z",
)
_GEMS: Final = (
    ("M0-10A10 10 0 0 1 0 10A10 10 0 0 1 0-10Z", "M-6-3A7 7 0 0 1 0-7"),
    ("M-7-10H7L10-7V7L7 10H-7L-10 7V-7Z", "M-5-5H5V5H-5ZM-5-5L-9-8M5-5L9-8"),
    ("M-6-9H6L11-2L0 11L-11-2Z", "M-11-2H11M-5-2L0 11L5-2L0-9Z"),
)


@functools.cache
def definitions(edition: Edition) -> str:
    """Return what all pictures of an edition share: treasures and tiles.

    Ids differ by edition, and are the same for every observation, so that several
    pictures may stand in one page.
    """
    prefix = PREFIXES[edition]
    palette = PALETTES[edition]
    parts = [
        group(_treasure(edition, value), id=f"{prefix}-{value}") for value in VALUES
    ]
    frame = Frame(0, 0, _UNIT)
    parts.append(
        hexagon(
            frame,
            CENTRE,
            0.97,
            fill=palette.cell,
            stroke=palette.mark,
            stroke_width=2,
            id=f"{prefix}-cell",
        )
    )
    parts.append(
        group(
            hexagon(frame, CENTRE, 1, fill=palette.special, stroke=INK, stroke_width=4),
            hexagon(
                frame, CENTRE, 0.62, fill="none", stroke=palette.cell, stroke_width=6
            ),
            id=f"{prefix}-back",
        )
    )
    parts += [
        group(
            hexagon(frame, CENTRE, 0.97, fill=palette.tile, stroke=INK, stroke_width=2),
            *(route(frame, CENTRE, *pair) for pair in turned(kind.pairs, turn)),
            id=f"{prefix}-{tile.value}-{turn}",
        )
        for tile, kind in zip(TILES, KINDS, strict=True)
        for turn in range(kind.turns)
    ]
    return element("defs", "\n", "\n".join(parts), "\n")


def _treasure(edition: Edition, value: int) -> str:
    """Draw a treasure upon a disc, 28 units wide."""
    colour = PALETTES[edition].treasures[value - 1]
    disc = element("circle", r=13, fill="#ffffff", stroke=colour, stroke_width=1.6)
    if edition is Edition.INDIGO:
        outline, facets = _GEMS[value - 1]
        return disc + group(
            element("path", d=outline, fill=colour, stroke=INK, stroke_width=1),
            element("path", d=facets, fill="none", stroke="#ffffff", stroke_width=1.1),
            transform="scale(.82)",
        )
    wing = _WINGS[value - 1]
    return disc + group(
        element("path", d=wing),
        element("path", d=wing, transform="scale(-1 1)"),
        element("path", d="M0-6C1.8-4 1.8 5 0 9C-1.8 5-1.8-4 0-6Z", fill=INK),
        element(
            "path", d="M0-6L3-11M0-6L-3-11", fill="none", stroke=INK, stroke_width=0.8
        ),
        fill=colour,
        transform="scale(.9)",
    )


def treasure(edition: Edition, value: int, x: float, y: float, size: float) -> str:
    """Draw a treasure around a centre; ``size`` is its width."""
    return use(f"{PREFIXES[edition]}-{value}", x, y, size / 28)


def path_tile(
    edition: Edition, tile: Tile, turn: int, x: float, y: float, size: float
) -> str:
    """Draw a path tile around a centre; ``size`` reaches to its corners."""
    return use(f"{PREFIXES[edition]}-{tile.value}-{turn}", x, y, size / _UNIT)


def empty_cell(edition: Edition, x: float, y: float, size: float) -> str:
    """Draw an empty cell around a centre; ``size`` reaches to its corners."""
    return use(f"{PREFIXES[edition]}-cell", x, y, size / _UNIT)


def tile_back(edition: Edition, x: float, y: float, size: float) -> str:
    """Draw a tile face down around a centre; ``size`` reaches to its corners."""
    return use(f"{PREFIXES[edition]}-back", x, y, size / _UNIT)


class Frame:
    """Where hexagons lie: the middle of the centre cell, and their size.

    Args:
        x: of the middle of cell (0, 0).
        y: of it.
        size: from the middle of a cell to its corners.
    """

    def __init__(self, x: float, y: float, size: float) -> None:
        self.x, self.y, self.size = x, y, size

    def middle(self, cell: Cell) -> tuple[float, float]:
        """Return the middle of a cell."""
        q, r = cell
        return self.x + self.size * 3**0.5 * (q + r / 2), self.y + self.size * 1.5 * r

    def corner(self, cell: Cell, place: int, scale: float = 1) -> tuple[float, float]:
        """Return a corner of a cell; edge ``e`` runs from corner ``e`` to ``e + 1``."""
        x, y = self.middle(cell)
        angle = pi * (place / 3 - 5 / 6)
        reach = self.size * scale
        return x + reach * cos(angle), y + reach * sin(angle)

    def edge(self, cell: Cell, place: int, scale: float = 1) -> tuple[float, float]:
        """Return the middle of an edge, or a place between it and that of the cell."""
        x, y = self.middle(cell)
        angle = pi * (place / 3 - 2 / 3)
        reach = self.size * scale * 3**0.5 / 2
        return x + reach * cos(angle), y + reach * sin(angle)


def points(places: list[tuple[float, float]]) -> str:
    """Write places as the corners of a polygon."""
    return " ".join(f"{number(x)},{number(y)}" for x, y in places)


def hexagon(frame: Frame, cell: Cell, scale: float, **attributes: str | float) -> str:
    """Draw the hexagon of a cell."""
    corners = [frame.corner(cell, place, scale) for place in range(6)]
    return element("polygon", points=points(corners), **attributes)


def route(frame: Frame, cell: Cell, one: int, other: int) -> str:
    """Draw a route between two edges of a cell, square to both."""
    (x1, y1), (x2, y2) = frame.edge(cell, one), frame.edge(cell, other)
    # Bends are close to a circle around a corner, arcs around a neighbour.
    pull = 1 - {1: 0.33, 2: 0.55, 3: 0.5}[min((one - other) % 6, (other - one) % 6)]
    (a, b), (c, d) = frame.edge(cell, one, pull), frame.edge(cell, other, pull)
    path = (
        f"M{number(x1)} {number(y1)}C{number(a)} {number(b)} "
        f"{number(c)} {number(d)} {number(x2)} {number(y2)}"
    )
    width = frame.size * 0.2
    return element(
        "path", d=path, fill="none", stroke=_BANK, stroke_width=width
    ) + element("path", d=path, fill="none", stroke=_ROUTE, stroke_width=width * 0.62)


def badge(seat: int, x: float, y: float, radius: float) -> str:
    """Draw the sign of a seat around a centre: its number on its colour."""
    return group(
        element(
            "circle",
            cx=x,
            cy=y,
            r=radius,
            fill=SEAT[seat],
            stroke="#ffffff",
            stroke_width=radius / 7,
        ),
        text(x, y + radius * 0.38, seat, radius * 1.1, bold=True, fill=ON_SEAT[seat]),
    )


def panel(x: float, y: float, width: float, height: float, **more: str | float) -> str:
    """Draw a sheet of paper for words."""
    look: dict[str, str | float] = {"stroke": LINE, "stroke_width": 1.5, **more}
    return box(x, y, width, height, rx=14, fill=SHEET, **look)


#: The cells at the corners of the table under the board, clockwise.
OUTLINE: Final[tuple[Cell, ...]] = (
    (0, -RADIUS),
    (RADIUS, -RADIUS),
    (RADIUS, 0),
    (0, RADIUS),
    (-RADIUS, RADIUS),
    (-RADIUS, 0),
)
