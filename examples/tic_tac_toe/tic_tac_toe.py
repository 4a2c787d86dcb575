"""Tic-tac-toe: three in a line on nine cells. A pattern for small board games."""

from attrs import define, frozen

from fritillary import (
    ACTS,
    Dealer,
    DecisionPoint,
    GameInfo,
    Information,
    Outcome,
    Over,
    hookimpl,
)

LINES = (
    *((row, row + 1, row + 2) for row in (0, 3, 6)),
    *((column, column + 3, column + 6) for column in (0, 1, 2)),
    *((0, 4, 8), (2, 4, 6)),
)


@frozen
class Options:
    """Nothing to choose."""


@frozen(cache_hash=True)
class Mark:
    """Mark a free cell.

    Args:
        cell: 0 to 8, row by row from the top left.
    """

    cell: int


@define
class State:
    """A position; everybody sees all of it, so it is the observation as well.

    Args:
        options: of the match.
        cells: nine letters, row by row: X of seat 0, O of seat 1, a dot where free.
    """

    options: Options
    cells: str = "." * 9


TABLE = tuple(Mark(cell) for cell in range(9))


@hookimpl
def describe() -> GameInfo:
    return GameInfo(
        id="tic-tac-toe", title="Tic-tac-toe", summary="Three in a line win.",
        rules_version=1, min_seats=2, max_seats=2, information=Information.PERFECT,
        chance=False, constant_sum=0, max_plies=9, options=Options, state=State,
        actions=(Mark,), observation=State, roles=("X", "O"),
        reasons={"line": "Somebody has three in a line.", "full": "No cell is free."},
    )  # fmt: skip


@hookimpl
def new_state(options: Options, seats: int, dealer: Dealer) -> State:
    return State(options)


@hookimpl
def decision_point(state: State) -> DecisionPoint:
    cells = state.cells
    for a, b, c in LINES:
        if cells[a] == cells[b] == cells[c] != ".":
            sign = 1 if cells[a] == "X" else -1
            return Over(Outcome.ranked("line", (sign, -sign)))
    free = cells.count(".")
    return ACTS[1 - free % 2] if free else Over(Outcome.ranked("full", (0, 0)))


@hookimpl
def all_actions(options: Options, seats: int) -> tuple[Mark, ...]:
    return TABLE


@hookimpl
def legal_actions(state: State) -> tuple[Mark, ...]:
    return tuple(mark for mark in TABLE if state.cells[mark.cell] == ".")


@hookimpl
def apply_action(state: State, action: Mark) -> None:
    cells, cell = state.cells, action.cell
    letter = "XO"[1 - cells.count(".") % 2]
    state.cells = cells[:cell] + letter + cells[cell + 1 :]


# Hooks do not call hooks: what two of them need is a function of its own.
def name_of(cell: int) -> str:
    return "abc"[cell % 3] + "321"[cell // 3]


@hookimpl
def explain_illegal(observation: State, action: Mark) -> str:
    return f"cell {name_of(action.cell)} is taken"


@hookimpl
def format_action(action: Mark) -> str:
    return name_of(action.cell)


@hookimpl
def draw_text(observation: State) -> str:
    rows = [" ".join(observation.cells[row : row + 3]) for row in (0, 3, 6)]
    return "\n".join([f"{3 - k} {row}" for k, row in enumerate(rows)] + ["  a b c"])
