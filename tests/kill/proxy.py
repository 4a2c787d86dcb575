"""A TCP proxy between a bot and the server that does to links what networks do."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import time
from collections.abc import Coroutine
from typing import Any, Final

UP: Final = "up"
DOWN: Final = "down"

#: In seconds: how long bytes are held back, and a cut waits for what it is to cut.
_HELD_S: Final = 0.15

#: Pieces into which a slow link tears what it carries, in bytes.
_PIECE: Final = 29


class _Connection:
    """One connection of the bot, and the one to the server that belongs to it."""

    def __init__(self, bot: asyncio.StreamWriter, server: asyncio.StreamWriter) -> None:
        self.sides = {DOWN: bot, UP: server}
        self.gate = asyncio.Event()
        self.gate.set()
        self.slow = False
        #: When bytes last came, by the monotonic clock.
        self.moved = time.monotonic()
        self.halve = ""
        self.halved = asyncio.Event()
        #: What an orphan was sent by its bot and has not handed on.
        self.held: bytearray | None = None
        self.held_some = asyncio.Event()

    async def pump(self, reader: asyncio.StreamReader, way: str) -> None:
        writer = self.sides[way]
        try:
            while chunk := await reader.read(65536):
                self.moved = time.monotonic()
                await self.gate.wait()
                if self.held is not None:
                    if way == UP:
                        self.held += chunk
                        self.held_some.set()
                    continue
                if self.halve == way:
                    writer.write(chunk[: len(chunk) // 2])
                    await writer.drain()
                    self.halved.set()
                    return
                if self.slow:
                    for start in range(0, len(chunk), _PIECE):
                        writer.write(chunk[start : start + _PIECE])
                        await asyncio.sleep(0.0005)
                else:
                    writer.write(chunk)
                await writer.drain()
            if self.held is None:
                writer.close()
        except OSError:
            # A reset is handed on; but an orphan's server does not hear of it.
            if self.held is None:
                reset(writer)

    def reset(self) -> None:
        for writer in self.sides.values():
            reset(writer)

    def close(self) -> None:
        for writer in self.sides.values():
            writer.close()


def reset(writer: asyncio.StreamWriter) -> None:
    """End a connection so that its other end gets a reset."""
    sock = writer.get_extra_info("socket")
    if sock is not None and not writer.transport.is_closing():
        with contextlib.suppress(OSError):
            sock.setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
            )
    writer.transport.abort()


class Proxy:
    """Carries the bytes of one bot.

    Args:
        forget_s: after so long without bytes it drops a connection as some routers do:
            nothing is carried any more, and neither end is told; 0: never.

    Attributes:
        address: where the bot dials in.
        target: host and port of the server; ``None`` while it is away.
        refused: how often the bot dialled in while there was no server.
    """

    def __init__(self, forget_s: float = 0.0) -> None:
        self._forget_s = forget_s
        self.address = ""
        self.target: tuple[str, int] | None = None
        self.refused = 0
        self._server: asyncio.Server | None = None
        self._open: set[_Connection] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._met = asyncio.Event()

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._meet, "127.0.0.1", 0)
        host, port = self._server.sockets[0].getsockname()
        self.address = f"{host}:{port}"

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for connection in list(self._open):
            connection.reset()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _start(self, what: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(what)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # As a coroutine it would complain of being cancelled.
        self._start(self._carry(reader, writer))

    async def _carry(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            if self.target is None:
                raise ConnectionRefusedError
            from_server, to_server = await asyncio.open_connection(*self.target)
        except OSError:
            self.refused += 1
            reset(writer)
            return
        self._met.set()
        connection = _Connection(writer, to_server)
        self._open.add(connection)
        if self._forget_s:
            self._start(self._forget(connection))
        try:
            await asyncio.gather(
                connection.pump(reader, UP), connection.pump(from_server, DOWN)
            )
        finally:
            self._open.discard(connection)
            if connection.held is None:
                connection.close()

    # ------------------------------------------------------------- what networks do

    async def do(self, kind: str) -> None:
        """Let something happen to all connections that are open.

        Args:
            kind: ``reset``, ``close``, ``half-up``, ``half-down``, ``delay``,
                ``reorder`` or ``drop``.
        """
        for connection in list(self._open):
            if kind == "reset":
                connection.reset()
            elif kind == "close":
                connection.close()
            elif kind.startswith("half"):
                connection.halve = kind.removeprefix("half-")
                self._start(self._halve(connection))
            elif kind == "delay":
                connection.gate.clear()
                connection.slow = True
                self._start(self._let_go(connection))
            elif kind == "drop":
                connection.gate.clear()
            else:
                connection.held = bytearray()
                self._start(self._orphan(connection))

    async def _halve(self, connection: _Connection) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_HELD_S):
                await connection.halved.wait()
        connection.reset()

    async def _forget(self, connection: _Connection) -> None:
        """Drop a connection once nothing has come for a while."""
        left = self._forget_s
        while left > 0:
            await asyncio.sleep(left)
            left = connection.moved + self._forget_s - time.monotonic()
        connection.gate.clear()

    async def _let_go(self, connection: _Connection) -> None:
        await asyncio.sleep(_HELD_S)
        connection.gate.set()
        await asyncio.sleep(2 * _HELD_S)
        connection.slow = False

    async def _orphan(self, connection: _Connection) -> None:
        """Lose the bot's side, and hand on late what it had sent last."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_HELD_S):
                await connection.held_some.wait()
        self._met.clear()
        reset(connection.sides[DOWN])
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(2):
                await self._met.wait()
        # The new connection is served before the server hears of the old one.
        await asyncio.sleep(0.05)
        server = connection.sides[UP]
        with contextlib.suppress(OSError):
            server.write(bytes(connection.held or b""))
            await server.drain()
            await asyncio.sleep(0.05)
        server.close()
