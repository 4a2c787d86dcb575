"""The rules of Lepidoptery: dealing, whose turn, what is legal, what it does."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Final

from fritillary import ACTS, Dealer, DecisionPoint, Outcome, Over, hookimpl
from fritillary_games.lepidoptery.actions import ACTIONS, PASS, Action, Pass, notation
from fritillary_games.lepidoptery.model import (
    COMBOS,
    FULL_DECK,
    HAND_SIZE,
    NO_TYPE,
    REASONS,
    Observation,
    Options,
    State,
)
from fritillary_games.lepidoptery.tables import (
    HALF_BITS,
    HALF_MASK,
    HIGH,
    LEAD,
    LOW,
    MASK,
    MASK_BITS,
    SIZE,
    cards_in,
    ranks_in,
    size_of,
)

_ONLY_PASS: Final[tuple[Action, ...]] = (PASS,)

_DECK: Final = tuple(cards_in(FULL_DECK))

#: By reason and seat; after the end that is the winner (L-n).
_POINTS: Final[tuple[tuple[DecisionPoint, ...], ...]] = (
    ACTS[:2],
    *(
        tuple(Over(Outcome.ranked(reason, scores)) for scores in ((1, 0), (0, 1)))
        for reason in REASONS
        if reason is not None
    ),
)

#: The type shown by a marker, by its number.
_SHOWN: Final = (*COMBOS, None)

FOUR_IN_LINE: Final = 1
ALL_SHED: Final = 2


@hookimpl
def new_state(options: Options, seats: int, dealer: Dealer) -> State:
    """Shuffle each player's own deck and deal 12 cards (L-a, L-b)."""
    hands: list[int] = []
    decks: list[tuple[int, ...]] = []
    for seat in range(seats):
        cards = [*_DECK]
        dealer.stream("deck", seat).shuffle(cards)
        hands.append(sum(cards[:HAND_SIZE]))
        decks.append(tuple(cards[HAND_SIZE:]))
    return State(
        options,
        options.starter,
        hands,
        decks,
        [NO_TYPE, NO_TYPE],
        [True, True],
        [0, 0],
        [0] * len(COMBOS),
    )


@hookimpl
def decision_point(state: State) -> DecisionPoint:
    """Say whose turn it is; turns strictly alternate (L-e)."""
    return _POINTS[state.reason][state.to_move]


@hookimpl
def all_actions(options: Options, seats: int) -> Sequence[Action]:
    """List the 110 actions, by type from the lowest rank; the pass last."""
    return ACTIONS


@hookimpl
def legal_actions(state: State) -> Sequence[Action]:
    """List the plays (L-f, L-g, L-l) and, where it is allowed, the pass (L-i)."""
    seat = state.to_move
    hand = state.hands[seat]
    held = LOW[hand & HALF_MASK] | HIGH[hand >> HALF_BITS]
    once = held & MASK
    twice = held >> MASK_BITS & MASK
    table = state.table
    singles, pairs, joker_pairs, triples, joker_triples, runs = state.layout.plans[
        LEAD if table is None else table.code
    ][state.markers[seat]][state.jokers[seat]]
    return (
        singles[once]
        + pairs[twice]
        + joker_pairs[once]
        + triples[held >> 2 * MASK_BITS]
        + joker_triples[twice]
        + runs[once]
    ) or _ONLY_PASS


@hookimpl
def apply_action(state: State, action: Action) -> None:
    """Play and place a token, or pass and refresh."""
    seat = state.to_move
    if isinstance(action, Pass):
        _refresh(state, seat)
        state.to_move = 1 - seat
        return
    # L-m: drop the token, move the marker, check for a win, empty columns.
    hands = state.hands
    hands[seat] = hand = hands[seat] - action.cost
    number = action.number
    layout = state.layout
    filled = state.filled
    height = filled[number]
    filled[number] = height + 1
    top, cell, upright, row, row_ends, rise, rise_ends, fall, fall_ends = layout.cells[
        number
    ][height]
    tokens = state.tokens
    tokens[seat] = own = tokens[seat] | cell
    state.markers[seat] = number
    if action.joker:
        state.jokers[seat] = False
    state.table = action
    if (
        own & upright == upright
        or (own & row == row and own & row_ends)
        or (own & rise == rise and own & rise_ends)
        or (own & fall == fall and own & fall_ends)
    ):
        state.reason = FOUR_IN_LINE
        return
    if not hand and not state.decks[seat]:
        state.reason = ALL_SHED
        return
    if top:
        _fill(state, number)
    state.to_move = 1 - seat


def _fill(state: State, number: int) -> None:
    """Empty the other full column, if there is one; a new one is full (L-o)."""
    layout = state.layout
    other = layout.full
    if other != NO_TYPE:
        state.filled[other] = 0
        kept = ~(((1 << layout.heights[other]) - 1) << layout.shifts[other])
        state.tokens[0] &= kept
        state.tokens[1] &= kept
    state.layout = layout.when_full(number)


def _refresh(state: State, seat: int) -> None:
    """Clear the table, ready the passer's marker and joker, draw for both (L-j)."""
    state.table = None
    state.markers[seat] = NO_TYPE
    state.jokers[seat] = True
    hands = state.hands
    decks = state.decks
    for player in (0, 1):
        deck = decks[player]
        if deck:
            hand = hands[player]
            # L-k; slicing a short deck gives what is there.
            count = HAND_SIZE - SIZE[hand & HALF_MASK] - SIZE[hand >> HALF_BITS]
            if count <= 0:
                count = 1 if count else state.layout.at_twelve
            hands[player] = hand + sum(deck[:count])
            decks[player] = deck[count:]


@hookimpl
def format_action(action: Action) -> str:
    """Return the notation, such as ``pair 7*``; the star marks the joker."""
    return notation(action)


@functools.cache
def _column(height: int, ones: int) -> tuple[int, ...]:
    """Return the seats in a column from the bottom, seat 1 where bits are set."""
    return tuple(ones >> row & 1 for row in range(height))


def played(state: State, seat: int) -> int:
    """Return the packed cards a player has played: those not in hand or deck."""
    return FULL_DECK - state.hands[seat] - sum(state.decks[seat])


@hookimpl
def observe(state: State, seat: int | None) -> Observation:
    """Hide the hands of others and the order of the decks; the rest is public."""
    layout = state.layout
    hand0, hand1 = hands = state.hands
    deck0, deck1 = state.decks
    ones = state.tokens[1]
    filled = state.filled
    shifts = layout.shifts
    marker0, marker1 = state.markers
    over = state.reason != 0
    return Observation(
        state.options,
        seat,
        None if over else state.to_move,
        () if seat is None else ranks_in(hands[seat]),
        (size_of(hand0), size_of(hand1)),
        (len(deck0), len(deck1)),
        (
            ranks_in(FULL_DECK - hand0 - sum(deck0)),
            ranks_in(FULL_DECK - hand1 - sum(deck1)),
        ),
        (_SHOWN[marker0], _SHOWN[marker1]),
        tuple(state.jokers),
        tuple(
            _column(filled[n], ones >> shifts[n] & (1 << filled[n]) - 1)
            for n in layout.order
        ),
        state.table,
        state.to_move if over else None,
        REASONS[state.reason],
    )
