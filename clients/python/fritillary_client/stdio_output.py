"""What a program writes: cut into lines and kept as its log, both within bounds."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Final

from attrs import frozen

from fritillary.core.lastwords import last_words
from fritillary_client.stdio_lines import MAX_ANSWER_BYTES

#: So much of a line of the log is kept, in bytes.
MAX_LOG_LINE_BYTES: Final = 4096

#: So much of the log of one seat is kept, in bytes.
MAX_LOG_BYTES: Final = 1024 * 1024

#: So many of the last lines are kept to see why a program has ended, each cut to so
#: many bytes: the stack of a Node or Go program is longer than its error.
_LAST_LINES: Final = 256
_LAST_BYTES: Final = 512

_BRACE: Final = ord("{")
_BOM: Final = b"\xef\xbb\xbf"


@frozen
class Line:
    """One line.

    Args:
        raw: its bytes, without the end.
        cut: whether it was longer.
    """

    raw: bytes
    cut: bool = False

    @property
    def is_protocol(self) -> bool:
        """Whether it is meant as an answer."""
        return self.raw[:1] == b"{"


class Lines:
    """Cuts a stream into lines and holds no more than one, up to its limit."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._skipping = False
        self._first = True

    def feed(self, chunk: bytes, *, skim: bool = False) -> Iterator[Line]:
        """Return the lines that end in a chunk, or that have grown too long in it.

        Args:
            chunk: what was read.
            skim: of lines in a row that are no answers return the last alone.
        """
        at = 0
        while at < len(chunk):
            if skim and not self._held and not self._skipping:
                at = _skimmed(chunk, at)
            end = chunk.find(b"\n", at)
            stop = len(chunk) if end < 0 else end
            if not self._skipping:
                yield from self._add(chunk[at:stop])
            if end < 0:
                return
            if not self._skipping:
                yield self._take()
            self._skipping = False
            at = end + 1

    def finish(self) -> Iterator[Line]:
        """Return the last line, if the stream ended without ending it."""
        if self._held:
            yield self._take()

    @property
    def unfinished(self) -> int:
        """Bytes of an answer whose line has not been ended; 0 if there is none."""
        return len(self._held) if self._held[:1] == b"{" else 0

    def _add(self, part: bytes) -> Iterator[Line]:
        if self._first and len(self._held) + len(part) >= len(_BOM):
            # Some systems begin every stream with a mark of its encoding.
            self._first = False
            part = bytes(self._held + part).removeprefix(_BOM)
            self._held.clear()
        head = self._held or part
        answers = bool(head) and head[0] == _BRACE
        most = MAX_ANSWER_BYTES if answers else MAX_LOG_LINE_BYTES
        self._held += part[: most + 1 - len(self._held)]
        if len(self._held) > most:
            self._skipping = True
            yield Line(self._take().raw[:most], cut=True)

    def _take(self) -> Line:
        raw = bytes(self._held)
        self._held.clear()
        self._first = False
        return Line(raw.removesuffix(b"\r"))


def _skimmed(chunk: bytes, at: int) -> int:
    """Return where the last line begins before the next answer or the end."""
    if chunk[at] == _BRACE:
        return at
    answer = chunk.find(b"\n{", at)
    end = len(chunk) - 1 if answer < 0 else answer
    return max(at, chunk.rfind(b"\n", at, end) + 1)


class Log:
    """Keeps what a program says besides its answers.

    Args:
        write: takes one line, fit to be shown, without its end.
        most: bytes that are kept; what follows is dropped, which is said once.
    """

    def __init__(
        self, write: Callable[[str], None], *, most: int = MAX_LOG_BYTES
    ) -> None:
        self._write = write
        self._left = most
        self._last: deque[bytes] = deque(maxlen=_LAST_LINES)

    @property
    def full(self) -> bool:
        """Whether what follows is dropped."""
        return self._left < 0

    @property
    def last(self) -> str:
        """The line that says why the program has ended, also where it was dropped."""
        text = b"\n".join(self._last).decode("utf-8", "replace")
        return _fit(last_words(text).encode())

    def add(self, line: Line) -> None:
        """Take a line of the program."""
        raw = line.raw[:MAX_LOG_LINE_BYTES]
        self._last.append(raw[:_LAST_BYTES])
        if self._left < 0:
            return
        self._left -= len(raw) + 1
        if self._left < 0:
            text = "the log is full; what follows is dropped"
        elif line.cut or len(raw) < len(line.raw):
            text = f"{_fit(raw)}..."
        else:
            text = _fit(raw)
        try:
            self._write(text)
        except (OSError, ValueError):
            # A full disk or a closed terminal is no reason to lose the match.
            self._left = -1


def _fit(raw: bytes) -> str:
    """Return a line as it may be shown on a terminal."""
    return "".join(
        char if char.isprintable() or char == "\t" else "\N{REPLACEMENT CHARACTER}"
        for char in raw.decode("utf-8", "replace")
    )
