"""Limits that hold for every value that leaves the process."""

from __future__ import annotations

from typing import Final

#: Largest magnitude of an integer: other languages read larger ones as floats.
MAX_INT: Final = 2**53 - 1
