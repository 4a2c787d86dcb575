import functools
import random
from fractions import Fraction
from typing import Any

import pytest
from examples.pig import pig
from examples.pig.pig import HOLD, ROLL, Face, Options, State
from tests.examples.projects import EXAMPLES, code_lines, entry_points

from fritillary import (
    Act,
    Chance,
    FastDealer,
    Game,
    GameError,
    IllegalActionError,
    InvalidOptionsError,
    Plugin,
    playout,
)
from fritillary.testing import check_contract, exact_values

GAME: Game[State, Any, State] = Game(Plugin("pig", pig))


def play(*actions, totals=(0, 0), **options):
    """Return the state after actions; numbers are faces of the die."""
    state = State(Options(**options), list(totals))
    for action in actions:
        if isinstance(action, int):
            assert isinstance(GAME.decision_point(state), Chance)
            GAME.apply(state, Face(action))
        else:
            GAME.play(state, action)
    return state


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_it_keeps_every_law(seats):
    check_contract(GAME, seats=seats, matches=4)


def test_one_seat_may_roll_again_and_again():
    state = play(ROLL, 3, ROLL, 6)
    assert GAME.decision_point(state) == Act(0)
    assert (state.turn, state.totals) == (9, [0, 0])


def test_holding_banks_the_turn_and_passes_the_die():
    state = play(ROLL, 3, ROLL, 6, HOLD)
    assert GAME.decision_point(state) == Act(1)
    assert (state.turn, state.totals) == (0, [9, 0])


def test_a_one_loses_the_turn():
    state = play(ROLL, 6, ROLL, 1, totals=(10, 20))
    assert GAME.decision_point(state) == Act(1)
    assert (state.turn, state.totals) == (0, [10, 20])


def test_reaching_the_target_wins_at_once():
    state = play(ROLL, 5, ROLL, 5, totals=(91, 50))
    outcome = GAME.outcome_of(state)
    assert outcome.reason == "target"
    assert (outcome.scores, outcome.placing) == ((101, 50), (1, 2))


def test_the_last_round_ends_the_match():
    state = play(ROLL, 1, ROLL, 1, totals=(7, 7), rounds=1)
    outcome = GAME.outcome_of(state)
    assert (outcome.reason, outcome.placing) == ("rounds", (1, 1))


def test_the_target_is_an_option():
    assert GAME.outcome_of(play(ROLL, 4, target=4)).reason == "target"
    assert GAME.outcome_of(play(ROLL, 4, target=5)) is None
    with pytest.raises(InvalidOptionsError, match="target"):
        GAME.options({"target": 1})


def test_holding_before_the_first_roll_is_illegal():
    with pytest.raises(IllegalActionError, match="roll at least once"):
        play(HOLD)


def test_seats_cannot_act_while_the_die_rolls():
    with pytest.raises(GameError, match="chance"):
        play(ROLL, HOLD)


def test_the_faces_are_equally_likely():
    outcomes = GAME.chance_outcomes(play(ROLL))
    assert [(face.pips, weight) for face, weight in outcomes] == [
        (pips, 1) for pips in range(1, 7)
    ]


def test_the_picture_shows_totals_and_turn():
    state = play(ROLL, 5, totals=(30, 7))
    assert GAME.draw_text(state) == (
        "seat 0: 30 + 5\nseat 1: 7\nrounds: 0 of 50, target: 100"
    )


def test_no_match_has_more_plies_than_announced():
    # The longest: everybody rolls twos, and loses them with the last roll before
    # the target.
    options = Options(target=200, rounds=100)
    state = GAME.new(FastDealer(1), options, 4)
    plies = 0
    while GAME.outcome_of(state) is None:
        if isinstance(GAME.decision_point(state), Chance):
            GAME.apply(state, Face(2 if state.turn < 198 else 1))
        else:
            GAME.play(state, ROLL)
        plies += 1
    assert plies == 4 * 100 * 200
    assert plies <= GAME.info.max_plies


def test_random_playouts_end():
    for seed in range(20):
        state = GAME.new(FastDealer(seed), seats=2 + seed % 3)
        assert playout(GAME, state, random.Random(seed)).reason in GAME.info.reasons


# ------------------------------------------------------------------------- the value


def hold_at(points):
    def policy(observation, legal):
        if HOLD not in legal:
            return [Fraction(1)]
        holds = observation.turn >= points
        return [Fraction(not holds), Fraction(holds)]

    return policy


@functools.cache
def expected_turn(points, turn=0):
    """Return the expected gain of a turn that stops at so many points."""
    if turn >= points:
        return Fraction(turn)
    return sum(expected_turn(points, turn + face) for face in range(2, 7)) / 6


@pytest.mark.parametrize("points", [1, 4, 7, 20])
def test_exact_values_of_a_turn_agree_with_a_recursion(points):
    options = Options(target=200, rounds=1)
    values = exact_values(GAME, [hold_at(points), hold_at(4)], options=options)
    assert values == (expected_turn(points), expected_turn(4))


def test_a_turn_that_stops_at_twenty_is_best():
    # The known result; with 20 points, holding and rolling once more gain the same.
    gains = {points: expected_turn(points) for points in range(1, 31)}
    best = max(gains.values())
    assert [points for points, gain in gains.items() if gain == best] == [20, 21]


# ----------------------------------------------------------------------- the project


def test_the_project_announces_the_game():
    (name, module), *rest = entry_points("pig").items()
    assert not rest
    assert name == GAME.info.id
    assert (EXAMPLES / "pig" / f"{module}.py").samefile(pig.__file__)


def test_the_module_is_short():
    assert code_lines(EXAMPLES / "pig" / "pig.py") < 110
