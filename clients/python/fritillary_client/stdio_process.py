"""One process of a program: written to, listened to, ended."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Mapping
from typing import Final, cast

from attrs import frozen

from fritillary_client.errors import BotError
from fritillary_client.reading import shown
from fritillary_client.stdio_output import Line, Lines, Log
from fritillary_client.stdio_strays import Strays

#: After its input was closed, a program has so long to end, in seconds; then so long
#: after SIGTERM; then it is killed.
PATIENCE_S: Final = 2.0
TERM_S: Final = 1.0

#: One that has failed gets SIGTERM at once, and is killed after so long, in seconds:
#: who waits for its end learns only then why it has failed.
FAILED_TERM_S: Final = 0.5

#: So many bytes may wait for a program that does not read.
MAX_UNREAD_BYTES: Final = 16 * 1024 * 1024

#: So long after the end of a program its last words are waited for, in seconds.
_LAST_WORDS_S: Final = 0.5

_OUT: Final = 1
_ERR: Final = 2


@frozen
class Command:
    """What is started.

    Args:
        words: program and arguments.
        environment: all that it inherits; ``None``: that of this process.
    """

    words: tuple[str, ...]
    environment: Mapping[str, str] | None = None


class Process(asyncio.SubprocessProtocol):
    """One process. It is ended by `end`, or when the event loop cancels its tasks.

    It leads a session of its own, so that Ctrl-C is not for it and that what it has
    started is ended with it; on Linux also what has left that session, see `Strays`.

    Args:
        command: what is started.
        log: for all that it writes but answers.
        heard: is given each answer.
        gone: is told how it has ended, and its last words, in one line each, once no
            answer can come any more.

    Attributes:
        failed: whether it has failed, and is ended soon unless its match goes on.
    """

    def __init__(
        self,
        command: Command,
        log: Log,
        heard: Callable[[Line], None],
        gone: Callable[[str, str], None],
    ) -> None:
        self.failed = False
        self._command = command
        self._strays = Strays(command.environment)
        self._log = log
        self._heard = heard
        self._gone = gone
        self._lines = {_OUT: Lines(), _ERR: Lines()}
        self._open = {_OUT, _ERR}
        self._told = False
        self._swept = False
        self._over = asyncio.Event()
        self._exited = asyncio.Event()
        self._drained = asyncio.Event()
        self._transport: asyncio.SubprocessTransport
        self._keeper: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start it.

        Raises:
            BotError: ``bot.not-started``.
        """
        program = self._command.words[0]
        try:
            await asyncio.get_running_loop().subprocess_exec(
                lambda: self,
                *self._command.words,
                env=self._strays.environment,
                start_new_session=os.name == "posix",
            )
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            msg = shown(f"{program!r} cannot be started: {why}")
            how = "the program cannot be started"
            raise BotError(msg, code="bot.not-started", how=how) from None
        self._keeper = asyncio.ensure_future(self._keep())

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._transport.get_pid()

    @property
    def unfinished(self) -> int:
        """Bytes of an answer whose line has not been ended; 0 if there is none."""
        return self._lines[_OUT].unfinished

    def write(self, line: bytes) -> None:
        """Write a line without waiting; one to a program that has ended is dropped.

        Raises:
            BotError: ``bot.deaf`` if too much waits to be read.
        """
        pipe = self._input()
        if pipe is None or pipe.is_closing():
            return
        waiting = pipe.get_write_buffer_size()
        if waiting > MAX_UNREAD_BYTES:
            msg = f"the program does not read: {waiting} bytes wait for it"
            raise BotError(msg, code="bot.deaf", how=msg)
        pipe.write(line)

    def close(self) -> None:
        """Begin to end it because it has failed."""
        self.failed = True
        self._over.set()

    async def end(self) -> None:
        """End it: close its input, then SIGTERM, then SIGKILL."""
        if not self._over.is_set():
            self.failed = False
            self._over.set()
        if self._keeper is not None:
            await asyncio.shield(self._keeper)

    # ------------------------------------------------------- what the loop tells

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take note that it runs."""
        self._transport = cast("asyncio.SubprocessTransport", transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Take what it wrote."""
        for line in self._lines[fd].feed(data, skim=self._log.full):
            self._take(fd, line)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """Take what it wrote last."""
        if fd in self._open:
            self._open.discard(fd)
            for line in self._lines[fd].finish():
                self._take(fd, line)
            self._look()

    def process_exited(self) -> None:
        """End what it has left behind."""
        self._exited.set()
        self._sweep()
        self._look()

    def _take(self, fd: int, line: Line) -> None:
        if fd == _OUT and line.is_protocol:
            self._heard(line)
        else:
            self._log.add(line)

    def _look(self) -> None:
        """Tell when no answer can come any more: it has ended, or closed its output."""
        if self._exited.is_set() and not self._open:
            self._drained.set()
            self._tell()
        elif self._exited.is_set() or _OUT not in self._open:
            # The rest follows at once as a rule; not if somebody else holds a pipe.
            asyncio.get_running_loop().call_later(_LAST_WORDS_S, self._tell)

    def _tell(self) -> None:
        if not self._told:
            self._told = True
            code = self._transport.get_returncode()
            self._gone(_how_it_ended(code), self._log.last)

    # ------------------------------------------------------------------- its end

    async def _keep(self) -> None:
        try:
            await self._over.wait()
        finally:
            await self._end()

    async def _end(self) -> None:
        patience, term = (0.0, FAILED_TERM_S) if self.failed else (PATIENCE_S, TERM_S)
        pipe = self._input()
        try:
            if pipe is not None:
                pipe.close()
            if not await _within(patience, self._exited):
                self._signal(signal.SIGTERM)
                await _within(term, self._exited)
        finally:
            # Also if the loop is stopped meanwhile: it must not end before the pipes.
            self._sweep()
            await self._exited.wait()
            try:
                # What has left the session may hold the pipes; we do not.
                await _within(_LAST_WORDS_S, self._drained)
            finally:
                self._transport.close()

    def _input(self) -> asyncio.WriteTransport | None:
        return cast(
            "asyncio.WriteTransport | None", self._transport.get_pipe_transport(0)
        )

    def _sweep(self) -> None:
        """Kill it and all that it has left behind; once, for its id may be reused."""
        if not self._swept:
            self._swept = True
            self._signal(getattr(signal, "SIGKILL", signal.SIGTERM))
            self._strays.kill()

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.name == "posix":
                os.killpg(self.pid, number)
            elif not self._exited.is_set():
                self._transport.send_signal(number)


async def _within(seconds: float, event: asyncio.Event) -> bool:
    """Wait for an event; return whether it came."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True


def _how_it_ended(code: int | None) -> str:
    """Say why a program cannot answer.

    Args:
        code: its exit code; negative: minus the signal; ``None``: it still runs.
    """
    if code is None:
        return "closed its output"
    if code >= 0:
        return f"ended with exit code {code}"
    with contextlib.suppress(ValueError):
        return f"was ended by {signal.Signals(-code).name}"
    return f"was ended by signal {-code}"
