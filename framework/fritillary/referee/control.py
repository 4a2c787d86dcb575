"""Cutting the referee's waits short: abort, pause and resume from outside."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

from fritillary.referee.seen import Finish

T = TypeVar("T")

#: In seconds: loops that count whole milliseconds call this much too early at most.
_EARLY_S: Final = 0.001


class InterruptedWait(Exception):  # noqa: N818 - control flow, not an error
    """A wait was cut short, because the match is to be paused or ended."""


class Control:
    """What was asked of a running match from outside.

    Attributes:
        finish: how the match is to end; ``None`` if nobody asked.
        halted: why the match is to stop; ``None`` while it goes on.
        wanted: whether the referee has something to attend to.
        waits: what is waited for in the match, to be cut short.
    """

    def __init__(self) -> None:
        self.finish: Finish | None = None
        self.halted: str | None = None
        self.wanted = False
        self.waits: set[Wait] = set()
        self._on = True
        self._going_on: asyncio.Future[None] | None = None

    def end(self, finish: Finish) -> None:
        """Ask for the end of the match; the first one to ask decides how."""
        if self.finish is None:
            self.finish = finish
            self.wanted = True
            self._wake()
            self._cut()

    def halt(self, message: str) -> bool:
        """Ask for a pause; return whether the match was going on."""
        if self.finish is not None:
            return False
        if self.halted is not None and not self._on:
            return False
        # Halted again before the referee came to go on: one pause, seen from inside.
        self.halted = message
        self.wanted = True
        self._on = False
        self._cut()
        return True

    def go_on(self) -> bool:
        """End the pause; return whether there was one."""
        if self.halted is None or self._on:
            return False
        self._wake()
        return True

    def _wake(self) -> None:
        self._on = True
        if self._going_on is not None and not self._going_on.done():
            self._going_on.set_result(None)

    async def until_go_on(self) -> None:
        """Wait for the end of the pause, or of the match."""
        while not self._on:
            self._going_on = asyncio.get_running_loop().create_future()
            await self._going_on
        self.halted = None
        self.wanted = self.finish is not None

    def _cut(self) -> None:
        for wait in self.waits:
            wait.cut()


class Wait:
    """Waits for one thing after the other, each at most so long.

    There is a wait for every decision and nearly none of them runs out, so that
    setting a timer for each and taking it back would be most of the work. One timer
    serves them all: it is left as it is when a wait is over, and set anew where it
    finds, when it is called, that the wait of that moment may last longer. All waits
    must be those of one task.

    Args:
        control: cuts it short.
    """

    __slots__ = (
        "_control",
        "_cut",
        "_deadline",
        "_due",
        "_expired",
        "_going_on",
        "_loop",
        "_task",
        "_timer",
    )

    def __init__(self, control: Control) -> None:
        self._control = control
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.Handle | None = None
        #: When the timer rings, by the clock of the loop.
        self._due = 0.0
        #: Known from the first wait on.
        self._task: asyncio.Task[Any] | None = None
        #: Whether there is a wait, and what is known of it.
        self._going_on = False
        self._deadline = 0.0
        self._expired = False
        self._cut: asyncio.Handle | None = None

    async def within(self, seconds: float, wait: Coroutine[Any, Any, T]) -> T:
        """Wait at most so long, and no longer than until an interruption.

        Raises:
            TimeoutError: if time ran out.
            InterruptedWait: if the match is to be paused or ended.
            RuntimeError: if a ``TimeoutError`` came from inside, before time was up.
        """
        control = self._control
        if control.wanted:
            wait.close()
            raise InterruptedWait
        task = self._task or self._of_task()
        self._expired = False
        self._deadline = deadline = self._loop.time() + seconds
        if self._timer is None or self._due > deadline:
            self._set(deadline)
        self._going_on = True
        cancelling = task.cancelling()
        control.waits.add(self)
        try:
            return await wait
        except asyncio.CancelledError:
            # As in asyncio.timeout: whoever else cancelled the task goes first.
            if not self._expired or task.cancelling() - 1 > cancelling:
                raise
        except TimeoutError as error:
            if not self._expired:
                msg = "something inside a wait ran out of time of its own"
                raise RuntimeError(msg) from error
        finally:
            self._going_on = False
            control.waits.discard(self)
            if self._expired:
                task.uncancel()
            if self._cut is not None:
                self._cut.cancel()
                self._cut = None
        if control.wanted:
            raise InterruptedWait
        raise TimeoutError

    def _of_task(self) -> asyncio.Task[Any]:
        task = self._task = asyncio.current_task()
        if task is None:  # pragma: no cover - coroutines are run by tasks
            raise RuntimeError
        return task

    def _set(self, due: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._due = due
        self._timer = self._loop.call_at(due, self._ring)

    def cut(self) -> None:
        """End the wait, unless it is over before the loop comes round."""
        if self._going_on and self._cut is None:
            self._cut = self._loop.call_soon(self._expire)

    def _ring(self) -> None:
        self._timer = None
        if not self._going_on or self._expired:
            return
        if self._deadline - self._loop.time() >= _EARLY_S:
            self._set(self._deadline)
        else:
            self._expire()

    def _expire(self) -> None:
        if self._task is not None and self._going_on and not self._expired:
            self._expired = True
            self._task.cancel()

    def close(self) -> None:
        """Take the timer back; nothing is waited for any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
