"""The outcome of a match in which seats were forfeited."""

from __future__ import annotations

from collections.abc import Sequence

from fritillary.core.outcome import Outcome, rank

#: The reason that stands in an outcome which forfeits alone decided.
FORFEIT = "forfeit"


def settled_by_forfeit(seats: int, forfeited: Sequence[int]) -> Outcome:
    """Return the outcome when at most one seat is left.

    Its score is 1 and that of the others 0; those forfeited share the place after
    it. The scores of the rules have no meaning for a match that was not played.
    """
    scores = [0 if seat in forfeited else 1 for seat in range(seats)]
    return Outcome.ranked(FORFEIT, scores)


def with_forfeits(outcome: Outcome, forfeited: Sequence[int]) -> Outcome:
    """Return the rules' outcome with the forfeited seats placed last.

    Scores stay those of the rules; forfeited seats share the last place.
    """
    if not forfeited:
        return outcome
    last = len(outcome.placing) + 1
    keys = [
        -last if seat in forfeited else -place
        for seat, place in enumerate(outcome.placing)
    ]
    return Outcome(outcome.reason, outcome.scores, rank(keys))
