"""What came of an attack: frames sent, codes answered, streams cut."""

from __future__ import annotations

from collections import Counter
from typing import Final

#: How gRPC itself refuses what it cannot take, and how streams end that nobody
#: refused: the calls that we cancel, and those that come to their end.
TRANSPORT: Final = frozenset(
    {
        *("CANCELLED", "OK", "RESOURCE_EXHAUSTED"),
        *("cut", "goaway http2.no-error", "goaway http2.protocol-error"),
        *("goaway http2.enhance-your-calm", "goaway http2.frame-size-error"),
        *("goaway http2.flow-control-error", "goaway http2.compression-error"),
        *("http2.cancel", "http2.no-error", "http2.protocol-error"),
        *("http2.refused-stream", "http2.stream-closed", "http2.flow-control-error"),
        *("http2.enhance-your-calm", "http2.frame-size-error", "http2.internal-error"),
        *("http.400", "http.415", "http.405", "http.501", "http.200"),
    }
)


class Tally:
    """Counts what one kind of attack sent, and what it led to.

    Attributes:
        sent: frames, calls or connections.
        codes: of refusals and notices.
        cut: streams and connections that ended without a code of the service.
        wrong: sentences on what must not be.
    """

    def __init__(self) -> None:
        self.sent = 0
        self.codes: Counter[str] = Counter()
        self.cut: Counter[str] = Counter()
        self.wrong: list[str] = []

    def code(self, code: str) -> None:
        """Count what the service said."""
        self.codes[code] += 1

    def ended(self, how: str) -> None:
        """Count the end of a stream or connection.

        Args:
            how: as `Http2` tells it.
        """
        if "." in how and not how.startswith(("http", "goaway")):
            self.codes[how] += 1
        elif how != "OK":
            self.cut[how] += 1

    def expect(self, holds: object, sentence: str) -> None:
        """Note what is wrong unless something holds."""
        if not holds and len(self.wrong) < 20:
            self.wrong.append(sentence)

    def judge(self, expected: frozenset[str]) -> list[str]:
        """Return what is wrong.

        Args:
            expected: codes that such an attack may lead to, besides what gRPC says
                of what it cannot take.
        """
        codes = self.codes.keys() - expected
        ends = self.cut.keys() - TRANSPORT - expected
        return [
            *self.wrong,
            *(f"code {one!r}, {self.codes[one]} times" for one in sorted(codes)),
            *(f"an end {one!r}, {self.cut[one]} times" for one in sorted(ends)),
        ]

    def add(self, other: Tally) -> None:
        """Count what another has counted as well."""
        self.sent += other.sent
        self.codes += other.codes
        self.cut += other.cut
        self.wrong += other.wrong
