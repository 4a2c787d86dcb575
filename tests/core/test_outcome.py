from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fritillary.core.outcome import Outcome, rank

scores = st.lists(st.integers(-9, 9), min_size=1, max_size=7)


@pytest.mark.parametrize(
    ("numbers", "places"),
    [
        ([3], (1,)),
        ([1, 0], (1, 2)),
        ([0, 1], (2, 1)),
        ([5, 5, 2], (1, 1, 3)),
        ([2, 5, 5, 7], (4, 2, 2, 1)),
        ([0, 0, 0], (1, 1, 1)),
    ],
)
def test_ties_share_a_place_and_leave_the_next_ones_empty(
    numbers: list[int], places: tuple[int, ...]
) -> None:
    assert rank(numbers) == places
    assert Outcome.ranked("end", numbers).placing == places


@given(scores)
def test_a_place_is_one_more_than_the_number_of_better_seats(
    numbers: list[int],
) -> None:
    outcome = Outcome.ranked("end", numbers)
    assert outcome.scores == tuple(numbers)
    for score, place in zip(numbers, outcome.placing, strict=True):
        assert place == 1 + len([other for other in numbers if other > score])
    assert [numbers[seat] for seat in outcome.winners] == [max(numbers)] * len(
        outcome.winners
    )
    assert outcome.winners


@given(scores)
def test_a_placing_may_differ_from_the_scores_but_has_their_form(
    numbers: list[int],
) -> None:
    placing = rank(numbers)
    outcome = Outcome("forfeit", [0] * len(numbers), list(placing))
    assert outcome.placing == placing
    assert hash(outcome) == hash(Outcome("forfeit", (0,) * len(numbers), placing))


@pytest.mark.parametrize("placing", [(1, 3), (2, 2), (1, 1, 2), (0, 1), (2, 3)])
def test_a_placing_with_gaps_or_without_a_first_is_refused(
    placing: tuple[int, ...],
) -> None:
    with pytest.raises(ValueError, match="not of the form 1, 1, 3"):
        Outcome("end", (0,) * len(placing), placing)


@pytest.mark.parametrize(("numbers", "placing"), [((1, 2), (1,)), ((), ())])
def test_an_outcome_has_a_score_and_a_place_for_each_seat(
    numbers: tuple[int, ...], placing: tuple[int, ...]
) -> None:
    with pytest.raises(ValueError, match="one score and one place per seat"):
        Outcome("end", numbers, placing)


def test_reasons_are_words_and_scores_integers() -> None:
    with pytest.raises(TypeError, match="reason"):
        Outcome(None, (1,), (1,))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="scores"):
        Outcome("end", (0.5,), (1,))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="placing"):
        Outcome("end", (1,), ("1",))  # type: ignore[arg-type]


def test_a_truth_value_is_no_score() -> None:
    with pytest.raises(TypeError, match="scores are integers"):
        Outcome("end", (0, True), (1, 1))


@pytest.mark.parametrize("score", [2**53, -(2**53)])
def test_scores_are_integers_that_every_language_can_hold(score: int) -> None:
    with pytest.raises(ValueError, match="53 bits"):
        Outcome("end", (0, score), (1, 1))
