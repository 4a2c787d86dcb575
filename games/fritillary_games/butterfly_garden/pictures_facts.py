"""What both pictures say, worked out from an observation alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from fritillary_games.butterfly_garden.actions import TILES, Place, Tile, notation
from fritillary_games.butterfly_garden.board import EDGE_NAMES, NAMES, NUMBERS, turned
from fritillary_games.butterfly_garden.geometry import KINDS
from fritillary_games.butterfly_garden.model import Edition, Observation

#: The letters of the seats.
LETTERS: Final = "ABCD"

TITLES: Final = {
    Edition.BUTTERFLY_GARDEN: "Butterfly Garden",
    Edition.INDIGO: "Indigo",
}

#: What the treasures worth 1, 2 and 3 are called.
TREASURES: Final = {
    Edition.BUTTERFLY_GARDEN: ("blue", "pink", "purple"),
    Edition.INDIGO: ("amber", "emerald", "sapphire"),
}

#: What all of them are called.
COLLECTED: Final = {Edition.BUTTERFLY_GARDEN: "butterflies", Edition.INDIGO: "gems"}

_REASONS: Final = {
    "stack-empty": "the stack is empty",
    "rounds": "all rounds are played",
}


def title(observation: Observation) -> str:
    """Return the name of the edition."""
    return TITLES[observation.options.edition]


def collected(observation: Observation) -> str:
    """Return what the treasures are called, in the plural."""
    return COLLECTED[observation.options.edition]


def winners(observation: Observation) -> tuple[int, ...]:
    """Return the seats that have won, none before the end (I-l, I-m)."""
    if observation.reason is None:
        return ()
    ranks = [
        (score or 0, sum(taken or ()))
        for score, taken in zip(observation.scores, observation.taken, strict=True)
    ]
    return tuple(seat for seat, rank in enumerate(ranks) if rank == max(ranks))


def headline(observation: Observation) -> str:
    """Say whose turn it is, or who has won and why the match ended."""
    if observation.reason is not None:
        won = winners(observation)
        if won == (observation.seat,):
            said = "you win"
        elif len(won) == 1:
            said = f"seat {won[0]} wins"
        else:
            said = f"seats {listed(won)} share the win"
        over = f"no {collected(observation)} left"
        return f"{said}: {_REASONS.get(observation.reason, over)}"
    if observation.to_move == observation.seat:
        return "your turn"
    return f"seat {observation.to_move} to move"


def listed(seats: Sequence[int]) -> str:
    """Return seats as words: ``0``, ``0 and 1``, ``0, 1 and 2``."""
    *first, last = map(str, seats)
    return f"{', '.join(first)} and {last}" if first else last


def display_order(observation: Observation) -> list[int]:
    """Return the seats as they sit, the observer first."""
    seats = [*range(len(observation.hand_sizes))]
    first = observation.seat or 0
    return seats[first:] + seats[:first]


def in_hand(observation: Observation) -> list[Tile]:
    """Return the kinds in the observer's hand, each once."""
    seat = observation.seat
    hand = None if seat is None else observation.hands[seat]
    return [tile for tile in TILES if tile in (hand or ())]


def routes(tile: Tile, turn: int) -> str:
    """Return the edges that a tile joins, such as ``NW-W NE-SE E-SW``."""
    pairs = turned(KINDS[TILES.index(tile)].pairs, turn)
    return " ".join(f"{EDGE_NAMES[one]}-{EDGE_NAMES[other]}" for one, other in pairs)


def summary(observation: Observation) -> str:
    """Tell the whole position in prose, for those who cannot see the picture."""
    names = TREASURES[observation.options.edition]
    said = headline(observation)
    parts = [said[0].upper() + said[1:] + "."]
    tiles = [notation(Place(*placed)) for placed in observation.placed]
    parts.append(f"Tiles: {', '.join(tiles) or 'none'}.")
    if observation.last is not None:
        parts.append(f"Last tile: {notation(observation.last)}.")
    waiting = [
        f"{names[each.value - 1]} at {NAMES[NUMBERS[each.q, each.r]]} "
        f"{EDGE_NAMES[each.edge]}"
        for each in observation.waiting
    ]
    centre = [names[value - 1] for value in observation.centre]
    parts.append(f"Waiting: {', '.join(waiting) or 'nothing'}.")
    parts.append(f"In the centre: {', '.join(centre) or 'nothing'}.")
    for number, owners in enumerate(observation.owners, start=1):
        seats = f"seat{'s' * (len(owners) > 1)} {listed(owners)}"
        parts.append(f"Gateway {number}: {seats}.")
    for seat, size in enumerate(observation.hand_sizes):
        score, taken = observation.scores[seat], observation.taken[seat]
        got = "points hidden"
        if taken is not None:
            counts = zip(taken, names, strict=True)
            listing = ", ".join(f"{count} {name}" for count, name in counts)
            got = f"{score} points ({listing})"
        hand = observation.hands[seat]
        held = f"{size} tiles" if hand is None else " ".join(t.value for t in hand)
        parts.append(f"Seat {seat}: {got}; hand: {held or 'empty'}.")
    parts.append(f"{observation.stack} tiles in the stack.")
    return " ".join(parts)
