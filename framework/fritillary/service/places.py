"""Where matches stand in lists: the same in memory and in the archive."""

from __future__ import annotations

import re
from typing import Final, Self

from attrs import frozen

from fritillary.record.events import Header

#: Latest time that a place can have, in milliseconds since 1970-01-01 UTC.
_LATEST: Final = 10**15 - 1

#: A record is not written before its match was made, but for clocks that are put
#: right, in milliseconds. One that seems to be was given its time by hand, and counts
#: as made when it was written.
_BEFORE_MS: Final = 60_000

#: The form of a place as text.
PLACE: Final = re.compile(r"([0-9]{1,15})@([A-Za-z0-9._-]{1,64})")


def latest_ms(written_at_ms: int) -> int:
    """Return when the match of a record was made at the latest.

    Args:
        written_at_ms: when the record was written last, since 1970-01-01 UTC.
    """
    return written_at_ms + _BEFORE_MS


@frozen(order=True)
class Place:
    """Where a match stands in lists; the greatest comes first.

    It is the same for as long as there is the match: pages that begin after a place
    repeat nothing and leave nothing out, whatever ends, is forgotten or is read from
    the archive meanwhile.

    Args:
        made_at_ms: when the match was made, since 1970-01-01 UTC, 0 to 15 digits.
        match_id: of the match.
    """

    made_at_ms: int
    match_id: str

    @classmethod
    def of(cls, made_at_ms: int, match_id: str) -> Self:
        """Return the place of a match; what cannot be is the nearest that can."""
        return cls(min(max(0, made_at_ms), _LATEST), match_id)

    @classmethod
    def of_record(cls, header: Header, written_at_ms: int) -> Self:
        """Return the place of a match that was found in a record.

        Args:
            header: of the record.
            written_at_ms: when it was written last, since 1970-01-01 UTC.
        """
        made_at_ms = header.created_at_ms
        if made_at_ms > latest_ms(written_at_ms):
            made_at_ms = written_at_ms
        return cls.of(made_at_ms, header.match_id)

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Return the place of a text; ``None`` if it is none."""
        found = PLACE.fullmatch(text)
        return None if found is None else cls(int(found[1]), found[2])

    def text(self) -> str:
        """Return the place as `parse` reads it."""
        return f"{self.made_at_ms}@{self.match_id}"
