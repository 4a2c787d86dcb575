"""What breaks a law is shown in the smallest case that is found."""

import pytest
from examples.nim import nim_game
from examples.pig import pig
from tests.testing.mutants import mutant, sound

from fritillary import FastDealer, Outcome, Over
from fritillary.testing import LawError, Plan, certify
from fritillary.testing.scene import random_match
from fritillary.testing.shrink import _smaller, smallest


def failure_of(game, law, **plan):
    certificate = certify(game, plan=Plan(**plan), laws=[law])
    (judgement,) = certificate.judgements
    assert judgement.failure is not None, judgement
    return judgement.failure


def loses_points_of_others():
    """Whoever holds 6 points or more takes a point from the seat behind."""

    def apply_action(state, action):
        greedy = action is pig.HOLD and state.turn >= 6
        seat = state.seat
        pig.apply_action(state, action)
        if greedy:
            state.totals[seat - 1] -= 1

    def conserved(state):
        return {"debts": sum(total < 0 for total in state.totals)}

    return mutant(pig, apply_action=apply_action, conserved=conserved)


def test_the_fewest_plies_and_seats_are_shown():
    failure = failure_of(loses_points_of_others(), "state.conserved", seats=4)
    assert failure.seats == 2
    assert len(failure.actions) == 3
    assert failure.actions[0] == "roll"
    assert failure.actions[2] == failure.action == "hold"
    assert "seat 1: -1" in failure.picture


def test_the_simplest_options_are_shown():
    options = pig.Options(target=150, rounds=90)
    failure = failure_of(loses_points_of_others(), "state.conserved", options=options)
    # 7 points must be out of reach: holding 6 is the least that shows it.
    assert failure.options == {"target": 7, "rounds": 1}


def test_options_that_are_lists_get_smaller():
    def decision_point(state):
        point = nim_game.decision_point(state)
        if isinstance(point, Over):
            return Over(Outcome("last-stone", (1, 0), (2, 1)))
        return point

    game = mutant(nim_game, decision_point=decision_point)
    failure = failure_of(game, "outcome.placing")
    assert failure.options in ({"heaps": [1]}, {"heaps": []})
    assert len(failure.actions) <= 1


def test_a_failure_can_be_reached_as_it_says():
    game = loses_points_of_others()
    failure = failure_of(game, "state.conserved")
    options = game.options(failure.options)
    dealer = eval(failure.deal, {"FastDealer": FastDealer})  # noqa: S307 - our own
    state = game.new(dealer, options, failure.seats)
    outcomes = {game.format_action(face): face for face, _ in pig.DIE}
    for text in failure.actions:
        if text in outcomes:
            game.apply(state, outcomes[text])
        else:
            game.play(state, game.table(options, failure.seats).parse(text))
    assert game.conserved(state) == {"debts": 1}


def test_what_cannot_be_shown_again_is_shown_as_it_was():
    scene = next(random_match(sound(pig), pig.Options(), 3, 0, 0))
    error = scene.broken("turn.seat", "once and never again")
    assert smallest(error, scene, lambda _: None, 1.0) is error


def test_the_message_names_all_that_is_needed():
    game = loses_points_of_others()
    failure = failure_of(game, "state.conserved")
    error = LawError(failure)
    assert error.law.id == error.failure.law == "state.conserved"
    for part in ("game: pig", "seats: 2", "options: {", "action: hold", "deal: Fast"):
        assert part in error.message


@pytest.mark.parametrize(
    ("data", "smaller"),
    [
        (True, [False]),
        (False, []),
        (0, []),
        (9, [0, 1, 2, 4, 8]),
        (-3, [0, 1, 2, -2]),
        ("red", []),
        ({"a": 1, "b": True}, [{"a": 0, "b": True}, {"a": 1, "b": False}]),
        ([[True]], [[], [[]], [[False]]]),
    ],
    ids=str,
)
def test_smaller_data_come_smallest_first(data, smaller):
    assert list(_smaller(data)) == smaller


def test_all_elements_of_a_list_get_smaller_together():
    assert [1, 1, 1] in list(_smaller([6, 6, 6]))
    assert [3, 3] in list(_smaller([5, 3]))
