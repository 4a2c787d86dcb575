"""The cards of Lost Cities: colours, ranks, and hands as single integers.

A card is a number, ``11 * colour + rank``, with the colours numbered in the order of
`Colour` and rank 0 for a wager. A collection of cards, be it a hand or a seat's
expeditions, is the sum of ``1 << card`` over its cards: eleven bits a colour, of
which bit ``rank`` stands for the number card of that rank and the two lowest count
the wagers, 0 to 3. Adding and removing a card is adding and subtracting its unit.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Final, TypeAlias

#: Ranks of the cards of each colour, by colour.
ByColour: TypeAlias = tuple[tuple[int, ...], ...]


class Colour(enum.Enum):
    """The colours; purple is the sixth of the long game (C-b)."""

    YELLOW = "yellow"
    BLUE = "blue"
    WHITE = "white"
    GREEN = "green"
    RED = "red"
    PURPLE = "purple"


#: The colours in the order of the numbers that the state uses for them.
COLOURS: Final = tuple(Colour)

#: The number of each colour: its place in `COLOURS`.
NUMBERS: Final = {colour: number for number, colour in enumerate(COLOURS)}

#: The rank of a wager: it adds nothing to a sum.
WAGER: Final = 0

#: The ranks of the number cards.
NUMBER_RANKS: Final = range(2, 11)

#: All ranks, from the first that can be played to the last.
RANKS: Final = (WAGER, *NUMBER_RANKS)

#: Wagers of each colour (C-a).
WAGERS: Final = 3

#: Bits a colour takes in a collection.
BITS: Final = 11
MASK: Final = (1 << BITS) - 1

#: The two bits of a colour that count its wagers.
WAGER_BITS: Final = 3

#: Where the bits of each colour begin.
SHIFTS: Final = tuple(BITS * number for number in range(len(COLOURS)))

#: The collection of one card, by card.
UNITS: Final = tuple(1 << card for card in range(BITS * len(COLOURS)))

#: Every card of one colour, each as often as there is one (C-a).
_SUIT: Final = (WAGER,) * WAGERS + tuple(NUMBER_RANKS)

#: The cards of all colours in rising order.
_PACK: Final = tuple(shift + rank for shift in SHIFTS for rank in _SUIT)


def _ranks_of(code: int) -> tuple[int, ...]:
    wagers = (WAGER,) * (code & WAGER_BITS)
    return wagers + tuple(rank for rank in NUMBER_RANKS if code >> rank & 1)


#: The ranks in the eleven bits of one colour, rising, wagers first.
RANKS_OF: Final = tuple(_ranks_of(code) for code in range(MASK + 1))


def column_score(ranks: Iterable[int]) -> int:
    """Return the points of one expedition (C-f).

    An expedition without a card counts 0. Any other counts what its numbers exceed
    20 by, which may be negative, times one more than its wagers; eight cards or more
    add 20, not multiplied.

    Args:
        ranks: of its cards, 0 for a wager.
    """
    cards = list(ranks)
    if not cards:
        return 0
    points = (sum(cards) - 20) * (1 + cards.count(WAGER))
    return points + 20 if len(cards) >= 8 else points


#: The points of an expedition, by the eleven bits of its colour.
SCORES: Final = tuple(map(column_score, RANKS_OF))


def score_of(expeditions: int) -> int:
    """Return the points of all expeditions of a seat, without exploits."""
    points = 0
    while expeditions:
        points += SCORES[expeditions & MASK]
        expeditions >>= BITS
    return points


def full_pack(colours: int) -> list[int]:
    """Return the cards of a pack, 12 of each colour, in rising order (C-a, C-b)."""
    return [*_PACK[: len(_SUIT) * colours]]


def pack(cards: Iterable[int]) -> int:
    """Return the collection of some cards."""
    return sum([UNITS[card] for card in cards])


def pack_ranks(by_colour: ByColour) -> int:
    """Return the collection of ranks that are listed by colour."""
    return sum(
        1 << shift + rank
        for shift, ranks in zip(SHIFTS, by_colour, strict=False)
        for rank in ranks
    )


def cards_in(collection: int) -> list[int]:
    """Return the cards of a collection in rising order."""
    return [
        shift + rank
        for shift in SHIFTS
        for rank in RANKS_OF[collection >> shift & MASK]
    ]


def ranks_in(collection: int, colours: int) -> ByColour:
    """Return the ranks of a collection by colour, rising, wagers first."""
    return tuple([RANKS_OF[collection >> shift & MASK] for shift in SHIFTS[:colours]])


def size_of(collection: int) -> int:
    """Return how many cards a collection has."""
    return len(cards_in(collection))


# A discard pile is one integer too: four bits a card, the top card lowest. A wager
# is 1 there, since 0 is no card.

#: Ranks by the hexadecimal digit that stands for them in a pile.
_DIGITS: Final = {"1": WAGER, **{f"{rank:x}": rank for rank in NUMBER_RANKS}}


def pile_ranks(pile: int) -> tuple[int, ...]:
    """Return the ranks in a discard pile from the bottom up."""
    return tuple(map(_DIGITS.__getitem__, f"{pile:x}")) if pile else ()


def pile_of(ranks: Iterable[int]) -> int:
    """Return the discard pile of ranks from the bottom up."""
    pile = 0
    for rank in ranks:
        pile = pile << 4 | (rank or 1)
    return pile


def rank_name(rank: int) -> str:
    """Return a rank as it is written in a sentence."""
    return "wager" if rank == WAGER else str(rank)


def card_name(colour: Colour, rank: int) -> str:
    """Return a card as people name it, such as ``red 7`` or ``red wager``."""
    return f"{colour.value} {rank_name(rank)}"
