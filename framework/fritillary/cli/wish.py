"""A match as the command line asks for it, wherever it is played."""

from __future__ import annotations

from pathlib import Path

from attrs import Factory, field, frozen

from fritillary.cli.claims import Claim
from fritillary.core.errors import UsageError
from fritillary.record.terms import ClockSettings, Terms, parse_clock


@frozen(kw_only=True)
class Wish:
    """All about a match but its game and its options.

    Args:
        players: one string a seat.
        clocks: one for each seat.
        terms: the same for all.
        match_id: of the match; empty for a fresh one.
        labels: to find the match by.
        wait_ms: so long bots that dial in are waited for; ``None``: as usual.
        seed: of the deal; ``None`` draws one.
        salt: of the commitment; ``None`` draws one.
        record: file to which the record is copied at the end.
        claim: on that file, while the match is played.
        watch: show the match as it goes on.
        pace_s: least time between two moves on the screen.
        as_json: print the result as data.
    """

    players: tuple[str, ...]
    clocks: tuple[ClockSettings, ...] = ()
    terms: Terms = Factory(Terms)
    match_id: str = ""
    labels: dict[str, str] = Factory(dict)
    wait_ms: int | None = None
    seed: bytes | None = field(default=None, repr=False)
    salt: bytes | None = field(default=None, repr=False)
    record: Path | None = None
    claim: Claim | None = None
    watch: bool = False
    pace_s: float = 0.0
    as_json: bool = False


def seat_clocks(words: list[str], seats: int) -> tuple[ClockSettings, ...]:
    """Return a clock for each seat, from none, one, or one each.

    Raises:
        UsageError: for another number of clocks, or one that cannot be read.
    """
    clocks = tuple(map(parse_clock, words or ["none"]))
    if len(clocks) == 1:
        return clocks * seats
    if len(clocks) != seats:
        msg = f"--clock is given {len(clocks)} times for {seats} seats; once, or each"
        raise UsageError(msg, code="usage.clock")
    return clocks
