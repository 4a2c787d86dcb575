"""A bot in a seat of one match, at the other end of a stream."""

from __future__ import annotations

import asyncio
import random  # noqa: TID251 - named in a signature
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fritillary.api.v1 import bot_pb2 as pb
from fritillary.bots.protocol import Ask
from fritillary.core.commitment import MAX_NONCE_BYTES
from fritillary.core.weak import weakly
from fritillary.record.terms import MAX_MS, Fault, LinkBank, PlayerInfo, clip
from fritillary.referee.player import Answer, PlayerFault
from fritillary.referee.seen import Closure, MatchResult, Offer, Request, SeatEvent
from fritillary.service.answers import SENTENCE, answer_of
from fritillary.service.asked import Asked
from fritillary.service.hub import Link, UnusableMessageError
from fritillary.service.lastnews import LastNews, Unheard, Unwritten
from fritillary.service.lostlink import LostLink
from fritillary.service.notices import SeatKeeper
from fritillary.service.retaking import Retaking
from fritillary.service.seatwire import MatchWire, SeatWire
from fritillary.service.wire import MSGPACK

if TYPE_CHECKING:
    from fritillary.service.session import Session


class RemotePlayer:
    """Takes one seat for a bot that dials in.

    It outlives the bot's streams: a bot that lost its link is waited for, as long
    as the link bank allows.

    Args:
        link: the bot.
        match: on the wire.
        seat: which.
        info: who plays.
        bank: how long a lost link is waited for.
        max_note_bytes: longest note that is kept.
        changed: called when the link is lost or back, and when the seat has
            accepted or is ready.
        trouble: told in a sentence what is wrong with the bot; it may hold secrets.
        refused: why the seat cannot be taken at all.

    Attributes:
        away: whether the link is lost and waited for.
        loss: what is known of a lost link.
        has_accepted: whether the offer was taken.
        is_ready: whether preparation is over.
    """

    inline = False
    wants_events = True

    def __init__(
        self,
        link: Link,
        match: MatchWire,
        seat: int,
        info: PlayerInfo,
        bank: LinkBank,
        *,
        max_note_bytes: int = 2_000,
        changed: Callable[[], None] = lambda: None,
        trouble: Callable[[str], None] = lambda _: None,
        refused: PlayerFault | None = None,
    ) -> None:
        self.info = info
        self.match_id = match.match_id
        self.seat = seat
        self.away = False
        fail = weakly(self.fail)
        self.loss = LostLink(bank, fail, trouble)
        self._retaking = Retaking(fail)
        self.has_accepted = False
        self.is_ready = False
        self._loop = asyncio.get_running_loop()
        self._link = link
        self._match = match
        self._max_note_bytes = max_note_bytes
        self._changed = changed
        self._keeper = SeatKeeper(link.name, match.match_id, seat, trouble)
        self._fault = refused
        # The link.
        self._session: Session | None = None
        self._wire: SeatWire | None = None
        #: Whether the session has taken the seat: only then it is told what happens.
        self._seated = False
        # The offer.
        self._offer: Offer | None = None
        self._accepting: asyncio.Future[bytes] = self._loop.create_future()
        self._readying: asyncio.Future[None] = self._loop.create_future()
        # The decision.
        self._asked = Asked()
        self._think_ms: int | None = None
        self._round_trip_ms: int | None = None
        self._told_round_trip_ms: int | None = None
        #: What may have to be sent again.
        self._unheard = Unheard()
        self._status: Callable[[], bytes] | None = None
        self._ended = False

    # ------------------------------------------------------- what the referee calls

    @property
    def rng(self) -> random.Random:
        """A remote bot has its own generator, out of reach."""
        raise NotImplementedError

    def decide_now(self, ask: Ask) -> Any:  # noqa: ANN401 - as the protocol says
        """A remote bot never answers at once."""
        raise NotImplementedError

    async def accept(self, offer: Offer) -> bytes:
        """Offer the seat; return the nonce."""
        self._raise_fault()
        self._offer = offer
        self._link.add(self)
        if self._link.session is not None:
            self.session_opened(self._link.session, resumed=False)
        return await self._accepting

    async def ready(self) -> None:
        """Wait until the bot is ready."""
        self._raise_fault()
        await self._readying

    def notify(self, event: SeatEvent) -> None:
        """Send what happened."""
        unheard = self._unheard
        if unheard.unwritten is not None:
            unheard.unwritten.events.append(event)
            return
        wire = self._wire
        if wire is None:
            return
        entry = wire.event(event)
        unheard.events.append((event.number, entry))
        if self._seated and self._session is not None:
            self._session.send(entry)

    async def decide(self, request: Request) -> Answer:
        """Ask the bot; return what it answers."""
        self._raise_fault()
        answer = self._asked.begin(request)
        self._think_ms = None
        if self._seated:
            self._send_request()
        try:
            return await answer
        finally:
            self._asked.leave()

    def closed(self, closure: Closure) -> None:
        """Tell the bot how the request was closed."""
        if self._asked.request is not None:
            # Else it was closed before a restart.
            self._link.counts.closed(closure.how, closure.server_ms)
        self._asked.closed(closure.how)
        before = self._unheard.unwritten
        if before is not None:
            before.closure = closure
            self._asked.last_id = closure.decision_id
            return
        wire = self._wire
        if wire is None:
            return
        entry = self._write_closure(wire, closure)
        if self._seated and self._session is not None:
            self._session.send(entry)

    def _write_closure(self, wire: SeatWire, closure: Closure) -> bytes:
        entry = wire.closed(
            closure,
            self._with_link(closure.clock),
            self._think_ms,
            self._round_trip_ms,
        )
        self._unheard.closed = (closure.decision_id, entry)
        return entry

    def end(self, result: MatchResult) -> None:
        """Tell the bot the result, and leave the seat."""
        self._ended = True
        self._status = None
        self.loss.stop()
        self._retaking.leave()
        self.loss.came_back()
        wire = self._wire
        if self._unheard.unwritten is not None:
            # Its bot has yet to come back; the end is written alike for all.
            wire = SeatWire(self._match, self.seat, MSGPACK, expanded=False)
        if self._offer is None or wire is None:
            self._link.reserved.discard(self.match_id)
            self._link.changed()
            return
        entry = wire.ended(result)
        if self._session is not None:
            self._session.send(entry)
            self._session.linger()
        self._link.remove(self, LastNews(entry, self._unheard))
        self._session = None

    # ---------------------------------------------------------------- from the arena

    @property
    def asked(self) -> bool:
        """Whether a decision of the bot is open."""
        return self._asked.open

    def fail(self, fault: PlayerFault) -> None:
        """Let the seat fail; at once if something is awaited, else when it is."""
        if self._fault is not None or self._ended:
            return
        self._fault = fault
        self.loss.stop()
        self._retaking.leave()
        self.loss.came_back()
        self._asked.fail(fault)
        for future in (self._accepting, self._readying):
            if not future.done():
                future.set_exception(fault)
                # It may be that nobody waits for it any more.
                future.exception()
        if self.away:
            self.away = False
            self._changed()

    def reading(self) -> dict[str, int] | None:
        """Return what is left of the clock while a decision is open."""
        request = self._asked.request
        if request is None or not self._asked.open:
            return None
        return self._with_link(request.reading())

    @property
    def open_decision_id(self) -> int | None:
        """The request that is open."""
        return self._asked.last_id if self._asked.open else None

    def status_source(self, source: Callable[[], bytes]) -> None:
        """Set what makes the MatchStatus for this seat."""
        self._status = source

    def send_status(self) -> None:
        """Send where the match is."""
        if self._session is None or self._status is None or self._offer is None:
            return
        self._session.send(self._status())

    def pause(self, paused: bool) -> None:
        """Stop or start the time that a lost link is waited for."""
        self.loss.pause(paused, away=self.away)
        self._retaking.pause(paused)

    # ----------------------------------------------------------------- after a restart

    def take_up(self, offer: Offer) -> None:
        """Keep the seat for a bot that had it before the server was restarted.

        What happened before is told again by the referee, and kept for the bot's
        session if it goes on.
        """
        self._offer = offer
        self.has_accepted = self.is_ready = self.away = True
        self._accepting.cancel()
        self._readying.cancel()
        self._unheard.unwritten = Unwritten(self._match, self.seat)
        self.loss.await_back()
        self._link.add(self)

    def holds(self, session: Session) -> bool:
        """Say whether the seat is played by that session, and by no other one."""
        return self._session is session

    def expect(self) -> None:
        """Let the time begin in which the bot has to come back."""
        if self.away:
            self.loss.begin()

    async def back(self) -> None:
        """Return when the bot has its seat again, or will not come back."""
        self.expect()
        await self.loss.back()

    def _write_before(self, wire: SeatWire) -> None:
        """Write what happened before a restart in the terms of the session."""
        before = self._unheard.unwritten
        if before is None:
            return
        for event in before.events:
            self._unheard.events.append((event.number, wire.event(event)))
        if before.closure is not None:
            self._write_closure(wire, before.closure)

    # ---------------------------------------------------------------------- the link

    def session_opened(self, session: Session, *, resumed: bool) -> None:
        """Take up a session of the bot: its first, or one after a loss.

        Args:
            session: of the bot.
            resumed: whether it goes on with the session before.
        """
        if self._ended or self._fault is not None:
            return
        if session.info.build != self.info.build:
            # Another program: the seat goes on waiting for the one it was given to.
            self.session_lost()
            self._keeper.refuse(session, self.info.build)
            return
        if self.away:
            self.loss.found()
            self.away = False
        self._keeper.given()
        self._session = session
        if not resumed or self._wire is None:
            self._unheard.forget()
            self._wire = SeatWire(
                self._match, self.seat, session.coder, expanded=session.expanded
            )
        if resumed:
            self._write_before(self._wire)
        self._unheard.unwritten = None
        if resumed and self.is_ready:
            self._take_seat()
        elif self._offer is not None:
            self._seated = False
            session.send(self._wire.offer(self._offer, resumed=self.has_accepted))
            if self.loss.awaited:
                terms = self._offer.terms
                clock = self._offer.seats[self.seat].clock
                self._retaking.begin(terms.offer_ms, terms.ready_within_ms(clock))
        self._changed()

    def session_lost(self) -> None:
        """Note that the bot's stream is gone, and wait for it to come back."""
        self._session = None
        self._seated = False
        self._retaking.leave()
        if self._ended or self._fault is not None or self.away:
            return
        self.away = True
        self.loss.begin()
        self._changed()

    def lost(self) -> PlayerFault | None:
        """Return the fault of a clock that ran out while the link was lost."""
        if not self.away:
            return None
        return self.loss.fault("the clock ran out before it was back")

    def flooded(self, code: str, message: str) -> None:
        """Let the seat fail because the bot exceeded a limit."""
        self.fail(PlayerFault(Fault.FLOODING, message, code=code))

    def _raise_fault(self) -> None:
        if self._fault is not None:
            raise self._fault

    def _take_seat(self) -> None:
        """Tell the session where the match stands, and what it may have missed."""
        self._seated = True
        self._retaking.leave()
        self.loss.came_back()
        session = self._session
        if session is None:
            return
        self.send_status()
        for entry in self._unheard.entries(session):
            session.send(entry)
        if self._asked.unanswered:
            self._send_request()

    def _send_request(self) -> None:
        request, wire, session = self._asked.request, self._wire, self._session
        if request is not None and wire is not None and session is not None:
            session.send(wire.request(request, self._with_link(request.reading())))

    def _with_link(self, parts: dict[str, int]) -> dict[str, int]:
        parts["link_left_ms"] = self.loss.left_ms
        return parts

    # ------------------------------------------------------------------ from the bot

    def accepted(self, nonce: bytes) -> None:
        """Hear that the bot takes the seat."""
        if len(nonce) > MAX_NONCE_BYTES:
            msg = f"a nonce has at most {MAX_NONCE_BYTES} bytes"
            raise UnusableMessageError(msg, code="nonce.too-long")
        if self.has_accepted or self._accepting.done():
            self._retaking.accepted()
            return
        self.has_accepted = True
        wanted = self._offer is not None and self._offer.nonce_wanted
        self._accepting.set_result(bytes(nonce) if wanted else b"")
        self._changed()

    def declined(self, code: str, message: str) -> None:
        """Hear that the bot refuses the seat."""
        if self.is_ready:
            msg = "the seat was taken already; resign to give up"
            raise UnusableMessageError(msg, code="seat.taken")
        why = ": ".join(
            part for part in (clip(code, 64), clip(message, SENTENCE)) if part
        )
        msg = f"the bot declined ({why})" if why else "the bot declined"
        self.fail(PlayerFault(Fault.REFUSED_TO_START, msg, code="offer.declined"))

    def readied(self) -> None:
        """Hear that the bot has prepared itself."""
        if not self.has_accepted:
            msg = "accept the offer first"
            raise UnusableMessageError(msg, code="seat.not-accepted")
        if not self.is_ready:
            if self._readying.done():
                return
            self.is_ready = True
            self._seated = True
            self._readying.set_result(None)
            self._changed()
        elif not self._seated:
            self._take_seat()

    def decided(self, decision: pb.Decision, round_trip_ms: int | None) -> None:
        """Hear a decision.

        Raises:
            UnusableMessageError: if its request is not open.
        """
        choice = decision.WhichOneof("choice")
        value: Any = getattr(decision, choice) if choice is not None else None
        answer = self._asked.take(decision.decision_id, (choice, value))
        if answer is None:
            return
        request = self._asked.request
        if request is None or self._session is None:  # pragma: no cover - it is open
            return
        think_ms = None
        if decision.HasField("think_ms"):
            self._think_ms = think_ms = min(decision.think_ms, MAX_MS)
        # The record is told of the link when it was measured anew; a decision of
        # which nothing is told takes the short way into it.
        self._round_trip_ms = told = round_trip_ms
        if told == self._told_round_trip_ms:
            told = None
        try:
            found = answer_of(
                decision,
                choice,
                value,
                self._session.coder,
                think_ms=think_ms,
                round_trip_ms=told,
                max_note_bytes=self._max_note_bytes,
            )
        except PlayerFault as fault:
            answer.set_exception(fault)
            return
        self._told_round_trip_ms = round_trip_ms
        events = self._unheard.events
        while events and events[0][0] <= request.event_number:
            events.popleft()
        answer.set_result(found)

    def resigned(self, decision_id: int) -> None:
        """Hear that the seat gives up.

        Raises:
            UnusableMessageError: if its request is not open.
        """
        answer = self._asked.take(decision_id, ("resign", None))
        if answer is not None:
            answer.set_result(Answer(resign=True))

    def acknowledged(self, event_number: int, closed_decision_id: int) -> None:
        """Hear what has arrived."""
        self._unheard.acknowledged(event_number, closed_decision_id)
