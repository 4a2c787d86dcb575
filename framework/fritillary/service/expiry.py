"""The end of the server's certificate: told while there is time to renew it."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Callable
from typing import Final

from fritillary.service import journal

#: From so long before its end it is told of, once a day.
_SOON: Final = dt.timedelta(days=14)
_AGAIN_S: Final = 24 * 3600.0


def utc_now() -> dt.datetime:
    """Return the time of day, UTC."""
    return dt.datetime.now(dt.UTC)  # noqa: TID251 - certificates have dates


async def watch_expiry(
    until: Callable[[], dt.datetime], now: Callable[[], dt.datetime] = utc_now
) -> None:
    """Warn in the journal of a certificate that soon ends, or has ended.

    Never returns.

    Args:
        until: the end of the certificate that is in use, UTC.
        now: the time of day, UTC.
    """
    while True:
        end = until()
        left = end - now()
        if left < _SOON:
            journal.certificate(end, left)
        wait_s = _AGAIN_S
        if left > dt.timedelta():
            # Its end is told at once.
            wait_s = min(wait_s, left.total_seconds() + 1)
        await asyncio.sleep(wait_s)
