"""The arena: makes matches, runs them, keeps them."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
from collections import deque
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Self

import fritillary
from fritillary.core.errors import ServiceError, UsageError
from fritillary.plugins.discovery import Registry
from fritillary.plugins.game import Game
from fritillary.record.events import MATCH_ID
from fritillary.record.signing import Signer
from fritillary.record.terms import ClockSettings, EndKind, Terms
from fritillary.record.writer import FileSink
from fritillary.referee.player import Player
from fritillary.referee.seen import MatchResult
from fritillary.service import journal
from fritillary.service.archive import Archive
from fritillary.service.children import ChildSeat
from fritillary.service.ended import EndedMatch
from fritillary.service.hosted import HostedMatch, wall_ms
from fritillary.service.hub import Hub
from fritillary.service.keeping import Keeping, goes_on_later
from fritillary.service.limits import Limits
from fritillary.service.ordering import order_of, refuse_programs
from fritillary.service.owed import Owed
from fritillary.service.proglogs import forget_daily
from fritillary.service.records import Records
from fritillary.service.restart import Left, LeftEnd, log_left
from fritillary.service.seating_again import TakenUp
from fritillary.service.seats import Factory, Seats
from fritillary.service.spawn import ProcessLimits
from fritillary.service.tokens import TokenStore

_log = logging.getLogger(__name__)

#: Time that running matches have to close their records when the arena closes.
_CLOSE_S: Final = 5.0

#: Time that whoever tells watchers how their matches ended has after that.
_TELL_S: Final = 2.0


def _no_seed(_: str) -> None:
    """Return no seed: none is kept."""


class Arena:
    """Makes and runs matches.

    Use it as an async context manager: on leaving, running matches are called off,
    their records closed and all programs ended.

    Args:
        registry: the games.
        signer: closes records; ``None`` for a fresh key.
        records: folder for ``ID.frec``; ``None`` keeps records in memory.
        private: folder of what is kept for a restart, seeds among it; ``None``: matches
            do not survive one. One arena at a time may use it.
        tokens: where programs that are started get their tokens; must be those of
            the server.
        factories: by kind of player, such as ``human``: what makes it.
        limits: on one bot.
        process_limits: on a program that is started.
        keep_ended: so many ended matches are kept in memory.

    Attributes:
        hub: the bots that dialled in.
        archive: the matches that have ended, as their records tell; ``None`` if those
            are in memory.
    """

    def __init__(
        self,
        registry: Registry,
        signer: Signer | None = None,
        *,
        records: Path | None = None,
        private: Path | None = None,
        tokens: TokenStore | None = None,
        factories: Mapping[str, Factory] | None = None,
        limits: Limits | None = None,
        process_limits: ProcessLimits | None = None,
        keep_ended: int = 1_000,
    ) -> None:
        self.registry = registry
        self.signer = signer or Signer.generate()
        self.tokens = tokens or TokenStore()
        self.limits = limits or Limits()
        self.process_limits = process_limits or ProcessLimits()
        self.hub = Hub()
        self._records = Records(records)
        self._seats = Seats(
            self.hub,
            self.tokens,
            factories or {},
            self.limits,
            self.process_limits,
            records,
        )
        self._keeping: Keeping | None = None
        if private is not None:
            if records is None:
                msg = "matches that survive a restart need a folder for records"
                raise UsageError(msg, code="usage.records")
            self._keeping = Keeping(private, records, self.hub)
            self.hub.known = self._keeping.heard
        self.archive: Archive | None = None
        self._owed: Owed | None = None
        if records is not None:
            keeping = self._keeping
            seed_of = _no_seed if keeping is None else keeping.seed_of
            self.archive = Archive(records, registry, seed_of)
            if keeping is not None:
                terms = (registry, self.signer, self.limits)
                read = functools.partial(keeping.news_of, *terms)
                self._owed = Owed(self.hub, read, self.archive.in_thread)
        self._tidying: asyncio.Task[None] | None = None
        self._keep_ended = keep_ended
        self._matches: dict[str, HostedMatch] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._ended: deque[str] = deque()
        self._followers: set[asyncio.Task[Any]] = set()
        self._last_made_ms = 0
        self._closing = False

    @property
    def address(self) -> str:
        """Where programs dial in; set by the server, empty before."""
        return self._seats.address

    @address.setter
    def address(self, address: str) -> None:
        self._seats.address = address

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # -------------------------------------------------------------------------- making

    def create(
        self,
        game: str | Game[Any, Any, Any],
        players: Sequence[str],
        *,
        options: Mapping[str, Any] | object | None = None,
        preset: str = "",
        clocks: ClockSettings | Sequence[ClockSettings] | None = None,
        terms: Terms | None = None,
        ceiling_ms: int | None = None,
        match_id: str = "",
        seed: bytes | None = None,
        salt: bytes | None = None,
        nonces_wanted: bool | None = None,
        labels: Mapping[str, str] | None = None,
        sealed: bool = False,
        wait_for_remote: bool = True,
    ) -> HostedMatch:
        """Make a match and start it; must be called in the running loop.

        Args:
            game: full id, or the game itself.
            players: one string for each seat, see `fritillary.referee.lineup`.
            options: as plain data over preset or defaults, or an options value.
            preset: name of published options.
            clocks: one for all seats or one each; ``None``: untimed.
            terms: the same for all; the ceiling follows from the clocks.
            ceiling_ms: of the whole match instead.
            match_id: of the match; empty for a fresh one.
            seed: 32 bytes of the deal; ``None`` draws one.
            salt: 32 bytes of the commitment; ``None`` draws one.
            nonces_wanted: whether bots may mix into the deal; ``None``: where the
                seed was drawn here and a bot dials in.
            labels: free tags, at most 16 of at most 64 characters.
            sealed: the deal is still to be played by others: it is not revealed, and
                the match cannot be watched or fetched.
            wait_for_remote: wait for a ``remote:`` player that is not connected as
                long as an offer may last, instead of refusing.

        Raises:
            FritillaryError: if something about it makes no sense.
        """
        if self._closing:
            msg = "the arena is closing; no match is begun any more"
            raise ServiceError(msg, code="server.stopping", retry_after_ms=1_000)
        order = order_of(
            self.registry,
            game,
            players,
            options=options,
            preset=preset,
            clocks=clocks,
            terms=terms,
            ceiling_ms=ceiling_ms,
            match_id=match_id,
            seed=seed,
            salt=salt,
            nonces_wanted=nonces_wanted,
            labels=labels,
            sealed=sealed,
        )
        match_id = self._free_id(order.match_id)
        local = self._seats.local(order, wait_for_remote=wait_for_remote)
        # No two at the same time: lists have them in this order.
        self._last_made_ms = max(wall_ms(), self._last_made_ms + 1)
        hosted = HostedMatch(
            order,
            functools.partial(self._records.new, match_id),
            created_at_ms=self._last_made_ms,
            started=self._note_started(match_id),
        )
        if self._keeping is not None:
            # Before anything of the match is published; where it is kept, its record
            # is there.
            try:
                self._keeping.save(order, hosted.created_at_ms)
            except BaseException:
                hosted.discard()
                raise
        journal.match_made(hosted)
        self._begin(hosted, self._run(hosted, local))
        return hosted

    def _note_started(self, match_id: str) -> Callable[[int], None]:
        """Return what keeps for a restart when a match started."""
        if self._keeping is None:
            return lambda _: None
        return functools.partial(self._keeping.note_started, match_id)

    def _started_at_ms(self, left: Left) -> int | None:
        if self._keeping is None or left.record is None:
            return None
        return self._keeping.started_at_ms(left.order.match_id)

    def _begin(self, hosted: HostedMatch, run: Coroutine[Any, Any, None]) -> None:
        self._matches[hosted.id] = hosted
        self._tasks[hosted.id] = asyncio.get_running_loop().create_task(
            run, name=f"match {hosted.id}"
        )

    def _free_id(self, match_id: str) -> str:
        if not MATCH_ID.match(match_id):
            msg = (
                f"match id {match_id[:70]!r} must be 1 to 64 letters, digits, dots, "
                "underscores or hyphens"
            )
            raise UsageError(msg, code="match.id")
        kept = self._keeping is not None and self._keeping.has(match_id)
        if match_id in self._matches or kept or self._records.has(match_id):
            msg = f"there is a match {match_id!r} already; choose another id"
            raise ServiceError(msg, code="match.exists")
        return match_id

    # ------------------------------------------------------------------------- running

    async def _run(
        self,
        hosted: HostedMatch,
        local: Mapping[int, Player],
        taken: TakenUp | None = None,
    ) -> None:
        order = hosted.order
        children: list[ChildSeat] = [] if taken is None else taken.children
        result: MatchResult | None = None
        failure: BaseException | None = None
        again: dict[str, Any] = {}
        try:
            if taken is None:
                players = await self._seats.take(hosted, local, children)
            else:
                players = taken.players
                again = {"after": taken.after, "used": taken.used}
                await self._seats.start_again(children)
            result = await hosted.play(
                players, self.signer, framework=fritillary.__version__, **again
            )
            if hosted.path is not None and not order.sealed:
                hosted.path.chmod(0o644)
        except Exception as error:  # noqa: BLE001 - logged, and told to who waits
            _log.exception("match %s could not be played", order.match_id)
            failure = error
        finally:
            # Also on cancellation.
            if result is None:
                failure = self._without_result(hosted, failure, begun=bool(again))
            hosted.finished(result, failure)
            if self._keeping is not None and hosted.result is not None:
                self._keeping.ended(hosted)
            self.hub.counts.match_ended(hosted)
            self._ended.append(order.match_id)
            while len(self._ended) > self._keep_ended:
                del self._matches[self._ended.popleft()]
            try:
                if children:
                    await asyncio.gather(
                        *(child.end(at_once=self._closing) for child in children)
                    )
            finally:
                self._tasks.pop(order.match_id, None)

    def _without_result(
        self, hosted: HostedMatch, failure: BaseException | None, *, begun: bool
    ) -> BaseException | None:
        """Leave a match that was cancelled or has failed; return what is told of it.

        Args:
            hosted: the match.
            failure: why; ``None`` if it was cancelled.
            begun: whether it was played before the server was restarted.
        """
        keeping = self._keeping
        goes_on = keeping is not None and (begun or failure is None)
        if goes_on or hosted.match is not None:
            hosted.close_record()
        else:
            # Nobody was offered anything: it never was.
            hosted.discard()
            if keeping is not None:
                keeping.forget(hosted.id)
        self._seats.give_back(hosted)
        if goes_on and self._closing:
            return failure or goes_on_later()
        return failure

    # ------------------------------------------------------------------------- restart

    def take_up(self, *, programs: bool = True) -> int:
        """Take up the matches that an earlier run of the server has left.

        To be called once, in the running loop, before the server listens: bots that
        come back find their seats. What cannot be taken up is told of in the log.

        Args:
            programs: whether those that play in them may be started.

        Returns:
            How many matches go on.

        Raises:
            StorageError: if another arena uses the same folder.
        """
        keeping = self._keeping
        if keeping is None:
            return 0
        count = 0
        for one in keeping.matches_left(self.registry, self.signer):
            if isinstance(one, LeftEnd):
                keeping.ended_before(one)
                continue
            try:
                if not programs and one.past is None:
                    refuse_programs(one.order.specs)
                count += self._take_up(one)
            except Exception as error:  # noqa: BLE001 - whatever the rules raise
                log_left(f"match {one.order.match_id}", error)
        if self._owed is not None and self.archive is not None:
            for match_id, seats in keeping.ended_long_ago().items():
                self._owed.add(match_id, seats)
            tidy = forget_daily(self.archive.records, self.archive.in_thread)
            self._tidying = asyncio.create_task(tidy)
        keeping.void_without_seed()
        return count

    def _take_up(self, left: Left) -> bool:
        """Take up one match; return whether it goes on."""
        order = left.order
        match_id = order.match_id
        local: dict[int, Player] = {}
        if left.past is None:
            local = self._seats.local(order, wait_for_remote=True, later=True)
        hosted = HostedMatch(
            order,
            functools.partial(
                FileSink, self._records.file(match_id), after=left.length
            ),
            created_at_ms=left.created_at_ms,
            started_at_ms=self._started_at_ms(left),
            started=self._note_started(match_id),
            result=None if left.past is None else left.past.result,
        )
        if left.past is not None:
            if self._owed is not None and not left.heard:
                self._owed.add(match_id, hosted.remote_seats())
            if self._keeping is not None:
                self._keeping.ended(hosted)
            return False
        if left.record is None:
            for name in hosted.bots:
                self.hub.link(name).coming.add(match_id)
            run = self._run(hosted, local)
        else:
            try:
                taken = self._seats.again(left, hosted, local)
            except BaseException:
                hosted.close_record()
                raise
            run = self._run(hosted, {}, taken)
        journal.match_taken_up(hosted, started=left.record is not None)
        self._begin(hosted, run)
        return True

    # ------------------------------------------------------------------------- looking

    def match(self, match_id: str) -> HostedMatch:
        """Return a match that goes on, or has ended not long ago.

        Raises:
            ServiceError: ``match.unknown`` if there is none.
        """
        hosted = self._matches.get(match_id)
        if hosted is not None:
            return hosted
        msg = f"there is no match {match_id[:64]!r}"
        keeping = self._keeping if MATCH_ID.match(match_id) else None
        if keeping is not None and keeping.has(match_id):
            msg = (
                f"match {match_id} could not be taken up when the server was started; "
                "its log says why, and a later start may succeed"
            )
        raise ServiceError(msg, code="match.unknown")

    async def find(self, match_id: str) -> HostedMatch | EndedMatch:
        """Return a match, whenever it was played.

        Raises:
            ServiceError: ``match.unknown`` if there is none.
        """
        if match_id not in self._matches and self.archive is not None:
            past = await self.archive.find(match_id)
            # It may have been made meanwhile.
            if past is not None and match_id not in self._matches:
                return past
        return self.match(match_id)

    def matches(self) -> list[HostedMatch]:
        """Return the matches in memory, newest first."""
        return sorted(self._matches.values(), key=lambda one: one.place, reverse=True)

    async def wait(self, match_id: str) -> MatchResult:
        """Wait for the end of a match; return its result."""
        found = await self.find(match_id)
        if isinstance(found, EndedMatch):
            return found.result
        return await asyncio.shield(found.ended)

    async def play(
        self,
        game: str | Game[Any, Any, Any],
        players: Sequence[str],
        **settings: Any,  # noqa: ANN401
    ) -> MatchResult:
        """Make a match and wait for its end; see :meth:`create`."""
        return await asyncio.shield(self.create(game, players, **settings).ended)

    @contextlib.contextmanager
    def followed(self) -> Iterator[None]:
        """Count the running task, meanwhile, among those that tell of a match.

        It must end with the match; `close` gives it a moment for that.
        """
        task = asyncio.current_task()
        if task is None or task in self._followers:
            yield
            return
        self._followers.add(task)
        try:
            yield
        finally:
            self._followers.discard(task)

    async def close(self) -> None:
        """Call off what is running, close the records, end all programs.

        Matches that survive a restart are not called off: they stay as they are.
        """
        self._closing = True
        # Matches made just now begin: a task that has not would not come to its end.
        await asyncio.sleep(0)
        if self._keeping is not None:
            # What is left unfinished goes on with the next start.
            for match_id, task in list(self._tasks.items()):
                hosted = self._matches.get(match_id)
                if hosted is None:
                    continue
                self._keeping.note_used(hosted)
                if hosted.result is None:
                    task.cancel()
        else:
            for hosted in self._matches.values():
                with contextlib.suppress(ServiceError):
                    hosted.abort(
                        EndKind.WITHDRAWN, "server.stopping", "the server is stopping"
                    )
        tasks = list(self._tasks.values())
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=_CLOSE_S)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        # Whoever looks on hears how the matches ended before a server stops.
        if self._followers:
            await asyncio.wait(self._followers, timeout=_TELL_S)
        if self._owed is not None:
            await self._owed.close()
        if self._tidying is not None:
            self._tidying.cancel()
        if self._keeping is not None:
            self._keeping.close()
