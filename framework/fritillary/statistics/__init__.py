"""What can be said of strength from matches: pure, of numbers alone.

The sample is the block: one deal with all its seatings, see `Blocks`. Nothing here
plays, draws by chance, or knows of bots and games.
"""

from fritillary.statistics.blocks import PAIR, Blocks, grid_of
from fritillary.statistics.elo import elo_of_score, score_of_elo
from fritillary.statistics.estimates import (
    Estimate,
    estimate,
    normalised_elo,
    quantile,
)
from fritillary.statistics.frontier import Frontier
from fritillary.statistics.likelihood import Hypotheses, Unit, log_likelihood_ratio
from fritillary.statistics.sequential import CappedTest, Verdict

__all__ = [
    "PAIR",
    "Blocks",
    "CappedTest",
    "Estimate",
    "Frontier",
    "Hypotheses",
    "Unit",
    "Verdict",
    "elo_of_score",
    "estimate",
    "grid_of",
    "log_likelihood_ratio",
    "normalised_elo",
    "quantile",
    "score_of_elo",
]
