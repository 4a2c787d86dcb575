"""The time that a bot has to take its seat again after a restart of the server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from fritillary.record.terms import Fault
from fritillary.referee.player import PlayerFault

#: What is asked of the bot, in this order: to accept the offer, and to get ready.
_STEPS: Final = ("accept its seat again", "get ready again")


class Retaking:
    """Limits how long a match stands still for a bot that is there and not ready.

    A bot that does not go on with its session is offered its seat once more, on the
    terms of the first time. However often it leaves and comes back, it has the time
    of the offer and that of getting ready once.

    Args:
        run_out: called with the fault that it is when the time has passed.
    """

    def __init__(self, run_out: Callable[[PlayerFault], None]) -> None:
        self._run_out = run_out
        self._loop = asyncio.get_running_loop()
        self._wholes_ms: tuple[int, ...] = ()
        self._left_ms: list[float] = []
        self._step = 0
        self._since = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._open = False
        self._paused = False

    def begin(self, offer_ms: int, ready_ms: int) -> None:
        """Note that the seat was offered again; let the time run.

        Args:
            offer_ms: to accept the offer.
            ready_ms: to get ready after that.
        """
        self._stop_timer()
        if not self._left_ms:
            self._wholes_ms = (offer_ms, ready_ms)
            self._left_ms = [*self._wholes_ms]
        self._open = True
        self._go_to(0)

    def accepted(self) -> None:
        """Note that the bot has accepted the offer."""
        if self._open and self._step == 0:
            self._stop_timer()
            self._go_to(1)

    def leave(self) -> None:
        """Note that the bot has gone again, or has its seat, or will not have it."""
        self._stop_timer()
        self._open = False

    def pause(self, paused: bool) -> None:
        """Note that the match stands still by order of the referee, or goes on."""
        self._paused = paused
        if self._open:
            self._stop_timer()
            self._go_to(self._step)

    def _go_to(self, step: int) -> None:
        self._step = step
        if not self._paused:
            self._since = self._loop.time()
            self._timer = self._loop.call_later(self._left_ms[step] / 1000, self._end)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            elapsed_ms = (self._loop.time() - self._since) * 1000
            self._left_ms[self._step] = max(0.0, self._left_ms[self._step] - elapsed_ms)
            self._timer.cancel()
            self._timer = None

    def _end(self) -> None:
        self.leave()
        within_s = self._wholes_ms[self._step] / 1000
        msg = (
            f"the bot was back, and did not {_STEPS[self._step]} within {within_s:g} s"
        )
        self._run_out(PlayerFault(Fault.DISCONNECTED, msg))
