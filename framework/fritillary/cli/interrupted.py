"""A word about Ctrl-C: what it has ended, and what is kept."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, Final, NoReturn

import typer
from typer.core import TyperGroup

from fritillary.cli.helps import plain
from fritillary.cli.output import print_note
from fritillary.core import interrupts

_WORD: Final = "interrupted"


@contextlib.contextmanager
def telling_of_interrupts(kept: Callable[[], str] = str) -> Iterator[None]:
    """Say so where Ctrl-C ends what is done; also a decorator.

    A second Ctrl-C ends the program at once.

    Args:
        kept: returns what became of the work, to be said in the same line; nothing,
            if there was none.

    Raises:
        typer.Exit: with the exit code, in place of ``KeyboardInterrupt``.
    """
    try:
        yield
    except KeyboardInterrupt:
        leave(kept())


def leave(kept: str = "") -> NoReturn:
    """Say that Ctrl-C has ended the command, and what is kept.

    Raises:
        typer.Exit: with the exit code.
    """
    interrupts.over()
    print_note(f"{_WORD}: {kept}" if kept else _WORD)
    raise typer.Exit(interrupts.INTERRUPTED) from None


class TellingGroup(TyperGroup):
    """A program whose commands all say that Ctrl-C has ended them.

    Typer leaves nothing of it but the exit code.
    """

    @telling_of_interrupts()
    def make_context(self, *arguments: Any, **more: Any) -> Any:
        """Read the words of the program."""
        return super().make_context(*arguments, **more)

    def get_params(self, ctx: Any) -> Any:
        """Return the options of the program."""
        return list(map(plain, super().get_params(ctx)))

    @telling_of_interrupts()
    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        return super().invoke(ctx)
