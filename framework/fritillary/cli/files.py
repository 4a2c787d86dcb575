"""Files that are named on the command line."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from fritillary.core.errors import RecordError
from fritillary.record.reader import Record, read_file, read_record


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """Let errors of a record begin with its file, once.

    Raises:
        RecordError: what was raised, with the file.
    """
    try:
        yield
    except RecordError as error:
        head = f"{path}: "
        if error.message.startswith(head):
            raise
        raise RecordError(f"{head}{error.message}", code=error.code) from error


def record_of(path: Path) -> Record:
    """Return the finished record in a file.

    Raises:
        RecordError: naming the file.
    """
    with naming(path):
        return read_record(read_file(path))
