"""When a bot is pinged, what its answers tell of the link, and when that is lost."""

from __future__ import annotations

from typing import Final

from fritillary.record.terms import MAX_MS
from fritillary.service.limits import Limits

#: In seconds: for so long a measured round trip is good enough.
_MEASURED_S: Final = 5.0


class Pinging:
    """The link of one stream, by the clock of its loop in seconds.

    Args:
        limits: on silence.
        now: when the stream began.

    Attributes:
        heard: when something came last; to be set by whoever reads.
        open: whether a Ping waits for an answer; any message answers it.
        round_trip_ms: as last measured; ``None`` before.
        look_s: seconds between looks at the link.
    """

    def __init__(self, limits: Limits, now: float) -> None:
        self.heard = now
        self.open = False
        self.round_trip_ms: int | None = None
        self.look_s = min(limits.ping_after_ms, limits.pong_within_ms) / 2000
        self._limits = limits
        self._sent = 0.0

    def due(self, now: float, *, plays: bool) -> bool:
        """Say whether the bot is to be pinged.

        Args:
            now: the moment.
            plays: whether it sits in a match: its link is then measured at times.
        """
        silent = (now - self.heard) * 1000 >= self._limits.ping_after_ms
        return silent or (plays and now - self._sent >= _MEASURED_S)

    def send(self, now: float) -> int:
        """Note that a Ping is sent; return its id."""
        self.open = True
        self._sent = now
        return int(now * 1000)

    def overdue(self, now: float) -> bool:
        """Say whether the open Ping should have been answered by now."""
        return (now - self._sent) * 1000 >= self._limits.pong_within_ms

    def pong(self, ping_id: int, now: float) -> None:
        """Measure the link, if that answers the last Ping."""
        if ping_id == int(self._sent * 1000):
            self.round_trip_ms = min(round((now - self._sent) * 1000), MAX_MS)
