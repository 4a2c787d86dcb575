"""The client: keeps a bot connected, and plays its matches."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import Final, Unpack

from fritillary.api.v1 import bot_pb2 as wire
from fritillary_client import encoding as encodings
from fritillary_client import reading
from fritillary_client.bot import AnyBot, checked
from fritillary_client.calls import open_channel
from fritillary_client.errors import (
    ArenaError,
    BotError,
    Declined,
    LinkError,
    RefusedError,
)
from fritillary_client.link import Link
from fritillary_client.seat import Seat, decline
from fritillary_client.settings import Settings, resolve
from fritillary_client.tables import Lister, Table, Tables
from fritillary_client.trying import Patience
from fritillary_client.values import Outcome, Session

_log = logging.getLogger("fritillary_client")

#: Goodbyes with these codes say that the bot did something wrong.
_BLAMES: Final = ("auth.", "limit.")

#: The one with which the server sends a bot away whose token another program uses.
_REPLACED: Final = "session.replaced"

#: How long a bot may take to hear the end of its last match before the client leaves.
_END_WITHIN_S: Final = 5.0


class Client:
    """One bot at one server.

    Args:
        bot: a function, a class, or an instance; see `AnyBot`.
        **settings: see `Settings`.

    Raises:
        ConfigurationError: if address or token are missing, or something is wrong
            with another setting.

    Attributes:
        name: to show.
        address: of the server.
        ended: matches that have ended.
        abandoned: matches that this side has left unfinished, also since another
            program with its token has taken its place.
        bot_name: under which the server knows the bot; empty before Welcome.
        goodbye: code and message with which the server has sent the bot away; empty
            otherwise.
        encoding: in use.
        limits: that the server announced.
        resigns: whether a bot that fails resigns.
        nonce: for every match; ``None``: drawn anew for each.
    """

    def __init__(self, bot: AnyBot, **settings: Unpack[Settings]) -> None:
        setup = resolve(bot, settings)
        self._setup = setup
        self.name = setup.info.name
        self.address = setup.address
        self.encoding = setup.encoding
        self.resigns = setup.resigns
        self.nonce = setup.nonce
        self.ended = 0
        self.abandoned = 0
        self.bot_name = ""
        self.goodbye: tuple[str, str] = ("", "")
        self.limits = wire.Limits()
        self._tables = Tables()
        self._seats: dict[tuple[str, int], Seat] = {}
        self._ending: set[Seat] = set()
        self._link: Link | None = None
        self._session = ""
        self._said_capacity = 0
        self._draining = False
        self._farewell: asyncio.Task[None] | None = None
        self._failure: ArenaError | None = None
        self._left = asyncio.Event()
        self._patience = Patience(setup.wait, setup.give_up_after)

    # ---------------------------------------------------------------- from outside

    async def run(self) -> None:
        """Connect, play, and reconnect, until there is a reason to stop.

        Reasons are: `matches` were played, :meth:`drain` or :meth:`stop` was called,
        or the server said goodbye without asking to come back.

        Raises:
            LinkError: no server, or the link was lost for too long.
            RefusedError: the server will not have this bot.
            ProtocolError: the server sent garbage.
            BotError: the bot raised, or answered with something that is no decision;
                what it raised is the cause.
        """
        try:
            await self._stay_connected()
        finally:
            if self._farewell is not None:
                self._farewell.cancel()
            # Those that the server sends away, it knows about; but not whether the
            # program that has taken their place is one that can play on.
            if self.goodbye[0] in {"", _REPLACED}:
                self.abandoned = self.playing
            seats = [*self._seats.values(), *self._ending]
            for seat in seats:
                seat.abandon()
            await asyncio.gather(*(seat.task for seat in seats), return_exceptions=True)
        if self._failure is not None:
            raise self._failure

    @property
    def playing(self) -> int:
        """How many matches are in play."""
        return len({match for match, _ in self._seats})

    @property
    def connected(self) -> bool:
        """Whether there is a link to the server, and it has let the bot in."""
        return self._link is not None and self._link.open

    def drain(self) -> None:
        """Take no new matches; leave when those in play have ended."""
        if not self._draining:
            self._draining = True
            self._say_capacity()
            self._leave_when_done()

    def stop(self) -> None:
        """Leave at once; matches in play count as a lost link."""
        self._leave("bot.stopping", "the bot was stopped")

    # ---------------------------------------------------------------- staying there

    async def _stay_connected(self) -> None:
        patience = self._patience
        while not self._left.is_set():
            patience.dial()
            asked_to_wait: int | None = None
            try:
                goodbye = await self._one_link()
            except (LinkError, RefusedError) as error:
                patience.lost()
                asked_to_wait = error.retry_after_ms
                if patience.asks_again(error):
                    continue
                if self._left.is_set():
                    break
                if isinstance(error, RefusedError) and asked_to_wait is None:
                    if not self._forget_session(error):
                        raise
                    continue
                patience.bear(error)
                if patience.let_in:
                    self._lost(error)
            else:
                if goodbye is None:
                    break
                self.goodbye = (goodbye.code, reading.shown(goodbye.message))
                for_good = not goodbye.HasField("reconnect_after_ms")
                if for_good and goodbye.code.startswith(_BLAMES):
                    raise RefusedError(self.goodbye[1], code=goodbye.code)
                _log.info("the server says goodbye: %s [%s]", *reversed(self.goodbye))
                if for_good:
                    break
                self.goodbye = ("", "")
                patience.sent_away()
                asked_to_wait = goodbye.reconnect_after_ms
                self._lost(LinkError(reading.shown(goodbye.message), code=goodbye.code))
            with contextlib.suppress(asyncio.TimeoutError):
                rest_s = patience.back_off.rest_s(asked_to_wait)
                await asyncio.wait_for(self._left.wait(), rest_s)
            patience.back_off.tries += 1

    def _lost(self, error: ArenaError) -> None:
        if self._setup.on_lost is not None:
            self._setup.on_lost(error)

    async def _one_link(self) -> wire.Goodbye | None:
        link = Link(
            open_channel(self._setup),
            address=self.address,
            token=self._setup.token,
            advice=self._setup.advice,
            welcome=self._on_welcome,
            receive=self._on_message,
        )
        self._link = link
        try:
            return await link.run(self._hello())
        finally:
            self._link = None

    def _forget_session(self, error: RefusedError) -> bool:
        """Begin a new session if the server refuses to resume the old one."""
        if not self._session or not error.code.startswith("session."):
            return False
        _log.warning("%s; beginning a new session", error)
        self._session = ""
        self._lose_seats()
        return True

    def _hello(self) -> wire.Hello:
        self._said_capacity = self._wanted_capacity()
        return wire.Hello(
            bot=self._setup.info,
            games=self._setup.games,
            encoding=self.encoding.number,
            legal_form=self._setup.legal_form,
            capacity=self._said_capacity,
            session_token=self._session,
            acks=(
                [seat.ack() for seat in self._seats.values()] if self._session else []
            ),
        )

    # -------------------------------------------------------- what the server says

    def _on_welcome(self, welcome: wire.Welcome) -> None:
        again = bool(self._session)
        self._patience.welcomed()
        self._session = welcome.session_token
        self.bot_name = welcome.bot_name
        self.limits = welcome.limits
        self.encoding = encodings.numbered(welcome.encoding)
        if again and not welcome.resumed:
            self._lose_seats()
        _log.info(
            "%s %s as %s (server %s)",
            "back at" if again else "connected to",
            self.address,
            reading.shown(welcome.bot_name),
            reading.shown(welcome.server_version),
        )
        if self._setup.on_connect is not None:
            session = Session(
                bot=welcome.bot_name,
                resumed=welcome.resumed,
                server=welcome.server_version,
            )
            self._setup.on_connect(session)
        self._say_capacity()
        self._leave_when_done()

    def _on_message(self, kind: str, message: wire.ServerMessage) -> None:
        if self._left.is_set():
            return
        if kind == "decision_request":
            request = message.decision_request
            seat = self._seats.get((request.match_id, request.seat))
            if seat is not None:
                seat.asked(request)
        elif kind == "event":
            event = message.event
            seat = self._seats.get((event.match_id, event.seat))
            if seat is not None:
                seat.happened(event)
        elif kind == "decision_closed":
            closed = message.decision_closed
            seat = self._seats.get((closed.match_id, closed.seat))
            if seat is not None:
                seat.closed(closed)
        elif kind == "match_offer":
            self._on_offer(message.match_offer)
        elif kind == "match_ended":
            self._on_ended(message.match_ended)
        elif kind == "match_status":
            status = message.match_status
            seat = self._seats.get((status.match_id, status.seat))
            if seat is not None:
                seat.status(status)
        elif kind == "error":
            self._on_error(message.error)

    def _on_offer(self, offer: wire.MatchOffer) -> None:
        key = offer.match_id, offer.seat
        known = self._seats.get(key)
        if known is not None:
            known.offered_again()
            return
        try:
            self._setup.consider(offer.game)
        except Declined as error:
            _log.warning("match %s is declined: %s", reading.shown(key[0]), error)
            self.send(decline(*key, error))
            return
        try:
            bot = checked(self._setup.factory())
        except ArenaError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a bot raises
            how = f"making the bot raised {type(error).__name__}"
            failure = BotError(reading.shown(f"{how}: {error}"), how=how)
            failure.__cause__ = error
            self.fail(failure)
            return
        self._seats[key] = Seat(self, bot, offer)
        self._say_capacity()

    def _on_ended(self, ended: wire.MatchEnded) -> None:
        key = ended.match_id, ended.seat
        seat = self._seats.get(key)
        if seat is None:
            # Our Ack was lost, or the seat was never taken.
            ack = wire.Ack(match_id=ended.match_id, seat=ended.seat, ended=True)
            self.send(wire.BotMessage(ack=ack))
            return
        self.send(wire.BotMessage(ack=seat.ack(ended=True)))
        deal = seat.promise.check(ended.result)
        self._end(seat, reading.outcome(ended.result, ended.seat, deal))

    def _end(self, seat: Seat, outcome: Outcome) -> None:
        del self._seats[seat.key]
        self._ending.add(seat)
        seat.task.add_done_callback(lambda _: self._ending.discard(seat))
        seat.end(outcome)
        if not any(match == seat.info.match_id for match, _ in self._seats):
            self.ended += 1
        _log.info("%s", reading.report(seat.info, outcome))
        self._say_capacity()
        self._leave_when_done()

    def _lose_seats(self) -> None:
        """End the matches that the server does not know any more."""
        for seat in list(self._seats.values()):
            outcome = Outcome(
                seat=seat.info.seat,
                kind="unknown",
                code="link.lost",
                message="the server does not know the match any more",
            )
            self._end(seat, outcome)

    def _on_error(self, notice: wire.ErrorNotice) -> None:
        code = notice.error.code
        if code in {"decision.stale", "decision.unknown"}:
            # The answer came too late; how the decision was closed is told anyway.
            _log.debug("match %s: %s", notice.match_id, code)
            return
        _log.warning(
            "the server could not use a message%s: %s [%s]",
            f" about match {reading.shown(notice.match_id)}" if notice.match_id else "",
            reading.shown(notice.error.message),
            reading.shown(code),
        )
        if code == "match.unknown":
            for seat in [
                s for key, s in self._seats.items() if key[0] == notice.match_id
            ]:
                outcome = Outcome(
                    seat=seat.info.seat,
                    kind="unknown",
                    code=code,
                    message=notice.error.message,
                )
                self._end(seat, outcome)

    # ------------------------------------------------------------ what seats need

    def send(self, message: wire.BotMessage) -> None:
        """Send a message if there is a link; else the seats send it after the next."""
        if self._link is not None and self._link.open:
            self._link.send(message)

    async def table(self, offer: wire.MatchOffer) -> Table | None:
        """Return the action table of an offer, where one is needed.

        Raises:
            ArenaError: if the server does not hand it out.
        """
        if self._setup.legal_form != wire.LEGAL_FORM_PACKED or not offer.HasField(
            "table"
        ):
            return None
        return await self._tables.get(offer, self.encoding, self._lister)

    def _lister(self) -> Lister:
        if self._link is None or not self._link.open:
            msg = "the link was lost while an action table was fetched"
            raise LinkError(msg)
        return self._link.list_actions

    def drop(self, seat: Seat) -> None:
        """Forget a seat that was not taken."""
        if self._seats.get(seat.key) is seat:
            del self._seats[seat.key]
            self._say_capacity()
            self._leave_when_done()

    def fail(self, error: ArenaError) -> None:
        """Stop because of an error; the server is told that the bot has failed."""
        if self._failure is not None or self._left.is_set():
            return
        self._failure = error
        if isinstance(error, BotError):
            if error.__cause__ is not None:
                _log.error("%s", error.message, exc_info=error.__cause__)
            how = f": {error.how}" if error.how else " and has been stopped"
            self._leave("bot.failed", f"the bot failed{how}")
        else:
            self._leave("bot.stopping", "the client stops because of an error")

    # -------------------------------------------------------------------- leaving

    def _wanted_capacity(self) -> int:
        if self._draining:
            return 0
        if self._setup.matches is None:
            return self._setup.capacity
        more = self._setup.matches - self.ended - self.playing
        return min(self._setup.capacity, self.playing + more) if more > 0 else 0

    def _say_capacity(self) -> None:
        wanted = self._wanted_capacity()
        if wanted != self._said_capacity and self.connected:
            self._said_capacity = wanted
            self.send(wire.BotMessage(capacity=wire.Capacity(matches=wanted)))

    def _leave_when_done(self) -> None:
        done = self._draining or (
            self._setup.matches is not None and self.ended >= self._setup.matches
        )
        if done and not self._seats and self._farewell is None:
            self._farewell = asyncio.ensure_future(self._say_farewell())

    async def _say_farewell(self) -> None:
        if self._ending:
            await asyncio.wait(
                [seat.task for seat in self._ending], timeout=_END_WITHIN_S
            )
        if self._seats:
            # A match was offered meanwhile; it is played like any other.
            self._farewell = None
        else:
            self._leave("bot.stopping", "the bot has played its matches")

    def _leave(self, code: str, message: str) -> None:
        if self._left.is_set():
            return
        self._left.set()
        if self._link is not None:
            self._link.leave(wire.Goodbye(code=code, message=message))
