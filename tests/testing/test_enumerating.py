from collections import Counter
from fractions import Fraction
from itertools import permutations
from types import SimpleNamespace

import pytest
from examples.kuhn_poker import kuhn_poker
from examples.pig import pig
from tests.testing.mutants import hooks_of, mutant, sound

from fritillary.testing import (
    EnumerationError,
    distribution,
    enumerate_outcomes,
    exact_values,
)


def test_every_result_of_below_has_the_same_weight():
    assert list(enumerate_outcomes(lambda dealer: dealer.below(3))) == [
        (0, Fraction(1, 3)),
        (1, Fraction(1, 3)),
        (2, Fraction(1, 3)),
    ]


def test_a_function_without_draws_has_one_outcome():
    assert list(enumerate_outcomes(lambda dealer: dealer.below(1))) == [
        (0, Fraction(1))
    ]


def test_later_draws_may_depend_on_earlier_ones():
    def function(dealer):
        first = dealer.below(2)
        return (first, dealer.below(3)) if first else (first,)

    found = distribution(function)
    assert found.pop((0,)) == Fraction(1, 2)
    assert found == {(1, second): Fraction(1, 6) for second in range(3)}


def test_weighted_draws_have_their_weights_and_skip_zero():
    assert distribution(lambda dealer: dealer.weighted([1, 0, 3])) == {
        0: Fraction(1, 4),
        2: Fraction(3, 4),
    }


def test_a_sure_draw_is_no_branch():
    assert list(enumerate_outcomes(lambda dealer: dealer.weighted([0, 7]))) == [
        (1, Fraction(1))
    ]


def test_a_shuffle_reaches_every_order_alike():
    def function(dealer):
        deck = list("abcd")
        dealer.shuffle(deck)
        return tuple(deck)

    found = distribution(function)
    assert found == dict.fromkeys(permutations("abcd"), Fraction(1, 24))


def test_equal_cards_share_branches_but_keep_their_weight():
    def function(dealer):
        deck = [1, 1, 2, 2, 3]
        dealer.shuffle(deck)
        return tuple(deck)

    outcomes = list(enumerate_outcomes(function))
    orders = Counter(permutations([1, 1, 2, 2, 3]))
    assert len(outcomes) == len(orders) == 30
    assert dict(outcomes) == {o: Fraction(n, 120) for o, n in orders.items()}


def test_a_choice_among_equal_cards_counts_each_of_them():
    found = distribution(lambda dealer: dealer.choice([5, 5, 7]))
    assert found == {5: Fraction(2, 3), 7: Fraction(1, 3)}


def test_items_that_are_not_plain_are_told_apart():
    def function(dealer):
        deck = [True, 1, 1.0]
        dealer.shuffle(deck)
        return tuple(map(repr, deck))

    assert len(distribution(function)) == 6


def test_a_stream_opened_twice_gives_the_same_draws():
    def function(dealer):
        return tuple(dealer.stream("deck", k).below(3) for k in (0, 1, 0))

    found = distribution(function)
    assert len(found) == 9
    assert all(first == again for first, _, again in found)


def test_streams_and_their_parent_are_independent():
    def function(dealer):
        stream = dealer.stream("a")
        return dealer.below(2), stream.below(2), stream.stream("a").below(2)

    assert distribution(function) == {
        (a, b, c): Fraction(1, 8) for a in (0, 1) for b in (0, 1) for c in (0, 1)
    }


def test_a_stream_reopened_for_other_draws_is_an_error():
    def function(dealer):
        return dealer.stream("deck").below(2), dealer.stream("deck").below(3)

    with pytest.raises(EnumerationError, match="'deck' was opened twice"):
        list(enumerate_outcomes(function))


def test_chance_from_elsewhere_is_noticed():
    calls = []

    def function(dealer):
        calls.append(1)
        return dealer.below(2 + len(calls))

    with pytest.raises(EnumerationError, match="another way"):
        list(enumerate_outcomes(function))


def test_fewer_draws_than_before_are_noticed():
    calls = []

    def function(dealer):
        calls.append(1)
        return dealer.below(2) + (dealer.below(2) if len(calls) == 1 else 0)

    with pytest.raises(EnumerationError, match="another way"):
        list(enumerate_outcomes(function))


def test_drawing_until_it_fits_is_refused():
    def function(dealer):
        while not dealer.below(2):
            pass

    with pytest.raises(EnumerationError, match="until it fits"):
        list(enumerate_outcomes(function))


def test_too_many_outcomes_are_refused():
    with pytest.raises(EnumerationError, match="more than 10 sequences"):
        list(enumerate_outcomes(lambda dealer: dealer.below(11), limit=10))


def test_the_errors_of_dealers_are_raised():
    for draw in (
        lambda dealer: dealer.below(0),
        lambda dealer: dealer.weighted([0, 0]),
        lambda dealer: dealer.weighted([2, -1]),
        lambda dealer: dealer.choice([]),
    ):
        with pytest.raises(ValueError, match=r"below|weight|choice"):
            list(enumerate_outcomes(draw))


def test_a_policy_that_is_no_distribution_is_refused():
    def policy(observation, legal):
        return [Fraction(1, 3)] * len(legal)

    with pytest.raises(Exception, match=r"seat 0 gave \(1/3, 1/3\) for check, bet"):
        exact_values(sound(kuhn_poker), [policy, policy])


def test_chance_that_is_only_sampled_has_the_same_values():
    def cautious(observation, legal):
        return [Fraction(1, len(legal))] * len(legal)

    def sample_chance(state, dealer):
        return pig.DIE[dealer.below(6)][0]

    hooks = hooks_of(pig)
    del hooks["chance_outcomes"]
    sampled = mutant(SimpleNamespace(**hooks), sample_chance=sample_chance)
    options = pig.Options(target=6, rounds=2)
    values = [
        exact_values(game, [cautious] * 2, options=options)
        for game in (sound(pig), sampled)
    ]
    assert values[0] == values[1]
