"""What searches count with: payoffs, budgets, candidates."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fritillary.bots.protocol import Clock
from fritillary.bots.search.budget import USUAL_ITERATIONS, Budget
from fritillary.bots.search.found import Candidate, Found
from fritillary.bots.search.payoffs import Payoff, by_place
from fritillary.core.outcome import Outcome

# ------------------------------------------------------------------------- payoffs


@pytest.mark.parametrize(
    ("placing", "payoffs"),
    [
        ((1,), (1.0,)),
        ((1, 2), (1.0, 0.0)),
        ((2, 1), (0.0, 1.0)),
        ((1, 1), (0.5, 0.5)),
        ((1, 2, 3), (1.0, 0.5, 0.0)),
        ((1, 1, 3), (0.75, 0.75, 0.0)),
        ((2, 1, 2, 4), (0.5, 1.0, 0.5, 0.0)),
        ((1, 1, 1, 1), (0.5, 0.5, 0.5, 0.5)),
    ],
)
def test_a_place_is_worth_the_share_of_the_seats_that_are_beaten(placing, payoffs):
    outcome = Outcome("won", (0,) * len(placing), placing)
    assert by_place(outcome) == pytest.approx(payoffs)


@given(
    st.sampled_from(["place", "score", "both"]),
    st.lists(
        st.lists(st.integers(-(10**9), 10**9), min_size=3, max_size=3),
        min_size=1,
        max_size=5,
    ),
)
def test_payoffs_are_from_0_to_1_and_follow_the_order_of_the_scores(objective, matches):
    payoff = Payoff(objective)
    for scores in matches:
        payoffs = payoff(Outcome.ranked("won", scores))
        assert all(0 <= each <= 1 for each in payoffs)
        pairs = sorted(zip(scores, payoffs, strict=True))
        assert [value for _, value in pairs] == sorted(value for _, value in pairs)


def test_a_place_counts_more_than_any_lead():
    payoff = Payoff("both")
    payoff(Outcome.ranked("won", (1_000, 0)))
    narrow = payoff(Outcome.ranked("won", (1, 0)))
    wide = payoff(Outcome.ranked("won", (1_000, 0)))
    lost = payoff(Outcome.ranked("won", (0, 1)))
    assert wide[0] > narrow[0] > 0.9
    assert lost[0] < 0.1


def test_an_unknown_objective_is_refused():
    with pytest.raises(ValueError, match="place, score, both; not 'fame'"):
        Payoff("fame")


# -------------------------------------------------------------------------- budgets


def budget(**settings):
    return Budget(now=lambda: 100.0, **settings)


def test_without_iterations_and_time_the_usual_number_is_made():
    assert budget().until(Clock()) == (USUAL_ITERATIONS, None)


def test_a_time_is_the_only_limit_if_iterations_are_not_asked_for():
    assert budget(seconds=2.0).until(Clock()) == (None, 102.0)


def test_the_clock_counts_even_if_only_iterations_are_asked_for():
    iterations, stop_at = budget(iterations=10).until(Clock(move_ms=1_000))
    assert iterations == 10
    assert 100.0 < stop_at < 100.9


def test_the_least_of_all_limits_counts():
    _, stop_at = budget(seconds=5.0).until(Clock(move_ms=10_000, left_ms=2_500))
    assert stop_at == pytest.approx(100.1)


@given(st.integers(0, 10**7), st.one_of(st.none(), st.integers(0, 10**7)))
def test_no_more_than_the_clock_allows_is_ever_used(move_ms, left_ms):
    _, stop_at = budget(seconds=1e6).until(Clock(move_ms=move_ms, left_ms=left_ms))
    assert 100.0 <= stop_at <= 100.0 + move_ms / 1000
    assert left_ms is None or stop_at <= 100.0 + left_ms / 1000


# ------------------------------------------------------------------------- findings


def test_the_best_is_what_was_visited_most_and_of_equals_the_better_one():
    found = Found(
        [Candidate("a", 10, 0.9), Candidate("b", 20, 0.4), Candidate("c", 20, 0.5)], 50
    )
    assert found.best.action == "c"
    assert [each.action for each in found.ranked] == ["c", "b", "a"]
    assert found.shares == (0.2, 0.4, 0.4)


def test_where_visits_mean_nothing_the_value_decides():
    candidates = [Candidate("a", 10, 0.9), Candidate("b", 11, 0.4)]
    assert Found(candidates, 21, by_value=True).best.action == "a"


def test_shares_of_nothing_are_equal():
    assert (
        Found([Candidate("a", 0, 0.5), Candidate("b", 0, 0.5)], 0).shares == (0.5,) * 2
    )


@pytest.mark.parametrize(
    ("visits", "value", "interval"),
    [
        (0, 0.5, (0.0, 1.0)),
        # Newcombe (1998), table I: 81 of 263, and 0 of 20.
        (263, 81 / 263, (0.2553, 0.3662)),
        (20, 0.0, (0.0, 0.1611)),
    ],
)
def test_the_interval_is_that_of_wilson(visits, value, interval):
    got = Candidate("a", visits, value).interval
    assert got == pytest.approx(interval, abs=5e-5)
