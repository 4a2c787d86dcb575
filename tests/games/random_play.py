"""Random matches of a game, and worlds at random."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from fritillary import Dealer, FastDealer


def states_of(
    game: Any, options: Any, seats: int, matches: int, seed: int = 0
) -> Iterator[Any]:
    """Yield the states of random matches, the last ones too; do not change them."""
    rng = random.Random(seed)
    for number in range(matches):
        state = game.new(FastDealer(1000 * seed + number), options, seats)
        while True:
            yield state
            if game.outcome_of(state) is not None:
                break
            state = game.copy(state)
            game.apply(state, rng.choice(game.legal_actions(state)))


def sampled(game: Any, observation: Any, dealer: Dealer) -> Any:
    """Return a state that fits an observation."""
    return game.sample_state(observation, dealer)


def shuffled(game: Any, state: Any, seat: int | None, dealer: Dealer) -> Any:
    """Return a copy of a state with what a viewer does not see shuffled."""
    twin = game.copy(state)
    game.shuffle_hidden(twin, seat, dealer)
    return twin
