"""Files that are named on the command line."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from fritillary.core.errors import RecordError, UsageError
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


def spare(path: Path, record: Path) -> None:
    """See that what is made from a record is not written over the record.

    Args:
        path: where it is to be written.
        record: the record.

    Raises:
        UsageError: ``usage.record``, if they are the same file.
    """
    if path.exists() and record.exists() and path.samefile(record):
        msg = f"{path}: that is the record itself; name another file"
        raise UsageError(msg, code="usage.record")


def record_of(path: Path) -> Record:
    """Return the finished record in a file.

    Raises:
        RecordError: naming the file.
    """
    with naming(path):
        return read_record(read_file(path))
