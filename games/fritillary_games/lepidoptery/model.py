"""The values of Lepidoptery: options, actions, state, observation."""

from __future__ import annotations

from typing import Annotated, Final, TypeAlias

from attrs import define, field, frozen, validators

from fritillary import CardSet, Packed
from fritillary_games.lepidoptery.actions import (
    COMBOS,
    NO_TYPE,
    NUMBERS,
    RANK_BITS,
    RANKS,
    SIZES,
    UNITS,
    Action,
    Combo,
    Pass,
    Play,
)
from fritillary_games.lepidoptery.layout import Layout, layout_of

__all__ = [
    "COMBOS",
    "COPIES",
    "DECK_SIZE",
    "FULL_DECK",
    "HAND_SIZE",
    "MAX_HEIGHT",
    "NO_TYPE",
    "NUMBERS",
    "RANKS",
    "RANK_BITS",
    "REASONS",
    "SIZES",
    "UNITS",
    "Action",
    "Combo",
    "Observation",
    "Options",
    "Pass",
    "Play",
    "Ranks",
    "State",
]

#: How often each rank 1..10 is in a player's deck of 38 (L-a).
COPIES: Final = (3, 4, 4, 4, 4, 4, 4, 4, 4, 3)

DECK_SIZE: Final = 38
HAND_SIZE: Final = 12

#: A multiset of ranks in one integer; a rising list of ranks in bytes.
Ranks: TypeAlias = Annotated[int, Packed(bits=RANK_BITS, lowest=1, size=10)]

#: All 38 cards of a player as one packed hand.
FULL_DECK: Final = sum(
    copies * UNITS[rank] for rank, copies in zip(RANKS, COPIES, strict=True)
)

MAX_HEIGHT: Final = 12

#: The reasons of an outcome, by the number that the state uses for them.
REASONS: Final = (None, "four-in-line", "all-shed")


def _check_order(_: object, __: object, value: tuple[Combo, ...]) -> None:
    if sorted(value, key=COMBOS.index) != list(COMBOS):
        msg = "must name each of the five types once"
        raise ValueError(msg)


def _check_heights(_: object, __: object, value: tuple[int, ...]) -> None:
    if len(value) != len(COMBOS) or not all(1 <= h <= MAX_HEIGHT for h in value):
        msg = f"must be five heights from 1 to {MAX_HEIGHT}"
        raise ValueError(msg)


@frozen(cache_hash=True)
class Options:
    """What may differ between two matches of Lepidoptery.

    Args:
        heights: free cells of each column, from left to right, 1 to 12 each.
        order: which type's column stands where, from left to right.
        same_type_may_beat: whether a combination may beat one of its own type;
            true in the rule set `classic`, false in `bga`.
        draw_at_twelve: whether a player who has exactly 12 cards at a refresh
            draws one (L-k).
        starter: the seat that leads first.
    """

    heights: tuple[int, ...] = field(default=(6,) * 5, validator=_check_heights)
    order: tuple[Combo, ...] = field(
        default=(Combo.RUN3, Combo.RUN2, Combo.SINGLE, Combo.PAIR, Combo.TRIPLE),
        validator=_check_order,
    )
    same_type_may_beat: bool = True
    draw_at_twelve: bool = True
    starter: int = field(default=0, validator=validators.in_((0, 1)))


@define
class State:
    """The whole truth of a match. Lists hold one entry a player, by seat.

    Numbers 0 to 4 stand for the types of combination in the order of `COMBOS`.
    What a player has played is not kept: it is what is missing from hand and deck.

    Args:
        options: of the match.
        to_move: the seat to act; after the end, the winner.
        hands: the ranks in each hand.
        decks: the cards each player can still draw, the next one first, each as
            the packed hand of that one card (`UNITS`).
        markers: the type on each player's marker, or 5 for none.
        jokers: whether each player's joker is face up, ready.
        tokens: the cells of each player's tokens, column by column from the left,
            bottom first; a column takes as many bits as the tallest has cells.
        filled: how many tokens are in each type's column, by type.
        table: the combination to beat, or none when leading.
        reason: how it ended: 0 not yet, 1 four in a line, 2 all cards shed.
    """

    options: Options
    to_move: int
    hands: list[Ranks]
    decks: list[tuple[int, ...]]
    markers: list[int]
    jokers: list[bool]
    tokens: list[CardSet]
    filled: list[int]
    table: Play | None = None
    reason: int = 0
    #: Follows from the options and from which column is full.
    layout: Layout = field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        layout = layout_of(self.options, NO_TYPE)
        if any(self.filled):
            for number, height in enumerate(layout.heights):
                if self.filled[number] == height:
                    layout = layout.when_full(number)
        self.layout = layout


@frozen
class Observation:
    """All that a seat may know. Lists hold one entry a player, by seat.

    Args:
        options: of the match.
        seat: who observes; nothing for a spectator.
        to_move: the seat to act; nothing after the end.
        hand: the observer's cards in rising order; empty for a spectator.
        hand_sizes: how many cards each player holds.
        deck_sizes: how many cards each player can still draw.
        played: the ranks each player has played so far, in rising order.
        markers: the type on each player's marker; nothing if any type is allowed.
        jokers: whether each player's joker is face up, ready to be used.
        columns: for each column from the left, the seats whose tokens lie in it,
            from the bottom up.
        table: the combination to beat; nothing when leading.
        winner: the seat that has won; nothing before the end.
        reason: why it ended, `four-in-line` or `all-shed`; nothing before.
    """

    options: Options
    seat: int | None
    to_move: int | None
    hand: tuple[int, ...]
    hand_sizes: tuple[int, ...]
    deck_sizes: tuple[int, ...]
    played: tuple[tuple[int, ...], ...]
    markers: tuple[Combo | None, ...]
    jokers: tuple[bool, ...]
    columns: tuple[tuple[int, ...], ...]
    table: Play | None
    winner: int | None
    reason: str | None
