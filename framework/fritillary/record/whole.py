"""Files that are written whole, or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from pathlib import Path


def put(path: Path, raw: bytes, *, overwrite: bool = True) -> None:
    """Write a file, all of it or nothing, whoever writes it at the same time.

    Where a link leads there, the link stays; into a pipe or a device is written.

    Args:
        path: of the file.
        raw: what is to be in it.
        overwrite: replace what is there.

    Raises:
        FileExistsError: if something is there that is not to be replaced.
        OSError: if it cannot be written.
    """
    if overwrite and path.exists() and not path.is_file():
        path.write_bytes(raw)
        return
    target = Path(os.path.realpath(path))
    aside = target.with_name(f".fritillary-{secrets.token_hex(8)}.part")
    try:
        aside.write_bytes(raw)
        if not overwrite:
            os.link(aside, target)
            return
        if target.exists():
            shutil.copymode(target, aside)
        aside.replace(target)
    finally:
        with contextlib.suppress(OSError):
            aside.unlink(missing_ok=True)
