"""One seat in one match: what the bot is asked, and in which order."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
import time
from collections import deque
from typing import Protocol

from fritillary.api.v1 import bot_pb2 as wire
from fritillary.api.v1 import common_pb2 as common
from fritillary_client import reading
from fritillary_client.answers import message_of
from fritillary_client.ask import Ask
from fritillary_client.bot import Bot
from fritillary_client.dealing import Promise, nonce_for
from fritillary_client.encoding import Encoding
from fritillary_client.errors import (
    ArenaError,
    BotError,
    DecisionError,
    Declined,
    LinkError,
)
from fritillary_client.tables import Table
from fritillary_client.values import RESIGN, MatchInfo, Outcome
from fritillary_client.worker import Raised, Worker

_log = logging.getLogger("fritillary_client")

#: How often a table is asked for before the seat is declined.
_TRIES = 3


class Host(Protocol):
    """What a seat needs of its client."""

    encoding: Encoding
    limits: wire.Limits
    resigns: bool
    nonce: bytes | None

    def send(self, message: wire.BotMessage) -> None:
        """Send, if there is a link; else what is owed is sent after the next one."""

    async def table(self, offer: wire.MatchOffer) -> Table | None:
        """Return the action table of an offer, if it has one and it is needed.

        Raises:
            ArenaError: if the server does not hand it out.
        """

    def drop(self, seat: Seat) -> None:
        """Forget a seat that was not taken."""

    def fail(self, error: ArenaError) -> None:
        """Stop the client because of an error."""


class Seat:
    """One seat of a match, from the offer to the end.

    Args:
        host: the client.
        bot: for this seat.
        offer: of the seat.

    Attributes:
        info: about the match.
        promise: how it will be dealt.
        outcome: once the match has ended.
    """

    def __init__(self, host: Host, bot: Bot, offer: wire.MatchOffer) -> None:
        self.info: MatchInfo = reading.match_info(offer, host.encoding)
        self.promise = Promise(offer, nonce_for(offer, host.nonce), host.encoding)
        self.outcome: Outcome | None = None
        self._host = host
        self._bot = bot
        self._offer = offer
        self._worker = Worker()
        self._table: Table | None = None
        self._light = False
        self._news: list[wire.Event] = []
        self._last_event = 0
        self._last_closed: int | None = None
        self._accepted = False
        self._ready = False
        #: Requests and the end, for the task that plays.
        self._mail: deque[wire.DecisionRequest] = deque()
        self._bell = asyncio.Event()
        self._request: wire.DecisionRequest | None = None
        self._ask: Ask | None = None
        self._thinking: asyncio.Task[object] | None = None
        self._answered: tuple[int, wire.BotMessage] | None = None
        self.task = asyncio.ensure_future(self._play())

    @property
    def key(self) -> tuple[str, int]:
        """Match id and seat."""
        return self.info.match_id, self.info.seat

    def ack(self, *, ended: bool = False) -> wire.Ack:
        """Return what has arrived so far."""
        return wire.Ack(
            match_id=self.info.match_id,
            seat=self.info.seat,
            event_number=self._last_event,
            closed_decision_id=self._last_closed,
            ended=ended,
        )

    # ------------------------------------------------------- what the server says

    def offered_again(self) -> None:
        """Answer an offer again that was answered before."""
        if self._accepted:
            self._say_accept()
        if self._ready:
            self._say_ready()

    def status(self, status: wire.MatchStatus) -> None:
        """Send again what the server seems not to have heard."""
        if status.phase == common.MATCH_PHASE_OFFERED:
            self.offered_again()
        elif status.phase == common.MATCH_PHASE_PREPARING and self._ready:
            self._say_ready()

    def happened(self, event: wire.Event) -> None:
        """Keep an event for the next ask; those sent again are known."""
        if event.number > self._last_event:
            self._last_event = event.number
            self._news.append(event)

    def asked(self, request: wire.DecisionRequest) -> None:
        """Take a request; one that is sent again is answered again."""
        if self._answered is not None and self._answered[0] >= request.decision_id:
            if self._answered[0] == request.decision_id:
                self._host.send(self._answered[1])
            return
        newest = self._mail[-1] if self._mail else self._request
        if newest is not None and newest.decision_id >= request.decision_id:
            return
        if self._light and self._ready and self._request is None and not self._mail:
            try:
                self._decide_now(request)
            except ArenaError as error:
                self._host.fail(error)
        else:
            self._mail.append(request)
            self._bell.set()

    def closed(self, closed: wire.DecisionClosed) -> None:
        """Tell the bot that its answer is no longer waited for."""
        self._last_closed = max(self._last_closed or 0, closed.decision_id)
        while self._mail and self._mail[0].decision_id <= closed.decision_id:
            self._mail.popleft()
        if self._request and self._request.decision_id <= closed.decision_id:
            self._give_up()

    def end(self, outcome: Outcome) -> None:
        """End the match: the bot is told as soon as it is back from ``decide``."""
        self.outcome = outcome
        self._mail.clear()
        self._give_up()
        self._bell.set()

    def abandon(self) -> None:
        """Stop at once; the bot is not told."""
        self._give_up()
        self.task.cancel()
        self._worker.close()

    def _give_up(self) -> None:
        if self._ask is not None:
            self._ask.closed = True
        if self._thinking is not None:
            self._thinking.cancel()

    # ------------------------------------------------------------- what is played

    async def _play(self) -> None:
        try:
            if await self._take():
                await self._answer_all()
        except ArenaError as error:
            self._host.fail(error)
        except Exception as error:  # noqa: BLE001 - a fault of the client itself
            _log.exception("match %s: the client failed", self.info.match_id)
            self._host.fail(
                ArenaError(f"the client failed: {error!r}", code="internal")
            )
        finally:
            self._worker.close()

    async def _take(self) -> bool:
        """Accept and prepare; return whether there is a match to play."""
        try:
            self._table = await self._fetch_table()
            await self._call("offered", self.info)
        except LinkError:
            # The server offers the seat again when the link is back.
            self._host.drop(self)
            return False
        except BotError:
            raise
        except ArenaError as error:
            if not isinstance(error, Declined):
                _log.error("match %s is declined: %s", self.info.match_id, error)
            self._host.send(decline(*self.key, error))
            self._host.drop(self)
            return False
        self._accepted = True
        self._say_accept()
        if self.outcome is None:
            await self._call("start", self.info)
        # Only now: a bot may have found out in `offered` what it is.
        self._light = self._bot.light and not inspect.iscoroutinefunction(
            self._bot.decide
        )
        self._ready = True
        self._say_ready()
        return True

    async def _fetch_table(self) -> Table | None:
        for attempt in range(_TRIES if self._bot.needs_table else 0):
            try:
                return await self._host.table(self._offer)
            except LinkError:
                if attempt == _TRIES - 1:
                    raise
                await asyncio.sleep(0.2)
        return None

    async def _answer_all(self) -> None:
        while True:
            await self._bell.wait()
            self._bell.clear()
            while self._mail:
                await self._decide(self._mail.popleft())
            if self.outcome is not None:
                try:
                    await self._call("end", self.outcome)
                except BotError as error:
                    # The match is over: this can hurt nobody any more.
                    _log.error("%s", error, exc_info=error.__cause__)
                return

    async def _decide(self, request: wire.DecisionRequest) -> None:
        ask = self._open(request)
        started = time.perf_counter()
        thinking = asyncio.ensure_future(self._call("decide", ask))
        if inspect.iscoroutinefunction(self._bot.decide):
            # A thread cannot be cancelled; its bot may look at `ask.closed`.
            self._thinking = thinking
        try:
            decided = await thinking
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                thinking.cancel()
                raise
            return
        except BotError as error:
            if not ask.closed:
                self._failed(request, error, started)
            else:
                _log.error("%s", error, exc_info=error.__cause__)
        else:
            if not ask.closed:
                self._answer(request, decided, started)
        finally:
            self._thinking = None
            self._ask = self._request = None

    def _decide_now(self, request: wire.DecisionRequest) -> None:
        ask = self._open(request)
        started = time.perf_counter()
        try:
            try:
                decided = self._bot.decide(ask)
            except ArenaError:
                raise
            except Exception as error:
                raise _bot_error("decide", error) from error
            self._answer(request, decided, started)
        except BotError as error:
            self._failed(request, error, started)
        finally:
            self._ask = self._request = None

    def _failed(
        self, request: wire.DecisionRequest, error: BotError, started: float
    ) -> None:
        """Resign, if that is what is wanted for a bot that fails.

        Raises:
            BotError: if not.
        """
        if not self._host.resigns:
            raise error
        _log.error(
            "match %s is resigned: %s",
            self.info.match_id,
            error,
            exc_info=error.__cause__,
        )
        self._send_answer(request, RESIGN, started)

    def _open(self, request: wire.DecisionRequest) -> Ask:
        news, self._news = self._news, []
        self._request = request
        self._ask = Ask(self.info, request, news, self._host.encoding, self._table)
        return self._ask

    def _answer(
        self, request: wire.DecisionRequest, decided: object, started: float
    ) -> None:
        try:
            self._send_answer(request, decided, started)
        except DecisionError as error:
            self._failed(request, error, started)

    def _send_answer(
        self, request: wire.DecisionRequest, decided: object, started: float
    ) -> None:
        message = message_of(
            decided,
            request,
            self._host.encoding,
            self._host.limits,
            think_ms=int((time.perf_counter() - started) * 1000),
        )
        self._answered = request.decision_id, message
        self._host.send(message)

    async def _call(self, method: str, argument: object) -> object:
        """Call a method of the bot, in its thread unless it is ``async``.

        Raises:
            BotError: if it raised.
            ArenaError: if it raised that.
        """
        function = getattr(self._bot, method)
        try:
            if inspect.iscoroutinefunction(function):
                return await function(argument)
            if getattr(Bot, method) is getattr(type(self._bot), method, None) and (
                method != "decide"
            ):
                return None  # it was not written
            result = await self._worker.call(function, argument)
            if inspect.isawaitable(result):
                result = await result
        except Raised as envelope:
            raised = envelope.error
        except Exception as error:  # noqa: BLE001 - raised again below
            raised = error
        else:
            return result
        # Not where it is handled: the envelope is no part of the story.
        if isinstance(raised, ArenaError):
            raise raised
        raise _bot_error(method, raised) from raised

    # ----------------------------------------------------------------- what is said

    def _say_accept(self) -> None:
        accept = wire.Accept(
            match_id=self.info.match_id,
            seat=self.info.seat,
            nonce=self.promise.nonce or b"",
        )
        self._host.send(wire.BotMessage(accept=accept))

    def _say_ready(self) -> None:
        ready = wire.Ready(match_id=self.info.match_id, seat=self.info.seat)
        self._host.send(wire.BotMessage(ready=ready))


def decline(match_id: str, seat: int, error: ArenaError) -> wire.BotMessage:
    """Return the message that refuses a seat, with the code of an error."""
    return wire.BotMessage(
        decline=wire.Decline(
            match_id=match_id, seat=seat, code=error.code, message=error.message[:500]
        )
    )


def _bot_error(method: str, error: BaseException) -> BotError:
    text = how = f"{method}() raised {type(error).__name__}"
    with contextlib.suppress(Exception):
        text = f"{how}: {error}" if str(error) else how
    return BotError(reading.shown(text), how=how)
