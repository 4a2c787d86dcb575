# ruff: noqa: ANN401, TID251 - looks at whatever is called, generators and clocks too
"""Watching a thread: what it draws, which clocks it looks at, what it reads.

Python functions and functions in C are seen as they are called, whatever name they
were imported by; files and sockets by audit events as well, so that compiled code
is seen too. Clocks and generators that compiled code calls are not seen, except
for what changes the state of the global generator. Imports are left in peace.
"""

from __future__ import annotations

import builtins
import datetime as dt
import os
import random
import sys
import threading
from pathlib import Path
from types import CodeType, FrameType, FunctionType, TracebackType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from typing import Self

RANDOM: Final = "random"
CLOCK: Final = "clock"
IO: Final = "io"

_CLOCKS: Final = frozenset(
    {
        *("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter"),
        *("perf_counter_ns", "process_time", "process_time_ns", "thread_time"),
        *("thread_time_ns", "localtime", "gmtime", "ctime", "asctime", "sleep"),
        *("clock_gettime", "clock_gettime_ns"),
    }
)
_NOW: Final = frozenset({"now", "utcnow", "today"})
_TERMINAL: Final = (builtins.print, builtins.input)
_CHANCE: Final = frozenset({"urandom", "getrandom"})
_GLOBAL: Final[Any] = getattr(random, "_inst")  # noqa: B009 - the generator itself

#: Modules in C whose functions reach outside, and the harmless ones among them.
_OUTSIDE: Final = frozenset({"posix", "nt", "_socket", "_ssl", "select", "_io"})
_HARMLESS: Final = frozenset({"fspath", "_path_normpath", "text_encoding"})

_EVENTS: Final = ("os.", "socket.", "subprocess.", "shutil.", "tempfile.", "urllib.")


def _codes(cls: type) -> set[CodeType]:
    return {f.__code__ for f in vars(cls).values() if isinstance(f, FunctionType)}


_RANDOM_CODES: Final = frozenset(_codes(random.Random) | _codes(random.SystemRandom))
_INIT: Final = random.Random.__init__.__code__
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

    def __enter__(self) -> Self:
        if not _hooked:
            # For good: an audit hook cannot be taken away; it sleeps in between.
            _hooked.append(True)
            sys.addaudithook(_audit)
        self._state = random.getstate()
        self._before = sys.getprofile()
        _active[threading.get_ident()] = self
        sys.setprofile(self._profile)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        sys.setprofile(self._before)
        del _active[threading.get_ident()]
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
            code = frame.f_code
            if code in _RANDOM_CODES:
                mine = frame.f_locals
                owner = mine.get("self")
                if owner is _GLOBAL or isinstance(owner, random.SystemRandom):
                    self.note(RANDOM, f"random.{code.co_name}()", frame.f_back)
                elif code is _INIT and mine.get("x") is None:
                    what = "a random.Random() without a seed"
                    self.note(RANDOM, what, frame.f_back)
            elif code in _ENVIRONMENT:
                self.note(IO, f"the environment ({code.co_name})", frame.f_back)

    def _native(self, frame: FrameType, function: Any) -> None:
        owner = getattr(function, "__self__", None)
        name = getattr(function, "__name__", "")
        module = getattr(function, "__module__", None)
        if owner is _GLOBAL or name in _CHANCE:
            self.note(RANDOM, f"{name}()", frame)
        elif module == "time" and name in _CLOCKS:
            self.note(CLOCK, f"time.{name}()", frame)
        elif name in _NOW and isinstance(owner, type):
            if issubclass(owner, dt.date):
                self.note(CLOCK, f"{owner.__name__}.{name}()", frame)
        elif (module in _OUTSIDE and name not in _HARMLESS) or function in _TERMINAL:
            self.note(IO, f"{name}()", frame)


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    watch = _active.get(threading.get_ident())
    if watch is None or not (event == "open" or event.startswith(_EVENTS)):
        return
    shown = f"{event} {arguments[0]!r}" if arguments else event
    # The caller of whatever raised the event.
    watch.note(IO, shown, sys._getframe(1))  # noqa: SLF001 - there is no other


def _place(frame: FrameType | None) -> str:
    while frame is not None:
        name = frame.f_code.co_filename
        inside = name.startswith((_LIBRARY, "<")) and "site-packages" not in name
        if not inside:
            return f" in {frame.f_code.co_name}(), {Path(name).name}:{frame.f_lineno}"
        frame = frame.f_back
    return ""
