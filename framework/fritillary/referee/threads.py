"""Calling what may block, away from the event loop."""
# ruff: noqa: ANN401 - values of any game pass through

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import Any


class Hand:
    """Makes calls in threads, one at a time, and waits for them on the loop.

    A call that nobody waits for any more runs on; the next one begins after it. The
    threads do not hold up the end of the process, since what they run may hang.
    """

    def __init__(self) -> None:
        self._busy: asyncio.Future[None] | None = None

    async def call(self, function: Callable[[Any], Any], argument: Any) -> Any:
        """Return what the function returns, or raise what it raises."""
        while self._busy is not None and not self._busy.done():
            await asyncio.wait([self._busy])
        loop = asyncio.get_running_loop()
        self._busy = done = loop.create_future()
        returned: list[Any] = []
        raised: list[BaseException] = []

        def run() -> None:
            try:
                returned.append(function(argument))
            except BaseException as error:  # noqa: BLE001 - raised again by who waits
                raised.append(error)
            # The loop may have closed meanwhile.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(done.set_result, None)

        threading.Thread(target=run, daemon=True, name="fritillary-bot").start()
        # Unlike the future itself, this can be cancelled without losing the call.
        await asyncio.wait([done])
        if raised:
            if isinstance(raised[0], Exception):
                raise raised[0]
            # Interrupts and exits are meant for the process, not for who waits.
            msg = f"the call ended with {type(raised[0]).__name__}"
            raise RuntimeError(msg) from raised[0]
        return returned[0]
