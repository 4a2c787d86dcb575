"""Full states that fit an observation, drawn from the observation alone."""
# ruff: noqa: ANN401, TID251 - values of any game; the generator is the search's

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from fritillary.core.dealer import FastDealer
from fritillary.core.errors import GameError
from fritillary.core.info import Information
from fritillary.plugins.game import Game


def worlds(
    game: Game[Any, Any, Any], observation: Any, rng: random.Random
) -> Callable[[], Any]:
    """Return a function that draws a state the seat may be in; each is the caller's.

    Args:
        game: the rules.
        observation: all that the seat knows.
        rng: draws what it does not know.

    Raises:
        GameError: if the game has no ``sample_state`` and its observations are no
            states.
    """
    sample = game.sample_state
    if sample is not None:
        dealer = FastDealer(rng)
        return lambda: sample(observation, dealer)
    if game.info.information is Information.PERFECT and isinstance(
        observation, game.info.state
    ):
        return lambda: game.copy(observation)
    msg = f"{game.id} cannot be searched: it has no sample_state"
    raise GameError(msg)
