"""The picture of Lost Cities for pages: a table with both players' expeditions."""

from __future__ import annotations

from typing import Final

from fritillary_games.lost_cities.cards import COLOURS
from fritillary_games.lost_cities.model import Observation
from fritillary_games.lost_cities.pictures_areas import (
    HAND,
    STRIP,
    hand_area,
    player_strip,
    side_panel,
)
from fritillary_games.lost_cities.pictures_art import (
    FADED,
    GOLD,
    INK,
    LINE,
    PAPER,
    SEAT,
    SHEET,
    card,
    card_height,
    chip,
    crossed,
    definitions,
    slot,
)
from fritillary_games.lost_cities.pictures_facts import (
    column_scores,
    display_order,
    headline,
    mark,
    signed,
    summary,
    winner,
)
from fritillary_games.svg import (
    SERIF,
    box,
    document,
    group,
    text,
    use,
)

WIDTH: Final = 1000
_MARGIN: Final = 24
_INNER: Final = WIDTH - 2 * _MARGIN
_GAP: Final = 14
_HEAD: Final = 76

#: The panel beside the board.
_SIDE: Final = 206
_BOARD: Final = _INNER - _SIDE - _GAP

#: A card of an expedition, and how far each looks out from under the next.
_CARD: Final = 76
_CARD_HEIGHT: Final = card_height(_CARD)
_PEEK: Final = 27
_FEWEST: Final = 3

#: Room for the points at the ends of the expeditions.
_CHIPS: Final = 40

#: The band of the discard piles: room around the cards and for two lines below.
_PAD: Final = 12
_LINES: Final = 42
_BAND: Final = _CARD_HEIGHT + 2 * _PAD + _LINES

#: So many ranks below the top of a pile stand in one line.
_PER_LINE: Final = 6


def svg_picture(observation: Observation) -> str:
    """Draw an observation as an SVG document, 1000 wide, its height as needed."""
    far, near = display_order(observation)
    reach = [_reach(observation, seat) for seat in (far, near)]
    board = 2 * _CHIPS + reach[0] + _BAND + reach[1]
    y = float(_HEAD)
    parts = [_header(observation)]
    parts.append(player_strip(observation, far, _MARGIN, y, _INNER))
    y += STRIP + _GAP
    parts += [
        _board(observation, y, reach, board),
        side_panel(observation, _MARGIN + _BOARD + _GAP, y, _SIDE, board),
    ]
    y += board + _GAP
    if observation.seat is None:
        parts.append(player_strip(observation, near, _MARGIN, y, _INNER))
        y += STRIP
    else:
        parts.append(hand_area(observation, near, _MARGIN, y, _INNER))
        y += HAND
    y += _MARGIN
    return document(
        parts,
        prefix="lc",
        title=f"Lost Cities: {headline(observation)}",
        description=summary(observation),
        definitions=definitions(),
        width=WIDTH,
        height=y,
        paper=PAPER,
    )


def _header(observation: Observation) -> str:
    parts = [
        use("lc-rose", _MARGIN + 24, 40, 0.46, fill="#8a4b1f", color="#8a4b1f"),
        text(
            _MARGIN + 60, 51, "Lost Cities", 34, anchor="start", bold=True, family=SERIF
        ),
    ]
    words = headline(observation)
    words = words[0].upper() + words[1:]
    fill, ink = LINE, INK
    if observation.to_move is not None:
        fill, ink = SEAT[observation.to_move], "#ffffff"
    elif winner(observation) is not None:
        fill = GOLD
    width = 420
    x = WIDTH - _MARGIN - width
    parts += [
        box(x, 18, width, 44, rx=22, fill=fill),
        text(x + width / 2, 46.5, words, 18, bold=True, fill=ink),
    ]
    return group(*parts, id="lc-headline")


def _reach(observation: Observation, seat: int) -> float:
    """Return how far the longest expedition of a seat reaches from the piles."""
    longest = max(map(len, observation.expeditions[seat]))
    return _CARD_HEIGHT + (max(longest, _FEWEST) - 1) * _PEEK + _PAD


def _board(
    observation: Observation, y: float, reach: list[float], height: float
) -> str:
    far, near = display_order(observation)
    band = y + _CHIPS + reach[0]
    parts = [
        box(_MARGIN, y, _BOARD, height, rx=14, fill=SHEET, stroke=LINE),
        box(_MARGIN, band, _BOARD, _BAND, fill="#ddcba3", stroke=LINE),
    ]
    points = [column_scores(observation, seat) for seat in (far, near)]
    colours = observation.options.colours
    step = _BOARD / colours
    for place in range(colours):
        middle = _MARGIN + (place + 0.5) * step
        parts += [
            _expedition(observation, far, place, middle, band - _PAD, up=True),
            _pile(observation, place, middle, band),
            _expedition(
                observation, near, place, middle, band + _BAND + _PAD, up=False
            ),
            _chip(observation, far, place, middle, y + _CHIPS / 2, points[0][place]),
            _chip(
                observation,
                near,
                place,
                middle,
                y + height - _CHIPS / 2,
                points[1][place],
            ),
        ]
    return group(*parts, id="lc-board")


def _chip(
    observation: Observation, seat: int, place: int, x: float, y: float, points: int
) -> str:
    if not observation.expeditions[seat][place]:
        return chip(x, y, "–", good=None)
    return chip(x, y, signed(points), good=points >= 0)


def _expedition(
    observation: Observation,
    seat: int,
    place: int,
    middle: float,
    y: float,
    *,
    up: bool,
) -> str:
    """Draw an expedition that leads up or down from a height, the newest on top."""
    parts = []
    for index, rank in enumerate(observation.expeditions[seat][place]):
        top = y - _CARD_HEIGHT - index * _PEEK if up else y + index * _PEEK
        parts.append(card(middle - _CARD / 2, top, _CARD, COLOURS[place], rank))
    return group(*parts, id=f"lc-expedition-{seat}-{COLOURS[place].value}")


def _pile(observation: Observation, place: int, middle: float, y: float) -> str:
    """Draw the top of a discard pile, and below it the ranks that lie under it."""
    colour = COLOURS[place]
    pile = observation.discards[place]
    left, top = middle - _CARD / 2, y + _PAD
    parts = []
    if not pile:
        parts.append(slot(left, top, _CARD, colour))
    else:
        parts += [
            box(
                left + 3 * depth,
                top + 3 * depth,
                _CARD,
                _CARD_HEIGHT,
                rx=8,
                fill="#f7ecd2",
                stroke="#8b7a5c",
            )
            for depth in range(min(len(pile) - 1, 3), 0, -1)
        ]
        parts.append(card(left, top, _CARD, colour, pile[-1]))
    if colour is observation.barred:
        parts.append(crossed(left + _CARD - 6, top + 6, 30))
    below = [mark(rank) for rank in pile[:-1]]
    baseline = top + _CARD_HEIGHT + 26
    for start in range(0, len(below), _PER_LINE):
        line = " ".join(below[start : start + _PER_LINE])
        parts.append(text(middle, baseline, line, 13.5, bold=True, fill=FADED))
        baseline += 18
    return group(*parts, id=f"lc-pile-{colour.value}")
