"""What holds at every position, for the checks of the framework."""

from __future__ import annotations

from collections.abc import Mapping

from fritillary import hookimpl
from fritillary_games.butterfly_garden.actions import TILES
from fritillary_games.butterfly_garden.board import EMPTY, KIND_OF, PLACES
from fritillary_games.butterfly_garden.model import State
from fritillary_games.butterfly_garden.tables import kinds_in


@hookimpl
def conserved(state: State) -> Mapping[str, int]:
    """Count the tiles of each kind wherever they are, and treasures out of place.

    A treasure waits facing an empty cell (I-i), and no two at one place.
    """
    kinds = [KIND_OF[tile] for tile in state.board if tile != EMPTY]
    for hand in state.hands:
        kinds += kinds_in(hand)
    kinds += state.stack
    counts = {tile.value: kinds.count(kind) for kind, tile in enumerate(TILES)}
    ones, twos, threes = state.waiting
    every = ones | twos | threes
    counts["treasures that face a tile"] = sum(
        (every >> 6 * cell & 63).bit_count()
        for cell in range(PLACES)
        if state.board[cell] != EMPTY
    )
    counts["treasures too many at one place"] = (
        ones.bit_count() + twos.bit_count() + threes.bit_count() - every.bit_count()
    )
    return counts
