"""Wrappers that are defined by a text in a file."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from pathlib import Path
from typing import Any


def defined(file: Path, text: str) -> Callable[..., Any]:
    """Return the function ``wrapper`` of a text that stands in a file."""
    file.write_text(text, encoding="utf-8")
    linecache.checkcache()
    scope: dict[str, Any] = {}
    exec(compile(text, file, "exec"), scope)  # noqa: S102 - ours
    wrapper: Callable[..., Any] = scope["wrapper"]
    return wrapper
