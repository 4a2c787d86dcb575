"""What a search has found out about the actions at its root."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from attrs import field, frozen

#: Standard errors to each side: 95 % of a normal distribution.
_WIDTH = 1.96


@frozen
class Candidate:
    """One legal action as the search sees it.

    Args:
        action: of the seat to act.
        visits: iterations that chose it first.
        value: mean payoff for that seat, from 0 to 1; 0.5 without a visit.
        line: the action and what the search then looked at most, for each seat in turn;
            chance ends it.
    """

    action: Any
    visits: int
    value: float
    line: tuple[Any, ...] = ()

    @property
    def interval(self) -> tuple[float, float]:
        """Return an interval of the value, from 0 to 1, where payoffs are all or none.

        The score interval of Wilson (1927) at 95 %. The payoffs of a search are not
        independent: it says how little was looked at, not how wrong the search may be.
        """
        if not self.visits:
            return 0.0, 1.0
        n, p, z = self.visits, self.value, _WIDTH
        middle = (p + z * z / (2 * n)) / (1 + z * z / n)
        half = (
            z
            / (1 + z * z / n)
            * math.sqrt(max(p * (1 - p), 0) / n + z * z / (4 * n * n))
        )
        return max(middle - half, 0.0), min(middle + half, 1.0)


def _tuple(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    return tuple(candidates)


@frozen
class Found:
    """The result of a search.

    Args:
        candidates: one for each legal action, in their order.
        iterations: that were made, those of a kept tree included.
        by_value: the visits are of no meaning, the best value is the best action.
    """

    candidates: tuple[Candidate, ...] = field(converter=_tuple)
    iterations: int
    by_value: bool = False

    @property
    def ranked(self) -> list[Candidate]:
        """Return the candidates, best first: by visits, then by value."""
        return sorted(self.candidates, key=self._merit, reverse=True)

    @property
    def best(self) -> Candidate:
        """Return the candidate to choose; of equals the first."""
        return max(self.candidates, key=self._merit)

    def _merit(self, one: Candidate) -> tuple[float, float]:
        return (one.value, one.visits) if self.by_value else (one.visits, one.value)

    @property
    def shares(self) -> tuple[float, ...]:
        """Return each candidate's share of the visits; they sum to 1."""
        total = sum(each.visits for each in self.candidates)
        if not total:
            return (1 / len(self.candidates),) * len(self.candidates)
        return tuple(each.visits / total for each in self.candidates)
