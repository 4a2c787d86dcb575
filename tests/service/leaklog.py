"""What the journal of a server says of one match, as the gate compares it."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from fritillary.core.journal import JOURNAL, journal

#: What differs between any two matches: addresses, numbers of tokens, and times.
_OWN: Final = re.compile(r"(?<= )(peer|left_ms)=\S+|(?<==bot-\d)/[0-9a-f]{8}")

#: Streams that end when all is over, in which match ever.
_AFTERWARDS: Final = re.compile(r"bot lost .* reason=cut matches=0")


class _Keeping(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


@contextmanager
def listening() -> Iterator[list[str]]:
    """Turn the journal on, and return the lines that it comes to have."""
    keeping = _Keeping()
    before = journal.level
    journal.setLevel(logging.INFO)
    journal.addHandler(keeping)
    try:
        yield keeping.lines
    finally:
        journal.removeHandler(keeping)
        journal.setLevel(before)


def forms(lines: Sequence[str]) -> dict[str, list[str]]:
    """Return lines without what differs between any two matches.

    Those about matches are in their order. When a lost stream is noticed among them is
    decided by how busy the machine is.
    """
    told = [_OWN.sub("", line) for line in lines if not _AFTERWARDS.fullmatch(line)]
    return {
        f"{JOURNAL}, matches": [line for line in told if line.startswith("match ")],
        f"{JOURNAL}, the rest": sorted(
            line for line in told if not line.startswith("match ")
        ),
    }


def kinds(lines: Sequence[str]) -> set[str]:
    """Return what lines are about, as ``journal.match.ended``."""
    return {".".join(["journal", *line.split()[:2]]) for line in lines}
