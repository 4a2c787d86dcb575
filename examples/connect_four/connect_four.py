"""Connect Four, fast: two bitboards, everything else from tables that are made once.

The cell in `row` of `column`, both from 0 and from below and the left, is bit
`7 * column + row`. The seventh bit of a column always stays empty, so that no line
runs on into the next one.
"""

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

COLUMNS: Final = range(7)
ROWS: Final = range(6)
COLUMN_NAMES: Final = "abcdefg"


@frozen
class Options:
    """Nothing to choose: 7 columns of 6 cells, four in a line."""


@frozen(cache_hash=True)
class Drop:
    """Drop a disc into a column that is not full.

    Args:
        column: 0 to 6, from the left.
    """

    column: int


@define
class State:
    """A position; everybody sees all of it, so it is the observation as well.

    Args:
        options: of the match.
        board: the cells with a disc: 7 * column + row, rows from below.
        last: those of them whose disc belongs to the seat that moved last; before
            the first move it is seat 1.
        turn: 0 or 1, the seat to act; 2 or 3 if seat 0 or 1 has won; 4 if drawn.
    """

    options: Options
    board: CardSet = 0
    last: CardSet = 0
    turn: int = 0


TABLE: Final = tuple(Drop(column) for column in COLUMNS)
BOTTOM: Final = tuple(1 << 7 * column for column in COLUMNS)
FULL: Final = sum((1 << len(ROWS)) - 1 << 7 * column for column in COLUMNS)
TOP: Final = sum(bit << ROWS[-1] for bit in BOTTOM)

#: The legal actions, by the cells of the top row that are filled.
LEGAL: Final = {
    sum(TOP & 63 << 7 * column for column in COLUMNS if full >> column & 1): tuple(
        drop for drop in TABLE if not full >> drop.column & 1
    )
    for full in range(1 << len(COLUMNS))
}

#: By `State.turn`.
POINTS: Final[tuple[DecisionPoint, ...]] = (
    *ACTS[:2],
    *(Over(Outcome.ranked("four", scores)) for scores in ((1, -1), (-1, 1))),
    Over(Outcome.ranked("full", (0, 0))),
)


@hookimpl
def describe() -> GameInfo:
    return GameInfo(
        id="connect-four", title="Connect Four", rules_version=1,
        summary="Drop discs into columns; four in a line win.",
        min_seats=2, max_seats=2, information=Information.PERFECT, chance=False,
        constant_sum=0, max_plies=42, options=Options, state=State, actions=(Drop,),
        observation=State, roles=("X", "O"), credits="Howard Wexler, 1974",
        reasons={"four": "The winner has four in a line.", "full": "No cell is free."},
    )  # fmt: skip


@hookimpl
def new_state(options: Options, seats: int, dealer: Dealer) -> State:
    return State(options)


@hookimpl
def decision_point(state: State) -> DecisionPoint:
    return POINTS[state.turn]


@hookimpl
def all_actions(options: Options, seats: int) -> Sequence[Drop]:
    return TABLE


@hookimpl
def legal_actions(state: State) -> Sequence[Drop]:
    return LEGAL[state.board & TOP]


@hookimpl
def apply_action(state: State, action: Drop) -> None:
    # Adding the bottom cell carries through the column to its first free cell.
    board = state.board
    state.board = board = board | board + BOTTOM[action.column]
    state.last = mine = board ^ state.last
    # Two neighbours, and two more beyond them: up, to the right, on both diagonals.
    if (
        (pairs := mine & mine >> 1) & pairs >> 2
        or (pairs := mine & mine >> 7) & pairs >> 14
        or (pairs := mine & mine >> 6) & pairs >> 12
        or (pairs := mine & mine >> 8) & pairs >> 16
    ):
        state.turn += 2
    else:
        state.turn = 1 - state.turn if board != FULL else 4


@hookimpl
def explain_illegal(observation: State, action: Drop) -> str:
    return f"column {COLUMN_NAMES[action.column]} is full"


@hookimpl
def format_action(action: Drop) -> str:
    return COLUMN_NAMES[action.column]


@hookimpl
def draw_text(observation: State) -> str:
    board, last = observation.board, observation.last
    # X belongs to seat 0; who moved last shows in the number of discs.
    letters = ".XO" if board.bit_count() % 2 else ".OX"
    rows = [
        " ".join(
            letters[(board >> cell & 1) * (2 - (last >> cell & 1))]
            for cell in range(row, 49, 7)
        )
        for row in reversed(ROWS)
    ]
    return "\n".join([*rows, "a b c d e f g"])
