"""All games that are broken the way real ones are, each by the law meant for it.

They are made by functions without arguments, so that another process can make a game
again: ``python:MODULE:NAME``.
"""

from typing import Any

from tests.testing import broken_hidden, broken_play, broken_state

#: By name: the function that makes it.
MAKERS: dict[str, Any] = {
    name: each
    for module in (broken_hidden, broken_state, broken_play)
    for name, each in vars(module).items()
    if hasattr(each, "breaks")
}

#: By name: the law meant for it, and all that it breaks.
BROKEN: dict[str, tuple[str, set[str]]] = {
    name: each.breaks for name, each in MAKERS.items()
}


def source_of(name: str) -> str:
    """Return how another process finds the game."""
    return f"python:{MAKERS[name].__module__}:{name}"
