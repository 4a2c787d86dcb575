from fractions import Fraction
from itertools import product

import pytest
from examples.kuhn_poker import kuhn_poker
from examples.kuhn_poker.kuhn_poker import BET, CALL, CHECK, FOLD, Move, Options, State
from tests.examples.projects import EXAMPLES, code_lines, entry_points

from fritillary import (
    Act,
    FastDealer,
    Game,
    IllegalActionError,
    InvalidOptionsError,
    Over,
    Plugin,
)
from fritillary.testing import (
    check_contract,
    check_leaks,
    check_sampler,
    check_sampler_exact,
    check_sampler_statistics,
    exact_values,
)

GAME: Game[State, kuhn_poker.Action, kuhn_poker.Observation] = Game(
    Plugin("kuhn-poker", kuhn_poker)
)
JACK, QUEEN, KING = 0, 1, 2
STAKES = pytest.mark.parametrize("options", [Options(), Options(ante=3, bet=5)])


def play(cards, *actions, options=None):
    state = State(options or Options(), cards, [])
    for action in actions:
        GAME.play(state, action)
    return state


# ------------------------------------------------------------------------- the laws


@STAKES
def test_it_keeps_every_law(options):
    check_contract(GAME, options=options)
    check_leaks(GAME, options=options)
    check_sampler(GAME, options=options)
    check_sampler_statistics(GAME, options=options)
    check_sampler_exact(GAME, options=options)


# ------------------------------------------------------------------------ the rules


@pytest.mark.parametrize(
    ("actions", "reason", "scores"),
    [
        ([CHECK, CHECK], "showdown", (-1, 1)),
        ([CHECK, BET, FOLD], "fold", (-1, 1)),
        ([CHECK, BET, CALL], "showdown", (-2, 2)),
        ([BET, FOLD], "fold", (1, -1)),
        ([BET, CALL], "showdown", (-2, 2)),
    ],
)
def test_every_way_to_end_pays_as_it_should(actions, reason, scores):
    outcome = GAME.outcome_of(play((QUEEN, KING), *actions))
    assert (outcome.reason, outcome.scores) == (reason, scores)


def test_the_stakes_are_options():
    options = Options(ante=3, bet=5)
    state = play((KING, JACK), BET, CALL, options=options)
    assert GAME.outcome_of(state).scores == (8, -8)
    state = play((KING, JACK), CHECK, BET, FOLD, options=options)
    assert GAME.outcome_of(state).scores == (-3, 3)


@pytest.mark.parametrize("data", [{"ante": 0}, {"bet": 101}, {"ante": "1"}])
def test_stakes_out_of_range_are_refused(data):
    with pytest.raises(InvalidOptionsError):
        GAME.options(data)


def test_the_seats_take_turns():
    state = play((QUEEN, KING))
    for seat, action in ((0, CHECK), (1, BET), (0, CALL)):
        assert GAME.decision_point(state) == Act(seat)
        GAME.play(state, action)
    assert isinstance(GAME.decision_point(state), Over)


def test_an_illegal_action_is_explained():
    with pytest.raises(IllegalActionError, match="no bet yet: check or bet"):
        play((QUEEN, KING), CALL)
    with pytest.raises(IllegalActionError, match="there is a bet: call it or fold"):
        play((QUEEN, KING), BET, CHECK)


def test_cards_are_shown_at_a_showdown_only():
    called = play((QUEEN, KING), BET, CALL)
    folded = play((QUEEN, KING), BET, FOLD)
    assert GAME.observe(called, None).shown == (QUEEN, KING)
    assert GAME.observe(folded, None).shown == ()
    assert GAME.observe(folded, 0).card == QUEEN


def test_the_picture_shows_what_the_observer_sees():
    state = play((QUEEN, KING), CHECK)
    assert GAME.draw_text(GAME.observe(state, 1)) == (
        "seat 0: ?\nseat 1: K\nmoves: check"
    )
    called = play((QUEEN, KING), BET, CALL)
    assert GAME.draw_text(GAME.observe(called, None)) == (
        "seat 0: Q\nseat 1: K\nmoves: bet, call"
    )


def test_the_deal_comes_from_its_stream():
    dealer = FastDealer(3)
    before = GAME.new(dealer)
    dealer.below(100)
    assert GAME.new(dealer).cards == before.cards


# ------------------------------------------------------------------------- the value


def first(alpha):
    """Return the family of best policies of seat 0, alpha from 0 to 1/3."""
    bets = {JACK: alpha, QUEEN: Fraction(0), KING: 3 * alpha}
    calls = {JACK: Fraction(0), QUEEN: alpha + Fraction(1, 3), KING: Fraction(1)}

    def policy(observation, legal):
        if legal == kuhn_poker.OPENING:
            chance = bets[observation.card]
            return [1 - chance, chance]
        chance = calls[observation.card]
        return [chance, 1 - chance]

    return policy


def second(observation, legal):
    """Play the one best policy of seat 1."""
    third = Fraction(1, 3)
    if legal == kuhn_poker.OPENING:
        chance = {JACK: third, QUEEN: Fraction(0), KING: Fraction(1)}[observation.card]
        return [1 - chance, chance]
    chance = {JACK: Fraction(0), QUEEN: third, KING: Fraction(1)}[observation.card]
    return [chance, 1 - chance]


@pytest.mark.parametrize("alpha", [Fraction(k, 12) for k in range(5)])
def test_best_play_loses_an_eighteenth_for_the_first_seat(alpha):
    assert exact_values(GAME, [first(alpha), second]) == (
        Fraction(-1, 18),
        Fraction(1, 18),
    )


def pure_policies():
    for choices in product((0, 1), repeat=6):

        def policy(observation, legal, choices=choices):
            place = observation.card + 3 * (legal != kuhn_poker.OPENING)
            return [1 - choices[place], choices[place]]

        yield policy


def test_nobody_does_better_against_best_play():
    best = [exact_values(GAME, [pure, second])[0] for pure in pure_policies()]
    assert max(best) == Fraction(-1, 18)
    best = [exact_values(GAME, [first(Fraction(1, 6)), p])[1] for p in pure_policies()]
    assert max(best) == Fraction(1, 18)


def test_outside_the_family_the_first_seat_can_be_exploited():
    worst = [exact_values(GAME, [first(Fraction(0)), p])[0] for p in pure_policies()]
    assert min(worst) == Fraction(-1, 18)

    def always_bets(observation, legal):
        return [Fraction(0), Fraction(1)] if CHECK in legal else [Fraction(1, 2)] * 2

    worst = [exact_values(GAME, [always_bets, p])[0] for p in pure_policies()]
    assert min(worst) < Fraction(-1, 18)


# ----------------------------------------------------------------------- the project


def test_the_project_announces_the_game():
    (name, module), *rest = entry_points("kuhn_poker").items()
    assert not rest
    assert name == GAME.info.id
    assert (EXAMPLES / "kuhn_poker" / f"{module}.py").samefile(kuhn_poker.__file__)


def test_the_module_is_short():
    assert code_lines(EXAMPLES / "kuhn_poker" / "kuhn_poker.py") < 150


def test_the_table_lists_every_move():
    table = GAME.table(Options(), 2)
    assert [action.move for action in table.actions] == list(Move)
    texts = [GAME.format_action(action) for action in table.actions]
    assert texts == ["check", "bet", "call", "fold"]
