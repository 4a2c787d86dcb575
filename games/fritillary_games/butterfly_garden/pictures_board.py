"""The board of the SVG picture: cells, tiles, gateways, treasures."""

from __future__ import annotations

from typing import Final

from fritillary_games.butterfly_garden.board import CELLS, NAMES, PLACES
from fritillary_games.butterfly_garden.geometry import (
    CENTRE,
    CORNERS,
    GATEWAYS,
    Cell,
)
from fritillary_games.butterfly_garden.model import Observation
from fritillary_games.butterfly_garden.pictures_art import (
    GOLD,
    INK,
    OUTLINE,
    PALETTES,
    SEAT,
    Frame,
    Palette,
    badge,
    empty_cell,
    hexagon,
    path_tile,
    points,
    route,
    treasure,
)
from fritillary_games.svg import element, group, number, text

#: From the middle of a cell to its corners.
SIZE: Final = 40.0

#: How far the table reaches beyond the middles of the corner cells.
_TABLE: Final = 1.7 * SIZE

#: How wide and how high the whole board is.
WIDTH: Final = 8 * SIZE * 3**0.5 + 2 * _TABLE
HEIGHT: Final = 12 * SIZE + 2 * _TABLE * 3**0.5 / 2

#: How far out of the cells gateways are drawn, and how broad.
_OUT: Final = 10.0
_BAND: Final = 13.0

#: Where the treasures of the centre lie: five around the one worth 3.
_RING: Final = 0.62


def board(observation: Observation, x: float, y: float) -> str:
    """Draw the board into a box of `WIDTH` by `HEIGHT`."""
    frame = Frame(x + WIDTH / 2, y + HEIGHT / 2, SIZE)
    edition = observation.options.edition
    palette = PALETTES[edition]
    filled = {(q, r) for _, q, r, _ in observation.placed}
    parts = [_table(frame, palette)]
    parts += [
        _gateway(frame, place, owners)
        for place, owners in enumerate(observation.owners)
    ]
    parts += [
        _empty(observation, frame, cell, name)
        for cell, name in zip(CELLS[:PLACES], NAMES[:PLACES], strict=True)
        if cell not in filled
    ]
    parts += [
        path_tile(edition, tile, turn, *frame.middle((q, r)), SIZE)
        for tile, q, r, turn in observation.placed
    ]
    for corner in CORNERS:
        parts += [
            _special(frame, corner.cell, palette),
            route(frame, corner.cell, *corner.uturn),
        ]
    parts.append(_centre(frame, observation, palette))
    last = observation.last
    if last is not None:
        parts.append(
            hexagon(
                frame,
                (last.q, last.r),
                0.95,
                fill="none",
                stroke=GOLD,
                stroke_width=4.5,
                stroke_linejoin="round",
                id="bg-last",
            )
        )
    waiting = [
        treasure(
            edition,
            each.value,
            *frame.edge((each.q, each.r), each.edge, 0.78),
            SIZE * 0.64,
        )
        for each in observation.waiting
    ]
    if waiting:
        parts.append(group(*waiting, id="bg-waiting"))
    return group(*parts, id="bg-board")


def _table(frame: Frame, palette: Palette) -> str:
    """Draw the table: a big hexagon that lies on its side."""
    middles = [frame.middle(cell) for cell in OUTLINE]
    scale = 1 + _TABLE / (8 * SIZE * 3**0.5 / 2)
    corners = [
        (frame.x + (x - frame.x) * scale, frame.y + (y - frame.y) * scale)
        for x, y in middles
    ]
    return element(
        "polygon",
        points=points(corners),
        fill=palette.board,
        stroke=INK,
        stroke_width=2,
        stroke_linejoin="round",
    )


def _gateway(frame: Frame, place: int, owners: tuple[int, ...]) -> str:
    """Draw the six exits of a gateway, each in the colour of an owner."""
    gateway = GATEWAYS[place]
    (x1, y1), (x2, y2) = (frame.edge(CENTRE, edge) for edge in gateway.edges)
    away = ((x1 + x2) / 2 - frame.x, (y1 + y2) / 2 - frame.y)
    scale = _OUT / (away[0] ** 2 + away[1] ** 2) ** 0.5
    right, down = away[0] * scale, away[1] * scale
    parts = []
    for cell in gateway.cells:
        for turn, edge in enumerate(gateway.edges):
            ends = [frame.corner(cell, edge), frame.corner(cell, edge + 1)]
            (a, b), (c, d) = [(x + right, y + down) for x, y in ends]
            parts.append(
                element(
                    "path",
                    d=f"M{number(a)} {number(b)}L{number(c)} {number(d)}",
                    stroke=SEAT[owners[turn % len(owners)]],
                    stroke_width=_BAND,
                    stroke_linecap="round",
                )
            )
    x, y = frame.middle(gateway.cells[1])
    x, y = x + right / _OUT * SIZE * 1.28, y + down / _OUT * SIZE * 1.28
    for turn, owner in enumerate(owners):
        # Two badges stand side by side along the gateway.
        aside = (turn - (len(owners) - 1) / 2) * 27
        parts.append(
            badge(owner, x - down / _OUT * aside, y + right / _OUT * aside, 12)
        )
    return group(*parts, id=f"bg-gateway-{place + 1}")


def _empty(observation: Observation, frame: Frame, cell: Cell, name: str) -> str:
    x, y = frame.middle(cell)
    edition = observation.options.edition
    mark = PALETTES[edition].mark
    return empty_cell(edition, x, y, SIZE) + text(x, y + 5, name, 14, fill=mark)


def _special(frame: Frame, cell: Cell, palette: Palette) -> str:
    return hexagon(
        frame, cell, 0.97, fill=palette.special, stroke=INK, stroke_width=1.2
    )


def _centre(frame: Frame, observation: Observation, palette: Palette) -> str:
    """Draw the centre tile and the treasures that are still there."""
    parts = [_special(frame, CENTRE, palette)]
    stock = observation.centre
    for place, value in enumerate(stock):
        if place == len(stock) - 1:
            x, y = frame.middle(CENTRE)
        else:
            x, y = frame.corner(CENTRE, place, _RING)
        parts.append(treasure(observation.options.edition, value, x, y, SIZE * 0.54))
    return group(*parts, id="bg-centre")
