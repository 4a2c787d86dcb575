"""The time that a seat has for lost links: a bank, drawn on while its bot is away."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable

from fritillary.record.terms import Fault, LinkBank, clip
from fritillary.referee.gate import BOT_FAILED
from fritillary.referee.player import PlayerFault
from fritillary.service.answers import SENTENCE


class LostLink:
    """Counts the time without a link, up to its end.

    Args:
        bank: how long a lost link is waited for, and all of them together.
        run_out: called with the fault that it is when they have passed.
        trouble: told in a sentence what the bot has said of its failure.

    Attributes:
        program: whether the bot is a program that the server has started.
        crash: the fault that it is if such a program has ended and is not back.
        failed: what the bot has said of its failure when it left; empty: it did not.
    """

    def __init__(
        self,
        bank: LinkBank,
        run_out: Callable[[PlayerFault], None],
        trouble: Callable[[str], None],
    ) -> None:
        self._back: asyncio.Future[None] | None = None
        self.program = False
        self.crash: PlayerFault | None = None
        self.failed = ""
        self._loop = asyncio.get_running_loop()
        self._bank = bank
        self._bank_ms = bank.total_ms
        self._run_out = run_out
        self._trouble = trouble
        self._since = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._paused = False

    def begin(self) -> None:
        """Let the time run, unless it does, or the match is paused."""
        if self._timer is not None or self._paused:
            return
        self._since = self._loop.time()
        wait_ms = min(self._bank.loss_ms, self._bank_ms)
        self._timer = self._loop.call_later(
            wait_ms / 1000, self._end, f"it was not back within {wait_ms / 1000:g} s"
        )

    def _end(self, how: str) -> None:
        self._run_out(self.fault(how))

    def fault(self, how: str) -> PlayerFault:
        """Return what the seat loses by whose bot is not back, and tell why it left.

        Args:
            how: it has turned out, for the end of a sentence.
        """
        if self.failed and self.program:
            # As a rule more is known soon, once the program has come to its end.
            self._trouble(self.failed)
        if self.crash is not None:
            return self.crash
        if not self.failed:
            return PlayerFault(Fault.DISCONNECTED, f"the link was lost, and {how}")
        kind = Fault.CRASHED if self.program else Fault.DISCONNECTED
        why = f"the bot said that it had failed, and {how}"
        return PlayerFault(kind, why, code=BOT_FAILED)

    def has_failed(self, why: str) -> None:
        """Hear that the bot leaves since it has failed.

        Args:
            why: in its own words.
        """
        self.failed = clip(why, SENTENCE) or "the bot said that it had failed"
        if not self.program:
            self._trouble(self.failed)

    def found(self) -> None:
        """Note that the link is back: what has passed is taken from the bank."""
        self.charge()
        self.crash = None
        self.failed = ""

    def charge(self) -> None:
        """Stop the time, and take what has passed from the bank."""
        if self._timer is not None:
            elapsed = (self._loop.time() - self._since) * 1000
            self._bank_ms = max(0, self._bank_ms - math.ceil(elapsed))
            self.stop()

    def stop(self) -> None:
        """Stop the time for good."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def pause(self, paused: bool, *, away: bool) -> None:
        """Note that the match stands still, or goes on.

        Args:
            paused: whether it stands still.
            away: whether the link is lost.
        """
        self._paused = paused
        if away:
            if paused:
                self.charge()
            else:
                self.begin()

    def await_back(self) -> None:
        """Note that the bot has yet to come back after a restart of the server."""
        self._back = self._loop.create_future()

    @property
    def awaited(self) -> bool:
        """Whether the match waits for it after a restart of the server."""
        return self._back is not None and not self._back.done()

    async def back(self) -> None:
        """Return when it has its seat again, or will not come back."""
        if self._back is not None:
            await asyncio.shield(self._back)

    def came_back(self) -> None:
        """Note that it need not be waited for any more."""
        if self._back is not None and not self._back.done():
            self._back.set_result(None)

    @property
    def left_ms(self) -> int:
        """What is left in the bank, in milliseconds."""
        if self._timer is None:
            return self._bank_ms
        elapsed = (self._loop.time() - self._since) * 1000
        return max(0, self._bank_ms - math.ceil(elapsed))

    @property
    def waiting_left_ms(self) -> int:
        """How long this loss is waited for at most, in milliseconds."""
        if self._timer is None:
            return self.left_ms
        return max(0, math.ceil((self._timer.when() - self._loop.time()) * 1000))
