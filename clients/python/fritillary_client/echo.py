"""A bot that thinks for nothing: it measures the link, or is load beside such a one.

As a program it is load: it reads one JSON object (see `Load`) from standard input, says
``ready`` when all its bots play, and plays on until its input is closed.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, Self, TypedDict

import grpc.aio
from attrs import asdict, field, frozen
from google.protobuf.message import DecodeError

from fritillary.api.v1 import bot_pb2 as wire
from fritillary.api.v1 import common_pb2 as common
from fritillary_client.calls import (
    OPEN_WITHIN_S,
    error_of,
    metadata,
    open_channel,
    refused,
)
from fritillary_client.endpoint import File, endpoint
from fritillary_client.errors import ArenaError, LinkError, ProtocolError
from fritillary_client.reading import shown
from fritillary_client.referee import Referee

_CONNECT: Final = f"/{wire.DESCRIPTOR.services_by_name['BotService'].full_name}/Connect"

#: So long an answer is waited for, in seconds.
_ANSWER_S: Final = 30.0

#: So long the server may take to close the stream after our Goodbye, in seconds.
_CLOSE_S: Final = 2.0

#: What gRPC says if a server refuses while it is still spoken to: it may then have lost
#: what the server said, and it is asked again.
_CORE: Final = "Internal error from Core"
_TRIES: Final = 5

#: Whoever measures must not throw a bot out that plays.
_FEATURES: Final = ("visit.yields",)

#: What the matches of echo bots are labelled with.
_LABELS: Final = {"purpose": "bench-link"}


@frozen
class Echoed:
    """One decision of the bot.

    Args:
        round_trip_ms: from sending it to hearing that it was taken.
        server_ms: from asking to answering at the server, whole milliseconds.
    """

    round_trip_ms: float
    server_ms: int


class EchoBot:
    """One stream that answers whatever it is asked at once.

    Use it as an async context manager.

    Args:
        address: ``HOST:PORT``.
        token: of a bot that is not connected, else the server refuses
            (``session.in-use``).
        tls: see `Referee`.
        ca: see `Referee`.
        cert: see `Referee`.
        key: see `Referee`.

    Attributes:
        name: of the bot, by its token.
        decided: called with each decision that was taken.
        decisions: how many were.
    """

    def __init__(
        self,
        address: str | None,
        token: str | None,
        *,
        tls: bool | None = None,
        ca: File = None,
        cert: File = None,
        key: File = None,
    ) -> None:
        self._endpoint = endpoint(address, token, tls=tls, ca=ca, cert=cert, key=key)
        self.name = ""
        self.decided: Callable[[Echoed], object] = lambda _: None
        self.decisions = 0
        self._channel: grpc.aio.Channel | None = None
        self._call: Any = None
        self._writing = asyncio.Lock()
        self._reading: asyncio.Task[None] | None = None
        self._welcome: asyncio.Future[None]
        self._over: asyncio.Future[None]
        self._pong: tuple[int, asyncio.Future[float]] | None = None
        self._pings = 0
        self._sent: dict[tuple[str, int, int], float] = {}
        self._ended: dict[str, asyncio.Event] = {}

    async def __aenter__(self) -> Self:
        for left in reversed(range(_TRIES)):
            try:
                await self._open()
            except LinkError as error:
                if not left or _CORE not in error.message:
                    raise
            else:
                break
        return self

    async def _open(self) -> None:
        loop = asyncio.get_running_loop()
        self._welcome, self._over = loop.create_future(), loop.create_future()
        self._channel = open_channel(self._endpoint)
        method: grpc.aio.StreamStreamMultiCallable[bytes, bytes] = (
            self._channel.stream_stream(_CONNECT)
        )
        self._call = method(metadata=metadata(self._endpoint.token))
        info = common.PlayerInfo(name="echo", version="1")
        hello = wire.Hello(bot=info, features=_FEATURES, capacity=2)
        self._reading = asyncio.ensure_future(self._read(hello))
        try:
            await self._within(self._welcome, OPEN_WITHIN_S)
        except BaseException:
            await self.__aexit__()
            raise

    async def __aexit__(self, *_: object) -> None:
        if self._reading is not None:
            goodbye = wire.Goodbye(code="bot.stopping", message="enough was measured")
            await self._send(wire.BotMessage(goodbye=goodbye))
            # The server closes the stream; cut off, it would still have news for a
            # loop that may be closed.
            await asyncio.wait([self._reading], timeout=_CLOSE_S)
            self._call.cancel()
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
        if self._channel is not None:
            await self._channel.close()

    # ------------------------------------------------------------------- measuring

    async def ping(self) -> float:
        """Return the round trip of a Ping, in milliseconds.

        Raises:
            ArenaError: if the link is lost.
        """
        self._pings += 1
        answer: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        self._pong = self._pings, answer
        begin = time.perf_counter()
        await self._send(wire.BotMessage(ping=wire.Ping(id=self._pings)))
        end: float = await self._within(answer, _ANSWER_S)
        return (end - begin) * 1000

    async def play(self, referee: Referee, game: str, seats: int) -> None:
        """Play one match against uniform bots of the server, to its end.

        Args:
            referee: makes the match; calls it off if this is cancelled.
            game: its full id.
            seats: how many.

        Raises:
            ArenaError: if there is no match, or the link is lost.
        """
        players = [f"remote:{self.name}", *["uniform"] * (seats - 1)]
        # Known before it is made, so that it is called off whenever this is cut short.
        match_id = f"bench-{secrets.token_hex(8)}"
        ended = self._ended[match_id] = asyncio.Event()
        waiting = asyncio.ensure_future(ended.wait())
        try:
            await referee.create_match(game, players, match_id=match_id, labels=_LABELS)
            both: list[asyncio.Future[Any]] = [waiting, self._over]
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if self._over.done():
                self._over.result()
        finally:
            waiting.cancel()
            if not ended.is_set():
                with contextlib.suppress(ArenaError):
                    await referee.abort(match_id, "enough was measured")
            del self._ended[match_id]

    async def _within(self, answer: asyncio.Future[Any], within_s: float) -> Any:  # noqa: ANN401 - any answer
        await asyncio.wait(
            [answer, self._over],
            timeout=within_s,
            return_when=asyncio.FIRST_COMPLETED,
        )
        if answer.done():
            return answer.result()
        if self._over.done():
            self._over.result()
        msg = f"the server at {self._endpoint.address} did not answer in {within_s:g} s"
        raise LinkError(msg, code="link.unreachable")

    # ------------------------------------------------------------------ the stream

    async def _send(self, *messages: wire.BotMessage) -> None:
        with contextlib.suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):
            # Why it failed is learned by reading. gRPC takes one message at a time.
            async with self._writing:
                await self._call.write(
                    wire.ConnectRequest(messages=messages).SerializeToString()
                )

    async def _read(self, hello: wire.Hello) -> None:
        try:
            await self._send(wire.BotMessage(hello=hello))
            while isinstance(raw := await self._call.read(), bytes):
                answers: list[wire.BotMessage] = []
                for message in wire.ConnectResponse.FromString(raw).messages:
                    self._take(message, answers)
                if answers:
                    await self._send(*answers)
            raise await self._why()
        except DecodeError:
            self._fail(ProtocolError("the server sent a frame that cannot be read"))
        except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
            self._fail(await self._why())
        except ArenaError as error:
            self._fail(error)

    async def _why(self) -> ArenaError:
        server = self._endpoint
        code = await self._call.code()
        if code is grpc.StatusCode.OK:
            return LinkError(f"the server at {server.address} closed the stream")
        return error_of(
            code,
            await self._call.details() or "",
            await self._call.trailing_metadata(),
            server.address,
            opened=self._welcome.done(),
            advice=server.advice,
        )

    def _fail(self, error: ArenaError) -> None:
        if not self._over.done():
            self._over.set_exception(error)
            # It may be that nobody waits for it any more.
            self._over.exception()

    def _take(
        self, message: wire.ServerMessage, answers: list[wire.BotMessage]
    ) -> None:
        kind = message.WhichOneof("message")
        now = time.perf_counter()
        if kind == "decision_request":
            request = message.decision_request
            key = request.match_id, request.seat, request.decision_id
            self._sent[key] = now
            decision = wire.Decision(
                match_id=request.match_id,
                seat=request.seat,
                decision_id=request.decision_id,
                # Any will do; not the same each time, so that matches end.
                index=request.legal[request.decision_id % len(request.legal)],
                think_ms=0,
            )
            answers.append(wire.BotMessage(decision=decision))
        elif kind == "decision_closed":
            closed = message.decision_closed
            key = closed.match_id, closed.seat, closed.decision_id
            begin = self._sent.pop(key, None)
            if begin is not None and closed.closure == wire.DECISION_CLOSURE_ACCEPTED:
                self.decisions += 1
                self.decided(Echoed((now - begin) * 1000, closed.time.server_ms))
        elif kind == "pong":
            if self._pong is not None and self._pong[0] == message.pong.id:
                _, answer = self._pong
                if not answer.done():
                    answer.set_result(now)
        else:
            self._take_rest(kind, message, answers)

    def _take_rest(
        self,
        kind: str | None,
        message: wire.ServerMessage,
        answers: list[wire.BotMessage],
    ) -> None:
        if kind == "ping":
            answers.append(wire.BotMessage(pong=wire.Pong(id=message.ping.id)))
        elif kind == "welcome":
            self.name = message.welcome.bot_name
            if not self._welcome.done():
                self._welcome.set_result(None)
        elif kind == "match_offer":
            offer = message.match_offer
            accept = wire.Accept(match_id=offer.match_id, seat=offer.seat)
            ready = wire.Ready(match_id=offer.match_id, seat=offer.seat)
            answers.append(wire.BotMessage(accept=accept))
            answers.append(wire.BotMessage(ready=ready))
        elif kind == "match_ended":
            ended = message.match_ended
            ack = wire.Ack(match_id=ended.match_id, seat=ended.seat, ended=True)
            answers.append(wire.BotMessage(ack=ack))
            if ended.match_id in self._ended:
                self._ended[ended.match_id].set()
        elif kind == "refusal":
            raise refused(message.refusal.error)
        elif kind == "goodbye":
            goodbye = message.goodbye
            msg = f"the server says goodbye: {shown(goodbye.message)}"
            raise LinkError(msg, code=goodbye.code)


# ------------------------------------------------------------------------------ load


class Security(TypedDict):
    """How a link is kept safe; see `Referee`."""

    tls: bool | None
    ca: str | None
    cert: str | None
    key: str | None


@frozen(kw_only=True)
class Load:
    """What a program that is load is told.

    Args:
        address: of the server.
        security: whether to encrypt, and files: `Referee` says what each means.
        game: full id of what is played.
        seats: of each match.
        referee: token of who makes the matches.
        bots: tokens of bots; each has a stream of its own.
    """

    address: str
    security: Security
    game: str
    seats: int
    referee: str = field(repr=False)
    bots: Sequence[str] = field(repr=False)

    def to_json(self) -> str:
        """Return it as the line that the program reads."""
        return json.dumps(asdict(self))


async def run(load: Load, ready: Callable[[], object]) -> None:
    """Let all bots play match after match, until this is cancelled.

    Args:
        load: what is played where.
        ready: called when each has decided once.

    Raises:
        ArenaError: if one of them cannot.
    """
    async with contextlib.AsyncExitStack() as stack:
        referee = await stack.enter_async_context(
            Referee(load.address, load.referee, **load.security)
        )
        bots = [
            await stack.enter_async_context(
                EchoBot(load.address, token, **load.security)
            )
            for token in load.bots
        ]
        playing = [asyncio.ensure_future(_play_on(bot, referee, load)) for bot in bots]
        try:
            while not all(bot.decisions for bot in bots):
                await asyncio.wait(
                    playing, timeout=0.05, return_when=asyncio.FIRST_COMPLETED
                )
                _raise_first(playing)
            ready()
            await asyncio.wait(playing, return_when=asyncio.FIRST_COMPLETED)
            _raise_first(playing)
        finally:
            for task in playing:
                task.cancel()
            await asyncio.gather(*playing, return_exceptions=True)


def _raise_first(tasks: Sequence[asyncio.Task[None]]) -> None:
    for task in tasks:
        if task.done():
            task.result()


async def _play_on(bot: EchoBot, referee: Referee, load: Load) -> None:
    while True:
        try:
            await bot.play(referee, load.game, load.seats)
        except ArenaError as error:
            if error.retry_after_ms is None:
                raise
            await asyncio.sleep(error.retry_after_ms / 1000)


async def _main() -> None:
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
    )
    load = Load(**json.loads(await reader.readline()))
    running = asyncio.ensure_future(run(load, lambda: print("ready", flush=True)))  # noqa: T201 - whoever started it waits for this
    # Whoever has started this closes its input, also by dying.
    closed = asyncio.ensure_future(reader.read())
    both: list[asyncio.Future[Any]] = [running, closed]
    await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    if running.done():
        running.result()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


def main() -> None:
    """Be load until standard input is closed; exit code 1 if that fails."""
    try:
        asyncio.run(_main())
    except ArenaError as error:
        sys.exit(f"error: {error.message}")


if __name__ == "__main__":
    main()
