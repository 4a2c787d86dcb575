"""The time that a seat has for lost links: a bank, drawn on while its bot is away."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable

from fritillary.record.terms import LinkBank


class LostLink:
    """Counts the time without a link, up to its end.

    Args:
        bank: how long a lost link is waited for, and all of them together.
        run_out: called with the milliseconds of this wait when they have passed.
    """

    def __init__(self, bank: LinkBank, run_out: Callable[[int], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._bank = bank
        self._bank_ms = bank.total_ms
        self._run_out = run_out
        self._since = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._paused = False

    def begin(self) -> None:
        """Let the time run, unless it does, or the match is paused."""
        if self._timer is not None or self._paused:
            return
        self._since = self._loop.time()
        wait_ms = min(self._bank.loss_ms, self._bank_ms)
        self._timer = self._loop.call_later(wait_ms / 1000, self._run_out, wait_ms)

    def charge(self) -> None:
        """Stop the time, and take what has passed from the bank."""
        if self._timer is not None:
            elapsed = (self._loop.time() - self._since) * 1000
            self._bank_ms = max(0, self._bank_ms - math.ceil(elapsed))
            self.stop()

    def stop(self) -> None:
        """Stop the time for good."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def pause(self, paused: bool, *, away: bool) -> None:
        """Note that the match stands still, or goes on.

        Args:
            paused: whether it stands still.
            away: whether the link is lost.
        """
        self._paused = paused
        if away:
            if paused:
                self.charge()
            else:
                self.begin()

    @property
    def left_ms(self) -> int:
        """What is left in the bank, in milliseconds."""
        if self._timer is None:
            return self._bank_ms
        elapsed = (self._loop.time() - self._since) * 1000
        return max(0, self._bank_ms - math.ceil(elapsed))

    @property
    def waiting_left_ms(self) -> int:
        """How long this loss is waited for at most, in milliseconds."""
        if self._timer is None:
            return self.left_ms
        return max(0, math.ceil((self._timer.when() - self._loop.time()) * 1000))
