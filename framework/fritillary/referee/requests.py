"""The requests of one match: which one is open, and how each is closed."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable

from fritillary.referee.decision import Decision, Look
from fritillary.referee.passing import PASSING
from fritillary.referee.play import Play
from fritillary.referee.seen import Closure, Problem, Request

_log = logging.getLogger(__name__)


class Requests:
    """Opens and closes requests; one at most is open at a time.

    Args:
        play: the match.
        now: a monotonic clock in seconds.

    Attributes:
        open: the request that is not yet closed; ``None`` if none is.
    """

    def __init__(self, play: Play, now: Callable[[], float]) -> None:
        self.open: Request | None = None
        self._play = play
        self._players = play.setup.players
        self._now = now
        self._ids = [0] * play.seats
        self._events_of = play.teller.events_of

    def begin(self, decision: Decision, look: Look, event_number: int) -> Request:
        """Begin to ask a seat; the request is its next one."""
        seat = decision.seat
        self._ids[seat] += 1
        self.open = request = Request(
            decision_id=self._ids[seat],
            seat=seat,
            event_number=event_number,
            ply=self._play.ply,
            observe=look,
            legal=decision.legal,
            reading=functools.partial(self._reading, decision),
            events=self._events_of[seat],
            attempt=decision.attempt,
            problem=decision.problem,
        )
        return request

    def _reading(self, decision: Decision) -> dict[str, int]:
        clock = self._play.clocks[decision.seat]
        return clock.parts(decision.elapsed_ms(self._now()))

    def withdraw(
        self, problem: Problem, charged_ms: int = 0, server_ms: int = 0
    ) -> None:
        """Close the open request, if there is one, without a decision."""
        if self.open is not None:
            self.close("withdrawn", problem, charged_ms, server_ms)

    def close(
        self,
        how: str,
        problem: Problem | None,
        charged_ms: int,
        server_ms: int,
    ) -> None:
        """Close the open request; an inline player was not sent one."""
        request = self.open
        if request is None:
            return
        self.open = None
        seat = request.seat
        player = self._players[seat]
        if not player.wants_events:
            return
        # The next event of the seat is the one that closes the request.
        number = self._play.teller.gates[seat].number + 1
        closure = Closure(
            decision_id=request.decision_id,
            how=how,
            event_number=None if how == "withdrawn" else number,
            problem=problem,
            charged_ms=charged_ms,
            server_ms=server_ms,
            clock=self._play.clocks[seat].parts(),
        )
        try:
            player.closed(closure)
        except PASSING:
            raise
        except BaseException:  # noqa: BLE001 - must not raise, and harms nobody
            _log.exception("the player of seat %d did not take a closure", seat)
