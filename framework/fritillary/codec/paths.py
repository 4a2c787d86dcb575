"""How errors of the codec say where they are and what they found."""

from __future__ import annotations

from typing import Any

from fritillary.core.errors import CodecError

_LONGEST = 40


def say(value: Any) -> str:
    """Return a short description of foreign data, whatever its size."""
    kind = type(value)
    if value is None:
        return "null"
    if kind is bool:
        return "true" if value else "false"
    if kind is list:
        return f"a list of {len(value)}"
    if kind is dict:
        return "a map"
    if kind is str:
        return repr(value if len(value) <= _LONGEST else f"{value[:_LONGEST]}...")
    if kind is int:
        return str(value) if value.bit_length() <= 64 else "a long integer"
    return kind.__name__


def key_step(key: Any) -> str:
    """Return the step of a path that leads to a key of a map."""
    if type(key) is str and key.isidentifier() and len(key) <= _LONGEST:
        return f".{key}"
    return f"[{say(key)}]"


def at_step(error: CodecError, step: str) -> CodecError:
    """Return the error with one more step in front of its path."""
    return CodecError(error.reason, path=f"${step}{error.path[1:]}", code=error.code)
