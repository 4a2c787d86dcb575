"""How treasures run along the routes when a tile is placed (I-h to I-k)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from fritillary_games.butterfly_garden.board import (
    EMPTY,
    ENTRIES,
    RELEASE,
    STEP,
    THROUGH,
)

#: What a treasure ran to when it met another: both are gone (I-j).
MET: Final = -1

#: The entry from which a treasure came, and where it ran to: the entry where it
#: waits now, ``EXIT + g`` if it left through gateway ``g + 1``, or `MET`.
Run: TypeAlias = tuple[int, int]


def runs(board: Sequence[int], waiting: int, cell: int) -> list[Run]:
    """Return where the treasures next to a newly placed tile run to.

    Args:
        board: the orientation on each cell, that of the new tile included.
        waiting: the entries of all waiting treasures, also of one that the centre
            has just released into the cell.
        cell: where the new tile lies.

    Returns:
        One run for each treasure that waited at the cell. A treasure that waited
        elsewhere and was met has a run to `MET` as well.
    """
    first = 6 * cell
    near = waiting >> first & 63
    if not near:
        return []
    orientation = board[cell]
    through = THROUGH[orientation]
    step = STEP[orientation]
    found: list[Run] = []
    while near:
        low = near & -near
        near ^= low
        start = entry = first + low.bit_length() - 1
        while True:
            out = through[entry - first]
            if near >> out & 1:
                # Another treasure comes the other way.
                near ^= 1 << out
                found += [(start, MET), (first + out, MET)]
                break
            entry = step[entry]
            while entry < ENTRIES and entry // 6 != cell:
                tile = board[entry // 6]
                if tile == EMPTY:
                    break
                entry = STEP[tile][entry]
            if entry // 6 == cell:
                # The route comes back to the new tile.
                continue
            if entry < ENTRIES and waiting >> entry & 1:
                found += [(start, MET), (entry, MET)]
            else:
                found.append((start, entry))
            break
    return found


#: By cell: the bit of the entry over which the centre releases, 0 elsewhere.
RELEASE_BITS: Final = tuple(
    1 << RELEASE[cell] if cell in RELEASE else 0 for cell in range(ENTRIES // 6)
)
