"""The file for a record, taken before the match is played: nobody loses one by it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from attrs import frozen

from fritillary.cli.files import check_place
from fritillary.core.errors import StorageError, UsageError
from fritillary.record.regular import open_regular
from fritillary.record.writer import lock

#: As of any file that a command writes; a record that is whole holds no secrets.
_MODE: Final = 0o666


@frozen
class Claim:
    """A file of a name that nobody else had, still empty.

    Args:
        path: its name.
        descriptor: of the file, opened for writing and locked.
    """

    path: Path
    descriptor: int

    def put(self, raw: bytes) -> None:
        """Write the record, all of it or nothing.

        Raises:
            StorageError: if it cannot be written, or the name is another file's now.
        """
        if not self.stands():
            msg = f"{self.path}: it was removed or replaced while the match was played"
            raise StorageError(msg, code="storage.file")
        rest = memoryview(raw)
        try:
            while rest:
                rest = rest[os.write(self.descriptor, rest) :]
        except BaseException as error:
            os.ftruncate(self.descriptor, 0)
            if not isinstance(error, OSError):
                raise
            msg = f"{self.path}: {error.strerror}"
            raise StorageError(msg, code="storage.file") from error

    def stands(self) -> bool:
        """Say whether the name is still that of the file."""
        try:
            there = self.path.lstat()
        except OSError:
            return False
        return os.path.samestat(there, os.fstat(self.descriptor))


@contextlib.contextmanager
def claimed(path: Path | None) -> Iterator[Claim | None]:
    """Take a file for a record; one into which nothing was put is removed again.

    An empty file that no other command is about to fill is taken: one that was killed
    has left it behind.

    Args:
        path: of the file; ``None``: no file is wanted.

    Raises:
        UsageError: if it cannot be put there, or there is one already.
        StorageError: if it cannot be made.
    """
    if path is None:
        yield None
        return
    check_place(path, "record")
    try:
        claim, made = _made(path), True
        if claim is None:
            claim, made = _left_behind(path), False
    except OSError as error:
        msg = f"{path}: {error.strerror}"
        raise StorageError(msg, code="storage.file") from error
    if claim is None:
        msg = f"{path}: there is a file already; name another with --record"
        raise UsageError(msg, code="usage.record")
    try:
        yield claim
    finally:
        with contextlib.suppress(OSError):
            empty = not os.fstat(claim.descriptor).st_size
            if made and empty and claim.stands():
                path.unlink()
        os.close(claim.descriptor)


def _made(path: Path) -> Claim | None:
    """Make the file; ``None`` if there is one.

    Raises:
        OSError: if it cannot be made.
    """
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        descriptor = open_regular(path, flags, _MODE)
    except FileExistsError:
        return None
    return _locked(path, descriptor)


def _left_behind(path: Path) -> Claim | None:
    """Take a file that is there and empty; ``None`` if it is somebody's.

    Raises:
        OSError: if it cannot be opened.
    """
    # Elsewhere nobody can tell that another command is about to fill it.
    if os.name != "posix" or path.is_symlink() or not path.is_file():
        return None
    if path.stat().st_size:
        return None
    return _locked(path, open_regular(path, os.O_WRONLY))


def _locked(path: Path, descriptor: int) -> Claim | None:
    """Lock a file; ``None`` if another command has, or it is not empty any more."""
    claim = Claim(path, descriptor)
    if lock(descriptor) and claim.stands() and not os.fstat(descriptor).st_size:
        return claim
    os.close(descriptor)
    return None
