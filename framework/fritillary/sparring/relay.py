"""Stands between the bot and the server, and looks at every message."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Final

import grpc
from google.protobuf.message import DecodeError

from fritillary.api.v1 import bot_pb2 as pb
from fritillary.sparring.tape import DOWN, UP, Entry, Fits, Tape
from fritillary.sparring.telling import line_of

_SERVICE: Final = pb.DESCRIPTOR.services_by_name["BotService"].full_name
_CONNECT: Final = f"/{_SERVICE}/Connect"

#: Metadata that the server needs of a call.
_HANDED_ON: Final = frozenset({"authorization"})

#: The server judges what is too large; the relay takes more than that.
_MOST_BYTES: Final = 64 * 1024 * 1024

_OPTIONS: Final = (
    ("grpc.max_receive_message_length", _MOST_BYTES),
    ("grpc.max_send_message_length", _MOST_BYTES),
)

#: Time from the server's Goodbye to the end of its stream.
_LAST_S: Final = 1.0

_Call = grpc.aio.StreamStreamCall[bytes, bytes]


class Stream:
    """One stream of the bot, and the one to the server that belongs to it.

    Args:
        number: from 1.

    Attributes:
        hello: as the bot said it; ``None`` before.
        welcome: as the bot heard it; ``None`` before.
        encoding: of the session.
        left: set when the server has said goodbye.
        over: set when the bot's stream has ended.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self.hello: pb.Hello | None = None
        self.welcome: pb.Welcome | None = None
        self.encoding = 0
        self.left = asyncio.Event()
        self.over = asyncio.Event()
        self.to_bot: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.to_server: asyncio.Queue[bytes | None] = asyncio.Queue()

    @property
    def open(self) -> bool:
        """Whether the session is open."""
        return self.welcome is not None and not self.over.is_set()


class Gate:
    """Keeps messages of one way back.

    Args:
        relay: that asks it.
        way: `UP` or `DOWN`.
        fits: what is kept.
        most: so many are kept, the rest pass.
    """

    def __init__(self, relay: Relay, way: str, fits: Fits, most: int | None) -> None:
        self._relay = relay
        self._way = way
        self._fits = fits
        self._most = most
        self.kept: list[tuple[Stream, Entry]] = []
        self.count = 0

    def takes(self, stream: Stream, entry: Entry) -> bool:
        """Say whether a message is kept, and keep it."""
        if entry.sender != self._way or not self._fits(entry):
            return False
        if self._most is not None and self.count >= self._most:
            return False
        self.count += 1
        self.kept.append((stream, entry))
        entry.note = "held back"
        return True

    def lose(self) -> None:
        """Drop what was kept."""
        for stream, entry in self.kept:
            entry.note = "lost"
            self._relay.note(f"loses what was held back: {entry.kind}", stream)
        self.kept.clear()

    def release(self) -> None:
        """Hand on what was kept, all in one frame, and keep nothing more."""
        self._most = 0
        kept, self.kept = self.kept, []
        relay = self._relay
        for stream in dict.fromkeys(stream for stream, _ in kept):
            relay.pass_on(stream, self._way, [e for s, e in kept if s is stream])


class Relay:
    """Serves the bot, and speaks to the server in its place.

    Args:
        tape: told of everything.
        most_matches: that the bot is told it gets at most. The server offers one more
            than the bot takes, if it is asked to.

    Attributes:
        address: where it listens.
        streams: of the bot, oldest first.
        keepalive_ms: figures that the next Welcome tells the bot in place of the
            server's; ``None``: the server's.
    """

    def __init__(self, tape: Tape, most_matches: int) -> None:
        self._tape = tape
        self._most_matches = most_matches
        self._gates: list[Gate] = []
        self._channel: grpc.aio.Channel | None = None
        self._server: grpc.aio.Server | None = None
        self.address = ""
        self.streams: list[Stream] = []
        self.keepalive_ms: tuple[int, int] | None = None

    async def start(self, upstream: str) -> None:
        """Listen on a free port of loopback.

        Args:
            upstream: ``HOST:PORT`` of the server.
        """
        self._channel = grpc.aio.insecure_channel(upstream, options=_OPTIONS)
        server = grpc.aio.server(
            options=(
                ("grpc.so_reuseport", 0),
                # Bots may send HTTP/2 pings as often as they like.
                ("grpc.http2.min_ping_interval_without_data_ms", 1),
                ("grpc.keepalive_permit_without_calls", 1),
                *_OPTIONS,
            )
        )
        server.add_generic_rpc_handlers((_Handlers(self),))
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        self._server = server
        self.address = f"127.0.0.1:{port}"

    async def stop(self) -> None:
        """Stop."""
        if self._server is not None:
            await self._server.stop(0)
        if self._channel is not None:
            await self._channel.close()

    @property
    def stream(self) -> Stream | None:
        """The newest stream with an open session."""
        return next((one for one in reversed(self.streams) if one.open), None)

    # ------------------------------------------------------------------ what items do

    @contextlib.contextmanager
    def gate(self, way: str, fits: Fits, most: int | None = None) -> Iterator[Gate]:
        """Keep messages back for a while; what is left is handed on at the end.

        Args:
            way: `UP` or `DOWN`.
            fits: what is kept.
            most: so many; the rest pass.
        """
        gate = Gate(self, way, fits, most)
        self._gates.append(gate)
        try:
            yield gate
        finally:
            self._gates.remove(gate)
            gate.release()

    def tell(self, **message: Any) -> None:  # noqa: ANN401 - of any kind
        """Tell the bot something in the name of the server."""
        stream = self.stream
        if stream is not None:
            entry = self._tape.add(
                stream.number,
                DOWN,
                pb.ServerMessage(**message),
                stream.encoding,
                "made up by the checker",
            )
            self._tape.tell(entry)
            stream.to_bot.put_nowait(_frame(DOWN, [entry.message]))

    def say(self, **message: Any) -> None:  # noqa: ANN401 - of any kind
        """Say something to the server in the name of the bot."""
        stream = self.stream
        if stream is not None:
            said = pb.BotMessage(**message)
            what = line_of(said, stream.encoding)
            self.note(f"says in the bot's name: {what}", stream)
            frame = pb.ConnectRequest(messages=[said])
            stream.to_server.put_nowait(frame.SerializeToString())

    def note(self, what: str, stream: Stream) -> None:
        """Keep on the tape what happens to a stream."""
        self._tape.note(what, stream.number)

    def pass_on(self, stream: Stream, way: str, entries: list[Entry]) -> None:
        """Hand on what a gate has kept."""
        if stream.over.is_set():
            return
        kinds = ", ".join(entry.kind for entry in entries)
        self.note(f"hands on what was held back: {kinds}", stream)
        queue = stream.to_bot if way == DOWN else stream.to_server
        queue.put_nowait(_frame(way, [entry.message for entry in entries]))

    # ------------------------------------------------------------------ one stream

    async def connect(self, _: object, context: Any) -> None:  # noqa: ANN401
        """Carry one stream of the bot."""
        if self._channel is None:  # pragma: no cover - it was started
            return
        stream = Stream(len(self.streams) + 1)
        self.streams.append(stream)
        self.note("the bot has opened a stream", stream)
        call: _Call = self._channel.stream_stream(_CONNECT)(metadata=_metadata(context))
        tasks = [
            asyncio.ensure_future(one)
            for one in (
                self._from_bot(stream, context.read),
                _write(stream.to_server, call.write, call.done_writing),
                self._from_server(stream, call),
                _write(stream.to_bot, context.write, None),
            )
        ]
        try:
            await self._until_over(stream, call, context, *tasks[2:])
        finally:
            stream.over.set()
            self.note("the stream has ended", stream)
            call.cancel()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    @staticmethod
    async def _until_over(
        stream: Stream,
        call: _Call,
        context: Any,  # noqa: ANN401
        hearing: asyncio.Future[None],
        telling: asyncio.Future[None],
    ) -> None:
        """Wait until the server has said all, and the bot was told."""
        left = asyncio.ensure_future(stream.left.wait())
        try:
            both: set[asyncio.Future[Any]] = {hearing, left}
            await asyncio.wait(both, return_when="FIRST_COMPLETED")
            if left.done():
                # Now and then gRPC does not tell the end of a stream on which something
                # was being written.
                await asyncio.wait({hearing}, timeout=_LAST_S)
                stream.to_bot.put_nowait(None)
        finally:
            left.cancel()
        await asyncio.wait({telling})
        if not stream.left.is_set():
            await _end_alike(call, context)

    async def _from_bot(self, stream: Stream, read: Callable[[], Any]) -> None:
        try:
            while isinstance(raw := await read(), bytes):
                self._heard_from_bot(stream, raw)
        except (grpc.aio.BaseError, asyncio.InvalidStateError):
            pass
        stream.to_server.put_nowait(None)

    def _heard_from_bot(self, stream: Stream, raw: bytes) -> None:
        try:
            messages = list(pb.ConnectRequest.FromString(raw).messages)
        except DecodeError:
            self.note(
                f"the bot sends a frame of {len(raw)} bytes that is no ConnectRequest",
                stream,
            )
            stream.to_server.put_nowait(raw)
            return
        for message in messages:
            if message.WhichOneof("message") == "hello":
                stream.hello = message.hello
                stream.encoding = message.hello.encoding
        passing = self._passing(stream, UP, messages)
        changed = [self._changed(entry.message) for entry in passing]
        if changed == messages:
            # Also what is of no use to the server.
            stream.to_server.put_nowait(raw)
        elif changed:
            stream.to_server.put_nowait(_frame(UP, changed))

    async def _from_server(self, stream: Stream, call: _Call) -> None:
        try:
            while isinstance(raw := await call.read(), bytes):
                messages = list(pb.ConnectResponse.FromString(raw).messages)
                for message in messages:
                    kind = message.WhichOneof("message")
                    if kind == "welcome":
                        self._change_welcome(message.welcome)
                        stream.welcome = message.welcome
                    elif kind == "goodbye":
                        stream.left.set()
                passing = self._passing(stream, DOWN, messages)
                if passing:
                    told = [entry.message for entry in passing]
                    stream.to_bot.put_nowait(_frame(DOWN, told))
        except (grpc.aio.BaseError, asyncio.InvalidStateError):
            pass
        stream.to_bot.put_nowait(None)

    def _passing(self, stream: Stream, way: str, messages: list[Any]) -> list[Entry]:
        """Keep messages on the tape; return those that no gate holds back."""
        passing = []
        for message in messages:
            entry = self._tape.add(stream.number, way, message, stream.encoding)
            if not any(gate.takes(stream, entry) for gate in self._gates):
                passing.append(entry)
            self._tape.tell(entry)
        return passing

    # ------------------------------------------------------------------ what is changed

    def _changed(self, message: pb.BotMessage) -> pb.BotMessage:
        """Let the server offer any game, and one match more than the bot takes."""
        kind = message.WhichOneof("message")
        if kind not in {"hello", "capacity"}:
            return message
        changed = pb.BotMessage()
        changed.CopyFrom(message)
        if kind == "capacity":
            changed.capacity.matches = self._more(message.capacity.matches)
            return changed
        hello = changed.hello
        hello.ClearField("games")
        hello.capacity = self._more(hello.capacity if hello.HasField("capacity") else 1)
        return changed

    def _more(self, wanted: int) -> int:
        return min(wanted, self._most_matches) + 1 if wanted else 0

    def _change_welcome(self, welcome: pb.Welcome) -> None:
        """Tell the bot the capacity that it asked for."""
        welcome.capacity = max(0, welcome.capacity - 1)
        welcome.limits.max_matches = self._most_matches
        if self.keepalive_ms is not None:
            keepalive = welcome.limits.keepalive
            keepalive.ping_after_ms, keepalive.pong_within_ms = self.keepalive_ms

    # -------------------------------------------------------------------- other calls

    def other(self, method: str) -> Callable[[object, Any], Awaitable[None]]:
        """Return a handler that carries a call of another method as it is."""

        async def carry(_: object, context: Any) -> None:  # noqa: ANN401
            if self._channel is None:  # pragma: no cover - it was started
                return
            call: _Call = self._channel.stream_stream(method)(
                metadata=_metadata(context)
            )
            asking = asyncio.ensure_future(_carry(context.read, call.write))
            asking.add_done_callback(
                lambda _: asyncio.ensure_future(call.done_writing())
            )
            try:
                await _carry(call.read, context.write)
                await _end_alike(call, context)
            finally:
                asking.cancel()
                call.cancel()
                await asyncio.gather(asking, return_exceptions=True)

        return carry


class _Handlers(grpc.GenericRpcHandler):
    """Carries streams of the bot itself, and all other calls as they are."""

    def __init__(self, relay: Relay) -> None:
        self._relay = relay

    def service(
        self, handler_call_details: grpc.HandlerCallDetails
    ) -> grpc.RpcMethodHandler[Any, Any]:
        """Return the handler of a call."""
        method = handler_call_details.method
        if method == _CONNECT:
            return grpc.stream_stream_rpc_method_handler(self._relay.connect)
        return grpc.stream_stream_rpc_method_handler(self._relay.other(method))


async def _end_alike(call: _Call, context: Any) -> None:  # noqa: ANN401
    """End a call of the bot as the server has ended that of the relay."""
    code = await call.code()
    if code is not grpc.StatusCode.OK:
        await context.abort(
            code, await call.details() or "", await call.trailing_metadata()
        )


def _metadata(context: Any) -> tuple[tuple[str, str], ...]:  # noqa: ANN401
    return tuple(
        (key, value)
        for key, value in context.invocation_metadata() or ()
        if key in _HANDED_ON
    )


def _frame(way: str, messages: list[Any]) -> bytes:
    if way == UP:
        return pb.ConnectRequest(messages=messages).SerializeToString()
    return pb.ConnectResponse(messages=messages).SerializeToString()


async def _write(
    queue: asyncio.Queue[bytes | None],
    write: Callable[[bytes], Any],
    close: Callable[[], Any] | None,
) -> None:
    try:
        while (frame := await queue.get()) is not None:
            await write(frame)
        if close is not None:
            await close()
    except (grpc.aio.BaseError, asyncio.InvalidStateError):
        return


async def _carry(read: Callable[[], Any], write: Callable[[bytes], Any]) -> None:
    try:
        while isinstance(raw := await read(), bytes):
            await write(raw)
    except (grpc.aio.BaseError, asyncio.InvalidStateError):
        return
