"""The three streams of the process, made fit for whatever comes."""

from __future__ import annotations

import contextlib
import io
import os
import sys


def prepare() -> None:
    """Open what is closed, and let no character be too much for a stream.

    Without the first, what is opened next would become standard output. Without the
    second, a board could not be shown on a terminal that has fewer characters.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # The lowest free number is taken, which is this one.
            os.open(os.devnull, os.O_RDWR)
    for number, (name, mode) in enumerate(
        (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))
    ):
        stream = getattr(sys, name)
        if stream is None:
            opened = open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115
            setattr(sys, name, opened)
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(
                errors="backslashreplace" if name == "stderr" else "replace"
            )


def drain() -> None:
    """Write out what waits to be written.

    Raises:
        OSError: if it cannot be; Python will not complain again when it exits.
    """
    try:
        sys.stdout.flush()
    except OSError:
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise
