import random
from collections import Counter

import pytest

from fritillary.testing.statistics import (
    CLEAR,
    chi_square_tail,
    significantly_more,
    two_sample_test,
)


@pytest.mark.parametrize(
    ("statistic", "freedom", "tail"),
    [
        # From printed tables of the distribution.
        (3.841459, 1, 0.05),
        (10.827566, 1, 0.001),
        (5.991465, 2, 0.05),
        (18.307038, 10, 0.05),
        (3.940299, 10, 0.95),
        (124.342113, 100, 0.05),
        (0.0, 3, 1.0),
    ],
)
def test_the_tail_of_chi_square_is_that_of_the_tables(statistic, freedom, tail):
    assert chi_square_tail(statistic, freedom) == pytest.approx(tail, rel=1e-5)


def test_a_far_tail_keeps_its_precision():
    # With two degrees of freedom the tail is exp(-x / 2).
    assert chi_square_tail(100.0, 2) == pytest.approx(1.9287498e-22, rel=1e-6)


def test_equal_samples_are_not_told_apart():
    rng = random.Random(5)
    samples = [Counter(rng.randrange(6) for _ in range(2000)) for _ in range(2)]
    assert two_sample_test(*samples) > 1e-3


def test_different_samples_are_told_apart():
    one, other = Counter(a=900, b=100), Counter(a=700, b=300)
    assert two_sample_test(one, other) < 1e-20


def test_rare_values_count_together():
    one = Counter(range(100))
    other = Counter(range(100, 200))
    assert two_sample_test(one, other) == 1.0
    assert two_sample_test(one, Counter(x=100)) < 1e-20


def test_more_by_luck_is_not_significant():
    assert not significantly_more(520, 480)
    assert significantly_more(800, 200)
    assert significantly_more(CLEAR, 0)
    assert not significantly_more(0, CLEAR)
