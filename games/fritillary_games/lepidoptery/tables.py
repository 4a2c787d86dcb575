"""Tables that make the legal plays of a hand a matter of a few look-ups.

A hand is packed counts, three bits a rank. Two tables, one for ranks 1 to 5 and one
for 6 to 10, turn it into three masks of ten bits each: the ranks held at least
once, twice and three times. What may be played of each group of combinations is
then a ready-made tuple, found by one of the masks. What has to be beaten, the own
marker, the joker and the full column together select the groups: a *plan*.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeAlias

from fritillary_games.lepidoptery.actions import (
    COMBOS,
    PASS,
    PLAIN,
    RANK_BITS,
    SIZES,
    STEPS,
    UNITS,
    WITH_JOKER,
    Action,
    Combo,
    Play,
)

#: A packed hand below and above this bit: ranks 1 to 5, ranks 6 to 10.
HALF_BITS: Final = 5 * RANK_BITS
HALF_MASK: Final = (1 << HALF_BITS) - 1

#: The ranks of one mask, bit 0 for rank 1.
MASK_BITS: Final = 10
MASK: Final = (1 << MASK_BITS) - 1

#: No rank is as high: nothing of a group may be played.
NEVER: Final = 11

#: The code of the row for a leader, after those of `Play.code`.
LEAD: Final = 50

#: Ready-made tuples of plays, by mask.
Group: TypeAlias = tuple[tuple[Action, ...], ...]


class Plan(NamedTuple):
    """The groups from which legal actions are put together, in table order.

    Args:
        singles: by the ranks held once or more.
        pairs: by the ranks held twice or more.
        joker_pairs: by the ranks held once or more.
        triples: by the ranks held three times or more.
        joker_triples: by the ranks held twice or more.
        runs: by the ranks held once or more; ends with the pass of a follower.
    """

    singles: Group
    pairs: Group
    joker_pairs: Group
    triples: Group
    joker_triples: Group
    runs: Group


#: Plans by what has to be beaten, the own marker, and whether the joker is ready.
Plans: TypeAlias = tuple[tuple[tuple[Plan, Plan], ...], ...]


def _half_table(value: Callable[[int, int], int]) -> list[int]:
    """Return the sums of ``value(place, count)`` for every half hand."""
    table = [0]
    for place in range(5):
        values = [value(place, count) for count in range(1 << RANK_BITS)]
        table = [old + new for new in values for old in table]
    return table


def _masks(place: int, count: int) -> int:
    return sum(1 << (MASK_BITS * times + place) for times in range(min(count, 3)))


#: The three masks of a half hand: once, twice, three times from the lowest bits.
LOW: Final = _half_table(_masks)
HIGH: Final = [masks << 5 for masks in LOW]

#: How many cards a half hand has.
SIZE: Final = bytes(_half_table(lambda _, count: count))


def size_of(hand: int) -> int:
    """Return how many cards a packed hand has."""
    return SIZE[hand & HALF_MASK] + SIZE[hand >> HALF_BITS]


# Halves of real hands only, so there are no more than 2 * 5 ** 5.
@functools.cache
def _half_ranks(half: int, lowest: int) -> tuple[int, ...]:
    return tuple(
        lowest + place
        for place in range(5)
        for _ in range(half >> RANK_BITS * place & 7)
    )


@functools.cache
def _half_cards(half: int, lowest: int) -> tuple[int, ...]:
    return tuple(UNITS[rank] for rank in _half_ranks(half, lowest))


def ranks_in(hand: int) -> tuple[int, ...]:
    """Return the ranks of a packed hand, rising, each as often as it is held."""
    return _half_ranks(hand & HALF_MASK, 1) + _half_ranks(hand >> HALF_BITS, 6)


def cards_in(hand: int) -> list[int]:
    """Return the cards of a packed hand, rising, each as a packed hand of one."""
    return [*_half_cards(hand & HALF_MASK, 1), *_half_cards(hand >> HALF_BITS, 6)]


def pack(ranks: Sequence[int]) -> int:
    """Return the packed hand of ranks, each at most 7 times."""
    return sum(map(UNITS.__getitem__, ranks))


def _needs(play: Play) -> int:
    """Return the mask of the ranks that a play takes from the hand."""
    places = {play.rank + step - 1 for step in STEPS[play.number]}
    if play.combo in {Combo.RUN2, Combo.RUN3}:
        places.discard(play.joker - 1)
    return sum(1 << place for place in places)


def _build(plays: Sequence[Play], relevant: int, end: tuple[Action, ...]) -> Group:
    """Return the playable ones of some plays for every mask."""
    needs = [(play, _needs(play)) for play in plays]
    made: dict[int, tuple[Action, ...]] = {}
    for mask in range(MASK + 1):
        if mask & relevant == mask:
            fitting = [play for play, need in needs if need & mask == need]
            made[mask] = (*fitting, *end)
    return tuple(made[mask & relevant] for mask in range(MASK + 1))


@functools.cache
def _group(combo: Combo, lowest: int, *, joker: bool) -> Group:
    """Return the plays of one rank from ``lowest`` on, by mask."""
    plays = WITH_JOKER[combo] if joker else PLAIN[combo]
    allowed = [play for play in plays if play.rank >= lowest]
    return _build(allowed, MASK & -1 << (lowest - 1), ())


@functools.cache
def _runs(lowest2: int, lowest3: int, *, joker: bool, follower: bool) -> Group:
    """Return the runs from their lowest ranks on, by mask."""
    allowed: list[Play] = []
    for combo, lowest in ((Combo.RUN2, lowest2), (Combo.RUN3, lowest3)):
        plays = (*PLAIN[combo], *(WITH_JOKER[combo] if joker else ()))
        allowed += [play for play in plays if play.rank >= lowest]
    relevant = MASK & -1 << (min(lowest2, lowest3) - 1)
    return _build(allowed, relevant, (PASS,) if follower else ())


def _plan(lowest: Sequence[int], *, joker: bool, follower: bool) -> Plan:
    single, pair, triple, run2, run3 = lowest
    return Plan(
        _group(Combo.SINGLE, single, joker=False),
        _group(Combo.PAIR, pair, joker=False),
        _group(Combo.PAIR, pair if joker else NEVER, joker=True),
        _group(Combo.TRIPLE, triple, joker=False),
        _group(Combo.TRIPLE, triple if joker else NEVER, joker=True),
        _runs(run2, run3, joker=joker, follower=follower),
    )


def lowest_ranks(code: int, *, same_type_may_beat: bool) -> list[int]:
    """Return the lowest rank from which each type beats a combination (L-g).

    Args:
        code: of the combination to beat, or `LEAD`.
        same_type_may_beat: whether its own type may beat it at all.
    """
    if code == LEAD:
        return [1] * len(COMBOS)
    rank, number = code // len(COMBOS) + 1, code % len(COMBOS)
    lowest = [rank if size > SIZES[number] else rank + 1 for size in SIZES]
    if not same_type_may_beat:
        lowest[number] = NEVER
    return lowest


@functools.cache
def plans(full: int, *, same_type_may_beat: bool) -> Plans:
    """Return the plans while the column of type ``full`` is full (5: none)."""
    rows = []
    for code in range(LEAD + 1):
        beating = lowest_ranks(code, same_type_may_beat=same_type_may_beat)
        row = []
        for marker in range(len(COMBOS) + 1):
            lowest = [
                NEVER if number in {full, marker} else rank
                for number, rank in enumerate(beating)
            ]
            row.append(
                (
                    _plan(lowest, joker=False, follower=code != LEAD),
                    _plan(lowest, joker=True, follower=code != LEAD),
                )
            )
        rows.append(tuple(row))
    return tuple(rows)
