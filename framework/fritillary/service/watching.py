"""Following a match as a spectator."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any, Final

import grpc

from fritillary.api.v1 import bot_pb2
from fritillary.api.v1 import match_pb2 as pb
from fritillary.core.errors import ServiceError
from fritillary.core.points import Act
from fritillary.referee.seen import MatchResult, SeatEvent
from fritillary.service import wire
from fritillary.service.hosted import HostedMatch

#: So many updates are held back for a watcher that does not read.
MAX_QUEUE: Final = 4096


class Watch:
    """One spectator of one match.

    Args:
        hosted: the match.
        request: what is wanted.
    """

    def __init__(self, hosted: HostedMatch, request: pb.WatchMatchRequest) -> None:
        self._hosted = hosted
        self._coder = wire.coder(request.encoding)
        self._each = request.view_each_event
        self._picture = request.picture
        self._after = request.after_event if request.HasField("after_event") else None
        self._queue: deque[pb.WatchMatchResponse] = deque()
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
            ServiceError: ``watch.too-slow`` if the watcher does not read.
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
                    await context.write(self._queue.popleft())
                if self._too_slow:
                    msg = "the watcher reads too slowly; watch again with after_event"
                    raise ServiceError(msg, code="watch.too-slow")
                if self._ended:
                    return
                self._wake.clear()
                await self._wake.wait()
        finally:
            hosted.off_change(self._on_change)
            hosted.unwatch(self)

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
                self._put(event=self._event(event))
        # What is past is no fault of a watcher's.
        self._most = MAX_QUEUE + len(self._queue)
        if self._hosted.result is not None:
            self.on_end(self._hosted.result)

    def _stop(self) -> None:
        """Tell nothing more: the match has ended, perhaps without a result."""
        self._ended = True
        self._wake.set()

    def _put(self, *, forced: bool = True, **update: Any) -> None:  # noqa: ANN401
        if not forced and len(self._queue) >= self._most:
            self._too_slow = True
            self._hosted.unwatch(self)
        elif not self._too_slow:
            self._queue.append(pb.WatchMatchResponse(**update))
        self._wake.set()

    def _view(self) -> pb.MatchView:
        match = self._hosted.match
        if match is None:
            return pb.MatchView()
        gate = match.teller.spectator
        if match.state is None:
            return pb.MatchView(event_number=gate.number)
        game = self._hosted.order.game
        observation = gate.observation(match.state)
        picture = ""
        if self._picture == pb.PICTURE_TEXT:
            picture = game.text(observation)
        elif self._picture == pb.PICTURE_SVG:
            picture = game.svg(observation) or ""
        point = game.decision_point(match.state)
        return pb.MatchView(
            event_number=gate.number,
            ply=match.ply,
            seats_to_act=[point.seat] if isinstance(point, Act) else [],
            observation=self._hosted.wire.dialect(self._coder).observation(observation),
            picture=picture,
        )

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

    def _event(self, event: SeatEvent) -> bot_pb2.Event:
        return self._hosted.wire.spectator_event(event, self._coder)

    def on_event(self, event: SeatEvent) -> None:
        """Hear what happened."""
        if self._catching_up:
            self._past.append(event)
            return
        self._put(event=self._event(event), forced=False)
        if self._each:
            self._put(view=self._view(), forced=False)
        self._put(status=self._hosted.status(), forced=False)

    def on_end(self, result: MatchResult) -> None:
        """Hear the result."""
        if not self._ended and not self._catching_up:
            self._ended = True
            ended = bot_pb2.MatchEnded(
                match_id=self._hosted.id, result=wire.result(result)
            )
            self._put(ended=ended)
