"""Turns at work that must not get in the way of play."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator
from typing import Final
from weakref import WeakValueDictionary

#: After a turn there is a rest so many times as long: a quarter of the time is work.
REST: Final = 3.0

#: Handing over what a turn made takes about so many seconds, after its end.
_HAND_OVER_S: Final = 0.000_1

#: Shorter rests are saved up: no timer is as fine as that.
_SHORTEST_REST_S: Final = 0.001


class Turns:
    """One turn at a time; tokens take turns, each first come first served.

    Between two turns all others who are ready run. The first after a while of nothing
    begins at once.

    Args:
        rest: after a turn, as so many times what the turn took.
    """

    def __init__(self, rest: float = REST) -> None:
        self._rest_factor = rest
        #: By token, whose turn is next first. Who gave up is still in it.
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        #: From the start of a turn to the end of the rest after it.
        self._busy = False
        self._rest_s = 0.0

    @contextlib.asynccontextmanager
    async def one(self, key: str) -> AsyncIterator[None]:
        """Wait for a turn, and have it.

        Args:
            key: of the token.
        """
        if self._busy:
            await self._wait(key)
        self._busy = True
        loop = asyncio.get_running_loop()
        begun_s = loop.time()
        try:
            yield
        finally:
            self._rest(loop, loop.time() - begun_s)

    async def _wait(self, key: str) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(key, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                # It had the turn and does not take it.
                self._next()
            raise

    def _rest(self, loop: asyncio.AbstractEventLoop, worked_s: float) -> None:
        self._rest_s += self._rest_factor * (worked_s + _HAND_OVER_S)
        if self._rest_s < _SHORTEST_REST_S:
            loop.call_soon(self._next)
        else:
            loop.call_later(self._rest_s, self._next)
            self._rest_s = 0.0

    def _next(self) -> None:
        """Give the turn to whoever is next."""
        while self._waiting:
            key = next(iter(self._waiting))
            turns = self._waiting.pop(key)
            turn = turns.popleft()
            if turns:
                self._waiting[key] = turns
            if not turn.done():
                turn.set_result(None)
                return
        self._busy = False


class Queues:
    """Work of which each token has one piece under way, or a few, whatever waits.

    So no token takes memory for more than that at a time.

    Args:
        most: pieces that are under way at once, of each token.
    """

    def __init__(self, most: int = 1) -> None:
        self._most = most
        #: By token; kept as long as something is under way or waits.
        self._by_key: WeakValueDictionary[str, asyncio.Semaphore] = (
            WeakValueDictionary()
        )

    @contextlib.asynccontextmanager
    async def one(self, key: str) -> AsyncIterator[None]:
        """Wait until little enough of a token is under way, and begin.

        Args:
            key: of the token.
        """
        room = self._by_key.get(key)
        if room is None:
            room = self._by_key[key] = asyncio.Semaphore(self._most)
        async with room:
            yield
