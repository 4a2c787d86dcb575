"""Cutting the referee's waits short: abort, pause and resume from outside."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from fritillary.referee.seen import Finish

T = TypeVar("T")


class InterruptedWait(Exception):  # noqa: N818 - control flow, not an error
    """A wait was cut short, because the match is to be paused or ended."""


class Control:
    """What was asked of a running match from outside.

    Attributes:
        finish: how the match is to end; ``None`` if nobody asked.
        halted: why the match is to stop; ``None`` while it goes on.
        wanted: whether the referee has something to attend to.
    """

    def __init__(self) -> None:
        self.finish: Finish | None = None
        self.halted: str | None = None
        self.wanted = False
        self._waits: set[asyncio.Timeout] = set()
        self._go_on = asyncio.Event()

    def end(self, finish: Finish) -> None:
        """Ask for the end of the match; the first one to ask decides how."""
        if self.finish is None:
            self.finish = finish
            self.wanted = True
            self._go_on.set()
            self._cut()

    def halt(self, message: str) -> bool:
        """Ask for a pause; return whether the match was going on."""
        if self.finish is not None:
            return False
        if self.halted is not None and not self._go_on.is_set():
            return False
        # Halted again before the referee came to go on: one pause, seen from inside.
        self.halted = message
        self.wanted = True
        self._go_on.clear()
        self._cut()
        return True

    def go_on(self) -> bool:
        """End the pause; return whether there was one."""
        if self.halted is None or self._go_on.is_set():
            return False
        self._go_on.set()
        return True

    async def until_go_on(self) -> None:
        """Wait for the end of the pause, or of the match."""
        while not self._go_on.is_set():
            await self._go_on.wait()
        self.halted = None
        self.wanted = self.finish is not None

    def _cut(self) -> None:
        for wait in self._waits:
            # One that has just run out cannot be moved, and need not be.
            if not wait.expired():
                wait.reschedule(-1)

    async def within(self, seconds: float, wait: Coroutine[Any, Any, T]) -> T:
        """Wait at most so long, and no longer than until an interruption.

        Raises:
            TimeoutError: if time ran out.
            InterruptedWait: if the match is to be paused or ended.
            RuntimeError: if a ``TimeoutError`` came from inside, before time was up.
        """
        if self.wanted:
            wait.close()
            raise InterruptedWait
        timeout = asyncio.timeout(seconds)
        try:
            async with timeout:
                self._waits.add(timeout)
                try:
                    return await wait
                finally:
                    self._waits.discard(timeout)
        except TimeoutError as error:
            if not timeout.expired():
                msg = "something inside a wait ran out of time of its own"
                raise RuntimeError(msg) from error
            if self.wanted:
                raise InterruptedWait from None
            raise
