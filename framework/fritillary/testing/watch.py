# ruff: noqa: ANN401, TID251 - looks at whatever is called, generators and clocks too
"""Watching a thread: what it draws, which clocks it looks at, what it reads and writes.

Python functions and functions in C are seen as they are called, whatever name they
were imported by; files, sockets and the like by audit events as well, so that compiled
code is seen too. Imports are left in peace. ``docs/certify.md`` says what is not seen.
"""

from __future__ import annotations

import datetime as dt
import functools
import gc
import io
import os
import random
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType, FunctionType, TracebackType
from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    from typing import Self

RANDOM: Final = "random"
CLOCK: Final = "clock"
IO: Final = "io"

_NOW: Final = frozenset({"now", "utcnow", "today"})
_CHANCE: Final = frozenset({"urandom", "getrandom"})
_GLOBAL: Final[Any] = getattr(random, "_inst")  # noqa: B009 - the generator itself

#: Functions that look at a clock or wait, by the module in C that they are in; in
#: ``time`` and ``_uuid`` all do, but for the one that tells what a clock is like.
_CLOCKS: Final = {
    ("posix", "times"),
    ("nt", "times"),
    ("resource", "getrusage"),
    ("_signal", "alarm"),
    ("_signal", "getitimer"),
    ("_signal", "setitimer"),
}
_ALL_CLOCKS: Final = frozenset({"time", "_uuid"})
_NO_CLOCK: Final = frozenset({"get_clock_info"})

#: Modules in C whose functions, and the methods of whose objects, reach outside.
_OUTSIDE: Final = frozenset(
    {
        *("posix", "nt", "_io", "_socket", "_ssl", "select", "mmap", "fcntl"),
        *("pwd", "grp", "termios", "resource", "syslog", "readline", "faulthandler"),
        *("_signal", "_locale", "_ctypes", "sqlite3", "_sqlite3", "_posixsubprocess"),
        *("_posixshmem", "_multiprocessing", "msvcrt", "winreg", "_winapi", "_curses"),
    }
)

#: Functions of other modules that do.
_REACHING: Final = frozenset(
    {
        *(("builtins", name) for name in ("print", "input", "breakpoint")),
        *(("sys", name) for name in ("displayhook", "excepthook", "breakpointhook")),
        # What another thread does is not seen.
        *(("_thread", name) for name in ("start_new_thread", "start_new")),
        ("_thread", "start_joinable_thread"),
    }
)

#: The harmless ones among the functions of `_OUTSIDE`, which deal with text alone.
_HARMLESS: Final = frozenset(
    {
        *("fspath", "_path_normpath", "_path_splitroot", "_path_splitroot_ex"),
        *("text_encoding", "strerror"),
    }
)

#: Events that tell of the same where compiled code does it, by their beginnings.
_EVENTS: Final = (
    *("os.", "socket.", "subprocess.", "shutil.", "tempfile.", "urllib.", "ctypes."),
    *("sqlite3.", "mmap.", "fcntl.", "syslog.", "pty.", "ftplib.", "http.", "smtplib."),
    *("webbrowser.", "builtins.input", "builtins.breakpoint", "_thread.start", "open"),
    *("signal.", "resource.", "msvcrt.", "winreg.", "_winapi."),
    # Who looks on would see nothing more.
    *("sys.setprofile", "sys.addaudithook"),
)
_WAITS: Final = "time.sleep"

_STREAMS: Final = ("stdin", "stdout", "stderr", "__stdin__", "__stdout__", "__stderr__")
_IN_MEMORY: Final = (io.StringIO, io.BytesIO)

#: What a stream that is no file is asked for, where a program has put its own.
_ASKED: Final = frozenset(
    {"write", "writelines", "flush", "read", "readline", "readlines", "__next__"}
)


def _codes(cls: type) -> set[CodeType]:
    return {f.__code__ for f in vars(cls).values() if isinstance(f, FunctionType)}


_RANDOM_CODES: Final = frozenset(_codes(random.Random) | _codes(random.SystemRandom))
_INIT: Final = random.Random.__init__.__code__
_SEED: Final = random.Random.seed.__code__
_WAIT: Final = threading.Condition.wait.__code__
_ENVIRONMENT: Final = frozenset(_codes(type(os.environ)) | {os.getenv.__code__})

_LIBRARY: Final = str(Path(os.__file__).parent)

_active: dict[int, Watch] = {}
_hooked: list[bool] = []


class Watch:
    """Notes what the thread does inside a ``with`` block.

    Attributes:
        found: pairs of kind (`RANDOM`, `CLOCK`, `IO`) and what was done where.
    """

    def __init__(self) -> None:
        self.found: list[tuple[str, str]] = []
        self._before: Any = None
        self._state: Any = None
        self._stdin: Any = None
        self._collects = False

    def __enter__(self) -> Self:
        if not _hooked:
            # For good: an audit hook cannot be taken away; it sleeps in between.
            _hooked.append(True)
            sys.addaudithook(_audit)
        # What others have left behind is not tidied up on account of the thread.
        self._collects = gc.isenabled()
        gc.disable()
        self._state = random.getstate()
        self._before = sys.getprofile()
        self._stdin, sys.stdin = sys.stdin, cast("Any", _Stdin(self, sys.stdin))
        # Whoever sets another one from here on is seen.
        sys.setprofile(self._profile)
        _active[threading.get_ident()] = self
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        del _active[threading.get_ident()]
        sys.setprofile(self._before)
        if isinstance(sys.stdin, _Stdin):
            sys.stdin = self._stdin
        if self._collects:
            gc.enable()
        if random.getstate() != self._state:
            self.found.append((RANDOM, "the global generator has been used"))

    def note(self, kind: str, what: str, frame: FrameType | None) -> None:
        """Note something, unless it belongs to an import."""
        where = frame
        while where is not None:
            if where.f_code.co_filename.startswith("<frozen importlib"):
                return
            where = where.f_back
        self.found.append((kind, f"{what}{_place(frame)}"))

    def _profile(self, frame: FrameType, event: str, argument: Any) -> None:
        if event == "c_call":
            self._native(frame, argument)
        elif event == "call":
            self._python(frame, frame.f_code)

    def _python(self, frame: FrameType, code: CodeType) -> None:
        caller = frame.f_back
        if code in _RANDOM_CODES:
            mine = frame.f_locals
            owner = mine.get("self")
            if owner is _GLOBAL or isinstance(owner, random.SystemRandom):
                self.note(RANDOM, f"random.{code.co_name}()", caller)
            elif code is _INIT and mine.get("x") is None:
                self.note(RANDOM, "a random.Random() without a seed", caller)
            elif code is _SEED and mine.get("a") is None:
                self.note(RANDOM, "a random.Random() that is seeded anew", caller)
        elif code in _ENVIRONMENT:
            self.note(IO, f"the environment ({code.co_name})", caller)
        elif code is _WAIT:
            self.note(CLOCK, "a wait for another thread", caller)
        elif code.co_name in _ASKED and code.co_argcount:
            owner = frame.f_locals.get(code.co_varnames[0])
            if _is_standard(owner):
                self.note(IO, f"{code.co_name}()", caller)

    def _native(self, frame: FrameType, function: Any) -> None:
        owner = getattr(function, "__self__", None)
        name = getattr(function, "__name__", "")
        module = getattr(function, "__module__", None)
        if owner is _GLOBAL or name in _CHANCE:
            self.note(RANDOM, f"{name}()", frame)
        elif (module in _ALL_CLOCKS and name not in _NO_CLOCK) or (
            (module, name) in _CLOCKS
        ):
            self.note(CLOCK, f"{str(module).lstrip('_')}.{name}()", frame)
        elif name in _NOW and isinstance(owner, type):
            if issubclass(owner, dt.date):
                self.note(CLOCK, f"{owner.__name__}.{name}()", frame)
        elif (module, name) in _REACHING or (
            name not in _HARMLESS and (module in _OUTSIDE or _reaches(owner))
        ):
            self.note(IO, f"{name}()", frame)


class _Stdin:
    """Stands for standard input: going through its lines is no call that is seen.

    Args:
        watch: notes whoever asks for anything.
        stream: the real one.
    """

    def __init__(self, watch: Watch, stream: Any) -> None:
        self._watch = watch
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        self._note(f"sys.stdin.{name}")
        return getattr(self._stream, name)

    def __iter__(self) -> Iterator[Any]:
        self._note("the lines of sys.stdin")
        return iter(self._stream)

    def __next__(self) -> Any:
        self._note("the lines of sys.stdin")
        return next(self._stream)

    def _note(self, what: str) -> None:
        if _active.get(threading.get_ident()) is self._watch:
            self._watch.note(IO, what, sys._getframe(2))  # noqa: SLF001


@functools.lru_cache(maxsize=1_000)
def _is_outside(cls: Any) -> bool:
    """Say whether objects of a class reach outside, or may."""
    return any(
        base.__module__ in _OUTSIDE and not issubclass(base, OSError)
        for base in cls.__mro__
    )


def _reaches(owner: Any) -> bool:
    """Say whether the methods of an object reach outside."""
    cls: Any = type(owner)
    if isinstance(owner, type) or not _is_outside(cls):
        return False
    if _is_standard(owner):
        return True
    try:
        # A layer of text over bytes in memory is no file.
        while not isinstance(owner, _IN_MEMORY):
            below = getattr(owner, "buffer", None) or getattr(owner, "raw", None)
            if below is None:
                return True
            owner = below
    except ValueError:
        # It was taken off what it stood on.
        return False
    return False


def _is_standard(stream: Any) -> bool:
    return stream is not None and any(
        stream is getattr(sys, name, None) for name in _STREAMS
    )


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    watch = _active.get(threading.get_ident())
    if watch is None or not event.startswith((*_EVENTS, _WAITS)):
        return
    shown = f"{event} {arguments[0]!r}" if arguments else event
    # The caller of whatever raised the event.
    kind = CLOCK if event == _WAITS else IO
    watch.note(kind, shown, sys._getframe(1))  # noqa: SLF001 - there is no other


def _place(frame: FrameType | None) -> str:
    while frame is not None:
        name = frame.f_code.co_filename
        inside = name.startswith((_LIBRARY, "<")) and "site-packages" not in name
        if not inside:
            return f" in {frame.f_code.co_name}(), {Path(name).name}:{frame.f_lineno}"
        frame = frame.f_back
    return ""
