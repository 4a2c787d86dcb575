"""The matches in memory: each runs in a task of its own, from its making to its end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Mapping
from typing import Any, Final

import fritillary
from fritillary.core.errors import ServiceError
from fritillary.record.signing import Signer
from fritillary.record.terms import EndKind
from fritillary.referee.player import Player
from fritillary.referee.seen import MatchResult
from fritillary.service.children import ChildSeat
from fritillary.service.counts import Counts
from fritillary.service.hosted import HostedMatch
from fritillary.service.keeping import Keeping, goes_on_later
from fritillary.service.seating_again import TakenUp
from fritillary.service.seats import Seats

_log = logging.getLogger(__name__)

#: Time that running matches have to close their records when the arena closes.
_CLOSE_S: Final = 5.0


class Running:
    """Runs matches, and keeps the last that have ended.

    Args:
        seats: give the matches their players.
        signer: closes records.
        counts: told of each end.
        keeping: what is kept for a restart; ``None``: matches do not survive one.
        keep_ended: so many ended matches stay in memory.

    Attributes:
        matches: that are in memory, by id.
        tasks: of those that go on, by id.
    """

    def __init__(
        self,
        seats: Seats,
        signer: Signer,
        counts: Counts,
        keeping: Keeping | None,
        keep_ended: int,
    ) -> None:
        self._seats = seats
        self._signer = signer
        self._counts = counts
        self._keeping = keeping
        self._keep_ended = keep_ended
        self.matches: dict[str, HostedMatch] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self._ended: deque[str] = deque()
        self._closing = False

    def begin(
        self,
        hosted: HostedMatch,
        local: Mapping[int, Player],
        taken: TakenUp | None = None,
    ) -> None:
        """Let a match run; must be called in the running loop.

        Args:
            hosted: the match.
            local: its players that need no link.
            taken: its seats, where it was dealt before a restart.
        """
        self.matches[hosted.id] = hosted
        self.tasks[hosted.id] = asyncio.get_running_loop().create_task(
            self._run(hosted, local, taken), name=f"match {hosted.id}"
        )

    async def _run(
        self,
        hosted: HostedMatch,
        local: Mapping[int, Player],
        taken: TakenUp | None,
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
                players, self._signer, framework=fritillary.__version__, **again
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
            self._counts.match_ended(hosted)
            self._ended.append(order.match_id)
            while len(self._ended) > self._keep_ended:
                del self.matches[self._ended.popleft()]
            try:
                if children:
                    await asyncio.gather(
                        *(child.end(at_once=self._closing) for child in children)
                    )
            finally:
                self.tasks.pop(order.match_id, None)

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

    async def close(self) -> None:
        """Call off what runs; what survives a restart stays as it is instead."""
        self._closing = True
        # Matches made just now begin: a task that has not would not come to its end.
        await asyncio.sleep(0)
        if self._keeping is not None:
            # What is left unfinished goes on with the next start.
            for match_id, task in list(self.tasks.items()):
                hosted = self.matches.get(match_id)
                if hosted is None:
                    continue
                self._keeping.note_used(hosted)
                if hosted.result is None:
                    task.cancel()
        else:
            for hosted in self.matches.values():
                with contextlib.suppress(ServiceError):
                    hosted.abort(
                        EndKind.WITHDRAWN, "server.stopping", "the server is stopping"
                    )
        tasks = list(self.tasks.values())
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=_CLOSE_S)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
