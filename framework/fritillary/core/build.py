"""Which build this is: plain Python, or the compiled one."""

from __future__ import annotations

from pathlib import Path
from typing import Final

#: Written by the build hook of the compiled build: the modules, one a line.
_LISTING: Final = Path(__file__).parents[1] / "COMPILED"


def compiled_modules() -> tuple[str, ...]:
    """Return the names of the modules that are compiled; none in the plain build."""
    try:
        return tuple(_LISTING.read_text("utf-8").split())
    except FileNotFoundError:
        return ()
