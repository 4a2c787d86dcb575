"""What is told of many measurements: their middle, and how far they reach."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Self

from attrs import frozen


@frozen
class Figures:
    """The figures of some measurements, at least one; all in their unit.

    Each is one of the measurements, by nearest rank: none is between two of them.

    Args:
        count: how many there are.
        median: half of them are no more.
        p95: 95 of 100 are no more.
        p99: 99 of 100 are no more.
        most: the greatest.
        total: their sum.
    """

    count: int
    median: float
    p95: float
    p99: float
    most: float
    total: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Self | None:
        """Return the figures; ``None`` if there is nothing to tell of."""
        ranked = sorted(values)
        if not ranked:
            return None

        def at(part: float) -> float:
            return ranked[max(1, math.ceil(len(ranked) * part)) - 1]

        return cls(len(ranked), at(0.5), at(0.95), at(0.99), ranked[-1], sum(ranked))

    def data_ms(self) -> dict[str, Any]:
        """Return them as data, to a microsecond, if they are milliseconds."""
        return {
            "count": self.count,
            "median_ms": round(self.median, 3),
            "p95_ms": round(self.p95, 3),
            "p99_ms": round(self.p99, 3),
            "max_ms": round(self.most, 3),
            "sum_ms": round(self.total, 3),
        }
