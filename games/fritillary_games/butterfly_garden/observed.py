"""What observations say that a deal can give; others are refused in one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from fritillary_games.butterfly_garden.actions import COUNTS, PLACEMENTS, TILES, Place
from fritillary_games.butterfly_garden.board import CELLS, ENTRIES, PLACES, waits_at
from fritillary_games.butterfly_garden.model import REASONS, VALUES, Observation, State
from fritillary_games.butterfly_garden.rules import counts_of, empty_board, lay
from fritillary_games.observed import check_by

_SEATS: Final = (2, 3, 4)

#: By the cell and the edge at which a treasure waits: the entry over that edge.
_ENTRIES: Final = {
    (*cell, edge): entry
    for entry in range(ENTRIES)
    for cell, edge in (waits_at(entry),)
}


def play_again(observation: Observation) -> State:
    """Return the board of an observation, without tiles in hands and stack.

    Who has collected what follows from the tiles: the order in which they came only
    decides which route bears the last treasure of the centre, and that is known.

    Args:
        observation: whose tiles lie on cells of their own, where they may lie.
    """
    again = empty_board(observation.options, [0] * len(observation.hands), [])
    places = [Place(*placed) for placed in observation.placed]
    # The tile that brought out the last treasure of the centre comes last.
    for place in sorted(places, key=lambda p: (p.q, p.r) == observation.released):
        lay(again, place.cell, place.orientation)
    return again


def _problems(seen: Observation) -> Iterator[str]:
    """Yield what is wrong; what follows relies on what was right before."""
    seats = len(seen.hands)
    if seats not in _SEATS or seen.options.starter >= seats:
        yield f"{seats} seats cannot play it"
    if {seats} != {len(seen.hand_sizes), len(seen.taken), len(seen.scores)}:
        yield f"there are {seats} seats"
    if seen.seat is not None and not 0 <= seen.seat < seats:
        yield f"there is no seat {seen.seat}"
    if len(seen.placed) > PLACES:
        yield f"{len(seen.placed)} tiles lie on {PLACES} cells"
    places = [Place(*placed) for placed in seen.placed]
    for place in places:
        if place.cell < 0 or PLACEMENTS[place.cell][place.orientation] != place:
            yield "a tile lies where it cannot lie"
    if len({place.cell for place in places}) < len(places):
        yield "two tiles lie on one cell"
    if (seen.last is None) != (not places) or (
        seen.last is not None and seen.last not in places
    ):
        yield "the last placement is not on the board"
    yield from _about_turn(seen, len(places))
    yield from _about_tiles(seen)
    yield from _about_treasures(seen)


def _about_turn(seen: Observation, placed: int) -> Iterator[str]:
    if seen.reason not in REASONS or (seen.reason is None) != (
        seen.to_move is not None
    ):
        yield "either a seat is to act, or there is a reason why it is over"
    turn = (seen.options.starter + placed) % len(seen.hands)
    if seen.to_move not in (None, turn):
        yield f"after {placed} tiles it is the turn of seat {turn}"


def _about_tiles(seen: Observation) -> Iterator[str]:
    left = seen.unplaced
    if len(left) != len(COUNTS) or any(
        not 0 <= number <= count for number, count in zip(left, COUNTS, strict=True)
    ):
        yield "more tiles are left than there are"
    most = seen.options.hand_size
    if any(not 0 <= size <= most for size in seen.hand_sizes):
        yield f"a hand has at most {most} tiles"
    if sum(seen.hand_sizes) + seen.stack != sum(left):
        yield "hands and stack do not hold the tiles that are left"
    for seat, (hand, size) in enumerate(zip(seen.hands, seen.hand_sizes, strict=True)):
        if hand is not None and len(hand) != size:
            yield f"seat {seat} holds {size} tiles, not {len(hand)}"
        if hand is None and seat == seen.seat:
            yield f"seat {seat} sees its own hand"
    shown = Counter(tile for hand in seen.hands for tile in hand or ())
    if any(shown[tile] > count for tile, count in zip(TILES, left, strict=True)):
        yield "hands hold tiles that are not left"
    if seen.reason is None and not seen.hand_sizes[seen.to_move or 0]:
        yield f"seat {seen.to_move} is to act and holds no tile"


def _about_treasures(seen: Observation) -> Iterator[str]:
    again = play_again(seen)
    waiting = [0, 0, 0]
    for one in seen.waiting:
        entry = _ENTRIES.get((one.q, one.r, one.edge), -1)
        if one.value not in VALUES or entry < 0:
            yield "a treasure waits where it cannot wait"
        waiting[one.value - 1] |= 1 << entry
    released = None if again.released < 0 else CELLS[again.released]
    if (
        waiting != again.waiting
        or len(seen.centre) != again.centre
        or seen.released != released
    ):
        yield "the treasures are not where the routes of the tiles lead them"
    for seat, (stated, taken) in enumerate(zip(seen.taken, again.taken, strict=True)):
        if stated not in (None, counts_of(taken)):
            yield f"the routes of the tiles lead other treasures to seat {seat}"
    if seen.reason is None and not (again.centre or any(again.waiting)):
        yield "no treasure is left, so it is over"


#: Refuses an observation that no deal can give. Left out is what shows when the state
#: that is drawn from it is observed.
check_observation: Final = check_by(_problems)
