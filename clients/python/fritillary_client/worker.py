"""A thread of its own for a bot, so that the stream is served while it thinks."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from typing import TypeAlias

_Job: TypeAlias = tuple[Callable[[object], object], object, "asyncio.Future[object]"]


class Worker:
    """Runs one call after the other in a thread, which is started by the first.

    The thread is a daemon: a bot that hangs does not keep the program alive.
    """

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._started = False

    def call(
        self, function: Callable[..., object], argument: object
    ) -> asyncio.Future[object]:
        """Run a function after those called before; return its future result."""
        future: asyncio.Future[object] = self._loop.create_future()
        self._jobs.put((function, argument, future))
        if not self._started:
            self._started = True
            threading.Thread(
                target=self._run, daemon=True, name="fritillary-bot"
            ).start()
        return future

    def close(self) -> None:
        """Let the thread end when it has done what it was given."""
        self._jobs.put(None)

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            function, argument, future = job
            result: object = None
            error: BaseException | None = None
            try:
                result = function(argument)
            except BaseException as raised:  # noqa: BLE001 - sys.exit() too
                error = raised
            try:
                self._loop.call_soon_threadsafe(_settle, future, result, error)
            except RuntimeError:
                return  # the loop has closed meanwhile


def _settle(
    future: asyncio.Future[object], result: object, error: BaseException | None
) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(result)
    else:
        # A future takes neither StopIteration nor what would stop the loop.
        future.set_exception(Raised(error))


class Raised(Exception):  # noqa: N818 - an envelope
    """Carries what a bot raised in its thread.

    Attributes:
        error: that.
    """

    def __init__(self, error: BaseException) -> None:
        super().__init__(repr(error))
        self.error = error
