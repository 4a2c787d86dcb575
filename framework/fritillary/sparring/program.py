"""The program of the bot: how it is started, told to end, and what became of it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import Final

from fritillary.core.errors import UsageError
from fritillary.referee.lineup import PlayerSpec
from fritillary.service.launcher import descendants
from fritillary.service.spawn import Child, ProcessLimits, minimal_environment

#: Players that are not programs by themselves.
_OURS: Final = frozenset({"local", "python", "stdio"})


def command_of(spec: PlayerSpec) -> tuple[str, ...] | None:
    """Return the words that start a player; ``None`` if it dials in by itself.

    Raises:
        UsageError: if it is nobody who could be checked.
    """
    if spec.kind == "exec":
        return spec.command
    if spec.kind in _OURS:
        return (sys.executable, "-m", "fritillary", "bot", spec.text)
    if spec.kind == "remote":
        return None
    msg = f"player {spec.text[:80]!r} cannot be checked; name a bot"
    raise UsageError(msg, code="usage.player")


class Program(Child):
    """A program that has been started.

    Attributes:
        ended: its exit code, once it has ended.
    """

    def __init__(self, argv: Sequence[str], variables: Mapping[str, str]) -> None:
        super().__init__(argv, minimal_environment(variables), ProcessLimits())
        self.ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiting: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start the program.

        Raises:
            ServiceError: ``player.not-found`` if there is no such program.
        """
        await super().start()
        self._waiting = asyncio.ensure_future(self._wait())

    async def _wait(self) -> None:
        code = await self.wait()
        if not self.ended.done():
            self.ended.set_result(code)

    async def end(self, patience_s: float = 0.0) -> None:
        """End the program and all that it has started."""
        try:
            await super().end(patience_s)
        finally:
            if self._waiting is not None:
                self._waiting.cancel()
                await asyncio.gather(self._waiting, return_exceptions=True)

    def ask_to_end(self) -> None:
        """Send SIGTERM to the program itself, and to nothing that it has started."""
        process = self._process
        if process is None or process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(_main_of(process.pid), signal.SIGTERM)

    def how(self) -> str:
        """Say how the program ended, with its last words."""
        how = self.how_it_ended(self.ended.result())
        last = self.last_words()
        return f"{how}; its last words: {last}" if last else how


def _main_of(pid: int) -> int:
    """Return the program that a launcher supervises; elsewhere it is the launcher."""
    if sys.platform != "linux":
        return pid
    # The program leads a session of its own; what it has started stays in it.
    for one in descendants(pid):
        with contextlib.suppress(OSError):
            if os.getsid(one) == one:
                return one
    return pid
