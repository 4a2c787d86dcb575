"""What scripts go by: the codes of errors, and exit codes.

0 is done, 1 failed, 2 wrong usage, 3 a check did not hold.
"""

from __future__ import annotations

from typing import Final

from fritillary.core.errors import (
    FritillaryError,
    InvalidOptionsError,
    RecordError,
    UnknownGameError,
    UsageError,
)

FAILED: Final = 1
USAGE: Final = 2
CHECK: Final = 3


def error_text(error: FritillaryError) -> str:
    """Return what went wrong in one line, its code last, as clients tell it."""
    return f"{error.message.strip()} [{error.code}]"


def exit_code(error: FritillaryError) -> int:
    """Return the exit code of an error."""
    if isinstance(error, (UsageError, InvalidOptionsError, UnknownGameError)):
        return USAGE
    if isinstance(error, RecordError) and error.code not in {
        "record.file",
        "record.game",
        "record.limit",
        "record.sealed",
        "record.rules-version",
        "record.format",
    }:
        return CHECK
    return FAILED
