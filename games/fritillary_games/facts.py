"""Positions as text: one fact a line, each a key, a colon and a value."""

from __future__ import annotations

from collections.abc import Container

from fritillary import InvalidPositionError


def facts_in(
    text: str, keys: Container[str], several: Container[str] = ()
) -> dict[str, str]:
    """Return the values of a text by key, in lower case and single spaces.

    What follows ``#`` is a comment. The order of the lines does not matter.

    Args:
        text: a line ``key: value`` for each fact.
        keys: that there may be.
        several: those of them that may stand in several lines, which are joined by
            commas.

    Raises:
        InvalidPositionError: for a line that is no fact, or a key that is there twice;
            names the line, counted from 1.
    """
    facts: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        words = " ".join(line.partition("#")[0].casefold().split())
        if not words:
            continue
        key, colon, value = words.partition(":")
        key, value = key.strip(), value.strip()
        if not colon or key not in keys:
            msg = f"line {number}: {line.strip()[:40]!r} is no fact of a position"
            raise InvalidPositionError(msg)
        if key in facts:
            if key not in several:
                raise InvalidPositionError(f"line {number}: {key!r} is there twice")
            value = f"{facts[key]}, {value}"
        facts[key] = value
    return facts
