"""Flat Monte Carlo: as many rollouts for each legal action, and the best mean wins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fritillary.bots.search.found import Candidate, Found
from fritillary.bots.search.rollouts import Rollout
from fritillary.plugins.game import Game


class Flat:
    """The legal actions in turn, each in a world of its own.

    Args:
        game: the rules.
        seat: that decides.
        legal: its legal actions.
        draw_world: gives a state that the seat may be in, the caller's to change.
        rollout: judges a state.
    """

    def __init__(
        self,
        game: Game[Any, Any, Any],
        seat: int,
        legal: Sequence[Any],
        draw_world: Callable[[], Any],
        rollout: Rollout,
    ) -> None:
        self._game = game
        self._seat = seat
        self._legal = legal
        self._draw_world = draw_world
        self._rollout = rollout
        self._visits = [0] * len(legal)
        self._totals = [0.0] * len(legal)
        self._made = 0

    def iterate(self) -> None:
        """Roll out the next action once."""
        at = self._made % len(self._legal)
        self._made += 1
        state = self._draw_world()
        self._game.apply(state, self._legal[at])
        self._totals[at] += self._rollout(state)[self._seat]
        self._visits[at] += 1

    def found(self) -> Found:
        """Return what is known of the legal actions."""
        return Found(
            [
                Candidate(action, n, total / n if n else 0.5, (action,))
                for action, n, total in zip(
                    self._legal, self._visits, self._totals, strict=True
                )
            ],
            self._made,
            by_value=True,
        )
