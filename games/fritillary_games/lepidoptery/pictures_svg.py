"""The picture of Lepidoptery for pages: a display case of butterflies."""

from __future__ import annotations

from typing import Final

from fritillary_games.lepidoptery.model import Observation
from fritillary_games.lepidoptery.pictures_areas import (
    STRIP,
    TABLE,
    TALLY,
    hand_height,
    played_panel,
    player_area,
    table_panel,
)
from fritillary_games.lepidoptery.pictures_art import (
    GOLD,
    INK,
    LINE,
    ON_SEAT,
    PAPER,
    SEAT,
    SHEET,
    combo_icon,
    crossed,
    definitions,
    token,
)
from fritillary_games.lepidoptery.pictures_facts import (
    NAMES,
    Cell,
    display_order,
    headline,
    is_full,
    newest_token,
    summary,
    winning_lines,
)
from fritillary_games.svg import (
    SERIF,
    box,
    document,
    element,
    group,
    number,
    text,
    use,
)

WIDTH: Final = 1000
_MARGIN: Final = 24
_INNER: Final = WIDTH - 2 * _MARGIN
_GAP: Final = 16
_HEAD: Final = 76

#: The case: a window for each column, the frame around them, above each window
#: room for a lid, below it a name plate, and below the frame room for markers.
_COLUMN: Final = 88
_FRAME: Final = 16
_LID: Final = 26
_PLATE: Final = 62
_NOTE: Final = 30


def svg_picture(observation: Observation) -> str:
    """Draw an observation as an SVG document, 1000 wide, its height as needed."""
    heights = observation.options.heights
    cell = min(62.0, max(40.0, 420 / max(heights)))
    case_width = len(heights) * _COLUMN + 2 * _FRAME
    case = _LID + max(heights) * cell + _PLATE + _FRAME + _NOTE
    # Both panels at the side grow until they are as high as the frame.
    spare = max(0.0, case - _NOTE - TABLE - _GAP - TALLY)
    table, played = TABLE + spare / 2, TALLY + spare / 2
    middle = max(case, TABLE + _GAP + TALLY)
    side_x = _MARGIN + case_width + _GAP
    side_width = _INNER - case_width - _GAP
    above, below = display_order(observation)
    y = float(_HEAD)
    parts = [
        _header(observation),
        player_area(observation, above, _MARGIN, y, _INNER),
    ]
    y += STRIP + _GAP
    parts += [
        _board(observation, y + (middle - case) / 2, cell),
        table_panel(observation, side_x, y, side_width, table),
        played_panel(observation, side_x, y + table + _GAP, side_width, played),
    ]
    y += middle + _GAP
    parts.append(player_area(observation, below, _MARGIN, y, _INNER))
    y += STRIP + hand_height(observation) + _MARGIN
    return document(
        parts,
        prefix="lep",
        title=f"Lepidoptery: {headline(observation)}",
        description=summary(observation),
        definitions=definitions(),
        width=WIDTH,
        height=y,
        paper=PAPER,
    )


def _header(observation: Observation) -> str:
    parts = [
        use("lep-spotted", _MARGIN + 24, 40, 0.52, fill="#b8651b", color="#b8651b"),
        text(
            _MARGIN + 60, 50, "Lepidoptery", 34, anchor="start", bold=True, family=SERIF
        ),
    ]
    words = headline(observation)
    words = words[0].upper() + words[1:]
    actor = observation.to_move
    fill, ink = LINE, INK
    if observation.winner is not None:
        actor = observation.winner
        fill = GOLD
    elif actor is not None:
        fill, ink = SEAT[actor], ON_SEAT[actor]
    width = 400
    x = WIDTH - _MARGIN - width
    parts.append(box(x, 18, width, 44, rx=22, fill=fill))
    if actor is not None:
        parts += [
            element("circle", cx=x + 22, cy=40, r=19, fill=SHEET),
            token(actor, x + 22, 40, 32),
        ]
    parts.append(text(x + 22 + width / 2, 47, words, 20, bold=True, fill=ink))
    return group(*parts, id="lep-headline")


def _board(observation: Observation, y: float, cell: float) -> str:
    heights = observation.options.heights
    floor = y + _LID + max(heights) * cell
    parts = [
        box(
            _MARGIN,
            y,
            len(heights) * _COLUMN + 2 * _FRAME,
            floor - y + _PLATE + _FRAME,
            rx=16,
            fill="url(#lep-wood)",
            stroke="#4f3219",
            stroke_width=2,
        )
    ]
    parts += [
        _column(observation, column, floor, cell) for column in range(len(heights))
    ]

    def middle(place: Cell) -> tuple[float, float]:
        column, row = place
        return (
            _MARGIN + _FRAME + (column + 0.5) * _COLUMN,
            floor - (row + 0.5) * cell,
        )

    lines = winning_lines(observation)
    won = {place for line in lines for place in line}
    for line in lines:
        (x1, y1), (x2, y2) = middle(line[0]), middle(line[-1])
        parts.append(
            element(
                "path",
                d=f"M{number(x1)} {number(y1)}L{number(x2)} {number(y2)}",
                stroke=GOLD,
                stroke_width=cell * 0.3,
                stroke_linecap="round",
            )
        )
    newest = newest_token(observation)
    for column, tokens in enumerate(observation.columns):
        for row, seat in enumerate(tokens):
            cx, cy = middle((column, row))
            if (column, row) in won:
                parts.append(
                    element("circle", cx=cx, cy=cy, r=cell * 0.5 - 0.5, fill=GOLD)
                )
            parts.append(token(seat, cx, cy, cell - 10))
            if (column, row) == newest and (column, row) not in won:
                parts.append(
                    element(
                        "circle",
                        cx=cx,
                        cy=cy,
                        r=cell * 0.5 - 1.5,
                        fill="none",
                        stroke=INK,
                        stroke_width=2,
                        stroke_dasharray="5 3",
                    )
                )
    return group(*parts, id="lep-board")


def _column(observation: Observation, column: int, floor: float, cell: float) -> str:
    """Draw the window of a column, its name plate, and who may not play it."""
    combo = observation.options.order[column]
    height = observation.options.heights[column]
    full = is_full(observation, column)
    x = _MARGIN + _FRAME + column * _COLUMN
    middle = x + _COLUMN / 2
    top = floor - height * cell
    parts = [
        box(
            x + 4,
            top,
            _COLUMN - 8,
            height * cell,
            rx=8,
            fill="#d9cdb4" if full else "#fbf6e9",
            stroke="#4f3219",
            stroke_width=1.5,
        )
    ]
    for row in range(len(observation.columns[column]), height):
        cy = floor - (row + 0.5) * cell
        parts.append(
            element(
                "circle",
                cx=middle,
                cy=cy,
                r=cell * 0.36,
                fill="none",
                stroke="#b9a988",
                stroke_width=1.3,
                stroke_dasharray="3 4",
            )
        )
    if full:
        parts += [
            box(middle - 28, top - 21, 56, 18, rx=4, fill="#a3152a"),
            text(middle, top - 7.5, "FULL", 13, bold=True, fill="#ffffff"),
        ]
    parts += [
        box(
            x + 4,
            floor + 6,
            _COLUMN - 8,
            _PLATE - 2,
            rx=6,
            fill=SHEET,
            stroke="#4f3219",
        ),
        text(middle, floor + 23, NAMES[combo], 14, bold=True),
        combo_icon(combo, middle, floor + 46),
    ]
    barred = [s for s, marker in enumerate(observation.markers) if marker is combo]
    if barred:
        left = middle - (20 + 24 * len(barred)) / 2
        y = floor + _PLATE + _FRAME + 18
        parts.append(crossed(left + 9, y, 18))
        parts += [token(s, left + 34 + 24 * i, y, 20) for i, s in enumerate(barred)]
    return group(*parts, id=f"lep-column-{column}")
