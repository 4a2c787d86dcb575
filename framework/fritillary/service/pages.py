"""Pages of lists: how large they may be, and where the next one begins."""

from __future__ import annotations

import hashlib
import re
from typing import Any, Final

from google.protobuf.message import Message

from fritillary.core.errors import UsageError

#: The entries of a page have no more bytes, so that with what is around them it has at
#: most 256 KiB.
PAGE_BYTES: Final = 255 * 1024

#: Positions that are numbers.
_NUMBER: Final = re.compile(r"[0-9]{1,15}")


class Filling:
    """A page that is filled with entries until it has enough bytes.

    Args:
        entries: of the message; empty.
    """

    def __init__(self, entries: Any) -> None:  # noqa: ANN401 - of any message
        self._entries = entries
        self._size = 0

    def took(self, entry: Message) -> bool:
        """Take an entry if there is room for it, or none yet; return whether it was."""
        size = entry.ByteSize()
        # Before it stand the number of its field and its size, seven bits in a byte.
        size += 1 + max(1, (size.bit_length() + 6) // 7)
        size += self._size
        if self._entries and size > PAGE_BYTES:
            return False
        self._size = size
        self._entries.append(entry)
        return True


def _digest(request: Message) -> str:
    """Return what tells requests apart that differ in more than their page."""
    plain = type(request).FromString(request.SerializeToString(deterministic=True))
    plain.ClearField("page_token")
    plain.ClearField("page_size")
    raw = plain.SerializeToString(deterministic=True)
    return hashlib.sha256(raw).hexdigest()[:12]


def page_token(request: Message, position: int | str) -> str:
    """Return the token of the page that begins at a position."""
    return f"{position}.{_digest(request)}"


def page_start(request: Any) -> int:  # noqa: ANN401 - any with pages
    """Return the position at which the page asked for begins, from 0.

    Raises:
        UsageError: ``page.token`` if the token is not of this question.
    """
    return int(page_position(request, _NUMBER) or "0")


def page_position(request: Any, form: re.Pattern[str]) -> str:  # noqa: ANN401 - as above
    """Return the position at which the page asked for begins; empty for the first.

    Args:
        request: with its page token.
        form: of positions.

    Raises:
        UsageError: ``page.token`` if the token is not of this question.
    """
    if not request.page_token:
        return ""
    position, _, digest = request.page_token.rpartition(".")
    if not form.fullmatch(position) or digest != _digest(request):
        msg = "this page token belongs to another question; begin with an empty one"
        raise UsageError(msg, code="page.token")
    return str(position)
