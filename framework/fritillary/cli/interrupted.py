"""A word about Ctrl-C, for commands that would say nothing of it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import typer

from fritillary.cli.output import print_note
from fritillary.core.interrupts import INTERRUPTED


@contextlib.contextmanager
def telling_of_interrupts() -> Iterator[None]:
    """Say so where Ctrl-C ends what is done; also a decorator of commands.

    Typer leaves nothing of it but the exit code.
    """
    try:
        yield
    except KeyboardInterrupt:
        print_note("interrupted")
        raise typer.Exit(INTERRUPTED) from None
