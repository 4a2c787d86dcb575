"""Moving files into a folder, also of another file system: all of them, or none."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import shutil
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from fritillary.record.regular import open_regular
from fritillary.record.writer import sync_folder

_log = logging.getLogger(__name__)

#: Of a file that is not yet whole.
_PART: Final = ".part"

_ANEW: Final = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)


def private_folder(path: Path) -> None:
    """Make a folder for its owner alone, unless it is there.

    Args:
        path: of the folder, in one that is there.

    Raises:
        OSError: if it cannot be made, or something else is there: what a symbolic
            link points to may be open to others.
    """
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=0o700)
    if not stat.S_ISDIR(path.lstat().st_mode):
        raise OSError(errno.ENOTDIR, "not a folder; remove it", str(path))


def move_all(sources: Sequence[Path], folder: Path) -> None:
    """Move files, one after the other; those of the same name there are replaced.

    Args:
        sources: the files, in different folders or under different names.
        folder: where they go.

    Raises:
        OSError: if one cannot be moved; then those before it are back.
    """
    moved: list[Path] = []
    try:
        for source in sources:
            _move(source, folder / source.name)
            moved.append(source)
        for place in {folder, *(source.parent for source in sources)}:
            sync_folder(place)
    except BaseException:
        for source in reversed(moved):
            try:
                _move(folder / source.name, source)
            except OSError as error:
                _log.error("%s is left in %s: %s", source.name, folder, error.strerror)
        raise


def _move(source: Path, target: Path) -> None:
    """Move a file; at every moment it is whole in one of the two places.

    Raises:
        OSError: if it cannot be moved; then it is where it was.
    """
    try:
        source.replace(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
    else:
        return
    part = copy = target.with_name(f"{target.name}{_PART}")
    try:
        with (
            os.fdopen(open_regular(source), "rb") as old,
            os.fdopen(open_regular(part, _ANEW), "wb") as new,
        ):
            shutil.copyfileobj(old, new)
            new.flush()
            os.fsync(new.fileno())
        # Lists have records by their time.
        shutil.copystat(source, part)
        part.replace(target)
        copy = target
        sync_folder(target.parent)
        source.unlink()
    except BaseException:
        # The file is still where it was.
        with contextlib.suppress(OSError):
            copy.unlink()
        raise
