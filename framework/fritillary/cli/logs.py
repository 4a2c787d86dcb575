"""What is logged, as remarks of the command."""

from __future__ import annotations

import contextlib
import datetime as dt
import logging
import traceback
from collections.abc import Iterator
from typing import Final

from fritillary.cli.output import print_note
from fritillary.core import text
from fritillary.core.errors import FritillaryError

#: Who logs; the client for bots shows what it logs by itself.
_LOGGERS: Final = ("fritillary", "asyncio", "grpc")

#: Its lines are kept and looked up later, so they say when.
_DATED: Final = "fritillary.audit"


class _Remarks(logging.Handler):
    """Prints a line for each record, and tracebacks if they are wanted."""

    def __init__(self, *, debug: bool) -> None:
        super().__init__()
        self._debug = debug

    def emit(self, record: logging.LogRecord) -> None:
        """Print a record."""
        line = record.getMessage()
        if record.name == _DATED:
            made = dt.datetime.fromtimestamp(record.created, dt.UTC)
            line = f"{made:%Y-%m-%dT%H:%M:%SZ} {line}"
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            line = f"{line}: {said(error)}"
        print_note(line)
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
