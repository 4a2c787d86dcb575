"""Programs that play: started, limited, listened to and ended by us.

`exec:` is for code that its user trusts: it runs as the same user, without inherited
secrets and within limits. It is no sandbox.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from attrs import field, frozen, validators

from fritillary.core.errors import ServiceError
from fritillary.core.lastwords import last_words
from fritillary.record.terms import clip
from fritillary.service.launcher import descendants

#: What a program inherits; everything else stays here.
_INHERITED: Final = (
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TMPDIR",
    "TZ",
    "VIRTUAL_ENV",
    # Where Python finds modules. It is no secret, and `python:` needs it.
    "PYTHONPATH",
    # Without these nothing starts on Windows.
    "SYSTEMROOT",
    "COMSPEC",
    "PATHEXT",
    "TEMP",
    "TMP",
    "USERPROFILE",
)

_LAUNCHER: Final = str(Path(__file__).with_name("launcher.py"))

#: Whether the launcher stays, and takes all that the program has started along.
_SUPERVISED: Final = sys.platform == "linux"

#: Time that the launcher has to kill all; then we do what we can ourselves.
_END_S: Final = 5.0

_HEAD_BYTES: Final = 16 * 1024
_TAIL_BYTES: Final = 48 * 1024
_LINE: Final = 300

_AT_LEAST_1: Final = [validators.instance_of(int), validators.ge(1)]


@frozen(kw_only=True)
class ProcessLimits:
    """Limits on a program, as far as the system has them.

    Args:
        memory_bytes: of data; address space that is merely reserved does not count.
        processes: of the user as a whole, which is how systems count them.
        files: open at a time.
    """

    memory_bytes: int = field(default=4 * 1024**3, validator=_AT_LEAST_1)
    processes: int = field(default=8192, validator=_AT_LEAST_1)
    files: int = field(default=1024, validator=_AT_LEAST_1)

    def text(self) -> str:
        """Return the limits as the launcher reads them."""
        return (
            f"DATA={self.memory_bytes},NPROC={self.processes},NOFILE={self.files},"
            "CORE=0"
        )


class Output:
    """Keeps the beginning and the end of what a program writes."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._left_out = 0

    def add(self, chunk: bytes) -> None:
        """Take what was written."""
        room = _HEAD_BYTES - len(self._head)
        if room > 0:
            self._head += chunk[:room]
            chunk = chunk[room:]
        if chunk:
            self._tail.append(chunk)
            self._tail_size += len(chunk)
        while self._tail_size > _TAIL_BYTES and len(self._tail) > 1:
            gone = len(self._tail.popleft())
            self._tail_size -= gone
            self._left_out += gone

    def getvalue(self) -> bytes:
        """Return what was kept."""
        gap = (
            f"\n[{self._left_out} bytes left out]\n".encode() if self._left_out else b""
        )
        return bytes(self._head) + gap + b"".join(self._tail)

    def last_words(self) -> str:
        """Return the line that says why the program has ended, fit to be shown."""
        text = self.getvalue().decode("utf-8", "replace")
        return clip(last_words(text), _LINE)


def minimal_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a program: nothing that could be a secret."""
    environment = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    # So that the last words of a Python program are not lost in a buffer.
    environment["PYTHONUNBUFFERED"] = "1"
    return {**environment, **extra}


class Child:
    """One program.

    Args:
        argv: its words.
        environment: all that it inherits.
        limits: on it.

    Attributes:
        out: what it wrote to standard output.
        err: what it wrote to standard error.
    """

    def __init__(
        self,
        argv: Sequence[str],
        environment: Mapping[str, str],
        limits: ProcessLimits,
    ) -> None:
        self._argv = tuple(argv)
        self._environment = dict(environment)
        self._limits = limits
        self._process: asyncio.subprocess.Process | None = None
        self._readers: list[asyncio.Task[None]] = []
        self.out = Output()
        self.err = Output()

    async def start(self) -> None:
        """Start the program.

        Raises:
            ServiceError: ``player.not-found`` if there is no such program. Its message
                quotes the command and is for the host and for referees.
        """
        program = self._argv[0]
        found = shutil.which(program, path=self._environment.get("PATH"))
        if found is None:
            kind = "file" if os.sep in program else "command"
            msg = f"there is no executable {kind} {clip(program, 200)!r}"
            raise ServiceError(msg, code="player.not-found")
        argv = [found, *self._argv[1:]]
        if os.name == "posix":
            head = [sys.executable, "-I", "-S", _LAUNCHER]
            argv = [*head, str(os.getpid()), self._limits.text(), *argv]
        try:
            self._process = await asyncio.create_subprocess_exec(
                *argv,
                # A pipe that we hold: who reads it sees its end when we are gone.
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=self._environment,
                start_new_session=os.name == "posix",
            )
        except OSError as error:
            msg = f"cannot start {clip(program, 200)!r}: {error.strerror}"
            raise ServiceError(msg, code="player.not-found") from error
        for stream, output in (
            (self._process.stdout, self.out),
            (self._process.stderr, self.err),
        ):
            if stream is not None:
                self._readers.append(asyncio.create_task(_listen(stream, output)))

    async def wait(self) -> int:
        """Wait until the program has ended; return its exit code.

        Negative: the number of the signal that ended it.
        """
        if self._process is None:
            return 127
        code = await self._process.wait()
        # Its last words may still be in the pipe; a grandchild may hold it open.
        await asyncio.wait(self._readers, timeout=0.5)
        return code

    def how_it_ended(self, code: int, when: str = "") -> str:
        """Say how the program ended, and nothing of what it wrote.

        Args:
            code: its exit code.
            when: added to the sentence.
        """
        how = f"ended with exit code {code}"
        if code < 0:
            with contextlib.suppress(ValueError):
                how = f"was ended by {signal.Signals(-code).name}"
        return f"the program {how}{when}"

    def last_words(self) -> str:
        """Return the line in which the program says why it has ended.

        It is for the host and for referees: it may hold anything.
        """
        return self.err.last_words() or self.out.last_words()

    async def end(self, patience_s: float = 0.0) -> int | None:
        """End the program and all that it has started.

        On Linux that is all of it, in whichever session; elsewhere what is still in
        the program's process group.

        Args:
            patience_s: wait so long for it to end by itself.

        Returns:
            Its exit code; ``None`` if it did not end by itself.
        """
        process = self._process
        if process is None:
            return None
        if patience_s > 0 and await _ended_within(process, patience_s):
            await self.wait()
        code = process.returncode
        self.kill()
        if not await _ended_within(process, _END_S):
            self._kill_hard(process.pid)
            await process.wait()
        for reader in self._readers:
            reader.cancel()
        await asyncio.gather(*self._readers, return_exceptions=True)
        # A grandchild may hold the pipes open; we do not.
        transport = getattr(process, "_transport", None)
        if transport is not None:
            transport.close()
        return code

    def kill(self) -> None:
        """Kill the program and all that it has started, as far as `end` says.

        On Linux this asks the launcher to do so, which it does even if we die.
        """
        process = self._process
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if _SUPERVISED:
                if process.returncode is None:
                    os.kill(process.pid, signal.SIGTERM)
                    # Should somebody have stopped it.
                    os.kill(process.pid, signal.SIGCONT)
            elif os.name == "posix":
                # It leads a session of its own, and its group outlives it.
                os.killpg(process.pid, signal.SIGKILL)
            elif process.returncode is None:
                process.kill()

    @staticmethod
    def _kill_hard(pid: int) -> None:
        """Kill a launcher that does not end, after all that hangs on it."""
        for one in [*(descendants(pid) if _SUPERVISED else ()), pid]:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(one, signal.SIGKILL)


async def _ended_within(process: asyncio.subprocess.Process, seconds: float) -> bool:
    """Wait for the end of a process; return whether it came."""
    try:
        async with asyncio.timeout(seconds):
            await process.wait()
    except TimeoutError:
        return False
    return True


async def _listen(stream: asyncio.StreamReader, output: Output) -> None:
    while chunk := await stream.read(65536):
        output.add(chunk)
