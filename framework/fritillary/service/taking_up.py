"""Taking up, after a restart, what an earlier run of the server has left."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, TypeAlias

from fritillary.core.errors import ServiceError
from fritillary.plugins.discovery import Registry
from fritillary.record.signing import Signer
from fritillary.record.terms import EndKind, clip
from fritillary.record.writer import FileSink
from fritillary.referee.player import Player
from fritillary.referee.seen import Finish
from fritillary.service import journal
from fritillary.service.ended import wrong_phase
from fritillary.service.hosted import SENTENCE, HostedMatch, wall_ms
from fritillary.service.hub import Hub
from fritillary.service.keeping import Keeping
from fritillary.service.ordering import refuse_programs
from fritillary.service.owed import Owed
from fritillary.service.records import Records
from fritillary.service.restart import Left, LeftEnd, LeftOut, log_left
from fritillary.service.seating_again import TakenUp
from fritillary.service.seats import Seats
from fritillary.service.stranded import Stranded

#: A match that goes on, its players that need no link, and its seats as they were
#: before the restart; without them it had not begun and is offered anew.
GoesOn: TypeAlias = tuple[HostedMatch, Mapping[int, Player], TakenUp | None]


class TakingUp:
    """Takes up the matches of an earlier run, and keeps those that it cannot take up.

    Args:
        registry: the games.
        signer: closes records.
        keeping: what was kept of the matches.
        records: their records.
        seats: give the players their seats again.
        hub: the bots that dial in.
        owed: is told which ends they have yet to hear of.
        in_thread: calls a function in a thread, when it is its turn.

    Attributes:
        stranded: those that could not be taken up and have not ended, by id.
    """

    def __init__(
        self,
        registry: Registry,
        signer: Signer,
        *,
        keeping: Keeping,
        records: Records,
        seats: Seats,
        hub: Hub,
        owed: Owed,
        in_thread: Callable[[Callable[[], Any]], Awaitable[Any]],
    ) -> None:
        self._registry = registry
        self._signer = signer
        self._keeping = keeping
        self._records = records
        self._seats = seats
        self._hub = hub
        self._owed = owed
        self._in_thread = in_thread
        self.stranded: dict[str, Stranded] = {}
        self._ending = asyncio.Lock()
        self._aborts: set[asyncio.Task[Stranded | None]] = set()
        self._closed = False

    def matches(self, *, programs: bool) -> Iterator[GoesOn]:
        """Yield the matches that go on; to be run to its end, once, in the loop.

        Args:
            programs: whether those that play in them may be started.

        Raises:
            StorageError: if another arena uses the same folder.
        """
        keeping = self._keeping
        for one in keeping.matches_left(self._registry, self._signer):
            if isinstance(one, LeftOut):
                self._strand(one.match_id, one.error)
                continue
            if isinstance(one, LeftEnd):
                keeping.ended_before(one)
                continue
            try:
                if not programs and one.past is None:
                    refuse_programs(one.order.specs)
                goes_on = self._take_up(one)
            except Exception as error:  # noqa: BLE001 - whatever the rules raise
                log_left(f"match {one.order.match_id}", error)
                self._strand(one.order.match_id, error)
                continue
            if goes_on is not None:
                yield goes_on
        for match_id, seats in keeping.ended_long_ago().items():
            self._owed.add(match_id, seats)
        keeping.void_without_seed()

    def _strand(self, match_id: str, error: Exception) -> None:
        """Keep a match that was told of in the log, if it can be shown.

        Its bots keep their seats in any case: a later start may give them back.
        """
        for name in self._keeping.bots_of(match_id):
            self._hub.link(name).stranded.add(match_id)
        one = self._keeping.stranded(match_id, error, self._registry)
        if one is not None:
            self.stranded[match_id] = one

    def _take_up(self, left: Left) -> GoesOn | None:
        """Take up one match; ``None`` if it has ended."""
        order = left.order
        match_id = order.match_id
        keeping = self._keeping
        local: dict[int, Player] = {}
        if left.past is None:
            local = self._seats.local(order, wait_for_remote=True, later=True)
        begun = left.record is not None
        hosted = HostedMatch(
            order,
            functools.partial(
                FileSink, self._records.file(match_id), after=left.length
            ),
            created_at_ms=left.created_at_ms,
            started_at_ms=keeping.started_at_ms(match_id) if begun else None,
            started=self.noting_start(match_id),
            result=None if left.past is None else left.past.result,
        )
        if left.past is not None:
            if not left.heard:
                self._owed.add(match_id, hosted.remote_seats())
            keeping.ended(hosted)
            return None
        taken: TakenUp | None = None
        if not begun:
            for name in hosted.bots:
                self._hub.link(name).coming.add(match_id)
        else:
            try:
                taken = self._seats.again(left, hosted, local)
            except BaseException:
                hosted.close_record()
                raise
            local = {}
        journal.match_taken_up(hosted, started=begun)
        return hosted, local, taken

    def noting_start(self, match_id: str) -> Callable[[int], None]:
        """Return what keeps for a restart when a match started."""
        return functools.partial(self._keeping.note_started, match_id)

    async def abort(
        self, match_id: str, kind: EndKind, message: str
    ) -> Stranded | None:
        """End a match that could not be taken up; others are not kept waiting.

        Once begun it goes on to its end, also if whoever waits for it is cancelled.

        Args:
            match_id: of one that is stranded.
            kind: void or withdrawn.
            message: why, for all.

        Returns:
            The match as it was moved aside; ``None`` if its record has the end.

        Raises:
            ServiceError: ``match.phase`` if it was ended meanwhile;
                ``server.stopping`` if the arena was closed.
            FritillaryError: if its files cannot be used; then it stays as it is.
        """
        message = clip(message, SENTENCE) or "called off"
        finish = Finish(kind, "match.aborted", message)
        # Who is cancelled while it waits has begun nothing.
        await self._ending.acquire()
        if self._closed:
            self._ending.release()
            msg = "the arena is closed; no match is ended any more"
            raise ServiceError(msg, code="server.stopping", retry_after_ms=1_000)
        task = asyncio.create_task(self._abort(match_id, finish))
        self._aborts.add(task)
        task.add_done_callback(self._ended)
        return await asyncio.shield(task)

    def _ended(self, task: asyncio.Task[Stranded | None]) -> None:
        self._aborts.discard(task)
        self._ending.release()

    async def _abort(self, match_id: str, finish: Finish) -> Stranded | None:
        one = self.stranded.get(match_id)
        if one is None:
            raise wrong_phase(match_id, "ended", "abort")
        terms = (one, finish, self._signer, wall_ms())
        ended: LeftEnd | Stranded = await self._in_thread(
            functools.partial(self._keeping.end_stranded, *terms)
        )
        del self.stranded[match_id]
        self._keeping.stranded_ended(one, ended)
        aside = ended if isinstance(ended, Stranded) else None
        result = ended.result
        if result is not None:
            journal.match_ended(match_id, result, recorded=aside is None)
        return aside

    async def close(self) -> None:
        """Wait until what is being ended has ended; nothing is from then on."""
        self._closed = True
        async with self._ending:
            pass
