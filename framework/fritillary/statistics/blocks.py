"""Blocks: the results of one player, deal by deal."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, Self

from attrs import define, field

#: Weight of a score that could have come and did not, in a likelihood.
_FILLER: Final = 0.001


def grid_of(matches: int) -> tuple[float, ...]:
    """Return the scores that a block of matches can have, a draw counting one half.

    Args:
        matches: of a block, 1 or more: 1 gives (0, 1/2, 1), 2 gives quarters.

    Raises:
        ValueError: if there is none.
    """
    if matches < 1:
        msg = f"a block has at least one match, not {matches}"
        raise ValueError(msg)
    return tuple(step / (2 * matches) for step in range(2 * matches + 1))


#: The scores of a deal that two players play twice, with seats changed.
PAIR: Final = grid_of(2)


def _checked(score: float) -> float:
    if 0 <= score <= 1:
        return score
    msg = f"a score is from 0 to 1, not {score}"
    raise ValueError(msg)


@define
class Blocks:
    """A histogram of block scores.

    A block is one deal, played in all its seatings; its score is the mean of what one
    player scored in them, from 0 to 1, a draw counting one half. Matches of a block
    share the deal, so the block and not the match is the sample.

    Args:
        grid: scores that are possible, 0 and 1 among them. Others may come in as
            well, as they do where scores are no mere wins and draws.
        matches: of each block.

    Raises:
        ValueError: if a score is not from 0 to 1, or the grid lacks 0 or 1.
    """

    grid: tuple[float, ...] = PAIR
    matches: int = 2
    _counts: Counter[float] = field(factory=Counter, init=False)

    def __attrs_post_init__(self) -> None:
        for score in self.grid:
            _checked(score)
        if not {0, 1} <= set(self.grid):
            msg = "the scores that are possible include 0 and 1"
            raise ValueError(msg)
        if self.matches < 1:
            msg = f"a block has at least one match, not {self.matches}"
            raise ValueError(msg)

    @classmethod
    def of_counts(cls, counts: Sequence[int], matches: int) -> Self:
        """Return blocks by how often each score came, from 0 to 1 in equal steps.

        Args:
            counts: losses, draws and wins for blocks of one match; five counts, from
                two losses to two wins, for blocks of two.
            matches: of each block.

        Raises:
            ValueError: if there are not as many counts as scores, or one is negative.
        """
        grid = grid_of(matches)
        blocks = cls(grid, matches)
        for score, count in zip(grid, counts, strict=True):
            blocks.add(score, count)
        return blocks

    @classmethod
    def of_scores(cls, scores: Iterable[float]) -> Self:
        """Return blocks of two matches with these scores."""
        blocks = cls()
        for score in scores:
            blocks.add(score)
        return blocks

    def add(self, score: float, count: int = 1) -> None:
        """Add blocks of one score.

        Raises:
            ValueError: if the score is not from 0 to 1, or the count is negative.
        """
        if count < 0:
            msg = f"a score came {count} times"
            raise ValueError(msg)
        if count:
            self._counts[_checked(score)] += count

    @property
    def number(self) -> int:
        """How many blocks there are."""
        return self._counts.total()

    @property
    def counts(self) -> dict[float, int]:
        """How often each score came, lowest first; those of the grid in any case."""
        scores = sorted({*self.grid, *self._counts})
        return {score: self._counts[score] for score in scores}

    @property
    def mean(self) -> float:
        """The mean score.

        Raises:
            ValueError: if there is no block.
        """
        number = self.number
        if not number:
            msg = "there is no block yet"
            raise ValueError(msg)
        return (
            math.fsum(score * count for score, count in self._counts.items()) / number
        )

    @property
    def variance(self) -> float:
        """The variance of block scores, that of the sample itself.

        Raises:
            ValueError: if there is no block.
        """
        mean = self.mean
        return (
            math.fsum(
                (score - mean) ** 2 * count for score, count in self._counts.items()
            )
            / self.number
        )

    @property
    def error(self) -> float:
        """The standard error of the mean score.

        Seats and deals that favour a side do not inflate it, and matches of a block
        that resemble each other do not deflate it. It is 0 where all blocks have the
        same score, which says little while they are few.

        Raises:
            ValueError: if there is no block.
        """
        return math.sqrt(self.variance / self.number)

    def swapped(self) -> Self:
        """Return the same blocks as the other one of two players sees them."""
        other = type(self)(tuple(1 - score for score in self.grid), self.matches)
        for score, count in self._counts.items():
            other.add(1 - score, count)
        return other

    def weights(self) -> tuple[tuple[float, float], ...]:
        """Return scores and how often they came, for likelihoods.

        A score of the grid that did not come counts 0.001, so that no likelihood is
        zero; both ends of the range are there.
        """
        return tuple((score, count or _FILLER) for score, count in self.counts.items())
