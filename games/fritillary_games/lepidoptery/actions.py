"""The actions of Lepidoptery: combinations, their notation, the table of 110."""

from __future__ import annotations

import enum
import functools
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from attrs import field, frozen

#: Three bits a rank hold its count, rank 1 lowest: up to 7 of each.
RANK_BITS: Final = 3

RANKS: Final = range(1, 11)

#: A card as a packed hand of one, by rank; index 0 stands for no card.
UNITS: Final = (0, *(1 << RANK_BITS * (rank - 1) for rank in RANKS))


class Combo(enum.Enum):
    """The five types of combination, one column each (L-d)."""

    SINGLE = "single"
    PAIR = "pair"
    TRIPLE = "triple"
    RUN2 = "run2"
    RUN3 = "run3"


#: The combination types in the order of the numbers that the state uses for them.
COMBOS: Final = tuple(Combo)

#: How many cards a combination of each type has, joker included.
SIZES: Final = (1, 2, 3, 2, 3)

#: The number of each type: its place in `COMBOS`.
NUMBERS: Final = {combo: number for number, combo in enumerate(COMBOS)}

#: Stands for none of the types: a marker that bars nothing, no full column.
NO_TYPE: Final = len(COMBOS)

#: How the ranks of each type climb from the lowest.
STEPS: Final = ((0,), (0, 0), (0, 0, 0), (0, 1), (0, 1, 2))


@frozen(cache_hash=True)
class Play:
    """Play a combination and place a token in its column.

    Args:
        combo: its type.
        rank: its lowest rank, 1 to 10.
        joker: the rank the joker stands for, or 0 without the joker.
    """

    combo: Combo
    rank: int
    joker: int = 0
    #: Number of the type.
    number: int = field(init=False, eq=False, repr=False)
    #: The cards it takes from the hand, packed; 0 if there is no such combination.
    cost: int = field(init=False, eq=False, repr=False)
    #: 0 to 49, by rank and type: what a follower has to beat.
    code: int = field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        number = NUMBERS[self.combo]
        # The only way into a frozen instance.
        put = object.__setattr__
        put(self, "number", number)
        put(self, "cost", _cost(number, self.rank, self.joker))
        put(self, "code", (self.rank - 1) * len(COMBOS) + number)


@frozen(cache_hash=True)
class Pass:
    """Pass and refresh."""


Action: TypeAlias = Play | Pass


def ranks_of(play: Play) -> tuple[int, ...]:
    """Return the ranks a combination shows, from the lowest, joker included."""
    return tuple(play.rank + step for step in STEPS[play.number])


@functools.lru_cache(1024)
def _cost(number: int, rank: int, joker: int) -> int:
    """Return the packed cards from the hand, or 0 if there is no such combination."""
    ranks = [rank + step for step in STEPS[number]]
    if ranks[0] not in RANKS or ranks[-1] not in RANKS:
        return 0
    if joker:
        # L-l: never a single; as any rank, here one that the combination shows.
        if joker not in ranks or len(ranks) == 1:
            return 0
        ranks.remove(joker)
    return sum(UNITS[each] for each in ranks)


def _plays(combo: Combo, jokers: Sequence[int]) -> tuple[Play, ...]:
    every = (Play(combo, rank, joker) for rank in RANKS for joker in jokers)
    return tuple(play for play in every if play.cost)


#: The plays by type, without and with the joker, each from the lowest rank.
PLAIN: Final[Mapping[Combo, tuple[Play, ...]]] = {
    combo: _plays(combo, (0,)) for combo in COMBOS
}
WITH_JOKER: Final[Mapping[Combo, tuple[Play, ...]]] = {
    combo: _plays(combo, RANKS) for combo in COMBOS
}

PASS: Final = Pass()

#: Every play, by type, without the joker first, from the lowest rank.
PLAYS: Final[tuple[Play, ...]] = tuple(
    play for combo in COMBOS for play in (*PLAIN[combo], *WITH_JOKER[combo])
)

#: The table of 110 actions, the pass last.
ACTIONS: Final[tuple[Action, ...]] = (*PLAYS, PASS)


def notation(action: Action) -> str:
    """Return the notation; a star marks the rank that the joker stands for.

    Examples: ``single 7``, ``pair 7*``, ``run3 4-5*-6``, ``pass``.
    """
    if isinstance(action, Pass):
        return "pass"
    ranks = ranks_of(action)
    if action.combo in {Combo.RUN2, Combo.RUN3}:
        shown = "-".join(
            f"{rank}*" if rank == action.joker else f"{rank}" for rank in ranks
        )
    else:
        shown = f"{action.rank}*" if action.joker else f"{action.rank}"
    return f"{action.combo.value} {shown}"
