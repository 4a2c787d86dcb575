"""Laws of blocks, likelihoods and estimates, and their extremes."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fritillary.statistics import (
    PAIR,
    Blocks,
    Hypotheses,
    Unit,
    elo_of_score,
    estimate,
    grid_of,
    log_likelihood_ratio,
    normalised_elo,
    quantile,
    score_of_elo,
)

COUNTS = st.lists(
    st.one_of(st.just(0), st.integers(1, 9), st.integers(0, 100_000)),
    min_size=5,
    max_size=5,
)
SOME = COUNTS.filter(any)
SCORES = st.lists(st.floats(0, 1), min_size=1, max_size=30)
#: Elo or normalised Elo, far beyond what is asked in earnest.
ELO = st.floats(-600, 600)
GAP = st.floats(0.01, 300)


def pairs(counts: list[int]) -> Blocks:
    return Blocks.of_counts(counts, 2)


# ----------------------------------------------------------------------------- blocks


def test_blocks_of_k_matches_have_a_grid_of_halves() -> None:
    assert grid_of(1) == (0, 0.5, 1)
    assert grid_of(2) == PAIR == (0, 0.25, 0.5, 0.75, 1)
    assert len(grid_of(24)) == 49
    with pytest.raises(ValueError, match="at least one match"):
        grid_of(0)


@given(SCORES)
def test_mean_and_variance_are_those_of_the_scores(scores: list[float]) -> None:
    blocks = Blocks.of_scores(scores)
    mean = math.fsum(scores) / len(scores)
    variance = math.fsum((score - mean) ** 2 for score in scores) / len(scores)
    assert blocks.number == len(scores)
    assert blocks.mean == pytest.approx(mean)
    assert blocks.variance == pytest.approx(variance)
    assert blocks.error == pytest.approx(math.sqrt(variance / len(scores)))


@given(SCORES)
def test_the_order_in_which_blocks_came_does_not_show(scores: list[float]) -> None:
    one, other = Blocks.of_scores(scores), Blocks.of_scores(sorted(scores))
    assert one == other
    assert one.counts == other.counts
    assert estimate(one) == estimate(other)


@pytest.mark.parametrize("score", [-0.01, 1.01, math.nan, math.inf, -math.inf])
def test_a_score_out_of_range_is_refused(score: float) -> None:
    blocks = Blocks()
    with pytest.raises(ValueError, match="a score is from 0 to 1"):
        blocks.add(score)
    assert not blocks.number
    with pytest.raises(ValueError, match="a score is from 0 to 1"):
        elo_of_score(score)


def test_counts_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match="came -1 times"):
        Blocks().add(0.5, -1)
    with pytest.raises(ValueError, match="zip"):
        Blocks.of_counts((1, 2, 3, 4), 2)
    with pytest.raises(ValueError, match="include 0 and 1"):
        Blocks((0.0, 0.5))
    with pytest.raises(ValueError, match="from 0 to 1"):
        Blocks((0, 1, 2))
    with pytest.raises(ValueError, match="at least one match"):
        Blocks(PAIR, 0)


def test_without_a_block_there_is_no_estimate_and_no_evidence() -> None:
    blocks = Blocks()
    for ask in (lambda: blocks.mean, lambda: blocks.variance, lambda: blocks.error):
        with pytest.raises(ValueError, match="no block yet"):
            ask()
    with pytest.raises(ValueError, match="no block yet"):
        estimate(blocks)
    with pytest.raises(ValueError, match="no block yet"):
        normalised_elo(blocks)
    assert log_likelihood_ratio(blocks, Hypotheses(0.5, 0.6)) == 0


# ---------------------------------------------------------------------- likelihoods


@given(SOME, ELO, GAP, st.sampled_from(Unit))
def test_swapping_the_players_turns_the_sign(
    counts: list[int], low: float, gap: float, unit: Unit
) -> None:
    blocks, high = pairs(counts), low + gap
    if unit is Unit.SCORE:
        one = Hypotheses(score_of_elo(low), score_of_elo(high))
        other = Hypotheses(1 - score_of_elo(high), 1 - score_of_elo(low))
    else:
        one, other = Hypotheses(low, high, unit), Hypotheses(-high, -low, unit)
    found = log_likelihood_ratio(blocks, one)
    turned = log_likelihood_ratio(blocks.swapped(), other)
    assert math.isfinite(found)
    assert turned == pytest.approx(-found, rel=1e-6, abs=1e-6)


@given(SOME, ELO, GAP, GAP, st.sampled_from([Unit.ELO, Unit.NORMALISED]))
def test_ratios_of_neighbouring_hypotheses_add_up(
    counts: list[int], low: float, gap: float, more: float, unit: Unit
) -> None:
    blocks, middle, high = pairs(counts), low + gap, low + gap + more
    parts = [
        log_likelihood_ratio(blocks, Hypotheses(one, other, unit))
        for one, other in ((low, middle), (middle, high))
    ]
    whole = log_likelihood_ratio(blocks, Hypotheses(low, high, unit))
    assert sum(parts) == pytest.approx(whole, rel=1e-6, abs=1e-6)


@given(st.integers(0, 200), st.integers(0, 200), st.sampled_from(Unit))
def test_more_wins_speak_for_h1_and_more_losses_against_it(
    wins: int, losses: int, unit: Unit
) -> None:
    values = (0.5, 0.6) if unit is Unit.SCORE else (0, 70)

    def ratio(won: int, lost: int) -> float:
        blocks = Blocks.of_counts((lost, 0, 0, 0, won), 2)
        return log_likelihood_ratio(blocks, Hypotheses(values[0], values[1], unit))

    assert ratio(wins + 1, losses) > ratio(wins, losses)
    assert ratio(wins, losses + 1) < ratio(wins, losses)


@given(SOME)
def test_the_likelier_side_is_that_of_the_mean(counts: list[int]) -> None:
    blocks = pairs(counts)
    narrow = 1e-3
    if 2 * narrow < blocks.mean < 1 - 2 * narrow:
        up = Hypotheses(blocks.mean - 2 * narrow, blocks.mean - narrow)
        down = Hypotheses(blocks.mean + narrow, blocks.mean + 2 * narrow)
        assert log_likelihood_ratio(blocks, up) >= 0
        assert log_likelihood_ratio(blocks, down) <= 0


@given(st.lists(st.sampled_from([0.0, 0.1, 1 / 3, 0.77, 1.0]), min_size=1, max_size=9))
def test_scores_off_the_grid_count_as_well(scores: list[float]) -> None:
    ratio = log_likelihood_ratio(Blocks.of_scores(scores), Hypotheses(0.5, 0.6))
    assert math.isfinite(ratio)


@given(
    COUNTS,
    st.lists(
        st.sampled_from([-1e4, -3e3, -1e-9, 0.0, 1e-9, 5e3, 1e4]),
        min_size=2,
        max_size=2,
        unique=True,
    ),
    st.lists(
        st.sampled_from([1e-300, 1e-9, 0.3, 1 - 1e-9, 1 - 2**-53]),
        min_size=2,
        max_size=2,
        unique=True,
    ),
)
def test_hypotheses_far_from_all_blocks_still_have_a_finite_ratio(
    counts: list[int], far: list[float], scores: list[float]
) -> None:
    blocks = pairs(counts)
    blocks.add(1e-300)
    for values, unit in ((far, Unit.NORMALISED), (scores, Unit.SCORE)):
        ratio = log_likelihood_ratio(blocks, Hypotheses(min(values), max(values), unit))
        assert math.isfinite(ratio)


@pytest.mark.parametrize(
    ("low", "high", "unit"),
    [
        (0.6, 0.5, Unit.SCORE),
        (0.5, 0.5, Unit.SCORE),
        (0.0, 0.5, Unit.SCORE),
        (0.5, 1.0, Unit.SCORE),
        (math.nan, 0.5, Unit.SCORE),
        (0.0, math.inf, Unit.ELO),
        (0.0, 1e9, Unit.ELO),
        (-math.inf, 0.0, Unit.NORMALISED),
        (0.0, 10_001.0, Unit.NORMALISED),
        (5.0, -5.0, Unit.NORMALISED),
    ],
)
def test_hypotheses_that_make_no_sense_are_refused(
    low: float, high: float, unit: Unit
) -> None:
    with pytest.raises(ValueError, match=r"H0 must be below H1|are no hypotheses"):
        Hypotheses(low, high, unit)


# ------------------------------------------------------------------------ estimates


@given(SOME, st.booleans())
def test_an_interval_is_around_the_score_and_within_0_and_1(
    counts: list[int], normal: bool
) -> None:
    found = estimate(pairs(counts), normal=normal)
    assert 0 <= found.low <= found.score <= found.high <= 1
    assert found.elo_low <= found.elo <= found.elo_high


@given(SOME, st.booleans())
def test_an_estimate_of_swapped_players_is_the_mirror_image(
    counts: list[int], normal: bool
) -> None:
    found = estimate(pairs(counts), normal=normal)
    other = estimate(pairs(counts).swapped(), normal=normal)
    assert other.score == pytest.approx(1 - found.score, abs=1e-9)
    assert other.low == pytest.approx(1 - found.high, abs=1e-6)
    assert other.high == pytest.approx(1 - found.low, abs=1e-6)
    assert other.error == pytest.approx(found.error, abs=1e-9)


@given(SOME)
def test_more_confidence_makes_a_wider_interval(counts: list[int]) -> None:
    narrow, wide = (estimate(pairs(counts), share) for share in (0.8, 0.95))
    assert wide.low <= narrow.low
    assert narrow.high <= wide.high


def test_with_many_blocks_the_interval_is_the_usual_one() -> None:
    blocks = pairs([1000, 3000, 5000, 4000, 2000])
    one, usual = estimate(blocks), estimate(blocks, normal=True)
    assert one.low == pytest.approx(usual.low, abs=1e-4)
    assert one.high == pytest.approx(usual.high, abs=1e-4)


@pytest.mark.parametrize("mean", [0.5, 0.75, 0.93])
def test_an_interval_holds_the_truth_about_as_often_as_it_says(mean: float) -> None:
    rng = random.Random(11)
    runs, held = 200, 0
    for _ in range(runs):
        blocks = Blocks()
        for _ in range(30):
            blocks.add((rng.random() < mean) / 2 + (rng.random() < mean) / 2)
        found = estimate(blocks)
        held += found.low <= mean <= found.high
    # 95 %, less what whole numbers of wins make of it, with a standard error of 1.7.
    assert held / runs > 0.88


@pytest.mark.parametrize("number", [1, 5, 20])
def test_wins_alone_leave_open_how_many_more_there_would_be(number: int) -> None:
    blocks = pairs([0, 0, 0, 0, number])
    found = estimate(blocks)
    assert (found.score, found.error, found.high) == (1, 0, 1)
    assert (found.elo, found.elo_high) == (math.inf, math.inf)
    # All wins have the probability p ** n, at the end of the interval exp(-1.92).
    assert found.low == pytest.approx(math.exp(-1.92 / number), abs=0.01)
    assert estimate(blocks.swapped()).elo == -math.inf
    assert normalised_elo(blocks)[0] == math.inf
    assert normalised_elo(blocks.swapped())[0] == -math.inf


def test_draws_alone_are_level_and_have_no_spread() -> None:
    blocks = pairs([0, 0, 7, 0, 0])
    found = estimate(blocks)
    assert (found.score, found.error, found.elo) == (0.5, 0, 0)
    assert found.low < 0.5 < found.high
    assert normalised_elo(blocks)[0] == 0
    level = log_likelihood_ratio(blocks, Hypotheses(0.4, 0.6))
    assert level == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("confidence", [0, 1, -1, 2, math.nan])
def test_a_confidence_out_of_range_is_refused(confidence: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        quantile(confidence)


@given(st.floats(-1e6, 1e6))
def test_scores_rise_with_elo_and_mirror_it(elo: float) -> None:
    assert score_of_elo(elo) <= score_of_elo(elo + 1)
    assert score_of_elo(-elo) == pytest.approx(1 - score_of_elo(elo), abs=1e-12)


def test_infinite_elo_is_a_score_of_0_or_1() -> None:
    assert (score_of_elo(-math.inf), score_of_elo(math.inf)) == (0, 1)
    with pytest.raises(ValueError, match="is a number"):
        score_of_elo(math.nan)
