"""Lines of a log: so many and no more, so that nobody can fill the disk with them."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Final

from fritillary.core.journal import JOURNAL, JOURNAL_OF_BOTS
from fritillary.service.limits import TokenBucket

#: Where it is told what was left out; what is said there is metered before it is said.
METERED: Final = "fritillary.audit"

#: Lines at once, and seconds until there may be another: of one source, of all.
_OF_ONE: Final = (20, 10.0)
_OF_ALL: Final = (100, 5.0)

#: The same of what bots bring about at will: hundreds may come back at once.
_OF_ALL_BOTS: Final = (1_000, 1.0)

#: So many sources are told apart at a time.
_SOURCES: Final = 1024

#: What was left out is told so long after the first of it.
TELL_S: Final = 60.0

_log = logging.getLogger(METERED)


class Meter:
    """Says whether there may be a line more.

    Args:
        now: seconds of a monotonic clock.
        of_all: lines at once, and seconds until there may be another.
    """

    def __init__(
        self,
        now: Callable[[], float] = time.monotonic,
        of_all: tuple[int, float] = _OF_ALL,
    ) -> None:
        self._now = now
        self._all = _bucket(of_all, now())
        self._by_source: OrderedDict[str, TokenBucket] = OrderedDict()

    def __len__(self) -> int:
        """Return how many sources are told apart now."""
        return len(self._by_source)

    def lets(self, source: str) -> bool:
        """Count a line, and say whether it may be written.

        Args:
            source: who or what has brought it about.
        """
        now = self._now()
        bucket = self._by_source.get(source)
        if bucket is None:
            bucket = self._by_source[source] = _bucket(_OF_ONE, now)
            if len(self._by_source) > _SOURCES:
                self._by_source.popitem(last=False)
        self._by_source.move_to_end(source)
        return bucket.has(now) and self._all.has(now)


class Untold:
    """What was left out of a log: counted, and told in one line after a while.

    It may be counted in any thread; it is told in the loop.

    Args:
        line: that tells of it, with a place for the number of all and one for the
            most frequent.
    """

    def __init__(self, line: str) -> None:
        self._line = line
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._timer: asyncio.TimerHandle | None = None

    def count(self, what: str) -> bool:
        """Count something; return whether it is the first since it was told."""
        with self._lock:
            first = not self._counts
            self._counts[what] += 1
        return first

    def tell_later(self, loop: asyncio.AbstractEventLoop) -> None:
        """Tell of it after `TELL_S`, unless it is to be told sooner anyway."""
        if self._timer is None:
            self._timer = loop.call_later(TELL_S, self.tell)

    def tell(self) -> None:
        """Tell of it now, if there is anything."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        with self._lock:
            counts, self._counts = self._counts, Counter()
        if counts:
            _log.warning(
                self._line,
                counts.total(),
                ", ".join(f"{what} {n}" for what, n in counts.most_common(8)),
            )


class LineMeter(logging.Filter):
    """Lets so many lines of a log through; the rest is counted, and told of.

    A line is of the place in the code that logs it, and of the ``source`` that it was
    logged with, such as a bot: ``extra={"source": name}``. What `METERED` says is let
    through, and what the journal says of matches: their records take far more room.

    Args:
        loop: where it is told what was left out; lines may come from any thread.
        now: seconds of a monotonic clock.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self._loop = loop
        self._meter = Meter(now)
        self._of_bots = Meter(now, _OF_ALL_BOTS)
        self._lock = threading.Lock()
        self._untold = Untold("left out %d more lines: %s")

    def filter(self, record: logging.LogRecord) -> bool:
        """Say whether a line may be written."""
        if record.name in {METERED, JOURNAL}:
            return True
        of_bots = record.name == JOURNAL_OF_BOTS
        meter = self._of_bots if of_bots else self._meter
        place = f"{record.name}:{record.lineno}:{getattr(record, 'source', '')}"
        with self._lock:
            if meter.lets(place):
                return True
            first = self._untold.count(record.name)
        if first and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._untold.tell_later, self._loop)
        return False

    def tell(self) -> None:
        """Tell how many lines were left out."""
        self._untold.tell()


def _bucket(figures: tuple[int, float], now: float) -> TokenBucket:
    burst, seconds = figures
    return TokenBucket(1 / seconds, now, burst)
