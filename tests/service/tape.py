"""A bot, a watcher and a caller that keep every byte they are sent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import grpc
from tests.service.calls import bearer
from tests.service.wireform import entries

from fritillary.api.v1 import bot_pb2 as pb
from fritillary.api.v1 import match_pb2

_CONNECT = "/fritillary.api.v1.BotService/Connect"
_MATCHES = "/fritillary.api.v1.MatchService"

#: For what comes at once on a machine with nothing else to do.
PATIENCE_S = 60.0


async def until(condition: Callable[[], object], within: float = PATIENCE_S) -> None:
    """Wait until a condition holds; looks often."""
    async with asyncio.timeout(within):
        while not condition():  # noqa: ASYNC110 - conditions of any kind
            await asyncio.sleep(0.001)


def channel(address: str) -> grpc.aio.Channel:
    """Return a connection of its own."""
    return grpc.aio.insecure_channel(
        address, options=(("grpc.use_local_subchannel_pool", 1),)
    )


class Tape:
    """A bot that does nothing by itself, on one stream after the other.

    Args:
        address: of the server.
        token: of the bot.
        seat: that it takes.
        hello: fields of Hello.

    Attributes:
        raw: every message as it came, with ``None`` where a stream has ended.
        frames: how many of them came in each frame; 1 for the end of a stream.
        log: kind and body of each of them.
        closed_id: of the last request that was closed.
        session_token: of the last Welcome.
    """

    def __init__(self, address: str, token: str, seat: int, **hello: Any) -> None:
        self.seat = seat
        self.hello = hello
        self.raw: list[bytes | None] = []
        self.frames: list[int] = []
        self.log: list[tuple[str, Any]] = []
        self.closed_id = 0
        self.session_token = ""
        self._channel = channel(address)
        self._metadata = bearer(token)
        self._new = asyncio.Event()
        self._since = 0
        self._pings = 0
        self._call: Any = None
        self._task: asyncio.Task[None] | None = None

    async def open(self, awaiting: str = "ping", /, **hello: Any) -> None:
        """Dial in, say Hello, let the server measure the link.

        Args:
            awaiting: a kind of message that comes before anything more is said.
            hello: fields of Hello.
        """
        self.hello.update(hello)
        self._since = len(self.log)
        self._call = self._channel.stream_stream(
            _CONNECT, request_serializer=pb.ConnectRequest.SerializeToString
        )(metadata=self._metadata)
        self._task = asyncio.create_task(self._read())
        await self.send(hello=pb.Hello(**self.hello))
        welcome = await self.last("welcome")
        self.session_token = welcome.session_token
        ping = await self.last("ping")
        await self.last(awaiting)
        await self.send(pong=pb.Pong(id=ping.id))
        await self.sync()

    @property
    def is_open(self) -> bool:
        """Whether there is a stream."""
        return self._task is not None and not self._task.done()

    async def cut(self) -> None:
        """Lose the stream."""
        self._call.cancel()
        if self._task is not None:
            await self._task

    async def move(self, address: str) -> None:
        """Dial another server from now on."""
        await self._channel.close()
        self._channel = channel(address)

    async def left(self) -> None:
        """Wait until the server has ended the stream."""
        if self._task is not None:
            await self._task

    async def close(self) -> None:
        """Leave for good."""
        if self._call is not None:
            await self.cut()
        await self._channel.close()

    async def send(self, **message: Any) -> None:
        """Send one message."""
        await self._call.write(pb.ConnectRequest(messages=[pb.BotMessage(**message)]))

    async def sync(self) -> None:
        """Wait until all that the server has said so far is here."""
        self._pings += 1
        await self.send(ping=pb.Ping(id=self._pings))
        await self.last("pong", lambda pong: pong.id == self._pings)

    async def last(
        self, kind: str, fits: Callable[[Any], object] = lambda _: True
    ) -> Any:
        """Wait for a message of a kind on this stream; return the last one."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                for one, body in reversed(self.log[self._since :]):
                    if one == kind and fits(body):
                        return body
                self._new.clear()
                await self._new.wait()

    async def request(self) -> Any:
        """Wait for a request that is open; return it."""
        return await self.last(
            "decision_request", lambda body: body.decision_id > self.closed_id
        )

    async def _read(self) -> None:
        call = self._call
        try:
            async for frame in call:
                self.frames.append(0)
                for raw in entries(frame):
                    self.frames[-1] += 1
                    message = pb.ServerMessage.FromString(raw)
                    kind = message.WhichOneof("message") or ""
                    body = getattr(message, kind)
                    self.raw.append(raw)
                    self.log.append((kind, body))
                    if kind == "decision_closed" and body.seat == self.seat:
                        self.closed_id = body.decision_id
                self._new.set()
        except (grpc.RpcError, asyncio.CancelledError):
            pass
        self.raw.append(None)
        self.frames.append(1)
        self.log.append(("closed", None))
        self._new.set()


class WatchTape:
    """A spectator of one match.

    Args:
        connection: to the server.
        token: of the spectator.
        request: fields of WatchMatchRequest.

    Attributes:
        raw: every update as it came.
        error: how the stream ended; empty if it came to its end.
    """

    def __init__(self, connection: grpc.aio.Channel, token: str, **request: Any):
        self.raw: list[bytes] = []
        self.error: tuple[Any, ...] = ()
        self._call: Any = connection.unary_stream(
            f"{_MATCHES}/WatchMatch",
            request_serializer=match_pb2.WatchMatchRequest.SerializeToString,
        )(match_pb2.WatchMatchRequest(**request), metadata=bearer(token))
        self._task = asyncio.create_task(self._read())

    async def joined(self) -> None:
        """Wait for the first view and status, or for the refusal."""
        await until(lambda: len(self.raw) >= 2 or self._task.done())

    async def ended(self) -> None:
        """Wait for the end of the stream."""
        await self._task

    async def _read(self) -> None:
        try:
            async for raw in self._call:
                self.raw.append(raw)
        except grpc.aio.AioRpcError as error:
            self.error = refusal(error)


async def call(
    connection: grpc.aio.Channel, token: str, method: str, request: Any
) -> bytes | tuple[Any, ...]:
    """Call a method of MatchService; return the bytes of its answer or its refusal."""
    path = f"{_MATCHES}/{method}"
    settings: dict[str, Any] = {"request_serializer": type(request).SerializeToString}
    try:
        if method in {"FetchRecord", "WatchMatch"}:
            stream = connection.unary_stream(path, **settings)
            chunks = [chunk async for chunk in stream(request, metadata=bearer(token))]
            return b"".join(chunks)
        answer: bytes = await connection.unary_unary(path, **settings)(
            request, metadata=bearer(token)
        )
    except grpc.aio.AioRpcError as error:
        return refusal(error)
    return answer


def refusal(error: grpc.aio.AioRpcError) -> tuple[Any, ...]:
    """Return all that an error tells."""
    return (
        error.code().name,
        error.details(),
        tuple((key, value) for key, value in error.trailing_metadata()),
    )
