"""Tables that make the legal actions a matter of a few look-ups.

What may be played or discarded of one colour follows from the eleven bits of that
colour in the hand, for plays without the bits that are no longer playable. So each
colour has two tables of ready-made tuples. What may be drawn follows from the step of
the turn and from which discard piles have a card.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from fritillary_games.lost_cities.actions import (
    DISCARDS,
    DRAWS,
    PLAYS,
    Action,
)
from fritillary_games.lost_cities.cards import (
    MASK,
    NUMBER_RANKS,
    RANKS,
    SHIFTS,
    WAGER,
    WAGER_BITS,
    ByColour,
    ranks_in,
)
from fritillary_games.lost_cities.exploits import CONDITIONS

if TYPE_CHECKING:
    from fritillary_games.lost_cities.model import Options

#: Ready-made tuples of actions, by the eleven bits of a colour.
Suit: TypeAlias = tuple[tuple[Action, ...], ...]

#: The steps of a turn: a card is to be played or discarded; a card is to be drawn;
#: and from `DRAW_BUT` on, drawn, but not from the pile of the colour of that number
#: above it.
CARD: Final = 0
DRAW: Final = 1
DRAW_BUT: Final = 2

#: The turn caps where the options name none, by the number of colours.
CAPS: Final = {5: 300, 6: 600}


def _suit(actions: Sequence[Action]) -> Suit:
    """Return the tuples of some actions, one for each rank, by bits of a colour."""
    made: dict[tuple[int, ...], tuple[Action, ...]] = {}
    suit = []
    for code in range(MASK + 1):
        held = tuple(rank for rank in NUMBER_RANKS if code >> rank & 1)
        if code & WAGER_BITS:
            held = (WAGER, *held)
        # Hands that differ in the number of wagers alone share a tuple.
        if held not in made:
            made[held] = tuple(actions[RANKS.index(rank)] for rank in held)
        suit.append(made[held])
    return tuple(suit)


@functools.cache
def _suits(colour: int) -> tuple[Suit, Suit]:
    return _suit(PLAYS[colour]), _suit(DISCARDS[colour])


class Layout:
    """Derived from the options; shared by states.

    Attributes:
        colours: how many there are.
        games: how many a match has.
        cap: a game ends after so many turns.
        everything: all bits of all colours: nothing is barred from being played.
        plays: the tuples of plays by colour.
        discards: the tuples of discards by colour.
        draws: the tuples of draws by step and by the bits of the piles with a card.
        conditions: of the exploits in play, in the order of the options.
    """

    __slots__ = (
        "_options",
        "cap",
        "colours",
        "conditions",
        "discards",
        "draws",
        "everything",
        "games",
        "plays",
    )

    def __init__(self, options: Options) -> None:
        self._options = options
        colours = options.colours
        self.colours = colours
        self.games = options.games
        self.cap = CAPS[colours] if options.turn_cap is None else options.turn_cap
        self.everything = (1 << SHIFTS[colours - 1] + MASK.bit_length()) - 1
        self.plays = tuple(_suits(number)[0] for number in range(colours))
        self.discards = tuple(_suits(number)[1] for number in range(colours))
        self.draws = tuple(
            tuple(_draws(stocked, step - DRAW_BUT) for stocked in range(1 << colours))
            for step in range(DRAW_BUT + colours)
        )
        self.conditions = tuple(
            _on_collection(CONDITIONS[exploit], colours) for exploit in options.exploits
        )

    def __reduce__(self) -> tuple[Callable[[Options], Layout], tuple[Options]]:
        # Pickles and deep copies of states share the layouts that are there.
        return layout_of, (self._options,)


def _draws(stocked: int, barred: int) -> tuple[Action, ...]:
    """Return the draws while some piles have a card and one colour may be barred."""
    numbers = [n for n in range(len(DRAWS) - 1) if stocked >> n & 1 and n != barred]
    return (DRAWS[0], *(DRAWS[1 + number] for number in numbers))


def _on_collection(
    condition: Callable[[ByColour], bool], colours: int
) -> Callable[[int], bool]:
    return lambda expeditions: condition(ranks_in(expeditions, colours))


@functools.lru_cache(maxsize=64)
def layout_of(options: Options) -> Layout:
    """Return the layout of some options, cached."""
    return Layout(options)
