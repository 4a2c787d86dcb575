"""What follows from the options of a match: cells, lines, and plans for legality."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final, TypeAlias

from fritillary_games.lepidoptery.actions import COMBOS, NO_TYPE, NUMBERS
from fritillary_games.lepidoptery.tables import Plans, plans

if TYPE_CHECKING:
    from fritillary_games.lepidoptery.model import Options

COLUMNS: Final = len(COMBOS)

#: One cell: whether it is the top one, its bit, the mask of the four cells that end
#: in it from below; then for the row and both diagonals through it the mask of the
#: cells in the three middle columns, and the mask of those in the outer columns.
#: Every line of four that is not upright needs all of the first and one of the
#: second. What would leave the board is a bit that no token ever has.
Cell: TypeAlias = tuple[bool, int, int, int, int, int, int, int, int]


class Layout:
    """Derived from the options, and from which column is full; shared by states.

    Attributes:
        heights: free cells of each type's column, by type.
        stride: bits a column takes in the tokens of a state.
        shifts: where each type's column begins in the tokens, by type.
        order: the types of the columns from the left, as numbers.
        cells: by type and by how many tokens lie in its column already.
        full: the type whose column is full, or `NO_TYPE`.
        at_twelve: how many cards a player with exactly 12 draws at a refresh.
        plans: see :mod:`fritillary_games.lepidoptery.tables`.
    """

    __slots__ = (
        "_options",
        "_siblings",
        "at_twelve",
        "cells",
        "full",
        "heights",
        "order",
        "plans",
        "shifts",
        "stride",
    )

    def __init__(self, options: Options, full: int) -> None:
        self._options = options
        self._siblings: list[Layout | None] = [None] * (NO_TYPE + 1)
        self.full = full
        self.order = tuple(NUMBERS[combo] for combo in options.order)
        place = [self.order.index(number) for number in range(COLUMNS)]
        self.heights = tuple(options.heights[place[n]] for n in range(COLUMNS))
        self.stride = max(self.heights)
        self.shifts = tuple(self.stride * place[number] for number in range(COLUMNS))
        self.at_twelve = int(options.draw_at_twelve)
        self.cells = tuple(
            tuple(self._cell(place[n], row) for row in range(self.heights[n]))
            for n in range(COLUMNS)
        )
        self.plans: Plans = plans(full, same_type_may_beat=options.same_type_may_beat)

    def __reduce__(self) -> tuple[object, ...]:
        # Rebuilt from the options instead of pickled: the plans are large.
        return layout_of, (self._options, self.full)

    def when_full(self, number: int) -> Layout:
        """Return the layout while the column of that type is the full one."""
        sibling = self._siblings[number]
        if sibling is None:
            sibling = self._siblings[number] = layout_of(self._options, number)
        return sibling

    def has_line(self, own: int) -> bool:
        """Say whether tokens hold four adjacent in a line anywhere (L-n)."""
        for column in self.cells:
            for (
                _,
                _,
                upright,
                row,
                row_ends,
                rise,
                rise_ends,
                fall,
                fall_ends,
            ) in column:
                if (
                    own & upright == upright
                    or (own & row == row and own & row_ends)
                    or (own & rise == rise and own & rise_ends)
                    or (own & fall == fall and own & fall_ends)
                ):
                    return True
        return False

    def _bit(self, column: int, row: int) -> int:
        """Return the bit of a cell, or 0 if it is not on the board."""
        on_board = 0 <= column < COLUMNS and (
            0 <= row < self.heights[self.order[column]]
        )
        return 1 << (column * self.stride + row) if on_board else 0

    def _cell(self, column: int, row: int) -> Cell:
        never = 1 << (COLUMNS * self.stride)
        upright = [self._bit(column, row - below) for below in range(4)]
        masks = [sum(upright) if all(upright) else never]
        for climb in (0, 1, -1):
            line = [self._bit(c, row + climb * (c - column)) for c in range(COLUMNS)]
            masks += [sum(line[1:4]) if all(line[1:4]) else never, line[0] | line[4]]
        number = self.order[column]
        top = row + 1 == self.heights[number]
        return top, upright[0], *masks  # type: ignore[return-value]


@functools.lru_cache(maxsize=384)
def layout_of(options: Options, full: int) -> Layout:
    """Return the layout while the column of type ``full`` is full, cached."""
    return Layout(options, full)
