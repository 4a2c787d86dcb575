"""Which bots are connected, and in which matches they sit."""

from __future__ import annotations

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from fritillary.core.errors import ServiceError
from fritillary.plugins.game import Game
from fritillary.referee.seen import MatchResult
from fritillary.service import journal
from fritillary.service.counts import Counts
from fritillary.service.framing import head_of
from fritillary.service.lastnews import LastNews, LaterNews
from fritillary.service.limits import Limits, TokenBucket
from fritillary.service.seatwire import ended_entry

if TYPE_CHECKING:
    from fritillary.service.remote import RemotePlayer
    from fritillary.service.session import Session

#: The Goodbye to all bots when the server stops.
STOPPING: Final = "server.stopping"

#: So many ends of matches are kept for a bot that has not acknowledged them.
KEPT_ENDS: Final = 256


class UnusableMessageError(ServiceError):
    """A message of a bot that changes nothing; it becomes an ErrorNotice."""


class Link:
    """One bot by its name, whether it is connected or not.

    Args:
        name: that its token was issued for.
        counts: of all bots.
        known: called with the id of a match of which the bot has heard the end.

    Attributes:
        counts: of all bots.
        name: that its token was issued for.
        session: its stream; ``None`` while it has none.
        session_token: of its last session; empty if there was none in this run.
        matches: its seats, by match and seat.
        reserved: matches that it is about to be offered.
        expected: how many wait for it.
        coming: matches from before a restart that it is offered again.
        stranded: those that could not be taken up; a later start may.
    """

    def __init__(
        self,
        name: str,
        counts: Counts,
        known: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._known = known
        self.coming: set[str] = set()
        self.stranded: set[str] = set()
        self.name = name
        self.counts = counts
        self.session: Session | None = None
        self.session_token = ""
        #: Whether the session goes on with one from before.
        self.resumed = False
        self.matches: dict[str, dict[int, RemotePlayer]] = {}
        self.reserved: set[str] = set()
        self.expected = 0
        self._ends: OrderedDict[str, dict[int, LastNews | LaterNews]] = OrderedDict()
        self._waiting: set[asyncio.Future[None]] = set()

    # -- seats

    def players(self) -> Iterator[RemotePlayer]:
        """Yield the bot's seats in all matches that go on."""
        for seats in list(self.matches.values()):
            yield from list(seats.values())

    def seat(self, match_id: str, seat: int | None) -> RemotePlayer | None:
        """Return the seat that a message is about.

        Returns:
            The seat; ``None`` if its match has ended, or is not taken up after a
            restart: the bot need not know which.

        Raises:
            UnusableMessageError: if there is none, or it is not clear which.
        """
        seats = self.matches.get(match_id)
        if seats is None:
            if match_id in self._ends or self.may_come(match_id):
                return None
            msg = f"you sit in no match {match_id[:64]!r}"
            raise UnusableMessageError(msg, code="match.unknown")
        if seat is None:
            if len(seats) > 1:
                msg = f"you hold {len(seats)} seats of this match; name the seat"
                raise UnusableMessageError(msg, code="seat.missing")
            return next(iter(seats.values()))
        player = seats.get(seat)
        if player is None:
            msg = f"seat {seat} of this match is not yours"
            raise UnusableMessageError(msg, code="seat.wrong")
        return player

    def add(self, player: RemotePlayer) -> None:
        """Note that the bot sits in a match."""
        self.matches.setdefault(player.match_id, {})[player.seat] = player
        self.reserved.discard(player.match_id)

    def remove(self, player: RemotePlayer, news: LastNews) -> None:
        """Note that a match has ended.

        Args:
            player: the seat.
            news: what it was told last, kept until the end is acknowledged.
        """
        seats = self.matches.get(player.match_id, {})
        seats.pop(player.seat, None)
        if not seats:
            self.matches.pop(player.match_id, None)
        self.keep_end(player.match_id, player.seat, news)
        self.changed()

    def keep_end(self, match_id: str, seat: int, news: LastNews | LaterNews) -> None:
        """Keep what a seat was told last until it has acknowledged the end."""
        self._ends.setdefault(match_id, {})[seat] = news
        while len(self._ends) > KEPT_ENDS:
            forgotten, _ = self._ends.popitem(last=False)
            self._known(forgotten)

    def knows(self, match_id: str) -> bool:
        """Say whether the bot sits in a match, or sat in it not long ago."""
        return (
            match_id in self.matches
            or match_id in self._ends
            or self.may_come(match_id)
        )

    def may_come(self, match_id: str) -> bool:
        """Say whether the bot is offered a match from before a restart, or may be."""
        return match_id in self.coming or match_id in self.stranded

    def owes_end(self, match_id: str) -> bool:
        """Say whether the bot has yet to acknowledge the end of a match."""
        return bool(self._ends.get(match_id))

    def news_read(self, match_id: str, seat: int, news: LastNews) -> None:
        """Tell the bot what `LaterNews` stood for, if it still has to hear of it.

        Args:
            match_id: of a match that ended before a restart.
            seat: of the bot.
            news: what it may have missed.
        """
        seats = self._ends.get(match_id, {})
        later = seats.get(seat)
        if not isinstance(later, LaterNews):
            return
        later.pass_on(news)
        seats[seat] = news
        # A session that had not gone on with the one before has forgotten all ends.
        if self.session is not None:
            for entry in news.entries(self.session):
                self.session.send(entry)

    def kept_end(self, match_id: str) -> Mapping[int, LastNews | LaterNews]:
        """Return what is kept of the end of a match, by seat."""
        return self._ends.get(match_id, {})

    def ends(self) -> list[LastNews | LaterNews]:
        """Return the ends of matches that were not acknowledged."""
        return [news for seats in self._ends.values() for news in seats.values()]

    def acknowledged(
        self, match_id: str, seat: int | None, event_number: int, closed: int
    ) -> None:
        """Hear what has arrived of a match that has ended."""
        for number, news in self._ends.get(match_id, {}).items():
            if seat is None or seat == number:
                news.acknowledged(event_number, closed)

    def forget_end(self, match_id: str, seat: int | None) -> None:
        """Note that the end of a match was acknowledged.

        That there was such a match is kept, for decisions that come after its end.
        """
        seats = self._ends.get(match_id, {})
        if seat is None:
            seats.clear()
        else:
            seats.pop(seat, None)
        if not seats:
            self._known(match_id)

    def forget_ends(self) -> None:
        """Forget all ended matches: the bot has started anew."""
        forgotten = list(self._ends)
        self._ends.clear()
        for match_id in forgotten:
            self._known(match_id)

    # -- room for matches

    def obstacle(self, game: Game[Any, Any, Any]) -> str:
        """Say why the bot cannot be offered a match now; empty if it can."""
        session = self.session
        if session is None or session.hello is None:
            return f"bot {self.name!r} is not connected"
        if not session.plays(game):
            return f"bot {self.name!r} does not play {game.id}"
        if len(self.matches.keys() | self.reserved) >= session.capacity:
            return f"bot {self.name!r} takes no more matches now"
        return ""

    def changed(self) -> None:
        """Wake those who wait for room."""
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_result(None)

    async def reserve(self, match_id: str, game: Game[Any, Any, Any]) -> None:
        """Wait until the bot can be offered a match, and keep a place for it."""
        loop = asyncio.get_running_loop()
        while match_id not in self.reserved and self.obstacle(game):
            waiting = loop.create_future()
            self._waiting.add(waiting)
            try:
                await waiting
            finally:
                self._waiting.discard(waiting)
        self.reserved.add(match_id)

    @property
    def idle(self) -> bool:
        """Whether nothing is known that has to be kept."""
        return not (
            self.session
            or self.matches
            or self.reserved
            or self.expected
            or self.coming
            or self.stranded
            or self.ends()
        )


class Hub:
    """All bots by name.

    Attributes:
        counts: what is counted of them, and of their matches.
        known: called with the id of a match of which a bot has heard the end.
    """

    def __init__(self) -> None:
        self.known: Callable[[str], None] = lambda _: None
        self.counts = Counts()
        self._links: dict[str, Link] = {}
        #: Rates of messages; a bot that dials in again has no more than before.
        self._buckets: dict[str, TokenBucket] = {}

    def bucket(self, name: str, limits: Limits, now: float) -> TokenBucket:
        """Return what counts the messages of a bot, of all its streams together.

        Args:
            name: of the bot.
            limits: on it.
            now: seconds of the clock of the loop.
        """
        bucket = self._buckets.get(name)
        if bucket is None:
            rate = limits.max_messages_per_second
            bucket = self._buckets[name] = TokenBucket(rate, now)
        return bucket

    def link(self, name: str) -> Link:
        """Return a bot by name."""
        link = self._links.get(name)
        if link is None:
            link = self._links[name] = Link(name, self.counts, self._tell_known)
        return link

    def _tell_known(self, match_id: str) -> None:
        self.known(match_id)

    def keep_ends(self, result: MatchResult, seats: Iterable[tuple[int, str]]) -> None:
        """Keep the end of a match of an earlier run for the bots that sat in it.

        Those that are here and go on with their session are told at once; one that
        has begun anew has forgotten the match.

        Args:
            result: of the match.
            seats: number and bot of each seat.
        """
        for seat, name in seats:
            link = self.link(name)
            if link.session is not None and not link.resumed:
                continue
            news = LastNews(ended_entry(head_of(result.match_id, seat), result))
            link.keep_end(result.match_id, seat, news)
            if link.session is not None:
                for entry in news.entries(link.session):
                    link.session.send(entry)

    def owes_end(self, name: str, match_id: str) -> bool:
        """Say whether a bot has yet to acknowledge the end of a match."""
        link = self._links.get(name)
        return link is not None and link.owes_end(match_id)

    def forget(self, name: str) -> None:
        """Drop all that is known of a bot, such as one whose process is gone."""
        self._buckets.pop(name, None)
        link = self._links.pop(name, None)
        if link is not None and link.session is not None:
            link.session.close("bot.gone", "the match is over")

    def attach(self, session: Session, *, resumed: bool) -> None:
        """Make a session that of its bot; it replaces an older one."""
        # Its bot may have been forgotten and met again since the stream began.
        link = session.link = self.link(session.link.name)
        before, link.session = link.session, session
        link.session_token = session.session_token
        link.resumed = resumed
        counts = self.counts
        if resumed:
            counts.resumed += 1
        else:
            counts.opened += 1
        if before is not None:
            counts.replaced += 1
            before.close("session.replaced", "the bot has opened another session")
            journal.bot_lost(before)
        journal.bot_connected(session, resumed=resumed)
        if resumed:
            for news in link.ends():
                for entry in news.entries(session):
                    session.send(entry)
        else:
            link.forget_ends()
        with _telling_who_waits(link):
            for player in link.players():
                player.session_opened(session, resumed=resumed)
        link.changed()

    def detach(self, session: Session) -> None:
        """Note that a session is over; the links of its seats are lost."""
        link = session.link
        if link.session is session:
            link.session = None
            journal.bot_lost(session)
            # When the server stops nobody waits.
            with _telling_who_waits(link, told=session.parting != STOPPING):
                for player in link.players():
                    player.session_lost()
        self.tidy(link.name)

    def tidy(self, name: str) -> None:
        """Drop a bot of which nothing has to be kept."""
        link = self._links.get(name)
        if link is not None and link.idle:
            del self._links[name]

    def sessions(self) -> list[Session]:
        """Return all open sessions."""
        return [link.session for link in self._links.values() if link.session]

    async def say_goodbye(self, code: str, message: str) -> None:
        """Close all sessions, and wait a moment until they are."""
        sessions = self.sessions()
        for session in sessions:
            session.close(code, message, reconnect_after_ms=1_000)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(1):
                for session in sessions:
                    await session.over.wait()


@contextlib.contextmanager
def _telling_who_waits(link: Link, *, told: bool = True) -> Iterator[None]:
    """Tell which seats of a bot begin to wait for it, or wait no more."""
    before = [(player, player.away) for player in link.players()]
    yield
    for player, away in before:
        if told and player.away is not away:
            journal.seat_waits(link.name, player)
