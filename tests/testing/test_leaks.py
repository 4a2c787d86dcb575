import types

import pytest
from examples.kuhn_poker import kuhn_poker
from examples.pig import pig
from tests.testing import high_card
from tests.testing.mutants import hooks_of, mutant, sound

from fritillary import ACTS, FritillaryError
from fritillary.core.errors import UsageError
from fritillary.testing import LawError, check_leaks


@pytest.mark.parametrize("module", [kuhn_poker, high_card])
def test_a_sound_game_passes(module):
    report = check_leaks(sound(module))
    assert report.matches == 20
    assert report.pairs.keys() == {None, 0, 1}
    assert all(2 * report.positions == pairs for pairs in report.pairs.values())
    # Most pairs are different in truth, so the gate has looked at something.
    assert sum(report.different.values()) * 3 > sum(report.pairs.values())
    assert "20 matches" in str(report)


def test_a_game_that_hides_nothing_is_refused():
    with pytest.raises(UsageError, match="nothing is hidden"):
        check_leaks(sound(pig))


def only_samples(draws, **changes):
    """Return high card with a chance that is drawn by so many numbers."""
    hooks = hooks_of(high_card)
    del hooks["chance_outcomes"]

    def sample_chance(state, dealer):
        # The top card of a stock that is shuffled anew each time.
        return high_card.Drawn(state.stock[dealer.below(draws) % len(state.stock)])

    module = types.SimpleNamespace(**hooks)
    return mutant(module, sample_chance=sample_chance, **changes)


@pytest.mark.parametrize("draws", [60, 10**9])
def test_chance_that_is_only_sampled_is_looked_at_too(draws):
    assert check_leaks(only_samples(draws)).positions
    with pytest.raises(LawError) as caught:
        check_leaks(only_samples(draws, observe_action=sees_the_hidden_card))
    assert caught.value.law.id == "leak.seen-actions"


def test_an_action_that_cannot_be_seen_is_an_error():
    def observe_action(state, action, seat):
        raise RuntimeError("no view")

    with pytest.raises(RuntimeError, match="no view"):
        check_leaks(mutant(kuhn_poker, observe_action=observe_action))


def test_what_is_impossible_in_the_other_world_says_nothing():
    def observe_action(state, action, seat):
        if isinstance(action, high_card.Drawn) and action.rank not in state.stock:
            raise KeyError(action.rank)
        return high_card.observe_action(state, action, seat)

    assert check_leaks(mutant(high_card, observe_action=observe_action)).positions


def observes_all(state, seat):
    honest = kuhn_poker.observe(state, seat)
    return kuhn_poker.Observation(
        honest.options, honest.seat, honest.card, honest.moves, state.cards
    )


def bets_against_weak_cards_only(state):
    legal = kuhn_poker.legal_actions(state)
    strong = state.cards[1 - len(state.moves) % 2] == 2
    return legal[:1] if strong else legal


def lets_the_king_begin(state):
    if not state.moves:
        return ACTS[state.cards.index(2) if 2 in state.cards else 0]
    return kuhn_poker.decision_point(state)


def sees_the_hidden_card(state, action, seat):
    seen = high_card.observe_action(state, action, seat)
    if seen == high_card.Drawn(0):
        return high_card.Drawn(max(state.hands))
    return seen


def sees_what_is_drawn_from(state, action, seat):
    seen = high_card.observe_action(state, action, seat)
    return high_card.Drawn(state.stock[0]) if seen == high_card.Drawn(0) else seen


def with_secret(**changes):
    """Return a mutant whose observe() keeps a secret aside for other hooks."""
    aside = types.SimpleNamespace(cards=())

    def observe(state, seat):
        aside.cards = tuple(state.hands)
        return high_card.observe(state, seat)

    return mutant(
        high_card,
        observe=observe,
        **{name: make(aside) for name, make in changes.items()},
    )


def secret_text(aside):
    def draw_text(observation):
        return f"{high_card.draw_text(observation)}\n{aside.cards}"

    return draw_text


def secret_svg(aside):
    def draw_svg(observation):
        return high_card.draw_svg(observation).replace("</svg>", f"{aside.cards}</svg>")

    return draw_svg


def secret_explanation(aside):
    def explain_illegal(observation, action):
        return f"not with {aside.cards}"

    return explain_illegal


LEAKY = {
    "leak.observation": mutant(kuhn_poker, observe=observes_all),
    "leak.legal-actions": mutant(
        kuhn_poker, legal_actions=bets_against_weak_cards_only
    ),
    "leak.decision-point": mutant(kuhn_poker, decision_point=lets_the_king_begin),
    "leak.text": with_secret(draw_text=secret_text),
    "leak.svg": with_secret(draw_svg=secret_svg),
    "leak.explanation": with_secret(explain_illegal=secret_explanation),
    "leak.seen-actions": mutant(high_card, observe_action=sees_the_hidden_card),
}


@pytest.mark.parametrize("law", LEAKY)
def test_a_leak_is_caught_by_its_law(law):
    with pytest.raises(LawError) as caught:
        check_leaks(LEAKY[law])
    assert caught.value.law.id == law


def test_an_action_seen_by_the_rest_of_the_stock_is_caught():
    game = mutant(high_card, observe_action=sees_what_is_drawn_from)
    with pytest.raises(LawError) as caught:
        check_leaks(game)
    assert caught.value.law.id == "leak.seen-actions"


def test_a_leak_to_spectators_alone_is_caught():
    def observe(state, seat):
        return observes_all(state, seat) if seat is None else honest(state, seat)

    honest = kuhn_poker.observe
    with pytest.raises(LawError, match="seat: spectator") as caught:
        check_leaks(mutant(kuhn_poker, observe=observe))
    assert caught.value.law.id == "leak.observation"


def test_a_leak_at_one_rare_position_is_caught():
    def observe(state, seat):
        rare = [move.value for move in state.moves] == ["check", "bet", "fold"]
        return observes_all(state, seat) if rare else kuhn_poker.observe(state, seat)

    with pytest.raises(LawError) as caught:
        check_leaks(mutant(kuhn_poker, observe=observe))
    assert caught.value.failure.actions == ("check", "bet", "fold")


def test_a_witness_that_does_nothing_is_vacuous():
    def shuffle_hidden(state, seat, dealer):
        pass

    with pytest.raises(LawError, match="0 of ") as caught:
        check_leaks(mutant(kuhn_poker, shuffle_hidden=shuffle_hidden))
    assert caught.value.law.id == "leak.vacuous"


def test_a_witness_that_does_nothing_for_one_seat_is_vacuous():
    def shuffle_hidden(state, seat, dealer):
        if seat != 1:
            kuhn_poker.shuffle_hidden(state, seat, dealer)

    game = mutant(kuhn_poker, shuffle_hidden=shuffle_hidden)
    with pytest.raises(LawError, match="for seat 1, 0 of ") as caught:
        check_leaks(game)
    assert caught.value.law.id == "leak.vacuous"
    # Unless that seat sees everything by the rules.
    assert check_leaks(game, all_knowing={1}).different.get(1) is None


def test_the_message_shows_how_to_get_there_again():
    with pytest.raises(LawError) as caught:
        check_leaks(LEAKY["leak.observation"], seats=2, seed=7)
    text = caught.value.message
    assert "law leak.observation is broken: Observations hold nothing" in text
    assert "differ in observation: $.shown[" in text
    assert 'options: {"ante":1,"bet":1}' in text
    assert "seat: spectator" in text
    assert "deal: FastDealer('7/0').stream('deal')" in text
    assert "actions so far (0): none" in text
    assert "| moves: none" in text


def test_a_law_error_is_a_failure_for_test_runners_and_has_a_code():
    with pytest.raises(AssertionError) as caught:
        check_leaks(LEAKY["leak.text"])
    assert isinstance(caught.value, FritillaryError)
    assert caught.value.code == "law.leak.text"
