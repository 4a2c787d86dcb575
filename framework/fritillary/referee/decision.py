"""One decision of a seat, and what the seat sees meanwhile."""
# ruff: noqa: ANN401 - values of any game pass through

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import define

from fritillary.referee.seen import Problem


@define
class Decision:
    """One decision of a seat, through all its attempts.

    Args:
        seat: that decides.
        legal: the legal actions.
        started: when the time that is not yet charged began to run.
        attempt: which time of asking it is, from 1.
        problem: what was wrong with the attempt before.
    """

    seat: int
    legal: tuple[Any, ...]
    started: float
    attempt: int = 1
    problem: Problem | None = None


class Look:
    """What a seat sees, built when someone looks.

    Attributes:
        error: that the game raised while it was built. Whoever looked may have taken
            it for its own, but no seat is to blame.
    """

    __slots__ = ("_observation", "_state", "error")

    def __init__(self, observation: Callable[[Any], Any], state: Any) -> None:
        self._observation = observation
        self._state = state
        self.error: Exception | None = None

    def __call__(self) -> Any:
        """Return the observation."""
        try:
            return self._observation(self._state)
        except Exception as error:
            self.error = error
            raise
