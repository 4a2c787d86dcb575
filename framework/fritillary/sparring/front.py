"""Where the bot dials in: carries bytes, cuts connections, falls silent."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct

_CHUNK = 65_536


class _Connection:
    """One connection of the bot, and the one to the relay that belongs to it."""

    def __init__(self, bot: asyncio.StreamWriter, relay: asyncio.StreamWriter) -> None:
        self.bot = bot
        self.relay = relay
        self.silent = False

    async def carry(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Carry one way, to the end."""
        with contextlib.suppress(OSError):
            while chunk := await reader.read(_CHUNK):
                if not self.silent:
                    writer.write(chunk)
                    await writer.drain()
        if not self.silent:
            writer.close()


class Front:
    """Listens on a free port of loopback and carries bytes to the relay.

    Attributes:
        address: where it listens.
        target: host and port of the relay.
    """

    def __init__(self) -> None:
        self.address = ""
        self.target = ("", 0)
        self._server: asyncio.Server | None = None
        self._open: set[_Connection] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self, target: str) -> None:
        """Listen.

        Args:
            target: ``HOST:PORT`` of the relay.
        """
        host, _, port = target.rpartition(":")
        self.target = (host, int(port))
        self._server = await asyncio.start_server(self._meet, "127.0.0.1", 0)
        host, port = self._server.sockets[0].getsockname()[:2]
        self.address = f"{host}:{port}"

    async def stop(self) -> None:
        """Close everything."""
        if self._server is not None:
            self._server.close()
        self.cut()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # As a coroutine it would complain of being cancelled.
        task = asyncio.get_running_loop().create_task(self._carry(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _carry(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            from_relay, to_relay = await asyncio.open_connection(*self.target)
        except OSError:
            _reset(writer)
            return
        connection = _Connection(writer, to_relay)
        self._open.add(connection)
        try:
            await asyncio.gather(
                connection.carry(reader, to_relay),
                connection.carry(from_relay, writer),
            )
        finally:
            self._open.discard(connection)
            for one in (writer, to_relay):
                one.close()

    async def emptied(self) -> None:
        """Wait until the connections that are open have been closed."""
        if self._tasks:
            await asyncio.wait(set(self._tasks))

    def cut(self) -> None:
        """Reset all connections that are open."""
        for connection in list(self._open):
            for writer in (connection.bot, connection.relay):
                _reset(writer)

    def fall_silent(self) -> None:
        """Carry nothing any more over the connections that are open.

        For the bot they stay open; the relay learns nothing either.
        """
        for connection in self._open:
            connection.silent = True


def _reset(writer: asyncio.StreamWriter) -> None:
    """End a connection so that its other end gets a reset."""
    sock = writer.get_extra_info("socket")
    if sock is not None and not writer.transport.is_closing():
        with contextlib.suppress(OSError):
            sock.setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
            )
    writer.transport.abort()
