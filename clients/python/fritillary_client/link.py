"""One stream to the server, from Hello to its end."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Callable
from typing import Final

import grpc.aio
from google.protobuf.message import DecodeError

from fritillary.api.v1 import bot_pb2 as wire
from fritillary.api.v1 import catalog_pb2 as catalog
from fritillary_client.calls import (
    OPEN_WITHIN_S,
    Caller,
    error_of,
    metadata,
    refused,
)
from fritillary_client.errors import LinkError, ProtocolError

#: The figures of the protocol; Welcome repeats those of the server.
PING_AFTER_S: Final = 20.0
PONG_WITHIN_S: Final = 20.0

#: How long the server may take to close the stream after a Goodbye, whoever's.
_CLOSE_WITHIN_S: Final = 2.0

#: For one page of an action table.
_PAGE_WITHIN_S: Final = 10.0

#: Before Welcome has told the limits.
_LEAST_FRAME: Final = 16 * 1024

#: Messages in one frame.
_MOST: Final = 256

_CONNECT: Final = f"/{wire.DESCRIPTOR.services_by_name['BotService'].full_name}/Connect"
_LIST_ACTIONS: Final = (
    f"/{catalog.DESCRIPTOR.services_by_name['CatalogService'].full_name}/ListActions"
)


class Link:
    """One stream. Messages in both directions are handled in order.

    Args:
        channel: to the server; closed with the link.
        address: of the server, for errors.
        token: of the bot.
        advice: what it may be if the server closes the connection; see `Endpoint`.
        receive: called with every message after Welcome; must not block.
        welcome: called with Welcome.

    Attributes:
        open: whether Welcome has arrived and the stream has not ended.
    """

    def __init__(
        self,
        channel: grpc.aio.Channel,
        *,
        address: str,
        token: str,
        advice: str,
        welcome: Callable[[wire.Welcome], None],
        receive: Callable[[str, wire.ServerMessage], None],
    ) -> None:
        self.open = False
        self._channel = channel
        self._address = address
        self._advice = advice
        self._metadata = metadata(token)
        self._caller = Caller(channel, address=address, token=token, met=True)
        self._welcome = welcome
        self._receive = receive
        self._outbox: deque[wire.BotMessage] = deque()
        self._wake = asyncio.Event()
        self._limits = wire.Limits()
        self._ping_after_s = PING_AFTER_S
        self._pong_within_s = PONG_WITHIN_S
        self._heard = time.monotonic()
        self._goodbye: wire.Goodbye | None = None
        self._error: Exception | None = None
        self._leaving = asyncio.Event()
        #: Set by a Goodbye of either side.
        self._parting = asyncio.Event()
        #: Messages that may be sent at once, and when that was counted.
        self._credit = 1.0
        self._paced = self._heard

    # ------------------------------------------------------------------ outgoing

    def send(self, message: wire.BotMessage) -> None:
        """Send a message; what is sent together travels together."""
        if not self._leaving.is_set():
            self._outbox.append(message)
            self._wake.set()

    def leave(self, goodbye: wire.Goodbye) -> None:
        """Say goodbye after what was sent so far, then close the stream."""
        self.send(wire.BotMessage(goodbye=goodbye))
        self._leaving.set()
        self._parting.set()
        self._wake.set()

    async def list_actions(
        self, request: catalog.ListActionsRequest
    ) -> catalog.ListActionsResponse:
        """Return a page of an action table.

        Raises:
            ArenaError: if the server cannot or will not give it.
        """
        return await self._caller.ask(
            _LIST_ACTIONS, request, catalog.ListActionsResponse, within_s=_PAGE_WITHIN_S
        )

    # -------------------------------------------------------------- the life of it

    async def run(self, hello: wire.Hello) -> wire.Goodbye | None:
        """Open the stream and handle it to its end.

        Returns:
            The server's Goodbye; ``None`` if this side left.

        Raises:
            RefusedError: by the server.
            LinkError: no server, or the link was lost.
            ProtocolError: the server sent garbage.
            Exception: whatever ``welcome`` or ``receive`` raise.
        """
        method: grpc.aio.StreamStreamMultiCallable[bytes, bytes] = (
            self._channel.stream_stream(_CONNECT)
        )
        call: _Call = method(metadata=self._metadata)
        self._outbox.appendleft(wire.BotMessage(hello=hello))
        self._wake.set()
        reader = asyncio.ensure_future(self._read(call))
        others = [
            asyncio.ensure_future(self._write(call)),
            asyncio.ensure_future(self._watch(call)),
        ]
        try:
            await asyncio.wait([reader])
            return await self._ended(call)
        finally:
            self.open = False
            call.cancel()
            for task in (reader, *others):
                task.cancel()
            await asyncio.gather(reader, *others, return_exceptions=True)
            await self._channel.close()

    async def _ended(self, call: _Call) -> wire.Goodbye | None:
        if self._leaving.is_set():
            return None
        if self._error is not None:
            raise self._error
        if self._goodbye is not None:
            return self._goodbye
        code = await call.code()
        if code is grpc.StatusCode.OK:
            msg = f"the server at {self._address} closed the stream"
            raise LinkError(msg)
        raise error_of(
            code,
            await call.details() or "",
            await call.trailing_metadata(),
            self._address,
            opened=self.open,
            advice=self._advice,
        )

    async def _read(self, call: _Call) -> None:
        try:
            while isinstance(raw := await call.read(), bytes):
                self._heard = time.monotonic()
                self._handle(raw)
        except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
            return  # its status is looked at when the link has ended
        except Exception as error:  # noqa: BLE001 - handed to who runs the link
            self._error = error

    def _handle(self, raw: bytes) -> None:
        try:
            frame = wire.ConnectResponse.FromString(raw)
        except DecodeError as error:
            msg = f"the server at {self._address} sent a frame that cannot be read"
            raise ProtocolError(msg) from error
        for message in frame.messages:
            kind = message.WhichOneof("message")
            if kind is None:
                continue  # of a later version
            if kind == "ping":
                self.send(wire.BotMessage(pong=wire.Pong(id=message.ping.id)))
            elif kind == "goodbye":
                self._goodbye = message.goodbye
                self._parting.set()
            elif kind == "refusal":
                raise refused(message.refusal.error)
            elif kind == "welcome":
                self._begin(message.welcome)
            elif not self.open:
                msg = f"the server began with {kind} in place of Welcome"
                raise ProtocolError(msg)
            elif kind != "pong":
                self._receive(kind, message)

    def _begin(self, welcome: wire.Welcome) -> None:
        if self.open:
            msg = "the server sent Welcome twice"
            raise ProtocolError(msg)
        self._limits = welcome.limits
        keepalive = welcome.limits.keepalive
        if keepalive.ping_after_ms and keepalive.pong_within_ms:
            self._ping_after_s = keepalive.ping_after_ms / 1000
            self._pong_within_s = keepalive.pong_within_ms / 1000
        self.open = True
        self._welcome(welcome)

    async def _write(self, call: _Call) -> None:
        try:
            while not (self._leaving.is_set() and not self._outbox):
                await self._wake.wait()
                self._wake.clear()
                while self._outbox:
                    frame = self._next_frame()
                    await self._pace(len(frame.messages))
                    await call.write(frame.SerializeToString())
            await call.done_writing()
        except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
            return  # the reader learns why

    def _next_frame(self) -> wire.ConnectRequest:
        """Take as many messages as one frame holds, at least one."""
        most = self._limits.max_message_bytes or _LEAST_FRAME
        count = min(self._limits.max_messages_per_second or _MOST, _MOST)
        # Each message costs a tag and its length besides.
        left = most - self._outbox[0].ByteSize() - 6
        batch = [self._outbox.popleft()]
        while self._outbox and len(batch) < count:
            left -= self._outbox[0].ByteSize() + 6
            if left < 0:
                break
            batch.append(self._outbox.popleft())
        return wire.ConnectRequest(messages=batch)

    async def _pace(self, count: int) -> None:
        """Wait where more than one second's worth of messages would be sent at once."""
        rate = self._limits.max_messages_per_second
        if not rate:
            return
        now = time.monotonic()
        self._credit = min(rate, self._credit + (now - self._paced) * rate) - count
        self._paced = now
        if self._credit < 0:
            await asyncio.sleep(-self._credit / rate)

    async def _watch(self, call: _Call) -> None:
        """Find out that the link is lost, and see that a Goodbye ends it."""
        began = time.monotonic()
        pinged: float | None = None
        while True:
            now = time.monotonic()
            if self._parting.is_set():
                await asyncio.sleep(_CLOSE_WITHIN_S)
                break
            if not self.open:
                due = began + OPEN_WITHIN_S
                if now >= due:
                    self._error = LinkError(
                        f"the server at {self._address} did not answer within "
                        f"{OPEN_WITHIN_S:g} s",
                        code="link.unreachable",
                    )
                    break
            elif pinged is None or self._heard > pinged:
                pinged = None
                due = self._heard + self._ping_after_s
                if now >= due:
                    pinged = now
                    self.send(wire.BotMessage(ping=wire.Ping(id=int(now * 1000))))
                    due = now + self._pong_within_s
            else:
                due = pinged + self._pong_within_s
                if now >= due:
                    self._error = LinkError(
                        f"the server at {self._address} was silent for too long"
                    )
                    break
            # Welcome may come and change the figures meanwhile.
            wait = min(due - now, self._pong_within_s if self.open else 1.0)
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._parting.wait(), wait)
            if pinged is not None and time.monotonic() > now + wait + 1:
                # This process stood still, so the Pong could not be read.
                pinged = time.monotonic()
        call.cancel()


_Call = grpc.aio.StreamStreamCall[bytes, bytes]
