"""What the arena counts while it runs: plain numbers, read when somebody looks."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from fritillary.service.hosted import HostedMatch

#: Upper bounds of the classes of decision times, in milliseconds.
BOUNDS_MS: Final = (
    *(1, 2, 5, 10, 25, 50, 100, 250, 500),
    *(1_000, 2_500, 5_000, 10_000, 30_000, 60_000),
)

#: How a match ended that came to no result at all.
FAILED: Final = "failed"


class Counts:
    """Numbers that only grow.

    Attributes:
        opened: sessions of bots that began anew.
        resumed: sessions that went on with one before.
        replaced: sessions that ended since their bot has opened another.
        frames_in: from bots.
        frames_out: to bots.
        bytes_in: of these frames.
        bytes_out: of these frames.
        decided: accepted decisions of bots that dial in, by class of `BOUNDS_MS`; the
            last holds those above.
        decided_ms: time of all of them together.
        ruled: requests to such bots that a ruling has closed.
        withdrawn: requests to such bots that were taken back.
        ended: matches by the id of their game, without variants, and how they ended.
        plies: of ended matches, by game.
        rulings: in ended matches, by fault.
    """

    __slots__ = (
        "bytes_in",
        "bytes_out",
        "decided",
        "decided_ms",
        "ended",
        "frames_in",
        "frames_out",
        "opened",
        "plies",
        "replaced",
        "resumed",
        "ruled",
        "rulings",
        "withdrawn",
    )

    def __init__(self) -> None:
        self.opened = self.resumed = self.replaced = 0
        self.frames_in = self.frames_out = self.bytes_in = self.bytes_out = 0
        self.decided = [0] * (len(BOUNDS_MS) + 1)
        self.decided_ms = self.ruled = self.withdrawn = 0
        self.ended: Counter[tuple[str, str]] = Counter()
        self.plies: Counter[str] = Counter()
        self.rulings: Counter[str] = Counter()

    def closed(self, how: str, server_ms: int) -> None:
        """Count a request that was closed.

        Args:
            how: ``accepted``, ``ruled`` or ``withdrawn``.
            server_ms: from asking to answering.
        """
        if how == "accepted":
            self.decided[bisect_left(BOUNDS_MS, server_ms)] += 1
            self.decided_ms += server_ms
        elif how == "ruled":
            self.ruled += 1
        else:
            self.withdrawn += 1

    def match_ended(self, hosted: HostedMatch) -> None:
        """Count a match that is over."""
        game = hosted.order.game.info.id
        result = hosted.result
        kind = FAILED if result is None else result.finish.kind.value
        self.ended[game, kind] += 1
        self.plies[game] += hosted.ply
        self.rulings.update(rulings_of(hosted))


def rulings_of(hosted: HostedMatch) -> dict[str, int]:
    """Return how many rulings there were in a match so far, by fault."""
    found = {} if hosted.match is None else hosted.match.rulings
    return {fault.value: times for fault, times in found.items()}
