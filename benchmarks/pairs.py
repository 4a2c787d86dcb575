"""Ratios of two rates measured sample beside sample.

The machines are noisy: a rate alone says little, so every figure is a ratio against a
reference that runs directly before and after it. Work inside one process is timed by
the CPU that the process took, which others on the machine disturb less than the clock
on the wall.
"""

from __future__ import annotations

import functools
import statistics
import time
from collections.abc import Callable, Sequence

from attrs import frozen

#: Runs a workload for about so many seconds; returns how many units it did.
Workload = Callable[[float], int]

#: Takes one sample of about so many seconds; returns units per second.
Sample = Callable[[float], float]


@frozen
class Ratio:
    """Median and spread of the ratios, and the median rates per second."""

    median: float
    low: float
    high: float
    rate: float
    reference: float


def rate(workload: Workload, seconds: float) -> float:
    """Return units per second of CPU."""
    start = time.process_time()
    units = workload(seconds)
    return units / (time.process_time() - start)


def compare(
    workload: Workload, reference: Workload, *, rounds: int, seconds: float
) -> Ratio:
    """Alternate the two; each sample is held against its neighbours."""
    return beside(
        functools.partial(rate, workload),
        functools.partial(rate, reference),
        rounds=rounds,
        seconds=seconds,
    )


def beside(sample: Sample, reference: Sample, *, rounds: int, seconds: float) -> Ratio:
    """Do the same with what measures itself."""
    sample(seconds / 4)
    reference(seconds / 4)
    rates, references = [], [reference(seconds)]
    for _ in range(rounds):
        rates.append(sample(seconds))
        references.append(reference(seconds))
    return ratio_of(rates, references)


def ratio_of(rates: Sequence[float], references: Sequence[float]) -> Ratio:
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
    """Repeat something for so much CPU, once at least; return the sum of its units."""
    before = time.process_time()
    stop = before + seconds
    units = once()
    times = 1
    while (now := time.process_time()) < stop:
        # A look at the clock takes as long as a few plies of a quick game.
        if now - before < seconds / 100:
            times *= 2
        before = now
        for _ in range(times):
            units += once()
    return units
