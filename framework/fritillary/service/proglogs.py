"""The logs of programs that were started: beside the record, bounded, as long as it."""

from __future__ import annotations

import asyncio
import functools
import logging
import os
import re
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Final

from fritillary.record.regular import open_regular
from fritillary.service.records import SUFFIX

_log = logging.getLogger(__name__)

#: Most bytes of a log: of its beginning, and of its end.
HEAD_BYTES: Final = 64 * 1024
TAIL_BYTES: Final = 192 * 1024

_NAME: Final = re.compile(r"(.+)\.seat\d+\.log\Z")

#: Logs without a record are looked for so often.
_DAY_S: Final = 24 * 3_600.0


def write_log(records: Path, match_id: str, seat: int, parts: Iterable[bytes]) -> None:
    """Write the log of the program of a seat; for its owner alone.

    Of one that is too long the middle is left out.

    Args:
        records: the folder.
        match_id: of the match.
        seat: of the program.
        parts: each begins a line; empty ones are left out.
    """
    raw = b"".join(
        part if part.endswith(b"\n") else part + b"\n" for part in filter(None, parts)
    )
    out = len(raw) - HEAD_BYTES - TAIL_BYTES
    if out > 0:
        gap = f"\n[{out} bytes left out]\n".encode()
        raw = raw[:HEAD_BYTES] + gap + raw[-TAIL_BYTES:]
    path = records / f"{match_id}.seat{seat}.log"
    try:
        descriptor = open_regular(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        with os.fdopen(descriptor, "wb") as file:
            file.write(raw)
    except OSError:
        _log.exception("the log of a program cannot be written")


def forget_logs(records: Path) -> int:
    """Remove the logs of which the record is not there any more.

    Args:
        records: the folder.

    Returns:
        How many there were.
    """
    count = 0
    for path in records.glob("*.log"):
        found = _NAME.match(path.name)
        if found is None or (records / f"{found[1]}{SUFFIX}").exists():
            continue
        try:
            path.unlink()
            count += 1
        except OSError as error:
            _log.warning("%s is left as it is: %s", path.name, error.strerror)
    return count


async def forget_daily(
    records: Path, in_thread: Callable[[Callable[[], int]], Awaitable[int]]
) -> None:
    """Remove such logs now and once a day, until cancelled.

    Args:
        records: the folder.
        in_thread: calls a function in a thread.
    """
    while True:
        await in_thread(functools.partial(forget_logs, records))
        await asyncio.sleep(_DAY_S)
