"""Bounds on times that a busy machine may stretch are measured, not guessed."""

from __future__ import annotations

import time


class Stopwatch:
    """Tells how long ago it was made."""

    def __init__(self) -> None:
        self._began = time.monotonic()

    def s(self) -> float:
        """Return how many seconds have passed."""
        return time.monotonic() - self._began

    def ms(self) -> int:
        """Return how many milliseconds have passed, rounded up."""
        return int(self.s() * 1000) + 1
