"""Tables that make the legal placements of a hand a matter of a few look-ups.

The 54 cells are six chunks of nine. For each chunk and each set of its cells that
are empty there is a ready-made tuple of the placements of a hand; the legal actions
are the six of them one after the other.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from fritillary_games.butterfly_garden.actions import (
    COUNT_BITS,
    PLACEMENTS,
    TILES,
    Place,
    Tile,
)
from fritillary_games.butterfly_garden.board import KIND_OF, PLACES

CHUNK: Final = 9
CHUNK_MASK: Final = (1 << CHUNK) - 1

#: For each chunk, the placements by the set of its empty cells.
Plan: TypeAlias = tuple[list[tuple[Place, ...]], ...]

_COUNT_MASK: Final = (1 << COUNT_BITS) - 1

#: By packed hand: the plan, once it was needed.
_PLANS: Final[dict[int, Plan]] = {}


def kinds_in(hand: int) -> list[int]:
    """Return the kinds of a packed hand, rising, each as often as it is held."""
    kinds = []
    for kind in range(len(TILES)):
        kinds += [kind] * (hand >> COUNT_BITS * kind & _COUNT_MASK)
    return kinds


def tiles_in(hand: int) -> tuple[Tile, ...]:
    """Return the tiles of a packed hand, in the order of `Tile`."""
    return tuple(TILES[kind] for kind in kinds_in(hand))


def plan_of(hand: int) -> Plan:
    """Return the plan of a packed hand, built when it is needed first."""
    plan = _PLANS.get(hand)
    if plan is None:
        plan = _PLANS[hand] = _build(frozenset(kinds_in(hand)))
    return plan


def _build(kinds: frozenset[int]) -> Plan:
    chunks = []
    for first in range(0, PLACES, CHUNK):
        rows: list[tuple[Place, ...]] = [()]
        for cell in range(first, first + CHUNK):
            here = tuple(
                place
                for orientation, place in enumerate(PLACEMENTS[cell])
                if place is not None and KIND_OF[orientation] in kinds
            )
            # The cells come in rising order, so a new one goes last.
            rows += [row + here for row in rows]
        chunks.append(rows)
    return tuple(chunks)
