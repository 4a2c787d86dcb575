"""Elo: expected scores as differences on a logistic scale."""

from __future__ import annotations

import math
from typing import Final

#: The unit of normalised Elo; it agrees with logistic Elo where players are nearly
#: equal and do not draw.
SCALE: Final = 800 / math.log(10)


def elo_of_score(score: float) -> float:
    """Return the difference of Elo at which a score is expected.

    Args:
        score: from 0 to 1; the ends give minus and plus infinity.

    Raises:
        ValueError: if the score is out of range.
    """
    if not 0 <= score <= 1:
        msg = f"a score is from 0 to 1, not {score}"
        raise ValueError(msg)
    if score in {0, 1}:
        return math.copysign(math.inf, score - 0.5)
    return SCALE / 2 * (math.log(score) - math.log1p(-score))


def score_of_elo(elo: float) -> float:
    """Return the score that is expected at a difference of Elo, which may be infinite.

    Raises:
        ValueError: if it is no number.
    """
    if math.isnan(elo):
        msg = "a difference of Elo is a number"
        raise ValueError(msg)
    # The logistic function, which as a power of ten would overflow.
    return (1 + math.tanh(elo / SCALE)) / 2
