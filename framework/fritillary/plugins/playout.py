"""Random playouts: the fast seeded chooser and a loop to copy."""

# ruff: noqa: TID251 - the generator is the caller's

from __future__ import annotations

import random
from typing import TypeVar

from fritillary.core.dealer import FastDealer
from fritillary.core.outcome import Outcome
from fritillary.core.points import Over
from fritillary.plugins.game import Game

S = TypeVar("S")
A = TypeVar("A")
O = TypeVar("O")  # noqa: E741 - state, action, observation


def playout(game: Game[S, A, O], state: S, rng: random.Random) -> Outcome:
    """Play uniformly random actions to the end; ``state`` is changed.

    Args:
        game: the rules.
        state: where to start from; copy it first to keep it.
        rng: chooses the actions and draws the chance outcomes.
    """
    decision_point, legal_actions, apply = (
        game.decision_point,
        game.legal_actions,
        game.apply,
    )
    draw = rng.random
    dealer: FastDealer | None = None
    while True:
        point = decision_point(state)
        if point.seat is not None:
            legal = legal_actions(state)
            apply(state, legal[int(draw() * len(legal))])
        elif type(point) is Over:
            return point.outcome
        else:
            if dealer is None:
                dealer = FastDealer(rng)
            apply(state, game.draw_chance(state, dealer))
