"""Moments: read from the command line, and told."""

from __future__ import annotations

import datetime as dt
from typing import Final

from fritillary.core.errors import UsageError
from fritillary.record.terms import parse_duration

_DAY_MS: Final = 24 * 3_600_000


def moment_text(ms: int) -> str:
    """Return a moment, to the second.

    Args:
        ms: since 1970-01-01 UTC.
    """
    try:
        moment = dt.datetime.fromtimestamp(ms / 1000, dt.UTC)
    except (ValueError, OverflowError, OSError):
        # A record from elsewhere may claim any.
        return f"{ms} ms after 1970"
    return moment.strftime("%Y-%m-%d %H:%M:%S UTC")


def stamp(seconds: float) -> str:
    """Return a moment as it begins a line of a log, such as ``2026-11-30T05:07:53Z``.

    Args:
        seconds: since 1970-01-01 UTC.
    """
    return f"{dt.datetime.fromtimestamp(seconds, dt.UTC):%Y-%m-%dT%H:%M:%SZ}"


def parse_since(text: str) -> int:
    """Return a moment, in milliseconds since 1970-01-01 UTC.

    Args:
        text: a duration before now such as ``90min``, ``2h`` or ``3d``, or a date or a
            time as of ISO 8601, UTC unless it says otherwise.

    Raises:
        UsageError: if it is neither.
    """
    word = text.strip()
    try:
        moment = dt.datetime.fromisoformat(word)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=dt.UTC)
        return round(moment.timestamp() * 1000)
    except (ValueError, OverflowError):
        pass
    now = dt.datetime.now(dt.UTC)  # noqa: TID251 - it is the person's clock that counts
    try:
        return max(0, int(now.timestamp() * 1000) - _ago_ms(word))
    except (ValueError, OverflowError, UsageError):
        msg = f"{text[:40]!r} is no moment; write 90min, 2h, 3d or 2026-11-30T15:00"
        raise UsageError(msg, code="usage.since") from None


def _ago_ms(word: str) -> int:
    days = word.removesuffix("d")
    if days == word:
        return parse_duration(word)
    ago_ms = round(float(days) * _DAY_MS)
    if ago_ms < 0:
        raise ValueError
    return ago_ms
