"""A command on a terminal of its own: what it writes, and what that looks like."""

from __future__ import annotations

import codecs
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from typing import Any

from tests.cli.glass import Glass

#: An escape sequence of which the end has not been read.
_CUT = re.compile(r"\x1b(\[[0-9;?]*)?\Z")

#: So long something may take to be shown, in seconds.
_PATIENCE_S = 60


class Terminal:
    """A command in a process of its own, on a terminal.

    Args:
        words: of the command.
        width: in columns.
        height: in rows.

    Attributes:
        process: of the command.
        raw: all that it has written.
        glass: what is seen.
    """

    def __init__(self, *words: Any, width: int = 80, height: int = 24) -> None:
        self.raw = ""
        self.glass = Glass(width, height)
        self._fd, theirs = pty.openpty()
        self._set_size(width, height)
        environment = {
            name: value
            for name, value in os.environ.items()
            # They would stand for the size of the terminal.
            if name not in {"COLUMNS", "LINES"}
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "fritillary", *map(str, words)],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**environment, "TERM": "xterm"},
        )
        os.close(theirs)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._unseen = ""

    def resize(self, width: int, height: int) -> None:
        """Take another size, and tell the command as terminals do."""
        self.see()
        self.glass.resize(width, height)
        self._set_size(width, height)
        self.process.send_signal(signal.SIGWINCH)

    def _set_size(self, width: int, height: int) -> None:
        size = struct.pack("HHHH", height, width, 0, 0)
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, size)

    def until(self, text: str) -> None:
        """Read until something has been written."""
        self._until(lambda: text in self.raw)

    def until_seen(self, seen: Callable[[list[str]], bool]) -> list[str]:
        """Read until the rows of the terminal are as wanted; return them."""
        self._until(lambda: seen(self.glass.rows))
        return self.glass.rows

    def _until(self, holds: Callable[[], bool]) -> None:
        end = time.monotonic() + _PATIENCE_S
        while not holds():
            left = end - time.monotonic()
            assert left > 0, "\n".join(self.glass.rows)
            if select.select([self._fd], [], [], left)[0]:
                assert self._read(), self.raw

    def see(self) -> None:
        """Show all that has been written by now."""
        while select.select([self._fd], [], [], 0)[0] and self._read():
            pass

    def end(self) -> int:
        """Read to the end; return the exit code."""
        while self._read():
            pass
        os.close(self._fd)
        return self.process.wait(_PATIENCE_S)

    def _read(self) -> bool:
        """Read a piece; say whether there was one."""
        try:
            piece = os.read(self._fd, 65_536)
        except OSError:
            return False
        text = self._decoder.decode(piece)
        self.raw += text
        text = self._unseen + text
        cut = _CUT.search(text)
        self._unseen = cut[0] if cut else ""
        self.glass.feed(text.removesuffix(self._unseen))
        return bool(piece)

    @property
    def text(self) -> str:
        """What was shown, without what moves the cursor."""
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", self.raw)
