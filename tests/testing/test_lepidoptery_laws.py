"""The laws of hidden information, on a game of real size and on mutants of it."""

import copy

import attrs
import pytest
from tests.testing.mutants import mutant, sound

from fritillary import FastDealer
from fritillary.testing import (
    LawError,
    check_contract,
    check_leaks,
    check_sampler,
    check_sampler_statistics,
)
from fritillary_games import lepidoptery

RANK_BITS = 3


def test_it_keeps_the_contract():
    report = check_contract(sound(lepidoptery), matches=2)
    assert report.refusals > 1000


def test_nothing_leaks():
    report = check_leaks(sound(lepidoptery), matches=2)
    assert sum(report.different.values()) * 2 > sum(report.pairs.values())


def test_the_sampler_keeps_its_laws_along_play():
    report = check_sampler(sound(lepidoptery), matches=4)
    assert report.positions > 100


def test_the_sampler_agrees_with_its_witness():
    report = check_sampler_statistics(sound(lepidoptery), draws=300)
    assert report.tests > 500


def law_of(check, game, **arguments):
    with pytest.raises(LawError) as caught:
        check(game, **arguments)
    return caught.value.law.id


def cards_of(hand):
    """Return the cards of a packed hand, one packed card each, lowest first."""
    shifts = range(0, hand.bit_length(), RANK_BITS)
    return [1 << shift for shift in shifts for _ in range(hand >> shift & 7)]


# -------------------------------------------------------------------------- the leaks


def opponents_hand(state, seat):
    swapped = copy.copy(state)
    swapped.hands = state.hands[::-1]
    hand = lepidoptery.observe(swapped, 1 if seat is None else seat).hand
    return attrs.evolve(lepidoptery.observe(state, seat), hand=hand)


def next_card_of_the_own_deck(state, seat):
    honest = lepidoptery.observe(state, seat)
    if seat is None or not state.decks[seat]:
        return honest
    ahead = copy.copy(state)
    ahead.hands = [*state.hands]
    ahead.hands[seat] += state.decks[seat][0]
    return attrs.evolve(honest, hand=lepidoptery.observe(ahead, seat).hand)


@pytest.mark.parametrize("observe", [opponents_hand, next_card_of_the_own_deck])
def test_an_observation_with_hidden_cards_is_caught(observe):
    game = mutant(lepidoptery, observe=observe)
    assert law_of(check_leaks, game, matches=4) == "leak.observation"


def test_a_pass_that_is_legal_only_against_strong_hands_is_caught():
    def legal_actions(state):
        legal = lepidoptery.legal_actions(state)
        opponent = cards_of(state.hands[1 - state.to_move])
        weak = not opponent or opponent[0] == 1
        return legal[:-1] if weak and len(legal) > 1 else legal

    game = mutant(lepidoptery, legal_actions=legal_actions)
    assert law_of(check_leaks, game, matches=4) == "leak.legal-actions"


def test_a_picture_that_knows_the_deck_is_caught():
    aside: list = []

    def observe(state, seat):
        aside[:] = state.decks[0][:1]
        return lepidoptery.observe(state, seat)

    def draw_svg(observation):
        return lepidoptery.draw_svg(observation).replace("</svg>", f"{aside}</svg>")

    game = mutant(lepidoptery, observe=observe, draw_svg=draw_svg)
    assert law_of(check_leaks, game, matches=4) == "leak.svg"


# ----------------------------------------------------------------------- the samplers


def constant(observation, dealer):
    return lepidoptery.sample_state(observation, FastDealer(0))


def opponent_holds_the_lowest(observation, dealer):
    state = lepidoptery.sample_state(observation, dealer)
    for seat in {0, 1} - {observation.seat}:
        unseen = sorted([*cards_of(state.hands[seat]), *state.decks[seat]])
        size = observation.hand_sizes[seat]
        rest = unseen[size:]
        dealer.shuffle(rest)
        state.hands[seat] = sum(unseen[:size])
        state.decks[seat] = tuple(rest)
    return state


def every_rank_alike(observation, dealer):
    state = lepidoptery.sample_state(observation, dealer)
    for seat in {0, 1} - {observation.seat}:
        unseen = [*cards_of(state.hands[seat]), *state.decks[seat]]
        state.hands[seat] = 0
        for _ in range(observation.hand_sizes[seat]):
            card = dealer.choice(sorted(set(unseen)))
            unseen.remove(card)
            state.hands[seat] += card
        dealer.shuffle(unseen)
        state.decks[seat] = tuple(unseen)
    return state


def truth():
    kept: list = []

    def observe(state, seat):
        kept[:] = [state.hands[:], state.decks[:]]
        return lepidoptery.observe(state, seat)

    def sample_state(observation, dealer):
        state = lepidoptery.sample_state(observation, dealer)
        state.hands, state.decks = kept[0][:], kept[1][:]
        return state

    return mutant(lepidoptery, observe=observe, sample_state=sample_state)


def test_a_constant_sampler_is_caught():
    game = mutant(lepidoptery, sample_state=constant)
    assert law_of(check_sampler, game, matches=6) == "sampler.constant"


def test_a_sampler_that_returns_the_truth_is_caught():
    assert law_of(check_sampler, truth(), matches=6) == "sampler.truth"


@pytest.mark.parametrize("draw", [opponent_holds_the_lowest, every_rank_alike])
def test_a_sampler_with_a_distribution_of_its_own_is_caught(draw):
    game = mutant(lepidoptery, sample_state=draw)
    law = law_of(check_sampler_statistics, game, positions=1, draws=1600)
    assert law == "sampler.distribution"
