"""Moments: read from the command line, and told."""

from __future__ import annotations

import datetime as dt
import re
from typing import Final

from fritillary.core.errors import UsageError
from fritillary.record.terms import parse_duration

#: Spans that are longer than a clock may have, in milliseconds.
_UNITS: Final = {"h": 3_600_000, "d": 24 * 3_600_000, "w": 7 * 24 * 3_600_000}
_SPAN: Final = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)([hdw])", re.ASCII)

#: Latest that a token may expire, from now on.
_FURTHEST_MS: Final = 100 * 365 * 24 * 3_600_000


def stamp(seconds: float) -> str:
    """Return a moment as it begins a line of a log, such as ``2026-11-30T05:07:53Z``.

    Args:
        seconds: since 1970-01-01 UTC.
    """
    return f"{dt.datetime.fromtimestamp(seconds, dt.UTC):%Y-%m-%dT%H:%M:%SZ}"


def parse_since(text: str) -> int:
    """Return a moment, in milliseconds since 1970-01-01 UTC.

    Args:
        text: a duration before now such as ``90min``, ``2h``, ``3d`` or ``2w``, or a
            date or a time as of ISO 8601, UTC unless it says otherwise.

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
    try:
        return max(0, now_ms() - _span_ms(word))
    except UsageError:
        msg = f"{text[:40]!r} is no moment; write 90min, 2h, 3d or 2026-11-30T15:00"
        raise UsageError(msg, code="usage.since") from None


def parse_expiry(text: str, now_ms: int) -> int:
    """Return when something expires, in milliseconds since 1970-01-01 UTC.

    Args:
        text: a duration from now on such as ``12h``, ``30d`` or ``2w``, or a date and
            time as of ISO 8601, with its time zone: who holds a token may be elsewhere.
        now_ms: since 1970-01-01 UTC.

    Raises:
        UsageError: if it is neither, not after now, or more than 100 years after.
    """
    word = text.strip()
    expires_at_ms = _dated_ms(word)
    if expires_at_ms is None:
        try:
            if word[-1:].isdigit():
                # Thirty of what?
                raise _no_expiry(text)
            expires_at_ms = now_ms + _span_ms(word)
        except UsageError:
            raise _no_expiry(text) from None
    if expires_at_ms <= now_ms:
        msg = f"{text[:40]!r} is not in the future; a token must expire later"
        raise UsageError(msg, code="usage.expires")
    if expires_at_ms - now_ms > _FURTHEST_MS:
        msg = (
            f"{text[:40]!r} is more than 100 years away; a token without --expires "
            "does not expire"
        )
        raise UsageError(msg, code="usage.expires")
    return expires_at_ms


def now_ms() -> int:
    """Return the time of the person's clock, in milliseconds since 1970-01-01 UTC."""
    now = dt.datetime.now(dt.UTC)  # noqa: TID251 - it is the person's clock that counts
    return int(now.timestamp() * 1000)


def _dated_ms(word: str) -> int | None:
    """Return the moment of a date and time; ``None`` if it is none.

    Raises:
        UsageError: if it lacks its time zone.
    """
    try:
        moment = dt.datetime.fromisoformat(word)
        if moment.tzinfo is not None:
            return round(moment.timestamp() * 1000)
    except (ValueError, OverflowError):
        return None
    at = word if len(word) > len("2026-11-30") else f"{word}T18:00"
    msg = f"{word[:40]!r} has no time zone; write {at}Z or {at}+02:00"
    raise UsageError(msg, code="usage.expires")


def _no_expiry(text: str) -> UsageError:
    msg = f"{text[:40]!r} is no expiry; write 12h, 30d, 2w or 2026-11-30T15:00Z"
    return UsageError(msg, code="usage.expires")


def _span_ms(word: str) -> int:
    """Return a duration in milliseconds, of hours, days or weeks also a long one.

    Raises:
        UsageError: if it is none.
    """
    found = _SPAN.fullmatch(word.lower())
    if found is None:
        return parse_duration(word)
    return round(float(found[1]) * _UNITS[found[2]])
