"""One stream of one bot: reading, writing, limits, keepalive."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any, Final

import grpc
from google.protobuf.message import DecodeError

from fritillary.api.v1 import bot_pb2 as pb
from fritillary.core.errors import FritillaryError, ServiceError
from fritillary.plugins.game import Game
from fritillary.record.terms import PlayerInfo
from fritillary.referee.gate import BOT_FAILED
from fritillary.service import framing, greeting, wire
from fritillary.service.audit import current
from fritillary.service.errors import abort, error_info
from fritillary.service.framing import framed
from fritillary.service.hub import Hub, Link, UnusableMessageError
from fritillary.service.limits import Limits
from fritillary.service.notices import not_held, notice_entry, over
from fritillary.service.outbox import Outbox
from fritillary.service.pinging import Pinging
from fritillary.service.resume import SessionTokens
from fritillary.service.said import OF_SEATS, acknowledged
from fritillary.service.tokens import Token, TokenStore

_log = logging.getLogger(__name__)

#: Time to hand over what is queued when a session ends.
_FLUSH_S: Final = 2.0

#: A bot that sent too much before may try again after so long.
_RETRY_MS: Final = 1_000

#: So many messages of a frame are handled before others have a go.
_AT_ONCE: Final = 64

#: Turns of the loop from the end of a match to the offer of the next: who waited is
#: woken (twice, where the wait was shielded), a task is begun, bots are found.
_TURNS: Final = 4


class Session:
    """One stream of one bot.

    Args:
        context: of the RPC; reads and writes bytes.
        token: that the bot showed.
        hub: where the bots are.
        tokens: that are known.
        session_tokens: makes and reads session tokens.
        limits: on the bot.

    Attributes:
        link: the bot.
        hello: what it said of games; ``None`` before.
        info: who it says it is.
        coder: the encoding.
        expanded: whether legal actions are written out.
        capacity: how many matches it takes at a time.
        session_token: with which another stream may go on; empty before Hello.
        parting: code of the Goodbye of either side; empty before.
        over: set when the stream is closed.
    """

    def __init__(
        self,
        context: grpc.aio.ServicerContext[Any, Any],
        token: Token,
        hub: Hub,
        tokens: TokenStore,
        session_tokens: SessionTokens,
        limits: Limits,
    ) -> None:
        self._context = context
        self._token = token
        self._hub = hub
        self._counts = hub.counts
        self._call = current.get()
        self._tokens = tokens
        self._session_tokens = session_tokens
        self._limits = limits
        self._loop = asyncio.get_running_loop()
        now = self._loop.time()
        self._bucket = hub.bucket(token.name, limits, now)
        self._pinging = Pinging(limits, now)
        self._outbox = Outbox()
        self._most_outstanding = limits.max_outstanding_bytes
        self._lingering = 0
        self._wake: asyncio.Future[None] | None = None
        self._closing = False
        self._done: asyncio.Future[None] = self._loop.create_future()
        self._refused: FritillaryError | None = None
        self.link: Link = hub.link(token.name)
        self.hello: pb.Hello | None = None
        self.info = PlayerInfo(token.name)
        self.coder = wire.MSGPACK
        self.expanded = False
        self.capacity = 0
        self.session_token = ""
        self.parting = ""
        self.over = asyncio.Event()

    @property
    def token(self) -> Token:
        """The token that the bot showed."""
        return self._token

    @property
    def peer(self) -> str:
        """Where the bot is, as gRPC says it."""
        return str(self._context.peer())

    # --------------------------------------------------------------------- the stream

    async def run(self) -> None:
        """Serve the stream until it ends."""
        reader = self._loop.create_task(self._read())
        writer = self._loop.create_task(self._write())
        timer = self._loop.call_later(self._limits.hello_ms / 1000, self._no_hello)
        self._timer = timer
        try:
            await self._done
            self._closing = True
            self._wake_writer()
            await asyncio.wait({writer}, timeout=_FLUSH_S)
            self._leave()
            # A bot that does not read keeps its stream, and what gRPC holds for it,
            # for as long as it likes. So it is one of those that its token may have
            # open; but it plays no more.
            await asyncio.wait({writer})
        finally:
            # The reader ends by itself with the stream: a read that is cancelled
            # takes the stream with it, and what was written last may not arrive.
            writer.cancel()
            self._leave()
            del reader
        if self._refused is not None:
            await abort(self._context, self._refused)

    def _leave(self) -> None:
        """Take the session from its bot, and drop what it has not read."""
        if self.over.is_set():
            return
        self._closing = True
        self._timer.cancel()
        self._outbox.clear()
        self._hub.detach(self)
        self.over.set()

    async def _read(self) -> None:
        read = self._context.read
        try:
            while not self._closing:
                raw = await read()
                if raw is grpc.aio.EOF:
                    break
                messages = self._received(raw)
                if len(messages) <= _AT_ONCE:
                    self._handle(messages)
                    continue
                for begin in range(0, len(messages), _AT_ONCE):
                    self._handle(messages[begin : begin + _AT_ONCE])
                    await asyncio.sleep(0)
        except (grpc.aio.BaseError, asyncio.InvalidStateError, asyncio.CancelledError):
            pass
        except Exception:  # noqa: BLE001 - the stream ends, the server does not
            _log.exception("session of %s: reading failed", self.link.name)
        finally:
            self._finish()

    async def _write(self) -> None:
        write = self._context.write
        counts = self._counts
        outbox = self._outbox
        try:
            while True:
                if not outbox:
                    if self._closing:
                        return
                    self._wake = self._loop.create_future()
                    await self._wake
                    while self._lingering:
                        self._lingering -= 1
                        await asyncio.sleep(0)
                    continue
                frame = outbox.take()
                await write(frame)
                outbox.sent(frame)
                counts.frames_out += 1
                counts.bytes_out += len(frame)
        except (grpc.aio.BaseError, asyncio.InvalidStateError):
            self._finish()
        except asyncio.CancelledError:
            raise
        except Exception:  # noqa: BLE001 - the stream ends, the server does not
            _log.exception("session of %s: writing failed", self.link.name)
            self._finish()

    def _finish(self) -> None:
        self._closing = True
        if not self._done.done():
            self._done.set_result(None)

    def _is_closing(self) -> bool:
        return self._closing

    def _wake_writer(self) -> None:
        wake, self._wake = self._wake, None
        if wake is not None and not wake.done():
            wake.set_result(None)

    def send(self, entry: bytes) -> None:
        """Queue an entry of a frame; what is queued together goes together."""
        if self._closing:
            return
        outbox = self._outbox
        if outbox.held + len(entry) > self._most_outstanding:
            self._exceeded(
                "limit.outstanding-bytes", "the bot does not read what it is sent"
            )
            return
        outbox.put(entry)
        if self._wake is not None:
            self._wake_writer()

    def linger(self) -> None:
        """Let what is queued wait some turns of the loop for what may follow it.

        Whoever waits for the end of a match often begins the next: its offer then
        travels in the same frame, and so do the answers of the bot.
        """
        self._lingering = _TURNS

    def close(
        self, code: str, message: str, *, reconnect_after_ms: int | None = None
    ) -> None:
        """Say goodbye and end the stream."""
        if self._closing:
            return
        goodbye = pb.Goodbye(
            code=code, message=message, reconnect_after_ms=reconnect_after_ms
        )
        self._outbox.put(framed(framing.GOODBYE, goodbye.SerializeToString()))
        self.parting = code
        self._finish()

    def token_ended(self) -> None:
        """End the stream because the bot's token is no longer good."""
        if self._closing:
            return
        error = self._tokens.ended(self._token)
        if self._call is not None:
            self._call.refused(self._context, error.code)
        self.close(error.code, error.message)

    def _refuse(self, error: FritillaryError) -> None:
        retry = error.retry_after_ms if isinstance(error, ServiceError) else None
        refusal = pb.Refusal(error=error_info(error.code, error.message, retry))
        self.send(framed(framing.REFUSAL, refusal.SerializeToString()))
        self._refused = error.bare()
        self._finish()

    # ------------------------------------------------------------------------- limits

    def _exceeded(self, code: str, message: str) -> None:
        """Cut the bot off; where it sits in a match it is a fault."""
        if self._closing:
            return
        if self._call is not None:
            self._call.refused(self._context, code)
        for player in self.link.players():
            if player.holds(self):
                player.flooded(code, message)
        self._outbox.clear()
        self.close(code, message)

    def _in_time(self, count: int) -> bool:
        """Say whether so many messages are within the rate; else end the stream."""
        if self._bucket.take(count, self._pinging.heard):
            return True
        code = "limit.message-rate"
        msg = f"more than {self._limits.max_messages_per_second} messages a second"
        if self.hello is None:
            self._refuse(ServiceError(msg, code=code, retry_after_ms=_RETRY_MS))
        else:
            self._exceeded(code, msg)
        return False

    def _no_hello(self) -> None:
        if self.hello is None and not self._closing:
            msg = f"no Hello within {self._limits.hello_ms} ms; it must come first"
            self._refuse(ServiceError(msg, code="hello.late"))

    def _watch_link(self) -> None:
        """Ping a silent bot, end a lost link; runs from time to time."""
        if self._closing:
            return
        now = self._loop.time()
        pinging = self._pinging
        # First of all, so that the link is watched on whatever happens below.
        self._timer = self._loop.call_later(pinging.look_s, self._watch_link)
        if not self._tokens.good(self._token):
            self.token_ended()
            return
        if not pinging.open:
            if pinging.due(now, plays=bool(self.link.matches)):
                self._send_ping(now)
        elif pinging.overdue(now) and not any(
            player.asked for player in self.link.players()
        ):
            # A bot whose machine slept reads this when it wakes up.
            self.close(
                "link.silent",
                "nothing was heard after a Ping",
                reconnect_after_ms=1_000,
            )

    def _send_ping(self, now: float) -> None:
        ping = pb.Ping(id=self._pinging.send(now))
        self.send(framed(framing.PING, ping.SerializeToString()))

    # ----------------------------------------------------------------------- messages

    def _received(self, raw: bytes) -> Sequence[pb.BotMessage]:
        """Return the messages of a frame that is within the limits; else none."""
        if self._closing:
            return ()
        self._pinging.heard = self._loop.time()
        self._counts.frames_in += 1
        self._counts.bytes_in += len(raw)
        if len(raw) > self._limits.max_message_bytes:
            self._exceeded(
                "limit.message-size",
                f"a frame of {len(raw)} bytes; "
                f"{self._limits.max_message_bytes} are allowed",
            )
            return ()
        try:
            messages = pb.ConnectRequest.FromString(raw).messages
        except DecodeError:
            messages = None
        if not self._in_time(len(messages or ()) or 1):
            return ()
        if messages is None:
            msg = "the frame is no ConnectRequest"
            error = UnusableMessageError(msg, code="frame.malformed")
            self._notice(pb.BotMessage(), error)
            return ()
        return messages

    def _handle(self, messages: Sequence[pb.BotMessage]) -> None:
        """Handle some messages of a frame."""
        for message in messages:
            if self._is_closing():
                return
            kind = message.WhichOneof("message")
            try:
                if kind == "decision" and self.hello is not None:
                    decision = message.decision
                    player = self.link.seat(
                        decision.match_id,
                        decision.seat if decision.HasField("seat") else None,
                    )
                    if player is None:
                        raise over(comes=self.link.may_come(decision.match_id))
                    if not player.holds(self):
                        raise not_held()
                    player.decided(decision, self._pinging.round_trip_ms)
                elif self.hello is None:
                    self._hello(message)
                elif kind is None:
                    msg = "the message is empty, or of a kind that is not known here"
                    raise UnusableMessageError(msg, code="message.empty")
                elif kind in OF_SEATS:
                    OF_SEATS[kind](self, message)
                else:
                    self._HANDLERS[kind](self, message)
            except UnusableMessageError as error:
                self._notice(message, error)
        # Any message answers a Ping.
        if self._pinging.open and messages:
            self._pinging.open = False

    def _notice(self, message: pb.BotMessage, error: UnusableMessageError) -> None:
        self.send(notice_entry(message, error))

    def _hello(self, message: pb.BotMessage) -> None:
        if message.WhichOneof("message") != "hello":
            msg = "the first message must be Hello"
            self._refuse(ServiceError(msg, code="hello.missing"))
            return
        hello = message.hello
        shown = hello.session_token
        try:
            self._tokens.recheck(self._token)
            greeting.check_size(hello, self._limits)
            key = greeting.key_of(hello, self.link.name)
            # Its bot may have been forgotten and met again since the stream began.
            link = self._hub.link(self.link.name)
            greeting.check_free(hello, link)
            # What has been missed is known of the last session alone; before a
            # restart of the server that was the one that has left its token.
            resumed = link.session_token in {"", shown} and (
                self._session_tokens.resumes(shown, key)
            )
        except ServiceError as error:
            self._refuse(error)
            return
        if not self._in_time(len(hello.acks)):
            return
        # The rest would be kept for as long as the bot is there.
        self.hello = pb.Hello(games=hello.games)
        self.coder = wire.coder(key.encoding)
        self.expanded = key.expanded
        self.info = greeting.info_of(hello, self.link.name)
        self.capacity = greeting.capacity_of(hello, self._limits)
        self.session_token = (
            shown
            if resumed
            # It has forgotten these matches. A start that takes them up must offer
            # their seats, and not take it for the one that holds them.
            else self._session_tokens.new(key, lasting=not link.stranded)
        )
        welcome = greeting.welcome(
            key,
            self.session_token,
            self._limits,
            capacity=self.capacity,
            resumed=resumed,
        )
        self.send(framed(framing.WELCOME, welcome.SerializeToString()))
        # Measures the link once; later when it is silent.
        self._send_ping(self._pinging.heard)
        self._timer.cancel()
        self._timer = self._loop.call_later(0, self._watch_link)
        if resumed:
            for ack in hello.acks:
                acknowledged(self, ack)
                if not self.link.knows(ack.match_id):
                    msg = f"you sit in no match {ack.match_id[:64]!r}"
                    unknown = UnusableMessageError(msg, code="match.unknown")
                    self._notice(pb.BotMessage(ack=ack), unknown)
        self._hub.attach(self, resumed=resumed)

    def plays(self, game: Game[Any, Any, Any]) -> bool:
        """Say whether the bot said that it can play a game."""
        return self.hello is not None and greeting.plays(self.hello, game)

    def _capacity(self, message: pb.BotMessage) -> None:
        self.capacity = min(message.capacity.matches, self._limits.max_matches)
        self.link.changed()

    def _ping(self, message: pb.BotMessage) -> None:
        pong = pb.Pong(id=message.ping.id)
        self.send(framed(framing.PONG, pong.SerializeToString()))

    def _pong(self, message: pb.BotMessage) -> None:
        self._pinging.pong(message.pong.id, self._loop.time())

    def _goodbye(self, message: pb.BotMessage) -> None:
        self.parting = message.goodbye.code
        if message.goodbye.code == BOT_FAILED:
            for player in self.link.players():
                if player.holds(self):
                    player.loss.has_failed(message.goodbye.message)
        self._finish()

    def _hello_again(self, message: pb.BotMessage) -> None:
        msg = "the session is open already; dial in anew to say Hello again"
        raise UnusableMessageError(msg, code="hello.repeated")

    #: By the kind of message. Bound, they would keep the session that they are kept in.
    _HANDLERS: Final = {
        "capacity": _capacity,
        "ping": _ping,
        "pong": _pong,
        "goodbye": _goodbye,
        "hello": _hello_again,
    }
