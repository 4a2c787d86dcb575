"""Slow laws look at some positions only, but not at the same plies of every match."""

import pytest

from fritillary.testing.checks import CHECKS, is_due

SLOW = sorted({check.thin for check in CHECKS.values()} - {1})


def test_there_are_slow_laws():
    assert SLOW


@pytest.mark.parametrize("thin", SLOW)
@pytest.mark.parametrize("length", range(1, 25))
def test_every_ply_of_matches_of_one_length_has_its_turn(thin, length):
    check = next(each for each in CHECKS.values() if each.thin == thin)
    # Ten matches for each of those that a law of its kind looks at.
    positions = 10 * thin * length
    seen = [n for n in range(positions) if is_due(check, n)]
    assert seen[0] == 0
    assert {n % length for n in seen} == set(range(length))
    assert len(seen) == pytest.approx(positions / thin, rel=0.5)


def test_a_law_that_is_not_slow_looks_everywhere():
    check = next(each for each in CHECKS.values() if each.thin == 1)
    assert all(is_due(check, n) for n in range(1000))
