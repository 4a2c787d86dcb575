"""An event loop whose time jumps to the next timer as soon as all are waiting.

Hours of thinking pass in microseconds, and always in the same way. Threads and
sockets do not fit into it: the loop cannot know that they are busy.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class DeadlockError(Exception):
    """Everything waits and no timer is set."""


class _Jumping(selectors.SelectSelector):
    """Moves the loop's time instead of waiting."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        ready = super().select(0)
        if not ready:
            if timeout is None:
                raise DeadlockError
            self.now += max(0.0, timeout)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop on a clock of its own, which starts at 0."""

    def __init__(self) -> None:
        self._jumping = _Jumping()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now

    def sleep(self, seconds: float) -> None:
        """Let time pass while nobody else can run, as blocking code does."""
        self._jumping.now += seconds


def sleep(seconds: float) -> None:
    """Let virtual time pass as blocking code does."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    loop.sleep(seconds)


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on a fresh virtual loop."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)
