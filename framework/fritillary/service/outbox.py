"""What waits to be sent to one bot, put together into frames."""

from __future__ import annotations

from collections import deque
from typing import Final

#: Most bytes put into one frame, unless a single entry has more.
FRAME_BYTES: Final = 256 * 1024


class Outbox:
    """Entries of frames; they leave in the order in which they came.

    They are joined as they come: a bot that does not read may be owed many small
    ones, and each as an object of its own would take several times its bytes.

    Attributes:
        held: how many bytes wait, those of the frame under way included.
    """

    __slots__ = ("_frames", "_last", "held")

    def __init__(self) -> None:
        self.held = 0
        self._frames: deque[bytearray] = deque()
        #: The frame that still takes entries; if there is none, a full one.
        self._last: bytearray | None = None

    def __bool__(self) -> bool:
        """Say whether there is a frame to be sent."""
        return self._last is not None

    def put(self, entry: bytes) -> None:
        """Add an entry; what waits together leaves together."""
        size = len(entry)
        self.held += size
        last = self._last
        if last is not None and len(last) + size <= FRAME_BYTES:
            last += entry
        else:
            self._last = last = bytearray(entry)
            self._frames.append(last)

    def take(self) -> bytes:
        """Return the next frame, which is held until it is `sent`."""
        frame = self._frames.popleft()
        if not self._frames:
            self._last = None
        return bytes(frame)

    def sent(self, frame: bytes) -> None:
        """Note that a frame has left."""
        self.held -= len(frame)

    def clear(self) -> None:
        """Drop all that waits."""
        self._frames.clear()
        self._last = None
        self.held = 0
