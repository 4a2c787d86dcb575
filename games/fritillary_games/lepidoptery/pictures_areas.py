"""Parts of the SVG picture beside the board: players, the table, played cards.

Each part is drawn at a given place in a given size, in units of the picture.
"""

from __future__ import annotations

from math import cos, radians, sin
from typing import Final

from fritillary_games.lepidoptery.model import COPIES, RANKS, Observation
from fritillary_games.lepidoptery.pictures_art import (
    FADED,
    INK,
    LINE,
    SEAT,
    SHEET,
    card,
    crossed,
    joker_card,
    token,
)
from fritillary_games.lepidoptery.pictures_facts import (
    NAMES,
    cards_of,
    display_order,
    table_owner,
    tally,
)
from fritillary_games.svg import (
    SERIF,
    box,
    element,
    group,
    number,
    text,
    use,
)

#: How high a player's area is without a hand.
STRIP: Final = 96

#: How high the panels of the table and of the played cards are at least.
TABLE: Final = 196
TALLY: Final = 196

#: The observer's cards, and how far one behind another looks out above it.
_CARD: Final = 76
_CARD_HEIGHT: Final = 106
_PEEK: Final = 24


def player_area(
    observation: Observation, seat: int, x: float, y: float, width: float
) -> str:
    """Draw a player's area; the observer's own also shows the hand face up."""
    own = seat == observation.seat
    active = seat in {observation.to_move, observation.winner}
    parts = [
        box(
            x,
            y,
            width,
            STRIP + (hand_height(observation) if own else 0),
            rx=14,
            fill=SHEET,
            stroke=SEAT[seat] if active else LINE,
            stroke_width=4 if active else 1.5,
        ),
        token(seat, x + 48, y + 48, 56),
    ]
    roles = ["you"] if own else []
    if seat == observation.winner:
        roles.append("winner")
    elif seat == observation.to_move:
        roles.append("to move")
    parts += [
        text(
            x + 90,
            y + (46 if roles else 56),
            f"Seat {seat}",
            24,
            anchor="start",
            bold=True,
        ),
        text(x + 90, y + 70, ", ".join(roles), 15, anchor="start", fill=FADED),
        _marker(observation, seat, x + 228, y),
        _joker(observation, seat, x + 396, y),
        _deck(observation, seat, x + 536, y),
        _counter(x + 706, y, observation.hand_sizes[seat], "in hand"),
    ]
    if own:
        parts.append(_hand(observation, x + width / 2, y + STRIP))
    else:
        parts.append(_fan(seat, observation.hand_sizes[seat], x + 848, y + 20))
    return group(*parts, id=f"lep-player-{seat}")


def _counter(x: float, y: float, count: int, words: str) -> str:
    return text(x, y + 52, count, 28, bold=True, family=SERIF) + text(
        x, y + 72, words, 14, fill=FADED
    )


def _marker(observation: Observation, seat: int, x: float, y: float) -> str:
    marker = observation.markers[seat]
    if marker is None:
        return text(x + 32, y + 44, "may play", 14, anchor="start", fill=FADED) + text(
            x + 32, y + 65, "any type", 18, anchor="start", bold=True
        )
    return group(
        crossed(x + 10, y + 50, 26),
        text(x + 32, y + 44, "may not play", 14, anchor="start", fill=FADED),
        text(x + 32, y + 65, NAMES[marker], 18, anchor="start", bold=True),
    )


def _joker(observation: Observation, seat: int, x: float, y: float) -> str:
    ready = observation.jokers[seat]
    return group(
        joker_card(seat, x, y + 20, ready=ready),
        text(x + 50, y + 44, "joker", 14, anchor="start", fill=FADED),
        text(
            x + 50, y + 65, "ready" if ready else "used", 18, anchor="start", bold=True
        ),
    )


def _empty_card(x: float, y: float) -> str:
    return box(
        x, y, 40, 56, rx=5, fill="none", stroke="#a89c80", stroke_dasharray="4 4"
    )


def _deck(observation: Observation, seat: int, x: float, y: float) -> str:
    size = observation.deck_sizes[seat]
    # One more back for each dozen shows roughly how high the deck still is.
    backs = [
        use(f"lep-back-{seat}", x + 3 * place, y + 23 - 3 * place)
        for place in range(0 if not size else 1 + size // 12)
    ]
    return group(
        *(backs or [_empty_card(x, y + 20)]),
        _counter(x + 78, y, size, "in deck"),
    )


def _fan(seat: int, count: int, x: float, y: float) -> str:
    """Draw the backs of a hand as a fan around a middle ``x``."""
    if not count:
        return _empty_card(x - 20, y - 2)
    spread = min(38.0, 4.0 * (count - 1))
    radius = 210
    backs = []
    for place in range(count):
        angle = 0.0
        if count > 1:
            angle = spread * (place / (count - 1) - 0.5)
        turned = radians(angle)
        middle = x + radius * sin(turned)
        top = y + radius * (1 - cos(turned))
        backs.append(
            element(
                "use",
                href=f"#lep-back-{seat}",
                transform=(
                    f"translate({number(middle)} {number(top)}) "
                    f"rotate({number(angle)}) translate(-20 0)"
                ),
            )
        )
    return group(*backs)


def hand_height(observation: Observation) -> float:
    """Return how much higher the observer's area is than the other one."""
    if observation.seat is None:
        return 0
    most = max(tally(observation.hand))
    return _CARD_HEIGHT + _PEEK * (most - 1) + 24 if most else 56


def _hand(observation: Observation, middle: float, y: float) -> str:
    """Draw the observer's cards in one row, equal ranks behind each other."""
    floor = y + hand_height(observation) - 20
    piles = [(r, n) for r, n in zip(RANKS, tally(observation.hand), strict=True) if n]
    if not piles:
        words = text(middle, floor, "No cards in hand", 18, fill=FADED)
        return group(words, id="lep-hand")
    x = middle - (len(piles) * (_CARD + 14) - 14) / 2
    parts = []
    for rank, count in piles:
        for place in range(count - 1, -1, -1):
            top = floor - _CARD_HEIGHT - _PEEK * place
            parts.append(card(x, top, _CARD, _CARD_HEIGHT, rank))
        x += _CARD + 14
    return group(*parts, id="lep-hand")


def _panel(x: float, y: float, width: float, height: float, heading: str) -> str:
    return box(
        x, y, width, height, rx=14, fill=SHEET, stroke=LINE, stroke_width=1.5
    ) + text(x + 20, y + 32, heading, 18, anchor="start", bold=True, family=SERIF)


def table_panel(
    observation: Observation, x: float, y: float, width: float, height: float
) -> str:
    """Draw the combination to beat, as cards, and who played it."""
    parts = [_panel(x, y, width, height, "On the table")]
    play = observation.table
    top = y + (height - TABLE) / 2 + 52
    if play is None:
        words = "The table is clear"
        if observation.to_move is not None:
            words += f": seat {observation.to_move} leads"
        parts += [
            box(
                x + 20,
                top,
                width - 40,
                120,
                rx=12,
                fill="none",
                stroke="#a89c80",
                stroke_dasharray="6 6",
            ),
            text(x + width / 2, top + 66, words, 17, fill=FADED),
        ]
        return group(*parts, id="lep-table")
    if not observation.options.same_type_may_beat:
        words = f"no {NAMES[play.combo]} may beat it"
        parts.append(text(x + width - 20, y + 32, words, 14, anchor="end", fill=FADED))
    x += 20
    for rank, joker in cards_of(play):
        parts.append(card(x, top, 82, 120, rank, joker=joker))
        x += 92
    x += 16
    parts += [
        text(x, top + 30, NAMES[play.combo], 20, anchor="start", bold=True),
        text(x, top + 54, f"lowest rank {play.rank}", 14, anchor="start", fill=FADED),
    ]
    owner = table_owner(observation)
    if owner is not None:
        parts += [
            token(owner, x + 14, top + 84, 28),
            text(x + 36, top + 89, f"seat {owner}", 15, anchor="start"),
        ]
    return group(*parts, id="lep-table")


def played_panel(
    observation: Observation, x: float, y: float, width: float, height: float
) -> str:
    """Draw how many cards of each rank each player has played, of how many (L-a)."""
    parts = [_panel(x, y, width, height, "Cards played")]
    y += (height - TALLY) / 2
    step = (width - 84) / len(RANKS)
    middles = [x + 70 + (place + 0.5) * step for place in range(len(RANKS))]
    parts += [
        text(middle, y + 62, rank, 15, bold=True, fill=FADED)
        for middle, rank in zip(middles, RANKS, strict=True)
    ]
    for line, seat in enumerate(display_order(observation)):
        top = y + 76 + 56 * line
        parts.append(token(seat, x + 38, top + 22, 30))
        counts = tally(observation.played[seat])
        for middle, count, copies in zip(middles, counts, COPIES, strict=True):
            parts += [
                box(
                    middle + 7 * pip - (7 * copies - 2) / 2,
                    top,
                    5,
                    18,
                    rx=1.5,
                    fill=SEAT[seat] if pip < count else "#efe8d6",
                    stroke=FADED if pip < count else "#cfc3a6",
                    stroke_width=0.8,
                )
                for pip in range(copies)
            ]
            fill = INK if count else FADED
            parts.append(
                text(middle, top + 37, count or "–", 16, bold=count > 0, fill=fill)
            )
    return group(*parts, id="lep-played")
