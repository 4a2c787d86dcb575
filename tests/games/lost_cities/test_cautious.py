"""The cautious bot."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.games.lost_cities.support import GAME, OPTIONS, SINGLE, position

from fritillary import Ask, Clock, FastDealer, UniformBot
from fritillary_games.lost_cities.actions import notation
from fritillary_games.lost_cities.cautious import CautiousBot
from fritillary_games.lost_cities.model import Options, State


def ask(state: State, rng: random.Random) -> Ask:
    seat = state.to_move
    return Ask(
        GAME,
        seat,
        lambda: GAME.observe(state, seat),
        GAME.legal_actions(state),
        rng,
        Clock(),
    )


def choice(text: str) -> str:
    return notation(CautiousBot().decide(ask(position(text), random.Random(0))))


def outcome(bots: list[Any], seed: int, options: Options = SINGLE) -> Any:
    state = GAME.new(FastDealer(seed), options)
    rngs = [random.Random(2 * seed + seat) for seat in (0, 1)]
    while (seat := GAME.decision_point(state).seat) is not None:
        question = ask(state, rngs[seat])
        GAME.play(state, bots[seat].decide(question), question.legal)
    return GAME.outcome_of(state)


def test_it_is_among_the_bots_of_the_game() -> None:
    assert GAME.bots["cautious"] is CautiousBot


def test_it_plays_its_lowest_card_on_an_open_expedition() -> None:
    text = (
        "hand 0: red 5 6 9, blue 2, white 2, green 3, yellow 3 4\nexpedition 0: red W 4"
    )
    assert choice(text) == "play red 5"


def test_it_opens_nothing_with_a_poor_hand_and_discards_what_helps_nobody() -> None:
    text = (
        "hand 0: red 2 6, blue 2 5, white 2 6, green 3 5\n"
        "expedition 1: red W 4, blue W 3, white W 4, green W 7"
    )
    assert choice(text) in {"discard red 2", "discard blue 2", "discard white 2"}


def test_it_takes_a_discard_that_continues_an_expedition() -> None:
    text = "hand 0: red 9\nexpedition 0: red W 7\ndiscards: red 8\ndraw: any"
    assert choice(text) == "take red"


def test_it_leaves_a_discard_it_cannot_use() -> None:
    text = "expedition 0: red W 7\ndiscards: red 6\ndraw: any"
    assert choice(text) == "draw"


@pytest.mark.parametrize("name", OPTIONS)
def test_it_plays_to_the_end_whatever_the_options(name: str) -> None:
    reasons = {
        outcome([CautiousBot(), CautiousBot()], seed, OPTIONS[name]).reason
        for seed in range(2)
    }
    # With six colours the draw pile is empty after 56 turns, before the cap of 61.
    assert reasons == {"turn-cap" if name == "capped" else "pile-empty"}


def test_it_refuses_to_think_for_another_seat() -> None:
    state = position("")
    question = Ask(GAME, 1, GAME.observe(state, 1), (), random.Random(0), Clock())
    with pytest.raises(ValueError, match="only when it is to move"):
        CautiousBot().decide(question)


def test_it_decides_the_same_about_the_same_observation() -> None:
    state = GAME.new(FastDealer(3), SINGLE)
    first = CautiousBot().decide(ask(state, random.Random(1)))
    assert CautiousBot().decide(ask(state, random.Random(2))) is first


def test_it_beats_random_play_with_seats_swapped() -> None:
    wins = points = 0
    for deal in range(200):
        for seat in (0, 1):
            bots: list[Any] = [UniformBot(), UniformBot()]
            bots[seat] = CautiousBot()
            result = outcome(bots, deal)
            wins += result.winners == (seat,)
            points += result.scores[seat]
    assert wins >= 0.85 * 400
    assert points > 40 * 400
