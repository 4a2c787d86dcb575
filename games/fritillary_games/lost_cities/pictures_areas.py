"""Parts of the SVG picture beside the board: players, the hand, the side panel.

Each part is drawn at a given place in a given size, in units of the picture.
"""

from __future__ import annotations

from typing import Final

from fritillary_games.lost_cities.cards import COLOURS, ByColour, Colour
from fritillary_games.lost_cities.model import Observation
from fritillary_games.lost_cities.pictures_art import (
    FADED,
    INK,
    LINE,
    SEAT,
    SHEET,
    back,
    card,
    card_height,
)
from fritillary_games.lost_cities.pictures_facts import (
    cap,
    display_order,
    exploit_points,
    hand_size,
    winner,
)
from fritillary_games.svg import SERIF, box, element, group, text

#: How high the strip of a player is whose hand is not seen.
STRIP: Final = 84

#: How high the observer's area is.
HAND: Final = 218

_SMALL: Final = 46
_LARGE: Final = 100


def _frame(
    observation: Observation, seat: int, x: float, y: float, width: float, height: float
) -> list[str]:
    """Draw the frame of a player's area with name and role."""
    active = seat in {observation.to_move, winner(observation)}
    name = f"Seat {seat}"
    roles = ["you"] if seat == observation.seat else []
    if seat == observation.to_move:
        roles.append("to move")
    if observation.reason is not None and seat == winner(observation):
        roles.append("winner")
    parts = [
        box(
            x,
            y,
            width,
            height,
            rx=14,
            fill=SHEET,
            stroke=SEAT[seat] if active else LINE,
            stroke_width=4 if active else 1.5,
        ),
        element("circle", cx=x + 40, cy=y + 42, r=24, fill=SEAT[seat]),
        text(x + 40, y + 51, seat, 26, bold=True, fill="#ffffff", family=SERIF),
        text(x + 76, y + (40 if roles else 50), name, 22, anchor="start", bold=True),
    ]
    if roles:
        parts.append(
            text(x + 76, y + 62, ", ".join(roles), 16, anchor="start", fill=FADED)
        )
    return parts


def player_strip(
    observation: Observation, seat: int, x: float, y: float, width: float
) -> str:
    """Draw a player whose hand is hidden: known cards face up, the rest as backs."""
    known = _cards(observation.known[seat])
    hidden = hand_size(observation, seat) - len(known)
    parts = _frame(observation, seat, x, y, width, STRIP)
    left = x + 236
    top = y + (STRIP - card_height(_SMALL)) / 2
    parts.append(text(left - 14, y + 49, "hand", 16, anchor="end", fill=FADED))
    for colour, rank in known:
        parts.append(card(left, top, _SMALL, colour, rank))
        left += _SMALL + 6
    for _ in range(hidden):
        parts.append(back(left, top, _SMALL))
        left += _SMALL + 6
    if known:
        words = f"{len(known)} known from the discards"
        parts.append(text(left + 10, y + 49, words, 16, anchor="start", fill=FADED))
    return group(*parts, id=f"lc-player-{seat}")


def hand_area(
    observation: Observation, seat: int, x: float, y: float, width: float
) -> str:
    """Draw the observer's hand face up; what the opponent knows of is marked."""
    parts = _frame(observation, seat, x, y, width, HAND)
    known = _cards(observation.known[seat])
    if known:
        parts.append(_dot(x + 244, y + 36, 1 - seat))
        parts.append(
            text(
                x + 260,
                y + 42,
                "your opponent knows this card",
                16,
                anchor="start",
                fill=FADED,
            )
        )
    cards = _cards(observation.hand)
    step = (width - 40) / 8
    left = x + 20 + (step - _LARGE) / 2
    shown = []
    for colour, rank in cards:
        shown.append(card(left, y + 72, _LARGE, colour, rank))
        if (colour, rank) in known:
            known.remove((colour, rank))
            shown.append(_dot(left + _LARGE - 6, y + 77, 1 - seat))
        left += step
    parts.append(group(*shown, id="lc-hand"))
    return group(*parts, id=f"lc-player-{seat}")


def _dot(x: float, y: float, seat: int) -> str:
    """Draw the mark of a card that a seat knows of."""
    return element(
        "circle", cx=x, cy=y, r=9, fill=SEAT[seat], stroke=SHEET, stroke_width=2.5
    )


def _cards(by_colour: ByColour) -> list[tuple[Colour, int]]:
    return [
        (colour, rank)
        for colour, ranks in zip(COLOURS, by_colour, strict=False)
        for rank in ranks
    ]


def side_panel(
    observation: Observation, x: float, y: float, width: float, height: float
) -> str:
    """Draw the draw pile, the scores of the match, and the exploits."""
    options = observation.options
    middle = x + width / 2
    parts = [
        box(x, y, width, height, rx=14, fill=SHEET, stroke=LINE),
        text(middle, y + 28, "Draw pile", 18, bold=True),
        _draw_pile(observation, middle, y + 42),
        text(
            middle,
            y + 186,
            f"Game {observation.game} of {options.games}",
            18,
            bold=True,
        ),
        text(
            middle,
            y + 207,
            f"turn {observation.turns} of {cap(options)}",
            15,
            fill=FADED,
        ),
        _score_table(observation, x, y + 244, width),
    ]
    if options.exploits:
        rows = y + 244 + 26 * (len(observation.scores) + 2) + 24
        parts.append(_exploits(observation, x, rows, width))
    return group(*parts, id="lc-side")


def _draw_pile(observation: Observation, middle: float, y: float) -> str:
    size = observation.deck_size
    layers = (size + 11) // 12
    left = middle - 38 - 2 * layers
    parts = [back(left + 4 * n, y + 2 * n, 76) for n in range(layers)]
    if not size:
        parts.append(
            box(
                middle - 38,
                y,
                76,
                card_height(76),
                rx=8,
                fill="none",
                stroke=LINE,
                stroke_width=2,
                stroke_dasharray="5 4",
            )
        )
    shift = 4 * (layers - 1) if layers else 0
    centre = left + shift + 38 if layers else middle
    parts += [
        element("circle", cx=centre, cy=y + 54, r=25, fill=SHEET, stroke=INK),
        text(centre, y + 63, size, 26, bold=True, family=SERIF),
    ]
    return group(*parts, id="lc-draw-pile")


def _score_table(observation: Observation, x: float, y: float, width: float) -> str:
    far, near = display_order(observation)
    columns = (x + width - 74, x + width - 18)
    parts = []
    for seat, column in zip((far, near), columns, strict=True):
        parts.append(
            text(
                column, y, f"seat {seat}", 14, anchor="end", bold=True, fill=SEAT[seat]
            )
        )
    rows = [
        (f"Game {game}", scores)
        for game, scores in enumerate(observation.scores, start=1)
    ]
    for place, (name, scores) in enumerate([*rows, ("Total", observation.totals)], 1):
        baseline = y + 26 * place
        total = name == "Total"
        if total:
            parts.append(
                box(x + 14, baseline - 20, width - 28, 27, rx=6, fill="#efe4cd")
            )
        parts.append(text(x + 20, baseline, name, 16, anchor="start", bold=total))
        for seat, column in zip((far, near), columns, strict=True):
            parts.append(
                text(column, baseline, scores[seat], 17, anchor="end", bold=total)
            )
    return group(*parts, id="lc-scores")


def _exploits(observation: Observation, x: float, y: float, width: float) -> str:
    """List the exploits, who has claimed each, and what that is worth."""
    parts = [text(x + width / 2, y, "Exploits (10 each)", 16, bold=True)]
    for place, (exploit, owner) in enumerate(
        zip(observation.options.exploits, observation.exploits, strict=True), start=1
    ):
        baseline = y + 27 * place
        fill, stroke = (
            (SEAT[owner], SEAT[owner]) if owner is not None else ("none", LINE)
        )
        parts.append(
            element("circle", cx=x + 20, cy=baseline - 5, r=9, fill=fill, stroke=stroke)
        )
        if owner is not None:
            parts.append(text(x + 20, baseline, owner, 13, bold=True, fill="#ffffff"))
        words = exploit.value.replace("-", " ")
        parts.append(text(x + 38, baseline, words, 16, anchor="start", fill=INK))
    gains = [exploit_points(observation, seat) for seat in (0, 1)]
    if any(gains):
        baseline = y + 27 * (len(observation.exploits) + 1)
        words = f"seat 0 +{gains[0]}, seat 1 +{gains[1]}"
        parts.append(text(x + width / 2, baseline, words, 15, fill=FADED))
    return group(*parts, id="lc-exploits")
