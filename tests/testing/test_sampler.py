import itertools
from types import SimpleNamespace

import attrs
import pytest
from attrs import evolve
from examples.kuhn_poker import kuhn_poker
from examples.pig import pig
from tests.testing import high_card
from tests.testing.mutants import hooks_of, mutant, sound

from fritillary.core.errors import UsageError
from fritillary.testing import (
    LAWS,
    PROFILES,
    EnumerationError,
    LawError,
    Verdict,
    certify,
    check_sampler,
    check_sampler_exact,
    check_sampler_statistics,
)

GAMES = pytest.mark.parametrize("module", [kuhn_poker, high_card])
CHECKS = pytest.mark.parametrize(
    "check", [check_sampler, check_sampler_exact, check_sampler_statistics]
)


def law_of(check, game, **arguments):
    with pytest.raises(LawError) as caught:
        check(game, **arguments)
    return caught.value.law.id


@GAMES
def test_a_sound_sampler_keeps_the_laws_along_play(module):
    report = check_sampler(sound(module))
    assert report.matches == 30
    assert report.samples == 4 * 3 * report.positions


@GAMES
def test_a_sound_sampler_agrees_with_its_witness(module):
    report = check_sampler_statistics(sound(module), positions=6)
    assert report.tests > 20


def test_a_sound_sampler_is_exact():
    report = check_sampler_exact(sound(kuhn_poker))
    # 6 deals, 9 histories; a spectator sees histories and shown cards, a seat its
    # card too.
    assert report.worlds == 54
    spectator = 6 + 3 * 6
    seat = 6 * 3 + 3 * 6
    assert report.observations == spectator + 2 * seat


def test_a_sound_sampler_is_exact_with_duplicates_and_chance():
    report = check_sampler_exact(sound(high_card))
    assert report.worlds > 50


@CHECKS
def test_a_game_that_hides_nothing_is_refused(check):
    with pytest.raises(UsageError, match="nothing is hidden"):
        check(sound(pig))


# ------------------------------------------------------------------ samplers that err


def truth_kept_by_new_state():
    kept: list = []

    def new_state(options, seats, dealer):
        kept[:] = [kuhn_poker.new_state(options, seats, dealer)]
        return kept[0]

    def sample_state(observation, dealer):
        state = kept[0]
        return kuhn_poker.State(state.options, state.cards, list(state.moves))

    return mutant(kuhn_poker, new_state=new_state, sample_state=sample_state)


def truth_kept_by_observe(share=1.0):
    kept: list = []

    def observe(state, seat):
        kept[:] = [state.cards]
        return kuhn_poker.observe(state, seat)

    def sample_state(observation, dealer):
        if dealer.below(100) >= 100 * share:
            return kuhn_poker.sample_state(observation, dealer)
        moves = list(observation.moves)
        return kuhn_poker.State(observation.options, kept[0], moves)

    return mutant(kuhn_poker, observe=observe, sample_state=sample_state)


@pytest.mark.parametrize(
    "game", [truth_kept_by_new_state(), truth_kept_by_observe()], ids=["new", "observe"]
)
def test_a_sampler_that_returns_the_truth_is_caught(game):
    assert law_of(check_sampler, game) == "sampler.truth"


def test_a_sampler_that_returns_the_truth_now_and_then_is_caught():
    game = truth_kept_by_observe(share=0.4)
    assert law_of(check_sampler, game, matches=100) == "sampler.truth"


def lowest_card(observation, dealer):
    state = kuhn_poker.sample_state(observation, dealer)
    if not observation.shown:
        cards = [card for card in (0, 1, 2) if card != observation.card]
        if observation.seat is not None:
            cards[observation.seat] = observation.card
        state.cards = (cards[0], cards[1])
    return state


def test_a_constant_sampler_is_caught():
    game = mutant(kuhn_poker, sample_state=lowest_card)
    assert law_of(check_sampler, game) == "sampler.constant"
    assert law_of(check_sampler_statistics, game) == "sampler.distribution"
    assert law_of(check_sampler_exact, game) == "sampler.worlds"


def test_a_sampler_that_is_constant_for_one_seat_is_caught():
    def sample_state(observation, dealer):
        draw = lowest_card if observation.seat == 1 else kuhn_poker.sample_state
        return draw(observation, dealer)

    game = mutant(kuhn_poker, sample_state=sample_state)
    with pytest.raises(LawError, match="seat 1") as caught:
        check_sampler(game)
    assert caught.value.law.id == "sampler.constant"


def ranks_alike(observation, dealer):
    """Draw each hidden hand from the ranks that are left, not from the cards."""
    cards = high_card.unseen(observation)
    first = []
    for _ in range(2):
        if cards:
            first.append(dealer.choice(sorted(set(cards))))
            cards.remove(first[-1])
    return high_card.build(observation, first + cards)


def test_a_sampler_that_weighs_ranks_and_not_cards_is_caught():
    game = mutant(high_card, sample_state=ranks_alike)
    assert law_of(check_sampler_exact, game) == "sampler.weights"
    assert law_of(check_sampler_statistics, game, draws=1500) == "sampler.distribution"


def test_the_weights_are_those_of_the_deal():
    # A 1 for seat 0 and a 2 for seat 1: 2/5 times 2/4 by cards, 1/3 times 1/3 by
    # ranks.
    with pytest.raises(LawError, match=r"has weight 1/9, not 1/5"):
        check_sampler_exact(mutant(high_card, sample_state=ranks_alike))


def test_a_sampler_of_impossible_worlds_is_caught():
    def sample_state(observation, dealer):
        state = kuhn_poker.sample_state(observation, dealer)
        if observation.seat == 0 and not observation.shown:
            state.cards = (state.cards[0], dealer.below(3))
        return state

    game = mutant(kuhn_poker, sample_state=sample_state)
    assert law_of(check_sampler_exact, game) == "sampler.worlds"
    assert law_of(check_sampler_statistics, game) == "sampler.distribution"


def test_a_sampler_that_changes_what_is_seen_is_caught():
    def sample_state(observation, dealer):
        state = kuhn_poker.sample_state(observation, dealer)
        state.cards = (state.cards[1], state.cards[0])
        return state

    game = mutant(kuhn_poker, sample_state=sample_state)
    assert law_of(check_sampler, game) == "sampler.observation"


def test_a_sampler_that_gives_the_turn_to_another_is_caught():
    def sample_state(observation, dealer):
        state = kuhn_poker.sample_state(observation, dealer)
        state.moves = state.moves[:-1]
        return state

    game = mutant(kuhn_poker, sample_state=sample_state)
    assert law_of(check_sampler, game) == "sampler.decision-point"


def test_a_sampler_whose_hidden_part_decides_on_legality_is_caught():
    def legal_actions(state):
        legal = kuhn_poker.legal_actions(state)
        strong = state.cards[1 - len(state.moves) % 2] == 2
        return legal[:1] if strong else legal

    game = mutant(kuhn_poker, legal_actions=legal_actions)
    assert law_of(check_sampler, game) == "sampler.legal-actions"


def test_a_sampler_with_chance_of_its_own_is_caught():
    calls = itertools.count()

    def sample_state(observation, dealer):
        if observation.seat is None or observation.shown:
            return kuhn_poker.sample_state(observation, dealer)
        cards = [card for card in (0, 1, 2) if card != observation.card]
        cards = cards[:: (-1) ** next(calls)]
        cards[observation.seat] = observation.card
        moves = list(observation.moves)
        return kuhn_poker.State(observation.options, (cards[0], cards[1]), moves)

    game = mutant(kuhn_poker, sample_state=sample_state)
    assert law_of(check_sampler, game) == "sampler.pure"


def test_a_sampler_of_states_that_cannot_be_played_is_caught():
    def sample_state(observation, dealer):
        state = high_card.sample_state(observation, dealer)
        state.stock.clear()
        return state

    hooks = hooks_of(high_card)
    del hooks["conserved"]
    game = mutant(SimpleNamespace(**hooks), sample_state=sample_state)
    assert law_of(check_sampler, game) == "sampler.playable"


def test_too_little_play_to_judge_is_an_error():
    assert law_of(check_sampler, sound(kuhn_poker), matches=2) == "sampler.vacuous"


# ----------------------------------------------------------------- witnesses that err


def test_a_witness_that_does_nothing_is_caught_exactly():
    def shuffle_hidden(state, seat, dealer):
        pass

    game = mutant(kuhn_poker, shuffle_hidden=shuffle_hidden)
    assert law_of(check_sampler_exact, game) == "witness.worlds"


def test_a_witness_that_weighs_wrongly_is_caught_exactly():
    def shuffle_hidden(state, seat, dealer):
        if dealer.below(2):
            high_card.shuffle_hidden(state, seat, dealer)

    game = mutant(high_card, shuffle_hidden=shuffle_hidden)
    assert law_of(check_sampler_exact, game) == "witness.weights"


# -------------------------------------------------------------------------- the rest


def test_exact_laws_can_stop_early_and_refuse_large_games():
    game = sound(kuhn_poker)
    assert check_sampler_exact(game, plies=0).worlds == 6
    with pytest.raises(EnumerationError, match="more than 50 positions"):
        check_sampler_exact(game, limit=50)


def test_features_of_ones_own_are_compared():
    def features(state):
        return {"the card of seat 1": state.cards[1]}

    game = mutant(kuhn_poker, sample_state=lowest_card)
    with pytest.raises(LawError, match="the card of seat 1: "):
        check_sampler_statistics(game, features=features)


def test_the_sampler_gets_what_the_bytes_hold_only():
    @attrs.frozen
    class Loaded(kuhn_poker.Observation):
        """An observation that carries the truth outside its bytes."""

        truth: object = attrs.field(init=False, default=None, eq=False, repr=False)

    def observe(state, seat):
        honest = kuhn_poker.observe(state, seat)
        loaded = Loaded(
            honest.options, honest.seat, honest.card, honest.moves, honest.shown
        )
        object.__setattr__(loaded, "truth", state.cards)
        return loaded

    def sample_state(observation, dealer):
        assert observation.truth is None
        return kuhn_poker.sample_state(observation, dealer)

    def describe():
        return attrs.evolve(kuhn_poker.describe(), observation=Loaded)

    game = mutant(
        kuhn_poker, describe=describe, observe=observe, sample_state=sample_state
    )
    assert check_sampler(game).samples


# ------------------------------------------------------- too large for the exact laws

LARGE = (1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3)


def too_seldom_a_three(observation, dealer):
    cards = high_card.unseen(observation)
    dealer.shuffle(cards)
    if len(cards) > 8 and 3 in cards[:1]:
        dealer.shuffle(cards)
    return high_card.build(observation, cards)


@pytest.mark.parametrize("profile", ["quick", "thorough"])
def test_a_biased_sampler_of_a_large_game_is_caught_by_certify(profile, monkeypatch):
    monkeypatch.setattr(high_card, "DECK", LARGE)
    laws = [law for law in LAWS if law.startswith(("sampler.", "witness."))]
    plan = evolve(PROFILES[profile], sampler_matches=20, worlds=4000, draws=1000)
    game = mutant(high_card, sample_state=too_seldom_a_three)
    certificate = certify(game, plan=plan, laws=laws)
    assert certificate.laws(Verdict.BROKEN) == ["sampler.distribution"]
    assert "sampler.weights" in certificate.laws(Verdict.SKIPPED)
    sound_one = certify(sound(high_card), plan=plan, laws=["sampler.distribution"])
    assert sound_one.laws(Verdict.HOLDS) == ["sampler.distribution"]


def test_the_comparison_is_bounded_in_time_and_still_draws():
    report = check_sampler_statistics(sound(high_card), positions=50, seconds=0)
    assert (report.positions, report.samples) == (1, 3 * 150)
