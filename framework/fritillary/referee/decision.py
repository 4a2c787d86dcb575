"""One decision of a seat, and what the seat sees meanwhile."""
# ruff: noqa: ANN401 - values of any game pass through

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from attrs import define

from fritillary.referee.seen import Problem

#: In milliseconds: more than the errors of a difference of clock readings, so that
#: what has taken one whole millisecond counts as one.
EARLY: Final = 1e-6


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

    def elapsed_ms(self, now: float) -> int:
        """Return the whole milliseconds since ``started``.

        Args:
            now: seconds of the same clock.
        """
        return int((now - self.started) * 1000 + EARLY)


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
