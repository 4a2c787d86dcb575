"""Observations are looked at before worlds are drawn from them.

Whoever draws worlds from an observation may have been given one that somebody has made
up. All is looked at once, in work that does not grow with the numbers in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from fritillary import InvalidPositionError

ObservationT = TypeVar("ObservationT")


def check_by(
    problems: Callable[[ObservationT], Iterable[str]],
) -> Callable[[ObservationT], None]:
    """Return a check that refuses observations that no deal can give.

    The check raises an `InvalidPositionError` that says what is wrong first.

    Args:
        problems: yields what is wrong with an observation, nothing if all is well; each
            may rely on what was right before.
    """
    # The last one that was not refused: many worlds are drawn from one.
    sound: list[ObservationT] = []

    def check_observation(observation: ObservationT) -> None:
        if sound and sound[0] is observation:
            return
        for problem in problems(observation):
            msg = f"no deal gives this observation: {problem}"
            raise InvalidPositionError(msg)
        sound[:] = [observation]

    return check_observation
