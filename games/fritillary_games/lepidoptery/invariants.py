"""What holds at every position of Lepidoptery, for the checks of the framework."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from fritillary import hookimpl
from fritillary_games.lepidoptery.model import COPIES, RANKS, State
from fritillary_games.lepidoptery.tables import ranks_in


@hookimpl
def conserved(state: State) -> Mapping[str, int]:
    """Count cards that a player has too many of, and tokens out of place.

    Played cards are what is missing from hand and deck, so a lost card does not
    show; one that is there twice does (L-a).
    """
    counts = {}
    for seat, (hand, deck) in enumerate(zip(state.hands, state.decks, strict=True)):
        held = Counter([*ranks_in(hand), *(r for card in deck for r in ranks_in(card))])
        counts[f"cards that seat {seat} has too many of"] = sum(
            max(0, held[rank] - copies)
            for rank, copies in zip(RANKS, COPIES, strict=True)
        )
    one, other = state.tokens
    counts["cells with two tokens"] = (one & other).bit_count()
    counts["tokens that no column counts"] = (one | other).bit_count() - sum(
        state.filled
    )
    return counts


@hookimpl
def rotate_seats(state: State) -> State:
    """Let the players change seats; all that tells them apart moves along."""
    return State(
        state.options,
        1 - state.to_move,
        state.hands[::-1],
        state.decks[::-1],
        state.markers[::-1],
        state.jokers[::-1],
        state.tokens[::-1],
        [*state.filled],
        state.table,
        state.reason,
    )
