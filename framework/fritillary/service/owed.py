"""Ends of matches of an earlier run, of which bots have yet to hear.

Nothing of such a match is read before one of its bots is back: a start must not take
the longer the more bots stay away. Then they are read one at a time, in a thread, with
a pause after each as long as it took.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TypeAlias

from fritillary.service.hub import Hub
from fritillary.service.lastnews import LastNews, LaterNews
from fritillary.service.restart import log_left

#: By seat and bot: what was told last.
News: TypeAlias = Mapping[tuple[int, str], LastNews]


class Owed:
    """Has bots told how matches ended while they were away.

    Args:
        hub: the bots that dialled in.
        read: returns the news of a match by its id; called in a thread.
        in_thread: calls a function in a thread, when it is its turn.
    """

    def __init__(
        self,
        hub: Hub,
        read: Callable[[str], News],
        in_thread: Callable[[Callable[[], News]], Awaitable[News]],
    ) -> None:
        self._hub = hub
        self._read = read
        self._in_thread = in_thread
        self._seats: dict[str, tuple[tuple[int, str], ...]] = {}
        self._wanted: dict[str, None] = {}
        self._reading: asyncio.Task[None] | None = None

    def add(self, match_id: str, seats: Iterable[tuple[int, str]]) -> None:
        """Owe the end of a match.

        Args:
            match_id: of the match.
            seats: number and bot of each seat.
        """
        self._seats[match_id] = tuple(seats)
        later = functools.partial(self._want, match_id)
        for seat, name in self._seats[match_id]:
            self._hub.link(name).keep_end(match_id, seat, LaterNews(later))

    def _want(self, match_id: str) -> None:
        if match_id not in self._seats:
            return
        self._wanted[match_id] = None
        if self._reading is None or self._reading.done():
            self._reading = asyncio.create_task(self._read_all())

    async def _read_all(self) -> None:
        loop = asyncio.get_running_loop()
        while self._wanted:
            match_id = next(iter(self._wanted))
            del self._wanted[match_id]
            # A bot that has left again asks again when it is back.
            if not any(self._waits(name) for _, name in self._seats[match_id]):
                continue
            begun = loop.time()
            # Read once, whatever comes of it.
            del self._seats[match_id]
            try:
                read = functools.partial(self._read, match_id)
                news = await self._in_thread(read)
            except Exception as error:  # noqa: BLE001 - whatever files hold, or rules raise
                log_left(f"match {match_id}", error)
                continue
            for (seat, name), one in news.items():
                self._hub.link(name).news_read(match_id, seat, one)
                self._hub.tidy(name)
            await asyncio.sleep(loop.time() - begun)

    def _waits(self, name: str) -> bool:
        connected = self._hub.link(name).session is not None
        self._hub.tidy(name)
        return connected

    async def close(self) -> None:
        """Read nothing more."""
        if self._reading is not None:
            self._reading.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._reading
