"""How strong a player is, and how sure that is."""

from __future__ import annotations

import math
import statistics
from typing import Final

from attrs import frozen

from fritillary.statistics.blocks import Blocks
from fritillary.statistics.elo import SCALE, elo_of_score
from fritillary.statistics.likelihood import bisected, mean_likelihood

_CONFIDENCE: Final = 0.95


def quantile(confidence: float) -> float:
    """Return how many standard errors to both sides hold so much of a normal.

    Args:
        confidence: between 0 and 1: 0.95 gives 1.96.

    Raises:
        ValueError: if it is out of range.
    """
    if not 0 < confidence < 1:
        msg = f"a confidence is between 0 and 1, not {confidence}"
        raise ValueError(msg)
    return statistics.NormalDist().inv_cdf((1 + confidence) / 2)


@frozen
class Estimate:
    """A mean score with its spread.

    Args:
        score: the mean, from 0 to 1.
        error: its standard error.
        low: lower end of its interval.
        high: upper end.
    """

    score: float
    error: float
    low: float
    high: float

    @property
    def elo(self) -> float:
        """The difference of logistic Elo, infinite for a score of 0 or 1."""
        return elo_of_score(self.score)

    @property
    def elo_low(self) -> float:
        """Lower end of its interval: that of the score on the other scale."""
        return elo_of_score(self.low)

    @property
    def elo_high(self) -> float:
        """Upper end of its interval."""
        return elo_of_score(self.high)


def estimate(
    blocks: Blocks, confidence: float = _CONFIDENCE, *, normal: bool = False
) -> Estimate:
    """Return the mean score, its standard error and its interval.

    The interval holds each mean that a likelihood ratio test does not reject. It stays
    between 0 and 1, and has a width where all blocks have the same score. With many
    blocks it is the usual one, `normal`: so many standard errors to both sides.

    As any interval it holds for a number of blocks that was fixed beforehand. After a
    sequential test has stopped, the estimate is on average too far from the middle of
    the hypotheses.

    Args:
        blocks: at least one.
        confidence: of the interval, between 0 and 1.
        normal: take the usual interval, cut off at 0 and 1.

    Raises:
        ValueError: if there is no block, or the confidence is out of range.
    """
    z = quantile(confidence)
    mean, error = blocks.mean, blocks.error
    if normal:
        low, high = max(mean - z * error, 0.0), min(mean + z * error, 1.0)
        return Estimate(mean, error, low, high)
    weights = blocks.weights()
    total = math.fsum(weight for _, weight in weights)
    likeliest = math.fsum(score * weight for score, weight in weights) / total
    most = z * z / 2

    def inside(score: float) -> float:
        return mean_likelihood(weights, score) + most

    low = bisected(lambda score: -inside(score), 0.0, likeliest)
    high = bisected(inside, likeliest, 1.0)
    # Scores that did not come have shifted it a little.
    return Estimate(mean, error, min(low, mean), max(high, mean))


def normalised_elo(
    blocks: Blocks, confidence: float = _CONFIDENCE
) -> tuple[float, float]:
    """Return normalised Elo and the half width of its interval.

    Raises:
        ValueError: if there is no block, or the confidence is out of range.
    """
    lead = blocks.mean - 0.5
    deviation = math.sqrt(blocks.matches * blocks.variance)
    half = quantile(confidence) * SCALE / math.sqrt(blocks.matches * blocks.number)
    if deviation:
        return SCALE * lead / deviation, half
    return math.copysign(math.inf, lead) if lead else 0.0, half
