"""The greedy bot."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.games.butterfly_garden.support import GAME, SETUPS, position

from fritillary import Ask, Clock, FastDealer, Outcome, UniformBot
from fritillary_games.butterfly_garden.actions import notation
from fritillary_games.butterfly_garden.greedy import GreedyBot
from fritillary_games.butterfly_garden.model import Options, State
from fritillary_games.butterfly_garden.position import parse_position


def ask(state: State, rng: random.Random) -> Ask:
    seat = state.to_move
    return Ask(
        GAME, seat, GAME.observe(state, seat), GAME.legal_actions(state), rng, Clock()
    )


def choice(text: str) -> str:
    return notation(GreedyBot().decide(ask(parse_position(text), random.Random(0))))


def outcome(bots: list[Any], seed: int, setup: str = "two") -> Outcome:
    options, seats = SETUPS[setup]
    state = GAME.new(FastDealer(seed), options, seats)
    rngs = [random.Random(4 * seed + seat) for seat in range(seats)]
    while (seat := GAME.decision_point(state).seat) is not None:
        GAME.play(state, bots[seat].decide(ask(state, rngs[seat])))
    found: Outcome = GAME.outcome_of(state)
    return found


def test_it_is_among_the_bots_of_the_game() -> None:
    assert GAME.bots["greedy"] is GreedyBot
    assert GreedyBot.light


def test_it_takes_what_it_can() -> None:
    # The amber beside a2 can leave through gateway 1, which is that of seat 0.
    text = "tiles: b2 lane 0, b1 knot 2\nhand 0: arch leaf"
    assert choice(text).startswith("a2 arch")


def test_it_does_not_lead_treasures_to_gateways_of_others() -> None:
    # With a star, b1 would let the amber out for seat 1.
    text = "seats: 2\ntiles: b2 lane 0, g4 star 0\nhand 0: star star"
    assert choice(text) != "b1 star 0"


def test_it_does_not_let_treasures_meet() -> None:
    # On b4 two ambers would meet.
    tiles = "b2 arch 0, b5 arch 2, b3 star 0, g4 star 0"
    text = f"tiles: {tiles}\nhand 0: star star"
    assert choice(text) != "b4 star 0"


@pytest.mark.parametrize("setup", SETUPS)
def test_it_plays_to_the_end_in_every_setup(setup: str) -> None:
    _, seats = SETUPS[setup]
    for seed in range(3):
        assert outcome([GreedyBot() for _ in range(seats)], seed, setup).winners


def test_it_refuses_to_think_for_another_seat() -> None:
    state = position()
    question = Ask(GAME, 1, GAME.observe(state, 1), (), random.Random(0), Clock())
    with pytest.raises(ValueError, match="only when it is to move"):
        GreedyBot().decide(question)


def test_it_plays_beside_a_full_and_beside_an_empty_centre() -> None:
    state = position("d4 star 0", "d5 star 0", options=Options(max_rounds=2))
    assert GAME.observe(state, 0).centre[0] == 2
    assert GreedyBot().decide(ask(state, random.Random(0))) in GAME.legal_actions(state)
    empty = position(
        *("d4 star 0", "d5 star 0", "e4 star 0", "e6 star 0", "f4 star 0", "f5 star 0")
    )
    assert GAME.observe(empty, 0).centre == ()
    assert GreedyBot().decide(ask(empty, random.Random(0))) in GAME.legal_actions(empty)


def test_it_beats_random_play_with_seats_swapped() -> None:
    wins = 0
    for deal in range(200):
        wins += outcome([GreedyBot(), UniformBot()], deal).winners == (0,)
        wins += outcome([UniformBot(), GreedyBot()], deal).winners == (1,)
    assert wins >= 0.75 * 400
