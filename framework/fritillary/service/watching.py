"""Following a match as a spectator."""

from __future__ import annotations

import asyncio
import functools
import logging
import weakref
from collections import deque
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Final

import grpc

from fritillary.api.v1 import bot_pb2
from fritillary.api.v1 import match_pb2 as pb
from fritillary.core.errors import FritillaryError, ServiceError
from fritillary.core.points import Act
from fritillary.referee.match import Match
from fritillary.referee.seen import MatchResult, SeatEvent
from fritillary.service import wire
from fritillary.service.ended import EndedMatch
from fritillary.service.hosted import HostedMatch
from fritillary.service.past import PlayedAgain
from fritillary.service.turns import Turns

_log = logging.getLogger(__name__)

#: So many updates, and bytes of them, are held back for a watcher that does not read.
MAX_QUEUE: Final = 4096
MAX_BYTES: Final = 8 * 1024 * 1024

#: So many bytes of events that were told are kept for others who are told the same.
_MAX_TOLD: Final = 4 * 1024 * 1024

#: What a message takes in memory beside its bytes, about.
_MESSAGE: Final = 1024


class Views:
    """What all who look on at a match see at one moment, made once for all of them.

    Args:
        hosted: the match.
    """

    def __init__(self, hosted: HostedMatch) -> None:
        # It lies beside the match and must not keep it alive.
        self._hosted = weakref.ref(hosted)
        self._moment: tuple[Any, ...] = ()
        self._made: dict[tuple[Any, ...], pb.MatchView] = {}
        self._failed = False

    def view(self, coder: wire.Coder, picture: int) -> pb.MatchView:
        """Return the view of now.

        Args:
            coder: of the observation.
            picture: that is wanted.
        """
        hosted = self._hosted()
        match = None if hosted is None else hosted.match
        if hosted is None or match is None:
            return pb.MatchView()
        number = match.teller.spectator.number
        # What spectators are not told of changes the ply, though not the number.
        moment = (number, match.ply, match.state is None)
        if moment != self._moment:
            self._moment = moment
            self._made.clear()
        key = coder.encoding, picture
        known = self._made.get(key)
        if known is None:
            known = self._made[key] = self._view(hosted, match, coder, picture)
        return known

    def _view(
        self,
        hosted: HostedMatch,
        match: Match | PlayedAgain,
        coder: wire.Coder,
        picture: int,
    ) -> pb.MatchView:
        gate = match.teller.spectator
        view = pb.MatchView(event_number=gate.number)
        if match.state is None:
            return view
        game = hosted.order.game
        view.ply = match.ply
        point = game.decision_point(match.state)
        if isinstance(point, Act):
            view.seats_to_act.append(point.seat)
        try:
            observation = gate.observation(match.state)
            view.observation = hosted.wire.dialect(coder).observation(observation)
            if picture == pb.PICTURE_TEXT:
                view.picture = game.text(observation)
            elif picture == pb.PICTURE_SVG:
                view.picture = game.svg(observation) or ""
        except FritillaryError as error:
            # The match goes on, and so do its events.
            if not self._failed:
                self._failed = True
                _log.warning("match %s cannot be shown: %s", hosted.id, error.message)
        return view


_views: weakref.WeakKeyDictionary[HostedMatch, Views] = weakref.WeakKeyDictionary()


class Held:
    """What is held back for all watches of one token together.

    Args:
        most: bytes; whoever holds most of them when they are too many is too slow.
    """

    def __init__(self, most: int = MAX_BYTES) -> None:
        self._most = most
        self._bytes: dict[Watch, int] = {}
        self._all = 0

    def add(self, watch: Watch, size: int) -> None:
        """Count bytes that are held back for a watch, or fewer where negative."""
        self._bytes[watch] = self._bytes.get(watch, 0) + size
        self._all += size
        while self._all > self._most:
            slowest = max(self._bytes, key=self._bytes.__getitem__)
            self.drop(slowest)
            slowest.fall_behind()

    def drop(self, watch: Watch) -> None:
        """Count nothing more for a watch."""
        self._all -= self._bytes.pop(watch, 0)


class Told:
    """Events as watchers are told them, written out once for all of them.

    The last ones are kept, of all matches: those who catch up at the same time are told
    the same within a short while.

    Args:
        most: bytes that they take, about.
    """

    def __init__(self, most: int = _MAX_TOLD) -> None:
        self._most = most
        self._bytes = 0
        #: With the event itself: as long as it is there no other has its ``id()``.
        self._kept: dict[tuple[int, int], tuple[SeatEvent, pb.WatchMatchResponse]] = {}

    def update(
        self, hosted: HostedMatch, event: SeatEvent, coder: wire.Coder
    ) -> pb.WatchMatchResponse:
        """Return what is told of an event; not to be changed."""
        key = id(event), coder.encoding
        known = self._kept.get(key)
        if known is not None:
            return known[1]
        update = pb.WatchMatchResponse(event=hosted.wire.spectator_event(event, coder))
        self._kept[key] = event, update
        self._bytes += _size(update)
        while self._bytes > self._most:
            _, oldest = self._kept.pop(next(iter(self._kept)))
            self._bytes -= _size(oldest)
        return update


def _size(update: pb.WatchMatchResponse) -> int:
    return _MESSAGE + update.ByteSize()


async def tell_end(
    ended: EndedMatch, context: grpc.aio.ServicerContext[Any, Any]
) -> None:
    """Tell how a match ended that cannot be played again."""
    status = bot_pb2.MatchStatus(match_id=ended.id, phase=wire.PHASE[ended.phase])
    await context.write(pb.WatchMatchResponse(view=pb.MatchView()))
    await context.write(pb.WatchMatchResponse(status=status))
    await context.write(pb.WatchMatchResponse(ended=_ended(ended.id, ended.result)))


def _ended(match_id: str, result: MatchResult) -> bot_pb2.MatchEnded:
    return bot_pb2.MatchEnded(match_id=match_id, result=wire.result(result))


class Watch:
    """One spectator of one match.

    Args:
        hosted: the match.
        request: what is wanted.
        held: counts what is held back if it does not read; the past does not count.
        turn: waits for a turn at writing out an event that is past; default: shared
            with nobody.
        told: what others were told; default: nobody was told anything.
    """

    def __init__(
        self,
        hosted: HostedMatch,
        request: pb.WatchMatchRequest,
        held: Held | None = None,
        turn: Callable[[], AbstractAsyncContextManager[None]] | None = None,
        told: Told | None = None,
    ) -> None:
        self._hosted = hosted
        self._held = held or Held()
        self._turn = turn or functools.partial(Turns().one, "")
        self._told = told or Told()
        self._coder = wire.coder(request.encoding)
        self._each = request.view_each_event
        self._picture = request.picture
        self._after = request.after_event if request.HasField("after_event") else None
        #: What is past is kept as it is, shared by all, and written out when its turn
        #: has come; so is what happens meanwhile.
        self._queue: deque[pb.WatchMatchResponse | SeatEvent] = deque()
        self._behind = 0
        self._most = MAX_QUEUE
        self._wake = asyncio.Event()
        self._past: list[SeatEvent] = []
        self._catching_up = False
        self._joined = False
        self._ended = False
        self._too_slow = False

    async def run(self, context: grpc.aio.ServicerContext[Any, Any]) -> None:
        """Send updates until the match has ended.

        Raises:
            ServiceError: ``watch.too-slow`` if the watcher does not read; the error
                of a match that has no result but may go on later, such as
                ``server.stopping``.
        """
        hosted = self._hosted
        hosted.on_change(self._on_change)
        try:
            # First of all: the spectators' gate counts what somebody looks at.
            past = self._join()
            self._put(view=self._view())
            self._put(status=hosted.status())
            self._begin(past)
            if hosted.over:
                self._stop()
            while True:
                while self._queue:
                    update = await self._next()
                    if update is not None:
                        await context.write(update)
                if self._too_slow:
                    msg = "the watcher reads too slowly; watch again with after_event"
                    raise ServiceError(msg, code="watch.too-slow")
                if self._ended:
                    self._check_end()
                    return
                self._wake.clear()
                await self._wake.wait()
        finally:
            hosted.off_change(self._on_change)
            hosted.unwatch(self)
            self._held.drop(self)

    def fall_behind(self) -> None:
        """Be told nothing more, and drop what waits; it takes memory meanwhile."""
        self._too_slow = True
        self._queue.clear()
        self._behind = 0
        self._hosted.unwatch(self)
        self._wake.set()

    async def _next(self) -> pb.WatchMatchResponse | None:
        """Take the next update from the queue; ``None`` if it was dropped."""
        update = self._queue[0]
        if not isinstance(update, SeatEvent):
            self._queue.popleft()
            self._held.add(self, -update.ByteSize())
            return update
        async with self._turn():
            if self._too_slow:
                return None
            self._queue.popleft()
            self._behind -= 1
            return self._event(update)

    def _check_end(self) -> None:
        """Raise what a watcher is told of a match that may go on later."""
        ended = self._hosted.ended
        error = ended.exception() if ended.done() else None
        if isinstance(error, ServiceError) and error.retry_after_ms is not None:
            raise error

    def _join(self) -> list[SeatEvent] | None:
        """Begin to listen; return what is past, ``None`` if there is no match yet."""
        if self._hosted.match is None:
            return None
        self._joined = True
        self._catching_up = True
        self._hosted.watch(self)
        self._catching_up = False
        past, self._past = self._past, []
        return past

    def _begin(self, past: list[SeatEvent] | None) -> None:
        """Tell what is past, as far as it is wanted, and the end if there is one."""
        for event in past or ():
            if self._after is not None and event.number > self._after:
                self._queue.append(event)
                self._behind += 1
        self._wake.set()
        # What is past is no fault of a watcher's.
        self._most = MAX_QUEUE + len(self._queue)
        if self._hosted.result is not None:
            self.on_end(self._hosted.result)

    def _stop(self) -> None:
        """Tell nothing more: the match has ended, perhaps without a result."""
        self._ended = True
        self._wake.set()

    def _put(self, *, forced: bool = True, **update: Any) -> None:  # noqa: ANN401
        if self._too_slow or (not forced and self._is_full()):
            return
        self._hold(pb.WatchMatchResponse(**update))

    def _hold(self, update: pb.WatchMatchResponse) -> None:
        self._queue.append(update)
        self._wake.set()
        self._held.add(self, update.ByteSize())

    def _is_full(self) -> bool:
        """Fall behind if too much waits; return whether it does."""
        full = len(self._queue) >= self._most
        if full:
            self._held.drop(self)
            self.fall_behind()
        return full

    def _view(self) -> pb.MatchView:
        views = _views.get(self._hosted)
        if views is None:
            views = _views[self._hosted] = Views(self._hosted)
        return views.view(self._coder, self._picture)

    # -- what the match tells

    def _on_change(self) -> None:
        if not self._joined:
            # Whoever waited for the players is told everything from the start.
            if self._after is None:
                self._after = 0
            self._begin(self._join())
        if not self._ended:
            self._put(status=self._hosted.status(), forced=False)
            if self._hosted.over:
                self._stop()

    def _event(self, event: SeatEvent) -> pb.WatchMatchResponse:
        return self._told.update(self._hosted, event, self._coder)

    def on_event(self, event: SeatEvent) -> None:
        """Hear what happened."""
        if self._catching_up:
            self._past.append(event)
            return
        if not self._too_slow and not self._is_full():
            if self._behind:
                self._queue.append(event)
                self._behind += 1
            else:
                self._hold(self._event(event))
        if self._each:
            self._put(view=self._view(), forced=False)
        self._put(status=self._hosted.status(), forced=False)

    def on_end(self, result: MatchResult) -> None:
        """Hear the result."""
        if not self._ended and not self._catching_up:
            self._ended = True
            self._put(ended=_ended(self._hosted.id, result))
