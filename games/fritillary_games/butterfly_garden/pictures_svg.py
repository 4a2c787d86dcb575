"""The picture for pages: the board, the players beside it, the own tiles below."""

from __future__ import annotations

from typing import Final

from fritillary_games.butterfly_garden.actions import TILE_NUMBERS, TILES, TURNS
from fritillary_games.butterfly_garden.model import VALUES, Observation
from fritillary_games.butterfly_garden.pictures_art import (
    FADED,
    GOLD,
    INK,
    LINE,
    ON_SEAT,
    PAPER,
    SEAT,
    badge,
    definitions,
    panel,
    path_tile,
    tile_back,
    treasure,
)
from fritillary_games.butterfly_garden.pictures_board import HEIGHT, WIDTH, board
from fritillary_games.butterfly_garden.pictures_facts import (
    TREASURES,
    display_order,
    headline,
    in_hand,
    summary,
    title,
    winners,
)
from fritillary_games.svg import (
    SERIF,
    box,
    document,
    group,
    text,
)

_WHOLE: Final = 1000
_MARGIN: Final = 24
_GAP: Final = 14
_HEAD: Final = 76

#: A player's area, and the one of the stack.
_PLAYER: Final = 112
_STACK: Final = 206

#: The observer's tiles: their size, how far apart they are, the height of the strip.
_TURN: Final = 34
_TURN_STEP: Final = 102
_HAND: Final = 136


def svg_picture(observation: Observation) -> str:
    """Draw an observation as an SVG document, 1000 wide, its height as needed."""
    side_x = _MARGIN + WIDTH + _GAP
    side_width = _WHOLE - _MARGIN - side_x
    seats = display_order(observation)
    side = len(seats) * (_PLAYER + _GAP) + _STACK
    y = _HEAD + max(0.0, HEIGHT - side) / 2
    board_y = _HEAD + max(0.0, side - HEIGHT) / 2
    parts = [_header(observation), board(observation, _MARGIN, board_y)]
    for seat in seats:
        parts.append(_player(observation, seat, side_x, y, side_width))
        y += _PLAYER + _GAP
    parts.append(_stack(observation, side_x, y, side_width))
    bottom = _HEAD + max(HEIGHT, side) + _GAP
    if observation.seat is not None:
        parts.append(_hand(observation, bottom))
        bottom += _HAND + _GAP
    bottom += _MARGIN - _GAP
    name = f"{title(observation)}: {headline(observation)}"
    return document(
        parts,
        prefix="bg",
        title=name,
        description=summary(observation),
        definitions=definitions(observation.options.edition),
        width=_WHOLE,
        height=bottom,
        paper=PAPER,
    )


def _header(observation: Observation) -> str:
    edition = observation.options.edition
    parts = [
        treasure(edition, value, _MARGIN + 18 + 26 * (value - 1), 41, 30)
        for value in VALUES
    ]
    parts.append(
        text(
            _MARGIN + 104,
            52,
            title(observation),
            34,
            anchor="start",
            bold=True,
            family=SERIF,
        )
    )
    words = headline(observation)
    words = words[0].upper() + words[1:]
    won = winners(observation)
    actor = observation.to_move
    fill, ink = GOLD, INK
    if actor is None and len(won) == 1:
        actor = won[0]
    elif actor is not None:
        fill, ink = SEAT[actor], ON_SEAT[actor]
    width = 430
    x = _WHOLE - _MARGIN - width
    parts.append(box(x, 18, width, 44, rx=22, fill=fill))
    aside = 0
    if actor is not None:
        aside = 18
        parts.append(badge(actor, x + 23, 40, 17))
    middle = x + aside + width / 2
    parts.append(text(middle, 47, words, 19, bold=True, fill=ink))
    return group(*parts, id="bg-headline")


def _player(
    observation: Observation, seat: int, x: float, y: float, width: float
) -> str:
    """Draw what is known of a seat: points, what it has collected, its hand."""
    won = seat in winners(observation)
    roles = ["you"] if seat == observation.seat else []
    look: dict[str, str | float] = {}
    if won:
        roles.append("winner")
        look = {"stroke": GOLD, "stroke_width": 4}
    elif seat == observation.to_move:
        roles.append("to move")
        look = {"stroke": SEAT[seat], "stroke_width": 4}
    parts = [
        panel(x, y, width, _PLAYER, **look),
        badge(seat, x + 30, y + 31, 18),
        text(
            x + 58,
            y + (30 if roles else 38),
            f"Seat {seat}",
            20,
            anchor="start",
            bold=True,
        ),
        text(x + 58, y + 48, ", ".join(roles), 14, anchor="start", fill=FADED),
    ]
    edition = observation.options.edition
    score, taken = observation.scores[seat], observation.taken[seat]
    shown = "?" if score is None else score
    right = x + width - 16
    parts += [
        text(right, y + 36, shown, 30, anchor="end", bold=True, family=SERIF),
        text(
            right,
            y + 53,
            "point" if score == 1 else "points",
            13,
            anchor="end",
            fill=FADED,
        ),
    ]
    for value in VALUES:
        place = x + 24 + (value - 1) * 48
        parts.append(treasure(edition, value, place, y + 84, 27))
        count = "?" if taken is None else taken[value - 1]
        parts.append(text(place + 18, y + 90, count, 17, anchor="start", bold=True))
    hand = observation.hands[seat]
    for place in range(observation.hand_sizes[seat]):
        middle = right - 18 - 40 * place
        if hand is None:
            parts.append(tile_back(edition, middle, y + 84, 21))
        else:
            tile = hand[-1 - place]
            parts.append(path_tile(edition, tile, 0, middle, y + 84, 21))
    return group(*parts, id=f"bg-player-{seat}")


def _stack(observation: Observation, x: float, y: float, width: float) -> str:
    """Draw the stack, which tiles are not placed yet, and the worth of treasures."""
    edition = observation.options.edition
    parts = [
        panel(x, y, width, _STACK),
        *(
            tile_back(edition, x + 40 + 3 * place, y + 36 - 3 * place, 22)
            # One more back for each dozen shows roughly how high the stack is.
            for place in range(-(-observation.stack // 12))
        ),
        text(
            x + 86,
            y + 44,
            observation.stack,
            28,
            anchor="start",
            bold=True,
            family=SERIF,
        ),
        text(x + 130, y + 43, "in the stack", 14, anchor="start", fill=FADED),
        text(x + 16, y + 82, "not placed yet", 13, anchor="start", fill=FADED),
    ]
    step = (width - 12) / len(TILES)
    for place, tile in enumerate(TILES):
        count = observation.unplaced[place]
        middle = x + 6 + (place + 0.5) * step
        parts += [
            path_tile(edition, tile, 0, middle, y + 107, 18),
            text(middle, y + 145, count, 16, bold=True),
        ]
    step = (width - 16) / len(VALUES)
    for value, name in zip(VALUES, TREASURES[edition], strict=True):
        left = x + 8 + (value - 1) * step
        points = "1 point" if value == 1 else f"{value} points"
        parts += [
            treasure(edition, value, left + 11, y + 176, 22),
            text(left + 24, y + 172, name, 12, anchor="start"),
            text(left + 24, y + 186, points, 11.5, anchor="start", fill=FADED),
        ]
    return group(*parts, id="bg-stack")


def _hand(observation: Observation, y: float) -> str:
    """Draw every turn of the observer's tiles, with the words to type."""
    edition = observation.options.edition
    turns = [
        (tile, turn)
        for tile in in_hand(observation)
        for turn in range(TURNS[TILE_NUMBERS[tile]])
    ]
    width = _WHOLE - 2 * _MARGIN
    parts = [panel(_MARGIN, y, width, _HAND)]
    x = _WHOLE / 2 - _TURN_STEP * (len(turns) - 1) / 2
    for place, (tile, turn) in enumerate(turns):
        middle = x + _TURN_STEP * place
        if place and turns[place - 1][0] is not tile:
            line = middle - _TURN_STEP / 2
            parts.append(box(line, y + 14, 1.5, _HAND - 28, fill=LINE))
        parts += [
            path_tile(edition, tile, turn, middle, y + 50, _TURN),
            text(middle, y + 112, f"{tile.value} {turn}", 17, bold=True),
        ]
    if not turns:
        parts.append(text(_WHOLE / 2, y + 74, "No tile in hand", 18, fill=FADED))
    return group(*parts, id="bg-hand")
