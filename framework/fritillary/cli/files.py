"""Files that are named on the command line."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from fritillary.core.errors import RecordError, StorageError, UsageError
from fritillary.record.chain import MAGIC
from fritillary.record.reader import Record, read_file, read_record
from fritillary.record.whole import put


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


def check_place(path: Path, code: str = "file") -> None:
    """See before the work is done that a file can be put somewhere.

    Args:
        path: of the file.
        code: of the error, behind ``usage.``.

    Raises:
        UsageError: if it is a folder, or in none.
    """
    why = ""
    if path.is_dir():
        why = "there is a folder of that name"
    elif not path.absolute().parent.is_dir():
        why = "the folder does not exist"
    if why:
        raise UsageError(f"{path}: {why}", code=f"usage.{code}")


def check_output(path: Path) -> None:
    """See before the work is done that something other than a record can be written.

    Args:
        path: of the file; one that is there is replaced, unless it is a record.

    Raises:
        UsageError: if it cannot, or would replace a record.
    """
    check_place(path)
    if path.is_file() and _is_record(path):
        msg = f"{path}: that is a match record; name another file"
        raise UsageError(msg, code="usage.record")


def _is_record(path: Path) -> bool:
    """Say whether a file begins as a record does."""
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def spare(path: Path, record: Path) -> None:
    """See that what is made from a record can be written, and not over the record.

    Args:
        path: where it is to be written.
        record: the record.

    Raises:
        UsageError: if it cannot, or they are the same file.
    """
    if path.exists() and record.exists() and path.samefile(record):
        msg = f"{path}: that is the record itself; name another file"
        raise UsageError(msg, code="usage.record")
    check_output(path)


def write_text(path: Path, text: str) -> None:
    """Write text into a file, in UTF-8, all of it or nothing.

    Raises:
        StorageError: naming the file, if it cannot be written.
    """
    try:
        put(path, text.encode("utf-8", errors="replace"))
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror}", code="storage.file") from error


def record_of(path: Path) -> Record:
    """Return the finished record in a file.

    Raises:
        RecordError: naming the file.
    """
    with naming(path):
        return read_record(read_file(path))
