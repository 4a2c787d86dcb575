"""Foreign text, made fit for one line of a message.

Whatever a value or an error of somebody else's code does when it is asked for its
text: nothing here raises, but for an interrupt by the user.
"""
# ruff: noqa: ANN401 - texts of anything

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

#: So much of one foreign text stands in a message, in characters.
LINE: Final = 400

_UNSEEN: Final = "\N{REPLACEMENT CHARACTER}"


def clip(text: Any, limit: int) -> str:
    """Return text cut to a length, with control characters made visible."""
    return _visible(_text(str, text)[:limit])


def line(text: Any, limit: int = LINE) -> str:
    """Return text as `clip` does, with three dots where it was cut."""
    whole = _text(str, text)
    if len(whole) <= limit:
        return _visible(whole)
    return _visible(whole[: limit - 3]) + "..."


def show(value: Any, limit: int = 80) -> str:
    """Return the ``repr`` of a value as one short line."""
    return line(_text(repr, value) or f"a {type(value).__name__}", limit)


def told(error: BaseException, limit: int = LINE) -> str:
    """Return the class and the text of an error as one short line."""
    return line(f"{type(error).__name__}: {_text(str, error)}", limit)


def sentence(error: BaseException, limit: int = LINE) -> str:
    """Return what an error of a validator or a rule says to people."""
    # The validators of attrs put the attribute and the value into the arguments.
    first = _text(lambda one: one.args[0] if one.args else "", error)
    return line(first or type(error).__name__, limit)


def _text(how: Callable[[Any], Any], value: Any) -> str:
    """Return a text; empty where there is none."""
    try:
        text = how(value)
        # A subclass of str might do anything at all later on.
        return str.__str__(text) if isinstance(text, str) else ""
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - a stranger's code, asked for a message
        return ""


def _visible(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _UNSEEN for char in text)
