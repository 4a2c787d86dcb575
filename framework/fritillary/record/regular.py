"""Opening regular files, and nothing else that may lie in a folder."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Final

#: Opening a pipe would wait for whoever opens its other end.
_NO_WAIT: Final[int] = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def open_regular(path: str | Path, flags: int = os.O_RDONLY, mode: int = 0o600) -> int:
    """Return the descriptor of a regular file; never waits.

    Args:
        path: of the file.
        flags: as of `os.open`.
        mode: of the file, if the flags say that it is made.

    Raises:
        OSError: if it cannot be opened, or is a folder, a pipe, a device.
    """
    descriptor = os.open(path, flags | _NO_WAIT, mode)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def read_regular(path: str | Path, most: int) -> bytes:
    """Return what is in a regular file; never waits.

    Args:
        path: of the file.
        most: bytes that it may have.

    Raises:
        OSError: as of `open_regular`, or if there is more in it.
    """
    with os.fdopen(open_regular(path), "rb") as file:
        raw = file.read(most + 1)
    if len(raw) > most:
        raise OSError(errno.EFBIG, f"more than {most} bytes")
    return raw
