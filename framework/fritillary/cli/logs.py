"""What is logged, as remarks of the command."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import traceback
from collections.abc import Iterator
from typing import Final

from fritillary.cli.moments import stamp
from fritillary.cli.output import print_note
from fritillary.core import text
from fritillary.core.errors import FritillaryError
from fritillary.core.journal import JOURNAL

#: Who logs; the client for bots shows what it logs by itself.
_LOGGERS: Final = ("fritillary", "asyncio", "grpc")

#: Its lines are kept and looked up later, so they say when, whatever the command.
_DATED: Final = "fritillary.audit"

#: Longest line without its traceback, in characters: others choose what is in it.
_LINE: Final = 1_000


class _Remarks(logging.Handler):
    """Prints a line for each record, and tracebacks if they are wanted.

    Attributes:
        dated: whether each line begins with its time, UTC.
    """

    def __init__(self, *, debug: bool) -> None:
        super().__init__()
        self._debug = debug
        self.dated = False

    def emit(self, record: logging.LogRecord) -> None:
        """Print a record."""
        line = record.getMessage()
        if self.dated or record.name == _DATED:
            line = f"{stamp(record.created)} {line}"
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            line = f"{line}: {said(error)}"
        print_note(line if len(line) <= _LINE else f"{line[: _LINE - 3]}...")
        if error is not None and self._debug:
            for part in traceback.format_exception(error):
                for row in part.rstrip().split("\n"):
                    print_note(row)


def said(error: BaseException) -> str:
    """Return an error in one line."""
    if isinstance(error, FritillaryError):
        return error.message
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return text.told(error).removesuffix(": ")


@contextlib.contextmanager
def told(*, debug: bool) -> Iterator[None]:
    """Tell on stderr what is logged: warnings, with debug also information."""
    handler = _Remarks(debug=debug)
    ours = logging.getLogger("fritillary")
    level = ours.level
    if debug:
        ours.setLevel(logging.INFO)
    for name in _LOGGERS:
        logging.getLogger(name).addHandler(handler)
    try:
        yield
    finally:
        ours.setLevel(level)
        for name in _LOGGERS:
            logging.getLogger(name).removeHandler(handler)


def _telling() -> set[_Remarks]:
    """Return what tells on stderr what is logged."""
    return {
        handler
        for name in _LOGGERS
        for handler in logging.getLogger(name).handlers
        if isinstance(handler, _Remarks)
    }


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """Tell what is logged with its time, and the journal with it.

    For commands that serve: their lines are kept and looked up later.
    """
    journal = logging.getLogger(JOURNAL)
    level = journal.level
    journal.setLevel(logging.INFO)
    handlers = _telling()
    for handler in handlers:
        handler.dated = True
    try:
        yield
    finally:
        journal.setLevel(level)
        for handler in handlers:
            handler.dated = False


@contextlib.contextmanager
def metered() -> Iterator[None]:
    """Tell so many lines and no more of what is logged; in the running loop.

    For commands that serve: what others do must not fill the disk.
    """
    from fritillary.service.metering import LineMeter

    meter = LineMeter(asyncio.get_running_loop())
    handlers = _telling()
    for handler in handlers:
        handler.addFilter(meter)
    try:
        yield
    finally:
        meter.tell()
        for handler in handlers:
            handler.removeFilter(meter)


@contextlib.contextmanager
def without_errors(name: str) -> Iterator[None]:
    """Tell nothing that a logger says of an error, since it is raised as well."""

    def keeps(record: logging.LogRecord) -> bool:
        return not record.exc_info

    logger = logging.getLogger(name)
    logger.addFilter(keeps)
    try:
        yield
    finally:
        logger.removeFilter(keeps)
