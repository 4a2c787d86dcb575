"""What the bot of a seat was told last, kept until it has heard of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from attrs import Factory, define, field

from fritillary.referee.seen import Closure, SeatEvent
from fritillary.service.seatwire import MatchWire, SeatWire

if TYPE_CHECKING:
    from fritillary.service.session import Session

#: So many events are kept for a bot that has not acknowledged them; older ones are
#: made up for by the next request.
_KEPT_EVENTS: Final = 1024


@define(eq=False)
class Unwritten:
    """What happened before a restart, for a session whose terms are not known yet.

    Args:
        match: on the wire.
        seat: who is told.
        events: that were not acknowledged, oldest first.
        closure: of the last request; ``None`` if it was acknowledged.
    """

    match: MatchWire
    seat: int
    events: deque[SeatEvent] = Factory(lambda: deque(maxlen=_KEPT_EVENTS))
    closure: Closure | None = None

    def entries(self, session: Session) -> Iterator[bytes]:
        """Yield all of it in the terms of a session."""
        wire = SeatWire(self.match, self.seat, session.coder, expanded=session.expanded)
        for event in self.events:
            yield wire.event(event)
        if self.closure is not None:
            yield wire.closed(self.closure, dict(self.closure.clock), None, None)

    def acknowledged(self, event_number: int, closed_decision_id: int) -> None:
        """Hear what has arrived."""
        while self.events and self.events[0].number <= event_number:
            self.events.popleft()
        if self.closure and self.closure.decision_id <= closed_decision_id:
            self.closure = None


@define(eq=False)
class Unheard:
    """What one seat was told and has not acknowledged.

    Args:
        events: numbers and entries, oldest first, as they were sent.
        closed: id and entry of the last request that was closed.
        unwritten: what happened before a restart instead, if the bot has not come
            back since.
    """

    events: deque[tuple[int, bytes]] = Factory(lambda: deque(maxlen=_KEPT_EVENTS))
    closed: tuple[int, bytes] = (0, b"")
    unwritten: Unwritten | None = None

    def entries(self, session: Session) -> Iterator[bytes]:
        """Yield what a session is sent that goes on."""
        if self.unwritten is not None:
            yield from self.unwritten.entries(session)
        for _, entry in self.events:
            yield entry
        if self.closed[1]:
            yield self.closed[1]

    def acknowledged(self, event_number: int, closed_decision_id: int) -> None:
        """Hear what has arrived."""
        if self.unwritten is not None:
            self.unwritten.acknowledged(event_number, closed_decision_id)
        while self.events and self.events[0][0] <= event_number:
            self.events.popleft()
        if self.closed[0] <= closed_decision_id:
            self.closed = (0, b"")

    def forget(self) -> None:
        """Drop what was sent: another session is told anew."""
        self.events.clear()
        self.closed = (0, b"")


@define(eq=False)
class LastNews:
    """The end of a match, and what one seat may have missed before it.

    Args:
        end: MatchEnded.
        before: what came before it.
    """

    end: bytes
    before: Unheard = Factory(Unheard)

    def entries(self, session: Session) -> Iterator[bytes]:
        """Yield what a session is sent that goes on."""
        yield from self.before.entries(session)
        yield self.end

    def acknowledged(self, event_number: int, closed_decision_id: int) -> None:
        """Hear what has arrived."""
        self.before.acknowledged(event_number, closed_decision_id)


@define(eq=False)
class LaterNews:
    """Stands for the news of a match that ended before a restart, until they are read.

    Args:
        read: has them read, and sent to the session that is there then.
    """

    read: Callable[[], None]
    _event_number: int = field(default=0, init=False)
    _closed_decision_id: int = field(default=0, init=False)

    def entries(self, _: Session) -> Iterator[bytes]:
        """Yield nothing yet; have the news read."""
        self.read()
        return iter(())

    def acknowledged(self, event_number: int, closed_decision_id: int) -> None:
        """Hear what has arrived."""
        self._event_number = max(self._event_number, event_number)
        self._closed_decision_id = max(self._closed_decision_id, closed_decision_id)

    def pass_on(self, news: LastNews) -> None:
        """Tell the news, once they are read, what has arrived."""
        news.acknowledged(self._event_number, self._closed_decision_id)
