"""What playing a record again may take: nobody knows what a stranger's leads to.

A search of it goes where nobody has played, and takes memory as well. Its time is what
was asked for, and Ctrl-C ends it with an answer.

A record names the options of its match, and some games have options for which the list
of all actions fills the memory. Its rules run in this process, so this process is
bounded as long as they do.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from typing import Annotated, Any, Final, NoReturn

import typer
from attrs import evolve, frozen

from fritillary.core.errors import FritillaryError, RecordError, UsageError
from fritillary.core.memory import lacks_memory, limit_memory
from fritillary.record.terms import parse_duration

#: What lifts a limit.
_NONE: Final = "none"

#: Asks again so much later, in seconds, where a game has caught what was raised.
_AGAIN_S: Final = 1.0

MaxTime = Annotated[
    str,
    typer.Option(
        "--max-time",
        metavar="TIME",
        help="Of the processor, to play a record again, such as 10min; 'none' for any.",
    ),
]
MaxMemory = Annotated[
    str,
    typer.Option(
        "--max-memory",
        metavar="GIB",
        help="Of this process, in GiB, to play a record again; 'none' for any.",
    ),
]

#: Default of `MaxTime`. A long match takes less than a second.
TIME: Final = "60s"

#: Default of `MaxMemory`; as much as a server lets the rules of a new match have.
MEMORY: Final = "1"


class _LateError(KeyboardInterrupt):
    """Time is up. Whatever lets Ctrl-C through lets it through."""


@frozen
class Budget:
    """What playing one record again may take; ``None`` for any amount.

    Args:
        max_ms: of the processor, in milliseconds, above 0.
        max_bytes: of data of this process, above 0.
    """

    max_ms: int | None
    max_bytes: int | None

    @classmethod
    def parse(cls, time: str = TIME, memory: str = MEMORY) -> Budget:
        """Return the budget of the words of `MaxTime` and `MaxMemory`.

        Raises:
            UsageError: if they are none.
        """
        return cls(_milliseconds(time), _bytes(memory))

    @property
    def of_memory(self) -> Budget:
        """The same for what has a time of its own: a search that a person asked for."""
        return evolve(self, max_ms=None)

    @contextlib.contextmanager
    def spent_by(
        self, command: str = "", doing: str = "playing it again"
    ) -> Iterator[None]:
        """Bound what is done in a ``with`` block.

        Time is bounded in the main thread only, and both where the system can.

        Args:
            command: that has the options which allow more, if not this one.
            doing: what is done, as people are told.

        Raises:
            RecordError: ``record.limit`` if it takes more.
        """
        try:
            with _bounded_memory(self.max_bytes), _bounded_time(self.max_ms):
                yield
        except _LateError:
            took, option = f"longer than {(self.max_ms or 0) / 1000:g} s", "--max-time"
        except (MemoryError, FritillaryError) as error:
            if not lacks_memory(error):
                raise
            took, option = "more memory than it may", "--max-memory"
        else:
            return
        # Not before what has filled the memory is let go.
        where = f"'fritillary {command}' with " if command else ""
        msg = f"{doing} takes {took}; {where}{option} allows more"
        raise RecordError(msg, code="record.limit")


def _milliseconds(text: str) -> int | None:
    if text.strip() == _NONE:
        return None
    value = parse_duration(text)
    if not value:
        msg = f"--max-time {text[:40]!r} leaves no time; 'none' is for any time"
        raise UsageError(msg, code="usage.limit")
    return value


def _bytes(text: str) -> int | None:
    if text.strip() == _NONE:
        return None
    try:
        value = float(text)
    except ValueError:
        value = 0
    # Not more than a system can count, nor less than the program itself takes.
    if not 0.1 <= value <= 1024**2:
        msg = (
            f"--max-memory {text[:40]!r} is no number of GiB from 0.1; write 2, or 0.5"
        )
        raise UsageError(msg, code="usage.limit")
    return int(value * 1024**3)


@contextlib.contextmanager
def _bounded_memory(size: int | None) -> Iterator[None]:
    if size is None:
        yield
        return
    before = limit_memory(size)
    try:
        yield
    finally:
        limit_memory(before)


@contextlib.contextmanager
def _bounded_time(max_ms: int | None) -> Iterator[None]:
    main = threading.current_thread() is threading.main_thread()
    if max_ms is None or not main or not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGPROF, _late)
    told = sys.unraisablehook

    def tell(about: Any) -> None:
        # In a callback of the collector it is lost, and comes again.
        if about.exc_type is not _LateError:
            told(about)

    sys.unraisablehook = tell
    # Time of the processor: on a busy machine, or where a person reads, it is no less.
    signal.setitimer(signal.ITIMER_PROF, max_ms / 1000, _AGAIN_S)
    try:
        yield
    finally:
        # Time may be up just here; it is so once.
        try:
            signal.setitimer(signal.ITIMER_PROF, 0)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, signal.SIG_DFL if before is None else before)
            sys.unraisablehook = told


def _late(*_: object) -> NoReturn:
    raise _LateError
