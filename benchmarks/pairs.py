"""Ratios of two rates measured sample beside sample.

The machines are noisy: a rate alone says little, so every figure is a ratio against a
reference that runs directly before and after it in the same process.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from attrs import frozen

#: Runs a workload for about so many seconds; returns how many units it did.
Workload = Callable[[float], int]


@frozen
class Ratio:
    """Median and spread of the ratios, and the median rates per second."""

    median: float
    low: float
    high: float
    rate: float
    reference: float


def rate(workload: Workload, seconds: float) -> float:
    start = time.perf_counter()
    units = workload(seconds)
    return units / (time.perf_counter() - start)


def compare(
    workload: Workload, reference: Workload, *, rounds: int, seconds: float
) -> Ratio:
    """Alternate the two; each sample is held against its neighbours."""
    workload(seconds / 4)
    reference(seconds / 4)
    rates, references = [], [rate(reference, seconds)]
    for _ in range(rounds):
        rates.append(rate(workload, seconds))
        references.append(rate(reference, seconds))
    return ratio_of(rates, references)


def ratio_of(rates: list[float], references: list[float]) -> Ratio:
    """Hold each rate against the references before and after it."""
    ratios = [
        2 * mine / (before + after)
        for mine, before, after in zip(rates, references, references[1:], strict=False)
    ]
    return Ratio(
        statistics.median(ratios),
        min(ratios),
        max(ratios),
        statistics.median(rates),
        statistics.median(references),
    )


def until(seconds: float, once: Callable[[], int]) -> int:
    """Repeat something until the time is up; return the sum of its units."""
    stop = time.perf_counter() + seconds
    units = 0
    while time.perf_counter() < stop:
        units += once()
    return units
