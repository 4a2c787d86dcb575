"""Likelihoods of block scores under hypotheses about their mean.

The generalised likelihood ratio of two hypotheses: each is represented by the
distribution over the scores that came which fits them best among those that it allows.
See M. Van den Bergh, "Comments on normalized Elo" and "GSPRT approximation"; X. Li,
J. Liu and Z. Ying, "Generalized sequential probability ratio test" (2014).
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Sequence
from typing import Final

from attrs import field, frozen

from fritillary.statistics.blocks import Blocks
from fritillary.statistics.elo import SCALE, score_of_elo

#: Scores and how often they came.
Weights = Sequence[tuple[float, float]]

#: More halvings than a float has digits.
_HALVINGS: Final = 200

#: Deviations that are looked at, as logarithms: how far down, in how many steps, and
#: how closely at last.
_SPAN: Final = 8.0
_STEPS: Final = 32
_CLOSE: Final = 1e-7

#: The most that normalised Elo can be, in a hypothesis.
_FAR: Final = 10_000.0

#: The smaller part of a golden section.
_GOLDEN: Final = (3 - math.sqrt(5)) / 2


class Unit(enum.Enum):
    """What hypotheses are told in."""

    #: The mean score, between 0 and 1.
    SCORE = "score"
    #: Logistic Elo.
    ELO = "elo"
    #: Normalised Elo: the distance of the mean from 1/2 in standard deviations of a
    #: match, times 800 / ln 10. How many matches it takes follows from it alone.
    NORMALISED = "normalised"


@frozen
class Hypotheses:
    """Two simple hypotheses.

    Args:
        low: what H0 says.
        high: what H1 says; more than that.
        unit: of both.

    Raises:
        ValueError: if they are not in this order, or out of range.
    """

    low: float
    high: float
    unit: Unit = field(default=Unit.SCORE)

    def __attrs_post_init__(self) -> None:
        if not self.low < self.high:
            msg = f"H0 must be below H1: {self.low} is not below {self.high}"
            raise ValueError(msg)
        low, high = self.low, self.high
        if self.unit is Unit.SCORE:
            fits = low > 0 and high < 1
        elif self.unit is Unit.ELO:
            fits = score_of_elo(low) > 0 and score_of_elo(high) < 1
        else:
            fits = low >= -_FAR and high <= _FAR
        if not fits:
            msg = f"{low} and {high} are no hypotheses in {self.unit.value}"
            raise ValueError(msg)


def bisected(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function that falls from plus to minus crosses zero.

    Args:
        function: positive near the low end, negative near the high one.
        low: end of the interval.
        high: other end; neither is evaluated.
    """
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if function(middle) > 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _fitted(weights: Weights, offsets: Sequence[float]) -> float:
    """Return how likely the scores are where offsets have the mean 0.

    By a Lagrange multiplier t the likeliest share of a cell is that which came,
    divided by ``1 + t * offset``.

    Args:
        weights: of the cells.
        offsets: one for each cell, some negative and some positive.
    """
    terms = [
        (weight, offset) for (_, weight), offset in zip(weights, offsets, strict=True)
    ]

    def slope(t: float) -> float:
        return math.fsum(weight * offset / (1 + t * offset) for weight, offset in terms)

    t = bisected(slope, -1 / max(offsets), -1 / min(offsets))
    return -math.fsum(weight * math.log1p(t * offset) for weight, offset in terms)


def mean_likelihood(weights: Weights, mean: float) -> float:
    """Return how likely the scores are if that is their mean.

    As a logarithm, 0 or less, against what fits them best.

    Args:
        weights: scores and how often they came, 0 and 1 among them.
        mean: between 0 and 1, both excluded.
    """
    return _fitted(weights, [score - mean for score, _ in weights])


def distance_likelihood(weights: Weights, distance: float) -> float:
    """Return how likely the scores are if their mean lies so far from 1/2.

    As a logarithm, 0 or less, against what fits them best.

    A standard deviation is the least of ``(s + E(a - m)**2 / s) / 2`` over all m and s.
    So distributions whose mean is far enough fulfil one of many linear constraints,
    and those whose mean is not too far fulfil all of them. Either way the likelihood
    is an extreme over s, with ``m = 1/2 + distance * s``.

    Args:
        weights: scores and how often they came, 0 and 1 among them.
        distance: in standard deviations.
    """
    if distance < 0:
        weights = [(1 - score, weight) for score, weight in reversed(weights)]
        distance = -distance
    if not distance:
        return mean_likelihood(weights, 0.5)
    total = math.fsum(weight for _, weight in weights)
    mean = math.fsum(score * weight for score, weight in weights) / total
    variance = math.fsum((score - mean) ** 2 * weight for score, weight in weights)
    too_near = mean - 0.5 < distance * math.sqrt(variance / total)
    sign = 1 if too_near else -1

    def at(logarithm: float) -> float:
        s = math.exp(logarithm)
        m = 0.5 + distance * s
        offsets = [
            score - 0.5 - distance * s * (1 + ((score - m) / s) ** 2) / 2
            for score, _ in weights
        ]
        if max(offsets) <= 0:
            # No distribution has this mean and deviation, or all are near enough.
            return -math.inf if too_near else 0.0
        lead = math.fsum(
            weight * offset
            for (_, weight), offset in zip(weights, offsets, strict=True)
        )
        if not too_near and lead <= 0:
            return 0.0
        return sign * _fitted(weights, offsets)

    most = math.log(min(0.5, 0.5 / distance))
    return sign * _highest(at, most - _SPAN, most)


def _highest(function: Callable[[float], float], low: float, high: float) -> float:
    """Return the highest value of a function that has one hill, or is flat.

    It may be minus infinity, but not at the high end and close before it.
    """
    step = (high - low) / _STEPS
    values = [function(low + number * step) for number in range(_STEPS)]
    values.append(function(high))
    best = max(values)
    at = values.index(best)
    left = low + max(at - 1, 0) * step
    right = high if at + 1 >= _STEPS else low + (at + 1) * step
    while right - left > _CLOSE:
        one, other = left + (right - left) * _GOLDEN, right - (right - left) * _GOLDEN
        lower, upper = function(one), function(other)
        best = max(best, lower, upper)
        if lower <= upper:
            left = one
        else:
            right = other
    return best


def log_likelihood_ratio(blocks: Blocks, hypotheses: Hypotheses) -> float:
    """Return the logarithm of how much likelier H1 makes the blocks than H0.

    Scores of the grid that did not come count 0.001, so that it is always finite;
    without any block it is 0.
    """
    if not blocks.number:
        return 0.0
    weights = blocks.weights()

    def likelihood(value: float) -> float:
        if hypotheses.unit is Unit.SCORE:
            return mean_likelihood(weights, value)
        if hypotheses.unit is Unit.ELO:
            return mean_likelihood(weights, score_of_elo(value))
        # A block's mean strays less than a match's by the root of their number.
        distance = value / SCALE * math.sqrt(blocks.matches)
        return distance_likelihood(weights, distance)

    return likelihood(hypotheses.high) - likelihood(hypotheses.low)
