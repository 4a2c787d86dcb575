"""What an outcome is worth to each seat, from 0 to 1."""

from __future__ import annotations

from typing import Final

from fritillary.core.outcome import Outcome

#: What a search can be after.
OBJECTIVES: Final = ("place", "score", "both")

#: Share of the score where both count: it decides between equal chances to win.
_SCORE_SHARE: Final = 0.1

Payoffs = tuple[float, ...]


def by_place(outcome: Outcome) -> Payoffs:
    """Return the share of the other seats that each seat beats; a tie is half a win.

    A seat alone gets 1 for place 1.
    """
    placing = outcome.placing
    if len(placing) == 2:
        first, second = placing
        if first == second:
            return (0.5, 0.5)
        return (1.0, 0.0) if first < second else (0.0, 1.0)
    if len(placing) == 1:
        return (1.0,)
    others = len(placing) - 1
    return tuple(
        sum(1.0 if mine < other else 0.5 for other in placing if other >= mine) / others
        - 0.5 / others
        for mine in placing
    )


class Payoff:
    """Turns outcomes into payoffs.

    Scores have no bounds that the rules tell, so they are measured against the largest
    lead seen so far: payoffs by score of one search can be compared, those of two not.

    Args:
        objective: ``place``, ``score`` (the lead over the mean of the others), or
            ``both``: places first, scores decide between equal ones.

    Raises:
        ValueError: if it is none of these.
    """

    def __init__(self, objective: str) -> None:
        if objective not in OBJECTIVES:
            msg = f"objective must be one of {', '.join(OBJECTIVES)}; not {objective!r}"
            raise ValueError(msg)
        self._objective = objective
        self._largest = 1.0

    def __call__(self, outcome: Outcome) -> Payoffs:
        """Return one payoff per seat."""
        if self._objective == "place":
            return by_place(outcome)
        scores = self._by_score(outcome.scores)
        if self._objective == "score":
            return scores
        places = by_place(outcome)
        if len(places) == 2:
            return (
                (1 - _SCORE_SHARE) * places[0] + _SCORE_SHARE * scores[0],
                (1 - _SCORE_SHARE) * places[1] + _SCORE_SHARE * scores[1],
            )
        return tuple(
            (1 - _SCORE_SHARE) * place + _SCORE_SHARE * score
            for place, score in zip(places, scores, strict=True)
        )

    def _by_score(self, scores: tuple[int, ...]) -> Payoffs:
        if len(scores) == 2:
            lead = scores[0] - scores[1]
            if abs(lead) > self._largest:
                self._largest = float(abs(lead))
            share = lead / (2 * self._largest)
            return 0.5 + share, 0.5 - share
        total, others = sum(scores), max(len(scores) - 1, 1)
        leads = [
            score - (total - score) / others if len(scores) > 1 else float(score)
            for score in scores
        ]
        self._largest = largest = max(self._largest, *map(abs, leads))
        return tuple(0.5 + lead / (2 * largest) for lead in leads)
