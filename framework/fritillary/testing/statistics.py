"""The few statistics that the laws need, with very rare false alarms."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping
from typing import Any, Final

#: A share of the draws is called higher from this many standard deviations on:
#: by mere luck, that happens once in a billion checks.
Z: Final = 6.0

#: Fewer occurrences of a value than this, in both samples together, are pooled.
_POOLED: Final = 20

_STEPS: Final = 10_000


def significantly_more(one: int, other: int) -> bool:
    """Say whether one count is higher than another by more than luck.

    Both count successes in equally many independent trials.
    """
    return one > other and (one - other) ** 2 > Z * Z * (one + other)


#: With this many successes against none, `significantly_more` is sure.
CLEAR: Final = int(Z * Z) + 1


def chi_square_tail(statistic: float, freedom: int) -> float:
    """Return the probability that a chi-square variable exceeds a value.

    Args:
        statistic: the value, 0 or more.
        freedom: degrees of freedom, 1 or more.
    """
    a, x = freedom / 2, statistic / 2
    if x <= 0:
        return 1.0
    scale = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x < a + 1:
        term = total = 1 / a
        for step in range(1, _STEPS):
            term *= x / (a + step)
            total += term
            if term < total * 1e-15:
                break
        return max(0.0, 1 - scale * total)
    # Lentz's evaluation of the continued fraction of the upper tail.
    tiny = 1e-300
    b = x + 1 - a
    c, d = 1 / tiny, 1 / b
    fraction = d
    for step in range(1, _STEPS):
        numerator = -step * (step - a)
        b += 2
        d = 1 / (numerator * d + b or tiny)
        c = b + numerator / c or tiny
        fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return scale * fraction


def two_sample_test(one: Mapping[Any, int], other: Mapping[Any, int]) -> float:
    """Return the p-value of two equally large samples of one distribution.

    Pearson's chi-square test of homogeneity; rare values are pooled, which looks
    at both samples together only and so favours neither.

    Args:
        one: how often each value occurred.
        other: the same, for the other sample.
    """
    cells: list[tuple[int, int]] = []
    rare_one = rare_other = 0
    for value in dict.fromkeys([*one, *other]):
        a, b = one.get(value, 0), other.get(value, 0)
        if a + b >= _POOLED:
            cells.append((a, b))
        else:
            rare_one += a
            rare_other += b
    if rare_one + rare_other >= _POOLED:
        cells.append((rare_one, rare_other))
    if len(cells) < 2:
        return 1.0
    statistic = sum((a - b) ** 2 / (a + b) for a, b in cells)
    return chi_square_tail(statistic, len(cells) - 1)


def most_different(
    one: Counter[Hashable], other: Counter[Hashable]
) -> tuple[Hashable, int, int]:
    """Return the value whose counts differ most, with both counts."""
    value = max(dict.fromkeys([*one, *other]), key=lambda v: abs(one[v] - other[v]))
    return value, one[value], other[value]
