"""What observations say that a deal can give; others are refused in one line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from fritillary_games.lost_cities.cards import NUMBERS, RANKS, WAGER, WAGERS
from fritillary_games.lost_cities.layout import layout_of
from fritillary_games.lost_cities.model import HAND_SIZE, REASONS, Observation
from fritillary_games.observed import check_by

#: Cards of one colour: the wagers, and a card of each other rank (C-a).
_SUIT: Final = WAGERS + len(RANKS) - 1

_SEATS: Final = (0, 1)


def _problems(seen: Observation) -> Iterator[str]:
    """Yield what is wrong; what follows relies on what was right before."""
    options = seen.options
    if seen.seat not in (None, *_SEATS) or seen.to_move not in (None, *_SEATS):
        yield "there are the seats 0 and 1"
    if seen.starter not in _SEATS:
        yield f"seat {seen.starter} cannot have started"
    if not 1 <= seen.game <= options.games:
        yield f"game {seen.game} is none of {options.games}"
    if len(seen.scores) != seen.game:
        yield f"{len(seen.scores)} games have scores, not {seen.game}"
    if not 0 <= seen.turns <= layout_of(options).cap:
        yield f"{seen.turns} turns cannot be over"
    if seen.reason not in REASONS or (seen.reason is None) != (
        seen.to_move is not None
    ):
        yield "either a seat is to act, or there is a reason why it is over"
    if len(seen.exploits) != len(options.exploits) or any(
        seat not in (None, *_SEATS) for seat in seen.exploits
    ):
        yield "each exploit has been claimed by seat 0, seat 1 or nobody"
    if seen.barred is not None and (
        not seen.must_draw or NUMBERS[seen.barred] >= options.colours
    ):
        yield f"nobody can be barred from {seen.barred.value}"
    yield from _about_cards(seen)


def _about_cards(seen: Observation) -> Iterator[str]:
    colours = seen.options.colours
    if len(seen.known) != 2 or len(seen.expeditions) != 2:
        yield "there are two seats"
    parts = (seen.hand, seen.discards, *seen.known, *seen.expeditions)
    for ranks in chain.from_iterable(parts):
        if len(ranks) > _SUIT or not set(ranks) <= set(RANKS):
            yield "a colour has three wagers and the ranks 2 to 10"
    if any(len(part) != colours for part in parts):
        yield f"there are {colours} colours"
    hidden = [seat for seat in _SEATS if seat != seen.seat]
    hands = [seen.hand, *(seen.known[seat] for seat in hidden)]
    for colour in range(colours):
        cards = [
            rank
            for part in (seen.discards, *seen.expeditions, *hands)
            for rank in part[colour]
        ]
        if _are_too_many(cards):
            yield "a card is in two places"
    if seen.seat is not None:
        own = zip(seen.known[seen.seat], seen.hand, strict=True)
        if any(_are_not_among(known, held) for known, held in own):
            yield f"seat {seen.seat} is known to hold a card that it does not hold"
    elif any(seen.hand):
        yield "who looks on holds no cards"
    for seat in _SEATS:
        size = HAND_SIZE - (seen.must_draw and seat == seen.to_move)
        held = sum(map(len, seen.hand if seat == seen.seat else seen.known[seat]))
        if held > size or (seat == seen.seat and held < size):
            yield f"seat {seat} holds {size} cards, not {held}"


def _are_too_many(ranks: Sequence[int]) -> bool:
    return any(
        ranks.count(rank) > (WAGERS if rank == WAGER else 1) for rank in set(ranks)
    )


def _are_not_among(some: Sequence[int], all_: Sequence[int]) -> bool:
    return any(some.count(rank) > all_.count(rank) for rank in set(some))


#: Refuses an observation that no deal can give. Left out is whether its parts follow
#: from each other: that shows when the state that is drawn from it is observed.
check_observation: Final = check_by(_problems)
