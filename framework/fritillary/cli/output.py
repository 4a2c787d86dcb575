"""How commands speak: results on stdout, everything else on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text


def console(*, stderr: bool = False) -> Console:
    """Return a console that breaks no lines where nobody looks on."""
    return Console(stderr=stderr, highlight=False, soft_wrap=True)


def print_json(data: Any) -> None:
    """Print data as JSON."""
    print(json.dumps(data, indent=2, ensure_ascii=False))


def print_error(message: str) -> None:
    """Print one line to stderr."""
    line = " ".join(str(message).split())
    console(stderr=True).print(Text.assemble(("error: ", "bold red"), line))


def print_note(message: str) -> None:
    """Print a remark to stderr."""
    console(stderr=True).print(Text(message, style="dim"))


def print_text(text: str) -> None:
    """Print sentences, broken between words where somebody looks on."""
    Console(highlight=False).print(Text(text), soft_wrap=not looks_on())


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows under bold headings, if there are any, without a frame."""
    table = Table(
        box=None, pad_edge=False, header_style="bold", show_header=any(columns)
    )
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    Console(highlight=False).print(table)


def looks_on() -> bool:
    """Say whether a person looks at stdout."""
    return sys.stdout.isatty()
