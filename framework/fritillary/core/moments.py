"""Moments, told to people."""

from __future__ import annotations

import datetime as dt


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
