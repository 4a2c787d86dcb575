"""The capped test and the frontier that feeds it."""

from __future__ import annotations

import math
import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fritillary.statistics import (
    PAIR,
    Blocks,
    CappedTest,
    Frontier,
    Hypotheses,
    Verdict,
)

HYPOTHESES = Hypotheses(0.5, 0.6)


def run(scores: list[float], *, most: int = 1000, least: int = 1) -> CappedTest:
    test = CappedTest(HYPOTHESES, most=most, least=least)
    for score in scores:
        if test.add(score) is not Verdict.OPEN:
            break
    return test


def test_the_bounds_are_those_of_wald() -> None:
    test = CappedTest(HYPOTHESES, most=1)
    assert (test.lower, test.upper) == pytest.approx((-2.944439, 2.944439), abs=1e-6)
    test = CappedTest(HYPOTHESES, most=1, alpha=0.1, beta=0.1)
    assert (test.lower, test.upper) == pytest.approx((-2.197225, 2.197225), abs=1e-6)
    test = CappedTest(HYPOTHESES, most=1, alpha=0.01, beta=0.2)
    assert test.upper == pytest.approx(math.log(80))
    assert test.lower == pytest.approx(math.log(20 / 99))


def test_wins_alone_decide_as_soon_as_they_can() -> None:
    # Each is 1.2 times as likely where three of five are won: 1.2 ** 17 > 19.
    test = run([1.0] * 100)
    assert (test.verdict, test.blocks.number) == (Verdict.HIGH, 17)
    test = run([0.0] * 100)
    assert (test.verdict, test.blocks.number) == (Verdict.LOW, 14)


def test_a_test_decides_no_sooner_than_the_least_and_no_later_than_the_cap() -> None:
    assert run([1.0] * 100, least=40).blocks.number == 40
    undecided = run([0.5, 0.75] * 50, most=10)
    assert (undecided.verdict, undecided.blocks.number) == (Verdict.UNDECIDED, 10)
    # A cap below the least is a test with one look.
    assert run([1.0] * 100, most=20, least=30).verdict is Verdict.HIGH
    assert run([1.0] * 100, most=16, least=30).verdict is Verdict.UNDECIDED


def test_a_test_that_is_over_takes_no_more() -> None:
    test = run([1.0] * 17)
    with pytest.raises(ValueError, match="the test is over"):
        test.add(1.0)
    assert test.blocks.number == 17


def test_a_score_that_is_refused_leaves_the_test_as_it_was() -> None:
    test = run([1.0, 0.5])
    before = test.ratio
    with pytest.raises(ValueError, match="from 0 to 1"):
        test.add(2.0)
    assert (test.ratio, test.blocks.number, test.verdict) == (before, 2, Verdict.OPEN)


@pytest.mark.parametrize(
    "settings",
    [
        {"most": 0},
        {"most": 9, "alpha": 0.0},
        {"most": 9, "beta": -0.1},
        {"most": 9, "alpha": 0.6, "beta": 0.4},
        {"most": 9, "alpha": math.nan},
        {"most": 9, "blocks": Blocks.of_scores([1.0])},
    ],
    ids=["cap", "alpha", "beta", "both", "nan", "blocks"],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"a cap is|alpha and beta|without blocks"):
        CappedTest(HYPOTHESES, **settings)  # type: ignore[arg-type]


@given(st.lists(st.sampled_from(PAIR), max_size=60), st.integers(1, 40))
def test_swapped_players_come_to_the_opposite_verdict(
    scores: list[float], most: int
) -> None:
    opposite = {Verdict.HIGH: Verdict.LOW, Verdict.LOW: Verdict.HIGH}
    symmetrical = Hypotheses(0.4, 0.6)
    one, other = (CappedTest(symmetrical, most=most) for _ in range(2))
    for score in scores[:most]:
        if one.verdict is Verdict.OPEN:
            one.add(score)
        if other.verdict is Verdict.OPEN:
            other.add(1 - score)
    assert other.verdict is opposite.get(one.verdict, one.verdict)
    assert other.ratio == pytest.approx(-one.ratio, abs=1e-6)


def wrong_share(mean: float, wrong: Verdict, *, least: int) -> float:
    """Return how often a test of simulated pairs comes to a wrong verdict."""
    rng = random.Random(5)
    runs, wrongs = 300, 0
    for _ in range(runs):
        test = CappedTest(HYPOTHESES, most=2000, least=least)
        while test.verdict is Verdict.OPEN:
            test.add((rng.random() < mean) / 2 + (rng.random() < mean) / 2)
        wrongs += test.verdict is wrong
    return wrongs / runs


@pytest.mark.parametrize("least", [1, 30])
def test_wrong_verdicts_are_as_rare_as_asked_for(least: int) -> None:
    # Five percent of 300 with a standard error of 1.3; the overshoot makes it less.
    assert wrong_share(0.5, Verdict.HIGH, least=least) < 0.09
    assert wrong_share(0.6, Verdict.LOW, least=least) < 0.09


# -------------------------------------------------------------------------- frontier


@given(st.permutations(range(12)))
def test_results_come_in_the_order_of_the_schedule(order: list[int]) -> None:
    frontier: Frontier[str] = Frontier()
    handed = []
    for number in order:
        handed += frontier.add(number, f"result {number}")
        # Nothing is held that is due, and nothing is handed on too early.
        assert len(handed) == frontier.due
    assert handed == [f"result {number}" for number in range(12)]


@given(st.randoms(use_true_random=False))
def test_the_verdict_does_not_depend_on_which_match_ends_first(
    rng: random.Random,
) -> None:
    scores = random.Random(3).choices(PAIR, (1, 2, 3, 4, 5), k=200)
    in_order = run(scores)
    assert in_order.verdict is Verdict.HIGH
    frontier: Frontier[float] = Frontier()
    test = CappedTest(HYPOTHESES, most=1000)
    # Up to 40 under way, of which any may be the next to end.
    under_way: list[int] = []
    waiting = iter(range(len(scores)))
    while test.verdict is Verdict.OPEN:
        while len(under_way) < 40 and (number := next(waiting, None)) is not None:
            under_way.append(number)
        number = under_way.pop(rng.randrange(len(under_way)))
        for score in frontier.add(number, scores[number]):
            if test.verdict is Verdict.OPEN:
                test.add(score)
    assert test == in_order


def test_a_place_has_one_result() -> None:
    frontier: Frontier[int] = Frontier()
    assert frontier.add(1, 1) == []
    for number in (1, -1):
        with pytest.raises(ValueError, match="came before"):
            frontier.add(number, 2)
    assert frontier.add(0, 0) == [0, 1]
    with pytest.raises(ValueError, match="came before"):
        frontier.add(0, 3)


def test_the_ratio_grows_with_every_win() -> None:
    test = CappedTest(HYPOTHESES, most=16)
    ratios = [test.ratio]
    for _ in range(16):
        test.add(1.0)
        ratios.append(test.ratio)
    assert all(one < other for one, other in pairwise(ratios))
