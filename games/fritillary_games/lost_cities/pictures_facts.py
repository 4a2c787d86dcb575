"""What both pictures of Lost Cities say, worked out from an observation alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from fritillary_games.lost_cities.cards import COLOURS, WAGER, ByColour, column_score
from fritillary_games.lost_cities.exploits import POINTS, SENTENCES
from fritillary_games.lost_cities.model import (
    HAND_SIZE,
    DiscardPiles,
    Observation,
    Options,
)

_REASONS: Final = {"pile-empty": "draw pile empty", "turn-cap": "turn cap reached"}


def mark(rank: int) -> str:
    """Return a rank as it stands on a card."""
    return "W" if rank == WAGER else str(rank)


def display_order(observation: Observation) -> tuple[int, int]:
    """Return the far seat and the near one; the observer is always near."""
    near = observation.seat or 0
    return 1 - near, near


def hand_size(observation: Observation, seat: int) -> int:
    """Return how many cards a seat holds: one less while it has to draw (C-c)."""
    return HAND_SIZE - (observation.must_draw and seat == observation.to_move)


def column_scores(observation: Observation, seat: int) -> list[int]:
    """List the points of a seat's expeditions as they stand, by colour (C-f)."""
    return [column_score(ranks) for ranks in observation.expeditions[seat]]


def exploit_points(observation: Observation, seat: int) -> int:
    """Return what the exploits of a seat are worth (C-j)."""
    return POINTS * observation.exploits.count(seat)


def winner(observation: Observation) -> int | None:
    """Return who has won; nothing before the end, or for a draw (C-j)."""
    if observation.reason is None:
        return None
    first, second = observation.totals
    if first == second:
        return observation.options.tie_break
    return 0 if first > second else 1


def headline(observation: Observation) -> str:
    """Say whose turn it is and to do what, or who has won and how it ended."""
    seat = observation.seat
    if observation.reason is not None:
        won = winner(observation)
        said = "draw" if won is None else f"seat {won} wins"
        if won is not None and won == seat:
            said = "you win"
        return f"{said}: {_REASONS[observation.reason]}"
    if observation.to_move is None:
        return "match over"
    whose = (
        "your turn"
        if observation.to_move == seat
        else f"turn of seat {observation.to_move}"
    )
    if not observation.must_draw:
        return f"{whose}: play or discard"
    if observation.barred is None:
        return f"{whose}: draw"
    return f"{whose}: draw, but not {observation.barred.value}"


def buried(observation: Observation) -> str:
    """Say in which order the ranks below the tops of the piles are listed."""
    if observation.options.discard_piles is DiscardPiles.OPEN:
        return "from the bottom up"
    return "in rising order"


def listed(by_colour: ByColour) -> str:
    """List cards in one line, such as ``red W 2, blue 7``."""
    groups = [
        f"{colour.value} {' '.join(map(mark, ranks))}"
        for colour, ranks in zip(COLOURS, by_colour, strict=False)
        if ranks
    ]
    return ", ".join(groups) or "none"


def signed(points: int) -> str:
    """Return points with their sign; nothing is plain 0."""
    return f"{points:+d}" if points else "0"


def cap(options: Options) -> int:
    """Return after how many turns a game ends at the latest."""
    if options.turn_cap is not None:
        return options.turn_cap
    return 300 if options.colours == 5 else 600


def summary(observation: Observation) -> str:
    """Tell the whole position in prose, for those who cannot see the picture."""
    options = observation.options
    words = headline(observation)
    parts = [
        f"{words[0].upper()}{words[1:]}.",
        f"Game {observation.game} of {options.games}.",
        f"Seat {observation.starter} started it.",
        f"Turns: {observation.turns} of at most {cap(options)}.",
        f"Draw pile: {observation.deck_size} cards.",
    ]
    if observation.seat is not None:
        parts.append(f"Hand of seat {observation.seat}: {listed(observation.hand)}.")
    for seat, expeditions in enumerate(observation.expeditions):
        points = observation.scores[-1][seat]
        parts.append(f"Seat {seat}: {listed(expeditions)}; {points} points.")
    parts.append(
        f"Discards, the top last and those below it {buried(observation)}: "
        f"{listed(observation.discards)}."
    )
    for seat, cards in enumerate(observation.known):
        if any(cards):
            parts.append(f"Known in the hand of seat {seat}: {listed(cards)}.")
    for exploit, owner in zip(options.exploits, observation.exploits, strict=True):
        whose = "free" if owner is None else f"seat {owner}"
        parts.append(f"Exploit, {SENTENCES[exploit]}: {whose}.")
    parts.append(f"Scores by game: {_scores(observation.scores)}.")
    return " ".join(parts)


def _scores(scores: Iterable[tuple[int, int]]) -> str:
    return ", ".join(f"{first} to {second}" for first, second in scores)
