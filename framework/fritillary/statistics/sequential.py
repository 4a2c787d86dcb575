"""A sequential test that ends at a cap."""

from __future__ import annotations

import enum
import math

from attrs import define, field

from fritillary.statistics.blocks import Blocks
from fritillary.statistics.likelihood import Hypotheses, log_likelihood_ratio


class Verdict(enum.Enum):
    """What a test has come to."""

    #: It goes on.
    OPEN = "open"
    #: H0 was accepted.
    LOW = "low"
    #: H1 was accepted.
    HIGH = "high"
    #: The cap was reached without a decision.
    UNDECIDED = "undecided"


@define
class CappedTest:
    """A generalised sequential probability ratio test of two hypotheses, with a cap.

    After each block the log likelihood ratio is compared with ``log((1 - beta) /
    alpha)`` and ``log(beta / (1 - alpha))`` (Wald), without a correction for how far
    the last block oversteps them, which makes it a little stricter than asked for. The
    cap takes decisions away and adds no wrong ones, but what it leaves undecided is
    not half and half.

    Blocks are to be added in the order of the schedule, see `Frontier`.

    Args:
        hypotheses: H0 and H1.
        most: blocks, after which it ends undecided; 1 or more.
        least: blocks before it may decide; so many make a first estimate.
        alpha: how often H1 may be accepted where H0 is true.
        beta: how often H0 may be accepted where H1 is true.

    Raises:
        ValueError: if one is out of range.

    Attributes:
        blocks: so far.
        ratio: the log likelihood ratio.
        verdict: so far.
    """

    hypotheses: Hypotheses
    most: int = field(kw_only=True)
    least: int = field(default=1, kw_only=True)
    alpha: float = field(default=0.05, kw_only=True)
    beta: float = field(default=0.05, kw_only=True)
    blocks: Blocks = field(factory=Blocks, kw_only=True)
    ratio: float = field(default=0.0, init=False)
    verdict: Verdict = field(default=Verdict.OPEN, init=False)

    def __attrs_post_init__(self) -> None:
        if self.most < 1:
            msg = f"a cap is at least one block, not {self.most}"
            raise ValueError(msg)
        if not (self.alpha > 0 and self.beta > 0 and self.alpha + self.beta < 1):
            msg = (
                "alpha and beta are positive and together less than 1, not "
                f"{self.alpha} and {self.beta}"
            )
            raise ValueError(msg)
        if self.blocks.number:
            msg = "a test begins without blocks"
            raise ValueError(msg)

    @property
    def lower(self) -> float:
        """The log likelihood ratio at which H0 is accepted."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """The log likelihood ratio at which H1 is accepted."""
        return math.log((1 - self.beta) / self.alpha)

    def add(self, score: float) -> Verdict:
        """Add the next block; return the verdict.

        Raises:
            ValueError: if the score is out of range, or the test is over.
        """
        if self.verdict is not Verdict.OPEN:
            msg = "the test is over"
            raise ValueError(msg)
        self.blocks.add(score)
        self.ratio = log_likelihood_ratio(self.blocks, self.hypotheses)
        number = self.blocks.number
        if number >= min(self.least, self.most):
            if self.ratio >= self.upper:
                self.verdict = Verdict.HIGH
            elif self.ratio <= self.lower:
                self.verdict = Verdict.LOW
            elif number >= self.most:
                self.verdict = Verdict.UNDECIDED
        return self.verdict
