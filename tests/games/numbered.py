"""Which of the numbered rules and examples of a game the tests of a folder name."""

from __future__ import annotations

import re
from collections.abc import Container
from pathlib import Path


def named(folder: Path, *, but: Container[str] = ()) -> set[str]:
    """Return the rules and examples that a test carries as its mark.

    Args:
        folder: of the tests.
        but: names of files that do not count.
    """
    return {
        rule
        for file in folder.glob("test_*.py")
        if file.name not in but
        for rule in re.findall(
            r'^@pytest\.mark\.rule\("([^"]+)"\)', file.read_text("utf-8"), re.MULTILINE
        )
    }


def unknown(folder: Path, known: Container[str]) -> list[tuple[str, str]]:
    """Return marks of rules that do not exist, each with its file."""
    return [
        (file.name, rule)
        for file in folder.glob("test_*.py")
        for rule in re.findall(r'mark\.rule\("([^"\[]+)"\)', file.read_text("utf-8"))
        if rule not in known
    ]
