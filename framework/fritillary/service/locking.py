"""A lock between processes, for files that several of them change."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from fritillary.core.errors import StorageError
from fritillary.record.regular import open_regular

_PAUSE_S: Final = 0.01

#: What systems answer where the lock is held.
_HELD: Final = frozenset({errno.EACCES, errno.EAGAIN, errno.EDEADLK})


@contextlib.contextmanager
def locked(path: Path, within_s: float = 10.0) -> Iterator[None]:
    """Hold the lock of a file, which goes with its holder, however that ends.

    Args:
        path: the file that is locked, not the one that is protected: that one may be
            replaced meanwhile. It is made with mode 0600 and stays.
        within_s: wait so long for others.

    Raises:
        TimeoutError: if another process holds it all the while.
        OSError: if the file cannot be made or locked.
    """
    descriptor = open_regular(path, os.O_RDWR | os.O_CREAT)
    try:
        deadline = time.monotonic() + within_s
        while not _taken(descriptor):
            if time.monotonic() >= deadline:
                msg = f"another process has held {path.name} for {within_s:g} s"
                raise TimeoutError(errno.ETIMEDOUT, msg)
            time.sleep(_PAUSE_S)
        yield
    finally:
        # Closing gives the lock back.
        os.close(descriptor)


@contextlib.contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Use a folder alone; made if missing.

    Raises:
        StorageError: ``storage.in-use`` if another process uses it.
    """
    held = contextlib.ExitStack()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        held.enter_context(locked(folder / ".lock", 0.0))
    except TimeoutError as error:
        msg = f"{folder}: another server uses it; name another folder with --data"
        raise StorageError(msg, code="storage.in-use") from error
    except OSError as error:
        msg = f"{folder}: {error.strerror}"
        raise StorageError(msg, code="storage.folder") from error
    with held:
        yield


if sys.platform == "win32":
    import msvcrt

    def _taken(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            if error.errno in _HELD:
                return False
            raise
        return True

else:
    import fcntl

    def _taken(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in _HELD:
                return False
            raise
        return True
