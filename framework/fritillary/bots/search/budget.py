"""How long a search may go on: iterations, time, and never longer than the clock."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from attrs import define, field, frozen

from fritillary.bots.protocol import Clock

#: Iterations where neither they nor a time are asked for.
USUAL_ITERATIONS: Final = 1_000

#: Share of what the clock leaves for a move that is used.
_SHARE: Final = 0.8

#: Of what the clock leaves for a move, in seconds, kept back for the way of the answer.
_KEPT: Final = 0.06

#: A bank without an increment is to last for so many more moves.
_MOVES: Final = 25

#: And for so many answers without a search after these.
_ANSWERS: Final = 1_000

#: What such an answer is taken to cost at least, in seconds: clocks count in these.
_ANSWER: Final = 0.001

#: After so many answers without a search what it costs is found out anew.
_PATIENCE: Final = 10


@frozen(kw_only=True)
class Budget:
    """When to stop.

    Args:
        iterations: most; ``None``: as many as the time allows.
        seconds: most; ``None``: no limit but that of the clock.
        now: reads a monotonic clock, in seconds.
    """

    iterations: int | None = None
    seconds: float | None = None
    now: Callable[[], float] = field(default=time.monotonic, repr=False)

    def until(
        self,
        clock: Clock,
        *,
        waited: float = 0.0,
        late: float = 0.0,
        reserve: float = 0.0,
    ) -> tuple[int | None, float | None]:
        """Return the iterations to make, and when to stop by ``now`` at the latest.

        Args:
            clock: what was left to the seat when it was asked.
            waited: seconds since then.
            late: seconds by which decisions overran; kept back as well, up to half of
                what can be used.
            reserve: seconds of the seat's own clock that are not to be used.
        """
        iterations = self.iterations
        if iterations is None and self.seconds is None:
            iterations = USUAL_ITERATIONS
        limits = [] if self.seconds is None else [self.seconds]
        if clock.move_ms is not None:
            usable = (clock.move_ms / 1000 - waited) * _SHARE - _KEPT
            limits.append(max(usable - min(late, usable / 2), 0.0))
        if clock.left_ms is not None:
            # What is spent is gone for later moves.
            usable = clock.left_ms / 1000 - waited - reserve
            limits.append(max(usable / _MOVES, 0.0))
        return iterations, self.now() + min(limits) if limits else None


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _few() -> deque[float]:
    return deque(maxlen=16)


@define
class Pace:
    """What the decisions of one match took so far, in seconds, the last few of each.

    Attributes:
        builds: to prepare a search.
        iteration: one of a search, the later ones counting more; 0 before the first.
        overruns: a decision after the moment at which it was to stop.
        answers: of the seat's own clock, for a decision besides its search.
    """

    builds: deque[float] = field(factory=_few)
    overruns: deque[float] = field(factory=_few)
    answers: deque[float] = field(factory=_few)
    iteration: float = 0.0
    _at_first: float | None = None
    _left: float | None = None
    _searched: float = 0.0
    _unsearched: int = 0

    def iterated(self, seconds: float) -> None:
        """Be told how long an iteration took."""
        before = self.iteration
        self.iteration = before + (seconds - before) / 16 if before else seconds

    def asked(self, clock: Clock) -> None:
        """Learn from what is left now what the decision before took.

        Where an increment makes that look negative, nothing is learnt.
        """
        left = None if clock.left_ms is None else clock.left_ms / 1000
        if left is not None and self._left is not None:
            spent = self._left - left
            if spent >= 0:
                self.answers.append(max(spent - self._searched, 0.0))
        if self._at_first is None:
            self._at_first = left
        self._left = left
        self._searched = 0.0

    def searched(self, seconds: float) -> None:
        """Be told how long the search of this decision took."""
        self._searched = seconds
        self._unsearched = 0

    def unsearched(self) -> None:
        """Be told that there was none since there was no time for it."""
        self._unsearched += 1
        self.overruns.append(0.0)

    @property
    def late(self) -> float:
        """By how much the worst of the last decisions overran."""
        return max(self.overruns, default=0.0)

    @property
    def reserve(self) -> float:
        """What is to be left of the seat's own clock for answers without a search.

        At most half of what there was at first.
        """
        if self._at_first is None:
            return 0.0
        answer = max(_mean(self.answers), _ANSWER)
        return min(_ANSWERS * answer, self._at_first / 2)

    def fits(self, allowed: float, clock: Clock) -> bool:
        """Say whether a search is worth to begin.

        Args:
            allowed: seconds that it may take.
            clock: what is left.
        """
        if allowed <= 0:
            return False
        if allowed >= _mean(self.builds) + self.iteration:
            return True
        # The measures may have been taken when the machine was busy. It is tried again
        # where even the worst of them would do no harm.
        if self._unsearched < _PATIENCE:
            return False
        worst = max(self.builds, default=0.0) + 2 * self.iteration
        left = [] if clock.move_ms is None else [clock.move_ms / 1000]
        if clock.left_ms is not None:
            left.append(clock.left_ms / 1000 - self.reserve)
        return bool(left) and min(left) >= 4 * worst
