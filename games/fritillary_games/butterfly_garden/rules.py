"""The rules: dealing, whose turn, what is legal, what a placement does."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Final

from fritillary import ACTS, Dealer, DecisionPoint, Outcome, Over, hookimpl
from fritillary_games.butterfly_garden.actions import (
    ACTIONS,
    COUNTS,
    TILES,
    UNITS,
    Place,
    Tile,
    notation,
)
from fritillary_games.butterfly_garden.board import (
    CELLS,
    CORNER_ENTRIES,
    EMPTY,
    EXIT,
    FIRST,
    KIND_OF,
    ORIENTATIONS,
    PLACES,
    waits_at,
)
from fritillary_games.butterfly_garden.model import (
    CENTRE_STOCK,
    NO_TREASURES,
    REASONS,
    ROUNDS_PLAYED,
    STACK_EMPTY,
    VALUE_BITS,
    VALUES,
    Observation,
    Options,
    State,
    Waiting,
)
from fritillary_games.butterfly_garden.running import RELEASE_BITS, runs
from fritillary_games.butterfly_garden.tables import (
    CHUNK,
    CHUNK_MASK,
    plan_of,
    tiles_in,
)

#: All 54 tiles by kind.
ALL_TILES: Final = tuple(
    kind for kind, count in enumerate(COUNTS) for _ in range(count)
)

#: A treasure in a collection, by value less one.
_UNITS: Final = tuple(1 << VALUE_BITS * place for place in range(len(VALUES)))

_CORNERS: Final = sum(1 << entry for entry in CORNER_ENTRIES)

#: Which release of the centre brings out what: the index of the value, by how many
#: are left in the centre after it.
_RELEASED: Final = tuple(value - 1 for value in reversed(CENTRE_STOCK))


@hookimpl
def new_state(options: Options, seats: int, dealer: Dealer) -> State:
    """Shuffle the 54 tiles and deal the hands from the top (I-a, I-b, I-n, I-o)."""
    if options.starter >= seats:
        msg = f"starter: seat {options.starter} does not play, there are {seats} seats"
        raise ValueError(msg)
    stack = [*ALL_TILES]
    dealer.stream("stack").shuffle(stack)
    hands = [0] * seats
    for _ in range(options.hand_size):
        for seat in range(seats):
            hands[seat] += UNITS[stack.pop()]
    return empty_board(options, hands, stack)


def empty_board(options: Options, hands: list[int], stack: list[int]) -> State:
    """Return the state before the first placement, with these tiles."""
    return State(
        options,
        options.starter,
        hands,
        stack,
        [EMPTY] * PLACES,
        [_CORNERS, 0, 0],
        len(CENTRE_STOCK),
        -1,
        [0] * len(hands),
    )


@hookimpl
def decision_point(state: State) -> DecisionPoint:
    """Say whose turn it is; the seats take turns clockwise (I-o)."""
    if state.reason:
        return _over(state.reason, tuple(state.taken))
    return ACTS[state.to_move]


@functools.lru_cache(maxsize=256)
def _over(reason: int, taken: tuple[int, ...]) -> DecisionPoint:
    """Return the end: most points, then most treasures, then shared (I-l, I-m)."""
    points = tuple(map(points_of, taken))
    ranks = [
        64 * score + sum(counts_of(each))
        for score, each in zip(points, taken, strict=True)
    ]
    word = REASONS[reason] or ""
    return Over(Outcome(word, points, Outcome.ranked(word, ranks).placing))


@functools.cache
def counts_of(taken: int) -> tuple[int, int, int]:
    """Return how many treasures worth 1, 2 and 3 are in a collection."""
    return taken & 15, taken >> VALUE_BITS & 15, taken >> 2 * VALUE_BITS


@functools.cache
def points_of(taken: int) -> int:
    """Return the points of a collection (I-b)."""
    ones, twos, threes = counts_of(taken)
    return ones + 2 * twos + 3 * threes


@hookimpl
def all_actions(options: Options, seats: int) -> Sequence[Place]:
    """List the 756 placements: by cell from the top left, then kind, then turn."""
    return ACTIONS


@hookimpl
def legal_actions(state: State) -> Sequence[Place]:
    """List the placements of the hand on empty cells (I-g), but for I-h."""
    one, two, three, four, five, six = plan_of(state.hands[state.to_move])
    empty = state.empty
    return (
        *one[empty & CHUNK_MASK],
        *two[empty >> CHUNK & CHUNK_MASK],
        *three[empty >> 2 * CHUNK & CHUNK_MASK],
        *four[empty >> 3 * CHUNK & CHUNK_MASK],
        *five[empty >> 4 * CHUNK & CHUNK_MASK],
        *six[empty >> 5 * CHUNK],
    )


@hookimpl
def apply_action(state: State, action: Place) -> None:
    """Place the tile, move the treasures, end or draw and pass the turn on (I-g)."""
    seat = state.to_move
    state.hands[seat] -= action.unit
    lay(state, action.cell, action.orientation)
    state.last = action
    ones, twos, threes = state.waiting
    if not (state.centre or ones or twos or threes):
        state.reason = NO_TREASURES
        return
    stack = state.stack
    layout = state.layout
    # I-p: when the stack is empty, play goes on with the tiles in hand.
    if stack:
        state.hands[seat] += UNITS[stack.pop()]
        if not stack and layout.ends_with_stack:
            state.reason = STACK_EMPTY
            return
    if state.empty.bit_count() == layout.empty_at_limit:
        state.reason = ROUNDS_PLAYED
        return
    seat += 1
    state.to_move = seat if seat < len(state.hands) else 0


def lay(state: State, cell: int, orientation: int) -> None:
    """Put a tile on an empty cell and let the treasures run (I-i, I-j, I-k)."""
    board = state.board
    waiting = state.waiting
    board[cell] = orientation
    state.empty ^= 1 << cell
    ones, twos, threes = waiting
    every = ones | twos | threes
    bit = RELEASE_BITS[cell]
    if bit:
        state.centre = left = state.centre - 1
        waiting[_RELEASED[left]] |= bit
        every |= bit
        if not left:
            state.released = cell
    if every >> 6 * cell & 63:
        for start, end in runs(board, every, cell):
            bit = 1 << start
            value = 0 if waiting[0] & bit else 1 if waiting[1] & bit else 2
            waiting[value] ^= bit
            if end >= EXIT:
                for owner in state.layout.owners[end - EXIT]:
                    state.taken[owner] += _UNITS[value]
            elif end >= 0:
                waiting[value] |= 1 << end


@hookimpl
def format_action(action: Place) -> str:
    """Return the notation, such as ``c4 knot 2``: cell, tile, turn clockwise."""
    return notation(action)


#: By cell and orientation: a tile as it stands in observations.
_SHOWN: Final = tuple(
    tuple(
        (TILES[KIND_OF[orientation]], q, r, orientation - FIRST[KIND_OF[orientation]])
        for orientation in range(len(ORIENTATIONS))
    )
    for q, r in CELLS[:PLACES]
)


@functools.cache
def _waiting(value: int, entry: int) -> Waiting:
    (q, r), edge = waits_at(entry)
    return Waiting(value, q, r, edge)


#: By packed hand.
_tiles_in = functools.cache(tiles_in)


@hookimpl
def observe(state: State, seat: int | None) -> Observation:
    """Hide the stack's order, and the hands of others unless they are open."""
    options = state.options
    over = state.reason != 0
    unplaced = [*COUNTS]
    placed: list[tuple[Tile, int, int, int]] = []
    for cell, orientation in enumerate(state.board):
        if orientation != EMPTY:
            placed.append(_SHOWN[cell][orientation])
            unplaced[KIND_OF[orientation]] -= 1
    waiting: list[Waiting] = []
    for value, entries in zip(VALUES, state.waiting, strict=True):
        left = entries
        while left:
            low = left & -left
            waiting.append(_waiting(value, low.bit_length() - 1))
            left ^= low
    shown = [
        not options.hide_scores or over or player == seat
        for player in range(len(state.hands))
    ]
    return Observation(
        options,
        seat,
        None if over else state.to_move,
        tuple(placed),
        state.last,
        tuple(waiting),
        CENTRE_STOCK[len(CENTRE_STOCK) - state.centre :],
        None if state.released < 0 else CELLS[state.released],
        state.layout.owners,
        tuple(
            _tiles_in(hand) if options.open_hands or player == seat else None
            for player, hand in enumerate(state.hands)
        ),
        tuple(len(_tiles_in(hand)) for hand in state.hands),
        len(state.stack),
        tuple(unplaced),
        tuple(
            counts_of(taken) if known else None
            for known, taken in zip(shown, state.taken, strict=True)
        ),
        tuple(
            points_of(taken) if known else None
            for known, taken in zip(shown, state.taken, strict=True)
        ),
        REASONS[state.reason],
    )
