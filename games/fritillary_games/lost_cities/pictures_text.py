"""The picture of Lost Cities for terminals: plain text, at most 80 columns.

Box-drawing characters are the only ones outside ASCII; each is one column wide.
"""

from __future__ import annotations

import textwrap
from typing import Final

from fritillary_games.lost_cities.cards import COLOURS, ByColour, Colour
from fritillary_games.lost_cities.model import Observation
from fritillary_games.lost_cities.pictures_facts import (
    buried,
    cap,
    column_scores,
    display_order,
    exploit_points,
    hand_size,
    headline,
    mark,
    signed,
)

WIDTH: Final = 80

#: Twelve cards of one colour with spaces between.
_EXPEDITION: Final = 24
_POINTS: Final = 4
_MIDDLE: Final = 18
_LABEL: Final = 18


def text_picture(observation: Observation) -> str:
    """Draw an observation as lines of at most 80 characters."""
    lines = [
        *_title(observation),
        "",
        *_board(observation),
        "",
        *_cards(observation),
        "",
        *_scores(observation),
    ]
    return "\n".join(line.rstrip() for line in lines)


def _title(observation: Observation) -> list[str]:
    options = observation.options
    where = f"game {observation.game} of {options.games}"
    return [
        f"Lost Cities - {headline(observation)}",
        (
            f"{where}, turn {observation.turns} of {cap(options)}, "
            f"draw pile {observation.deck_size}"
        ),
    ]


def _board(observation: Observation) -> list[str]:
    """Draw the far expeditions to the left of the piles, the near to the right."""
    far, near = display_order(observation)
    side = _POINTS + 1 + _EXPEDITION
    names = [_name(observation, seat) for seat in (far, near)]
    lines = [
        f"{names[0]:>{side}} ┌{'discards':─^{_MIDDLE}}┐ {names[1]}",
    ]
    far_points = column_scores(observation, far)
    near_points = column_scores(observation, near)
    for number in range(observation.options.colours):
        left = observation.expeditions[far][number]
        right = observation.expeditions[near][number]
        lines.append(
            f"{_points(left, far_points[number]):>{_POINTS}} "
            f"{' '.join(map(mark, reversed(left))):>{_EXPEDITION}} "
            f"│{_pile(observation, number):{_MIDDLE}}│ "
            f"{' '.join(map(mark, right)):<{_EXPEDITION}} "
            f"{_points(right, near_points[number]):>{_POINTS}}"
        )
    lines.append(" " * (side + 1) + "└" + "─" * _MIDDLE + "┘")
    return lines


def _name(observation: Observation, seat: int) -> str:
    name = f"seat {seat}"
    if seat == observation.seat:
        name += " (you)"
    if seat == observation.to_move:
        name += " *"
    return name


def _points(expedition: tuple[int, ...], points: int) -> str:
    return signed(points) if expedition else ""


def _pile(observation: Observation, number: int) -> str:
    """Return the colour, its top card, and how many cards lie in the pile."""
    colour = COLOURS[number]
    pile = observation.discards[number]
    top = mark(pile[-1]) if pile else "-"
    more = f" +{len(pile) - 1}" if len(pile) > 1 else ""
    barred = " x" if colour is observation.barred else ""
    return f" {colour.value:<7} {top:>2}{more:<4}{barred}"


def _cards(observation: Observation) -> list[str]:
    lines = []
    seat = observation.seat
    if seat is not None:
        lead = f"Your hand ({hand_size(observation, seat)}):"
        lines += _groups(lead, observation.hand)
    for player in (0, 1):
        if any(observation.known[player]):
            whose = "Known of yours:" if player == seat else f"Known of seat {player}:"
            lines += _groups(whose, observation.known[player])
    below = tuple(ranks[:-1] for ranks in observation.discards)
    if any(below):
        lines += _groups("Below the tops:", below, buried(observation))
    for exploit, owner in zip(
        observation.options.exploits, observation.exploits, strict=True
    ):
        whose = "free" if owner is None else f"seat {owner}"
        lines.append(f"{'Exploit:':<{_LABEL}}{exploit.value}, {whose}")
    return lines


def _groups(lead: str, by_colour: ByColour, note: str = "") -> list[str]:
    """List cards by colour, broken between colours where too long."""
    groups = [
        _group(colour, ranks)
        for colour, ranks in zip(COLOURS, by_colour, strict=False)
        if ranks
    ]
    # A blank that is no place to break a line.
    words = [group.replace(" ", "\0") for group in groups] or ["none"]
    if note:
        words.append(f"({note})".replace(" ", "\0"))
    wrapped = textwrap.wrap(
        "  ".join(words),
        WIDTH,
        initial_indent=f"{lead:<{_LABEL}}",
        subsequent_indent=" " * _LABEL,
        break_on_hyphens=False,
    )
    return [line.replace("\0", " ") for line in wrapped]


def _group(colour: Colour, ranks: tuple[int, ...]) -> str:
    return f"{colour.value} {' '.join(map(mark, ranks))}"


def _scores(observation: Observation) -> list[str]:
    games = len(observation.scores)
    head = "".join(f"{f'game {game}':>9}" for game in range(1, games + 1))
    lines = [f"{'Scores':<{_LABEL}}{head}{'total':>9}"]
    for seat in display_order(observation):
        points = "".join(f"{scores[seat]:>9}" for scores in observation.scores)
        extra = exploit_points(observation, seat)
        note = f"   (exploits {signed(extra)})" if extra else ""
        name = f"  seat {seat}{' (you)' if seat == observation.seat else ''}"
        lines.append(f"{name:<{_LABEL}}{points}{observation.totals[seat]:>9}{note}")
    return lines
