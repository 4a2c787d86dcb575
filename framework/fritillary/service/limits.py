"""What the server enforces on one bot, and how it counts."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator
from typing import Final

from attrs import field, frozen, validators

from fritillary.api.v1 import bot_pb2 as pb
from fritillary.core.errors import ServiceError
from fritillary.service.tokens import Token

_AT_LEAST_1: Final = [validators.instance_of(int), validators.ge(1)]

#: Messages may come in bursts of so many seconds' worth.
BURST_S: Final = 3.0


@frozen(kw_only=True)
class Limits:
    """Limits on one bot, all its matches together; announced in Welcome.

    Args:
        max_message_bytes: largest frame, as encoded; and largest request of a call
            with a token, and page of a list.
        max_messages_per_second: on average over `BURST_S` seconds.
        max_outstanding_bytes: held back for a bot that does not read, for all watches
            of one token that are not read, and for all answers to its other calls.
        max_matches: most matches at a time.
        max_note_bytes: longest note of a decision; a longer one is cut.
        max_streams: open at once with one token.
        max_watches: matches watched at once with one token, and records fetched, of
            those 16 at the most; not announced.
        max_calls: that run at once with one token, its streams as a bot aside; like
            what follows, told in ``docs/operate.md`` and not announced.
        max_strange_calls: the same from one address without a token, for each kind
            of calls: checks of health, streams, all others.
        max_strangers: the same from all addresses together.
        max_strange_bytes: largest request of a call without a token.
        max_strange_unread_bytes: of answers that are not read, for one address and
            each kind of calls.
        strange_stream_ms: a stream without a token ends after so long.
        max_connections: open at once; one more is cut off.
        hello_ms: time for the first message of a stream, for the request of a call,
            for reading its answer, and for the opening of a connection.
        idle_ms: a connection without a call is closed after so long.
        ping_after_ms: silence after which a Ping is sent.
        pong_within_ms: silence after a Ping that means a lost link.
        http2_interval_ms: of the HTTP/2 keepalive of clients.
        http2_timeout_ms: that clients wait for its answer.
    """

    max_message_bytes: int = field(default=256 * 1024, validator=_AT_LEAST_1)
    max_messages_per_second: int = field(default=20_000, validator=_AT_LEAST_1)
    max_outstanding_bytes: int = field(default=8 * 1024 * 1024, validator=_AT_LEAST_1)
    max_matches: int = field(default=256, validator=_AT_LEAST_1)
    max_note_bytes: int = field(default=2_000, validator=_AT_LEAST_1)
    max_streams: int = field(default=8, validator=_AT_LEAST_1)
    max_watches: int = field(default=256, validator=_AT_LEAST_1)
    max_calls: int = field(default=512, validator=_AT_LEAST_1)
    max_strange_calls: int = field(default=16, validator=_AT_LEAST_1)
    max_strangers: int = field(default=64, validator=_AT_LEAST_1)
    max_strange_bytes: int = field(default=4_096, validator=_AT_LEAST_1)
    max_strange_unread_bytes: int = field(default=1024 * 1024, validator=_AT_LEAST_1)
    strange_stream_ms: int = field(default=300_000, validator=_AT_LEAST_1)
    max_connections: int = field(default=4_096, validator=_AT_LEAST_1)
    hello_ms: int = field(default=10_000, validator=_AT_LEAST_1)
    idle_ms: int = field(default=60_000, validator=_AT_LEAST_1)
    ping_after_ms: int = field(default=20_000, validator=_AT_LEAST_1)
    pong_within_ms: int = field(default=20_000, validator=_AT_LEAST_1)
    http2_interval_ms: int = field(default=30_000, validator=_AT_LEAST_1)
    http2_timeout_ms: int = field(default=10_000, validator=_AT_LEAST_1)

    def to_proto(self) -> pb.Limits:
        """Return the limits as they are announced."""
        return pb.Limits(
            max_message_bytes=self.max_message_bytes,
            max_messages_per_second=self.max_messages_per_second,
            max_outstanding_bytes=self.max_outstanding_bytes,
            max_matches=self.max_matches,
            max_note_bytes=self.max_note_bytes,
            max_streams=self.max_streams,
            keepalive=pb.Keepalive(
                ping_after_ms=self.ping_after_ms,
                pong_within_ms=self.pong_within_ms,
                http2_interval_ms=self.http2_interval_ms,
                http2_timeout_ms=self.http2_timeout_ms,
            ),
        )


class TokenBucket:
    """Counts messages against a rate.

    Who exceeds it has used up what it had, and owes nothing: it has the rate again.

    Args:
        rate: messages per second.
        now: seconds of a monotonic clock.
        most: messages at once; default: those of `BURST_S` seconds.
    """

    __slots__ = ("_left", "_most", "_rate", "_then")

    def __init__(self, rate: float, now: float, most: float = 0) -> None:
        self._rate = rate
        self._most = self._left = most or rate * BURST_S
        self._then = now

    def take(self, count: int, now: float) -> bool:
        """Count messages; return whether they were within the rate."""
        left = self._left + (now - self._then) * self._rate
        self._then = now
        left = min(left, self._most) - count
        self._left = max(left, 0.0)
        return left >= 0

    def has(self, now: float) -> bool:
        """Count a message only if it is within the rate; return whether it is."""
        self.take(0, now)
        return self._left >= 1 and self.take(1, now)


class OpenStreams:
    """Counts the streams that are open, token by token.

    Args:
        most: of one token.
        what: they are, for people.
    """

    def __init__(self, most: int, what: str) -> None:
        self._most = most
        self._what = what
        self._open: Counter[str] = Counter()

    @property
    def count(self) -> int:
        """How many are open."""
        return self._open.total()

    @contextlib.contextmanager
    def one(self, token: Token) -> Iterator[None]:
        """Count a stream while it is open.

        Raises:
            ServiceError: ``limit.streams`` if there are too many.
        """
        key = token.hash
        if self._open[key] >= self._most:
            msg = f"{self._most} {self._what} are open with this token; close one first"
            raise ServiceError(msg, code="limit.streams", retry_after_ms=1_000)
        self._open[key] += 1
        try:
            yield
        finally:
            self._open[key] -= 1
            if not self._open[key]:
                del self._open[key]
