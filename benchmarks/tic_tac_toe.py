"""Tic-tac-toe, fast: bitmasks and tables. The example of that name is for reading."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from attrs import define, frozen

from fritillary import (
    ACTS,
    CardSet,
    Dealer,
    DecisionPoint,
    GameInfo,
    Information,
    Outcome,
    Over,
    hookimpl,
)


@frozen
class Options:
    pass


@frozen(cache_hash=True)
class Mark:
    cell: int


@define
class State:
    """Like the state of the example `connect_four`; cell 0 is the lowest bit."""

    options: Options
    board: CardSet = 0
    last: CardSet = 0
    turn: int = 0


CELLS: Final = range(9)
TABLE: Final = tuple(Mark(cell) for cell in CELLS)
BITS: Final = tuple(1 << cell for cell in CELLS)
FULL: Final = (1 << len(CELLS)) - 1
LINES: Final = (0o7, 0o70, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124)

#: By the cells that are taken, and by the cells of one side.
LEGAL: Final = tuple(
    tuple(mark for mark in TABLE if not taken & BITS[mark.cell])
    for taken in range(FULL + 1)
)
WON: Final = tuple(
    any(mine & line == line for line in LINES) for mine in range(FULL + 1)
)

#: By `State.turn`: 2 or 3 if a seat has won, 4 if drawn.
POINTS: Final[tuple[DecisionPoint, ...]] = (
    *ACTS[:2],
    *(Over(Outcome.ranked("line", (sign, -sign))) for sign in (1, -1)),
    Over(Outcome.ranked("full", (0, 0))),
)


@hookimpl
def describe() -> GameInfo:
    return GameInfo(
        id="fast-tic-tac-toe",
        title="Tic-tac-toe with tables",
        summary="Three in a line win.",
        rules_version=1,
        min_seats=2,
        max_seats=2,
        information=Information.PERFECT,
        chance=False,
        constant_sum=0,
        max_plies=9,
        options=Options,
        state=State,
        actions=(Mark,),
        observation=State,
        roles=("X", "O"),
        reasons={"line": "Somebody has three in a line.", "full": "No cell is free."},
    )


@hookimpl
def new_state(options: Options, seats: int, dealer: Dealer) -> State:
    return State(options)


@hookimpl
def decision_point(state: State) -> DecisionPoint:
    return POINTS[state.turn]


@hookimpl
def all_actions(options: Options, seats: int) -> Sequence[Mark]:
    return TABLE


@hookimpl
def legal_actions(state: State) -> Sequence[Mark]:
    return LEGAL[state.board]


@hookimpl
def apply_action(state: State, action: Mark) -> None:
    state.board = board = state.board | BITS[action.cell]
    state.last = mine = board ^ state.last
    if WON[mine]:
        state.turn += 2
    else:
        state.turn = 1 - state.turn if board != FULL else 4


@hookimpl
def format_action(action: Mark) -> str:
    return str(action.cell)


@hookimpl
def draw_text(observation: State) -> str:
    return f"{observation.board:09b} {observation.last:09b}"
