"""The hash chain of a record: frames of bytes, each linked to the one before.

A file is ``MAGIC``, then frames. A frame is the length of its payload as 4 bytes,
big-endian, the payload, and its link: SHA-256 over the link before and the payload.
The link before the first frame is SHA-256 of ``MAGIC``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Final

from fritillary.core.errors import RecordError

MAGIC: Final = b"fritillary-record\x00\x01\n"

#: Longest payload of one frame.
MAX_PAYLOAD: Final = 1 << 20

_LINK_BYTES: Final = 32

FIRST_LINK: Final = hashlib.sha256(MAGIC).digest()


def link_after(link: bytes, payload: bytes) -> bytes:
    """Return the link of a payload that follows a link."""
    return hashlib.sha256(link + payload).digest()


def frame(payload: bytes, link: bytes) -> bytes:
    """Return the frame of a payload with its link."""
    return len(payload).to_bytes(4, "big") + payload + link


def payloads(raw: bytes, *, torn: bool = False) -> Iterator[tuple[bytes, bytes]]:
    """Yield payload and link of each frame, checking the chain.

    Args:
        raw: a whole file.
        torn: stop quietly at a last frame that was not written to its end, or whose
            link does not hold.

    Raises:
        RecordError: naming the first frame that does not hold, from 0.
    """
    if not raw.startswith(MAGIC):
        msg = "not a match record (its first bytes are others)"
        raise RecordError(msg, code="record.magic")
    link = FIRST_LINK
    position = len(MAGIC)
    number = 0
    while position < len(raw):
        start = position + 4
        size = int.from_bytes(raw[position:start], "big")
        end = start + size + _LINK_BYTES
        if size > MAX_PAYLOAD and start <= len(raw):
            # No event is so long, so this is no torn one: its length was altered.
            msg = f"event {number}: its length is wrong"
            raise RecordError(msg, code="record.chain")
        if end > len(raw):
            if torn:
                return
            msg = f"event {number}: cut off, or its length is wrong"
            raise RecordError(msg, code="record.torn")
        payload = raw[start : start + size]
        link = link_after(link, payload)
        if link != raw[start + size : end]:
            if torn and end == len(raw):
                return
            msg = f"event {number}: the hash chain breaks"
            raise RecordError(msg, code="record.chain")
        yield payload, link
        position = end
        number += 1


def length_of(raw: bytes, events: int) -> int:
    """Return how many bytes of a file hold so many events; what follows is torn."""
    frames = zip(payloads(raw, torn=True), range(events), strict=False)
    return len(MAGIC) + sum(len(frame(*one)) for one, _ in frames)
