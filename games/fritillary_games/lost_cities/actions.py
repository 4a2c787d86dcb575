"""The actions of Lost Cities, their notation and their table."""

from __future__ import annotations

import functools
from typing import Final, TypeAlias, final

from attrs import field, frozen

from fritillary_games.lost_cities.cards import (
    COLOURS,
    NUMBER_RANKS,
    NUMBERS,
    RANKS,
    SHIFTS,
    WAGER,
    WAGER_BITS,
    Colour,
    card_name,
)


@final
@frozen(cache_hash=True)
class Play:
    """Play a card from the hand to the own expedition of its colour.

    Args:
        colour: of the card.
        rank: 2 to 10, or 0 for a wager.
    """

    colour: Colour
    rank: int
    #: The card as a collection of one; 0 if there is no such card.
    unit: int = field(init=False, eq=False, repr=False)
    #: The bits of a collection that say whether it has such a card.
    bits: int = field(init=False, eq=False, repr=False)
    #: The bits of a collection that can no longer be played after it (C-d).
    closes: int = field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        # The only way into a frozen instance.
        put = object.__setattr__
        shift = SHIFTS[NUMBERS[self.colour]]
        unit, bits = _bits(shift, self.rank)
        put(self, "unit", unit)
        put(self, "bits", bits)
        put(
            self,
            "closes",
            0 if self.rank == WAGER else (unit * 2 - 1) >> shift << shift,
        )


@final
@frozen(cache_hash=True)
class Discard:
    """Put a card from the hand on the discard pile of its colour.

    Args:
        colour: of the card.
        rank: 2 to 10, or 0 for a wager.
    """

    colour: Colour
    rank: int
    #: The card as a collection of one; 0 if there is no such card.
    unit: int = field(init=False, eq=False, repr=False)
    #: The bits of a collection that say whether it has such a card.
    bits: int = field(init=False, eq=False, repr=False)
    #: The number of the colour.
    number: int = field(init=False, eq=False, repr=False)
    #: What stands for the card in a discard pile.
    digit: int = field(init=False, eq=False, repr=False)
    #: The bit of the colour among those whose pile has a card.
    place: int = field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        put = object.__setattr__
        number = NUMBERS[self.colour]
        unit, bits = _bits(SHIFTS[number], self.rank)
        put(self, "unit", unit)
        put(self, "bits", bits)
        put(self, "number", number)
        put(self, "digit", self.rank or 1)
        put(self, "place", 1 << number)


@final
@frozen(cache_hash=True)
class Draw:
    """Draw a card to the hand, which ends the turn.

    Args:
        source: the colour of the discard pile whose top card is taken; nothing for
            the draw pile.
    """

    source: Colour | None = None
    #: The number of the colour, or -1 for the draw pile.
    number: int = field(init=False, eq=False, repr=False)
    #: The card taken, as a collection of one, by what stands for it in the pile.
    units: tuple[int, ...] = field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        put = object.__setattr__
        number = -1 if self.source is None else NUMBERS[self.source]
        put(self, "number", number)
        shift = SHIFTS[number] if number >= 0 else 0
        ranks = (None, WAGER, *NUMBER_RANKS)
        put(self, "units", tuple(0 if r is None else 1 << shift + r for r in ranks))


Action: TypeAlias = Play | Discard | Draw


def _bits(shift: int, rank: int) -> tuple[int, int]:
    """Return the unit of a card, and the bits that say whether there is one."""
    if rank not in RANKS:
        return 0, 0
    unit = 1 << shift + rank
    return unit, WAGER_BITS << shift if rank == WAGER else unit


#: The actions of six colours, by colour; the table of five leaves out the last.
PLAYS: Final = tuple(tuple(Play(colour, r) for r in RANKS) for colour in COLOURS)
DISCARDS: Final = tuple(tuple(Discard(colour, r) for r in RANKS) for colour in COLOURS)
DRAWS: Final = tuple(Draw(source) for source in (None, *COLOURS))


@functools.cache
def table_of(colours: int) -> tuple[Action, ...]:
    """Return the table: plays, then discards, by colour and rank; then draws."""
    return (
        *(play for plays in PLAYS[:colours] for play in plays),
        *(discard for discards in DISCARDS[:colours] for discard in discards),
        *DRAWS[: 1 + colours],
    )


def notation(action: Action) -> str:
    """Return the notation.

    Examples: ``play red 7``, ``play red wager``, ``discard blue 2``, ``draw`` from
    the draw pile, ``take red`` from a discard pile.
    """
    if isinstance(action, Draw):
        return "draw" if action.source is None else f"take {action.source.value}"
    verb = "play" if isinstance(action, Play) else "discard"
    return f"{verb} {card_name(action.colour, action.rank)}"
