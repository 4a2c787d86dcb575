"""A server that says what a test wants it to say, garbage included."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import grpc
import grpc.aio
import msgpack
from tests.ports import kept_port

from fritillary.api.v1 import bot_pb2 as wire
from fritillary.api.v1 import catalog_pb2 as catalog
from fritillary.api.v1 import common_pb2 as common

TABLE_HASH = b"t" * 32
TOKEN = "frt_bot_test"
#: However busy the machine is.
WITHIN_S = 60.0


def server_message(**body: Any) -> wire.ServerMessage:
    return wire.ServerMessage(**body)


class Stream:
    """One stream of the bot, played by the test."""

    def __init__(self, context: Any) -> None:
        self._context = context
        self.received: asyncio.Queue[wire.BotMessage | None] = asyncio.Queue()
        self.frames: list[wire.ConnectRequest] = []
        self.over = asyncio.Event()
        self.hello: wire.Hello = wire.Hello()
        self.abort_with: tuple[grpc.StatusCode, str, Any] | None = None
        #: Whether the stream is kept open although the bot has closed its half.
        self.stubborn = False

    async def read_all(self) -> None:
        with contextlib.suppress(grpc.aio.BaseError, asyncio.CancelledError):
            while (raw := await self._context.read()) is not grpc.aio.EOF:
                frame = wire.ConnectRequest.FromString(raw)
                self.frames.append(frame)
                for message in frame.messages:
                    self.received.put_nowait(message)
        self.received.put_nowait(None)

    async def raw(self, frame: bytes) -> None:
        await self._context.write(frame)

    async def send(self, *messages: wire.ServerMessage) -> None:
        await self.raw(wire.ConnectResponse(messages=messages).SerializeToString())

    async def next(self) -> tuple[str, Any]:
        """The next message of the bot, by kind and body; ("", None) at the end."""
        message = await asyncio.wait_for(self.received.get(), WITHIN_S)
        if message is None:
            return "", None
        kind = message.WhichOneof("message")
        assert kind is not None
        return kind, getattr(message, kind)

    async def expect(self, *kinds: str) -> Any:
        """The bodies of the next messages, which must be of these kinds."""
        bodies = []
        for kind in kinds:
            got, body = await self.next()
            assert got == kind, f"{got} ({body}) in place of {kind}"
            bodies.append(body)
        return bodies[0] if len(bodies) == 1 else bodies

    async def find(self, kind: str) -> Any:
        """The body of the next message of a kind; others are passed over."""
        while True:
            got, body = await self.next()
            assert got, f"the stream ended before {kind}"
            if got == kind:
                return body

    async def welcome(self, **changes: Any) -> wire.Hello:
        self.hello = await self.expect("hello")
        fields: dict[str, Any] = {
            "session_token": "session-1",
            "resumed": bool(self.hello.session_token),
            "bot_name": "tester",
            "encoding": self.hello.encoding,
            "legal_form": self.hello.legal_form,
            "capacity": self.hello.capacity,
            "server_version": "0.0-fake",
            "limits": wire.Limits(
                max_message_bytes=64 * 1024,
                max_messages_per_second=1000,
                max_note_bytes=100,
                max_matches=100,
                keepalive=wire.Keepalive(ping_after_ms=20_000, pong_within_ms=20_000),
            ),
        }
        await self.send(server_message(welcome=wire.Welcome(**{**fields, **changes})))
        return self.hello

    async def offer(self, match: str = "m1", seat: int = 0, **changes: Any) -> None:
        await self.send(server_message(match_offer=an_offer(match, seat, **changes)))

    async def seated(self, match: str = "m1", seat: int = 0, **changes: Any) -> None:
        """Offer a seat; return when the bot is ready."""
        await self.offer(match, seat, **changes)
        accept = await self.find("accept")
        assert (accept.match_id, accept.seat) == (match, seat)
        await self.find("ready")

    async def ask(self, match: str = "m1", seat: int = 0, **changes: Any) -> None:
        await self.send(
            server_message(decision_request=a_request(match, seat, **changes))
        )

    async def close_decision(
        self,
        decision_id: int,
        how: wire.DecisionClosure.ValueType,
        match: str = "m1",
        seat: int = 0,
    ) -> None:
        await self.send(
            server_message(
                decision_closed=wire.DecisionClosed(
                    match_id=match, seat=seat, decision_id=decision_id, closure=how
                )
            )
        )

    async def ended(self, match: str = "m1", seat: int = 0, **changes: Any) -> None:
        fields: dict[str, Any] = {
            "kind": common.MATCH_END_KIND_PLAYED,
            "outcome": common.Outcome(
                reason="most-points", scores=[1, -1], placing=[1, 2]
            ),
        }
        result = common.MatchResult(**{**fields, **changes})
        await self.send(
            server_message(
                match_ended=wire.MatchEnded(match_id=match, seat=seat, result=result)
            )
        )

    async def goodbye(self, code: str, **fields: Any) -> None:
        await self.send(server_message(goodbye=wire.Goodbye(code=code, **fields)))
        self.close()

    async def settled(self) -> None:
        """Wait until the client has handled what was sent so far.

        It has nothing else to say meanwhile.
        """
        await self.send(server_message(ping=wire.Ping(id=999)))
        assert (await self.expect("pong")).id == 999

    def close(self) -> None:
        """End the stream in good order."""
        self.over.set()

    def abort(
        self, code: grpc.StatusCode, details: str = "", trailing: Any = ()
    ) -> None:
        """End the stream with an error."""
        self.abort_with = code, details, trailing
        self.over.set()

    async def refuse(
        self, code: grpc.StatusCode, details: str = "", trailing: Any = ()
    ) -> None:
        """End the stream with an error before the bot is let in.

        Hello is waited for: gRPC may lose an answer that comes while a bot in Python
        writes its first message.
        """
        await self.find("hello")
        self.abort(code, details, trailing)


class FakeArena:
    """Accepts streams; the test speaks for the server.

    Args:
        port: to listen at; 0 for any, which one that is started again may have lost.
    """

    def __init__(self, port: int = 0) -> None:
        self.streams: asyncio.Queue[Stream] = asyncio.Queue()
        self.metadata: list[dict[str, Any]] = []
        self.listed: list[catalog.ListActionsRequest] = []
        self.table = [
            catalog.ActionEntry(
                index=index,
                text=f"take {index}",
                msgpack=msgpack.packb({"take": index}),
                json=f'{{"take": {index}}}',
            )
            for index in range(10)
        ]
        self.page = 4
        self.was_asked = asyncio.Event()
        #: While it is clear, nothing of the table is handed out.
        self.handing_out = asyncio.Event()
        self.handing_out.set()
        self.list_error: tuple[grpc.StatusCode, str, Any] | None = None
        self.port = port
        self._open: list[Stream] = []
        self._server: grpc.aio.Server | None = None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    async def start(self, credentials: grpc.ServerCredentials | None = None) -> None:
        server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
        bots = grpc.stream_stream_rpc_method_handler(
            self._connect,
            request_deserializer=lambda raw: raw,
            response_serializer=lambda raw: raw,
        )
        tables = grpc.unary_unary_rpc_method_handler(
            self._list_actions,
            request_deserializer=catalog.ListActionsRequest.FromString,
            response_serializer=catalog.ListActionsResponse.SerializeToString,
        )
        package = "fritillary.api.v1"
        server.add_generic_rpc_handlers(
            (
                grpc.method_handlers_generic_handler(
                    f"{package}.BotService", {"Connect": bots}
                ),
                grpc.method_handlers_generic_handler(
                    f"{package}.CatalogService", {"ListActions": tables}
                ),
            )
        )
        where = f"127.0.0.1:{self.port}"
        self.port = (
            server.add_insecure_port(where)
            if credentials is None
            else server.add_secure_port(where, credentials)
        )
        await server.start()
        self._server = server

    async def stop(self) -> None:
        for stream in self._open:
            stream.over.set()
        if self._server is not None:
            await self._server.stop(0)
            self._server = None

    async def stream(self) -> Stream:
        """The next stream that a bot opens."""
        return await asyncio.wait_for(self.streams.get(), WITHIN_S)

    async def _connect(self, _: Any, context: Any) -> None:
        self.metadata.append(dict(context.invocation_metadata()))
        stream = Stream(context)
        self._open.append(stream)
        reader = asyncio.ensure_future(stream.read_all())
        self.streams.put_nowait(stream)
        over = asyncio.ensure_future(stream.over.wait())
        await asyncio.wait({over, reader}, return_when=asyncio.FIRST_COMPLETED)
        if stream.stubborn:
            await over
        over.cancel()
        if stream.abort_with is not None:
            await context.abort(*stream.abort_with)

    async def _list_actions(
        self, request: catalog.ListActionsRequest, context: Any
    ) -> catalog.ListActionsResponse:
        self.listed.append(request)
        self.was_asked.set()
        await self.handing_out.wait()
        if self.list_error is not None:
            await context.abort(*self.list_error)
        begin = int(request.page_token or 0)
        end = begin + self.page
        return catalog.ListActionsResponse(
            actions=self.table[begin:end],
            next_page_token=str(end) if end < len(self.table) else "",
            table=common.ActionTable(size=len(self.table), hash=TABLE_HASH),
        )


@contextlib.asynccontextmanager
async def arena_running() -> AsyncIterator[FakeArena]:
    """A fake arena that may be stopped and started again."""
    with kept_port() as port:
        arena = FakeArena(port)
        await arena.start()
        try:
            yield arena
        finally:
            await arena.stop()


def an_offer(match: str = "m1", seat: int = 0, **changes: Any) -> wire.MatchOffer:
    fields: dict[str, Any] = {
        "match_id": match,
        "seat": seat,
        "game": common.GameRef(id="nim", rules_version=1),
        "table": common.ActionTable(size=10, hash=TABLE_HASH),
        "options": msgpack.packb({"heap": 21}),
        "seats": [
            common.SeatInfo(
                seat=each,
                player=common.PlayerInfo(name=f"player {each}"),
                clock=common.Clock(base_ms=60_000),
            )
            for each in range(2)
        ],
        "terms": common.MatchTerms(margin_ms=50, ceiling_ms=100_000),
        "bot_seed": 7,
        "answer_within_ms": 10_000,
    }
    return wire.MatchOffer(**{**fields, **changes})


def a_request(match: str = "m1", seat: int = 0, **changes: Any) -> wire.DecisionRequest:
    fields: dict[str, Any] = {
        "match_id": match,
        "seat": seat,
        "decision_id": 1,
        "ply": 3,
        "observation": msgpack.packb({"heap": 5}),
        "legal": [1, 2, 3],
        "clock": common.ClockReading(left_ms=5000, base_left_ms=5000),
        "attempt": 1,
    }
    return wire.DecisionRequest(**{**fields, **changes})


def an_event(number: int, match: str = "m1", seat: int = 0, **body: Any) -> Any:
    if not body:
        body = {
            "action": wire.ActionTaken(
                seat=1,
                index=number,
                action=msgpack.packb({"take": number}),
                text=f"take {number}",
                source=wire.ACTION_SOURCE_PLAYER,
            )
        }
    return server_message(
        event=wire.Event(match_id=match, seat=seat, number=number, ply=number, **body)
    )
