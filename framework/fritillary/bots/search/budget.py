"""How long a search may go on: iterations, time, and never longer than the clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from attrs import field, frozen

from fritillary.bots.protocol import Clock

#: Iterations where neither they nor a time are asked for.
USUAL_ITERATIONS: Final = 1_000

#: Share of what the clock leaves for a move that is used.
_SHARE: Final = 0.8

#: Of what the clock leaves for a move, in seconds, kept back for the way of the answer.
_KEPT: Final = 0.03

#: A bank without an increment is to last for so many more moves.
_MOVES: Final = 25


@frozen(kw_only=True)
class Budget:
    """When to stop; at least one iteration is always made.

    Args:
        iterations: most; ``None``: as many as the time allows.
        seconds: most; ``None``: no limit but that of the clock.
        now: reads a monotonic clock, in seconds.
    """

    iterations: int | None = None
    seconds: float | None = None
    now: Callable[[], float] = field(default=time.monotonic, repr=False)

    def until(self, clock: Clock) -> tuple[int | None, float | None]:
        """Return the iterations to make, and when to stop by ``now`` at the latest.

        Args:
            clock: what is left to the seat at this moment.
        """
        iterations = self.iterations
        if iterations is None and self.seconds is None:
            iterations = USUAL_ITERATIONS
        limits = [] if self.seconds is None else [self.seconds]
        if clock.move_ms is not None:
            limits.append(max(clock.move_ms / 1000 * _SHARE - _KEPT, 0.0))
        if clock.left_ms is not None:
            # What is spent is gone for later moves.
            limits.append(clock.left_ms / 1000 / _MOVES)
        return iterations, self.now() + min(limits) if limits else None
