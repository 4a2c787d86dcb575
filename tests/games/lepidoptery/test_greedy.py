"""The greedy bot."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.games.lepidoptery.support import GAME, OPTIONS, position

from fritillary import Ask, Clock, FastDealer, UniformBot
from fritillary_games.lepidoptery.actions import notation
from fritillary_games.lepidoptery.greedy import GreedyBot
from fritillary_games.lepidoptery.model import State


def ask(state: State, rng: random.Random) -> Ask:
    seat = state.to_move
    return Ask(
        GAME, seat, GAME.observe(state, seat), GAME.legal_actions(state), rng, Clock()
    )


def choice(text: str) -> str:
    return notation(GreedyBot().decide(ask(position(text), random.Random(0))))


def winner(bots: list[Any], seed: int, name: str = "classic") -> int:
    state = GAME.new(FastDealer(seed), OPTIONS[name])
    rngs = [random.Random(2 * seed + seat) for seat in (0, 1)]
    while (seat := GAME.decision_point(state).seat) is not None:
        action = bots[seat].decide(ask(state, rngs[seat]))
        GAME.play(state, action)
    return int(GAME.outcome_of(state).winners[0])


def test_it_is_among_the_bots_of_the_game() -> None:
    assert GAME.bots["greedy"] is GreedyBot


def test_it_wins_by_four() -> None:
    text = "hand 0: 2 3 4 9 9 9\ncolumn single: 0 0 0"
    assert choice(text).startswith("single")


def test_it_wins_by_shedding() -> None:
    assert choice("hand 0: 9 10\ndeck 0: none\njoker 0: used") == "run2 9-10"


def test_it_blocks_a_column() -> None:
    text = "hand 0: 2 2 2 3 4\ncolumn single: 1 1 1"
    assert choice(text).startswith("single")


def test_it_does_not_block_what_the_opponents_marker_bars() -> None:
    text = (
        "hand 0: 9 9 9 10\ntable: single 8\ncolumn single: 1 1 1\njoker 0: used\n"
        "marker 1: single"
    )
    assert choice(text) == "triple 9"


@pytest.mark.parametrize("name", ["classic", "uneven", "flat"])
def test_it_plays_to_the_end_on_every_board(name: str) -> None:
    assert {winner([GreedyBot(), GreedyBot()], seed, name) for seed in range(20)} == {
        0,
        1,
    }


def test_it_refuses_to_think_for_another_seat() -> None:
    state = position("hand 0: 7")
    question = Ask(GAME, 1, GAME.observe(state, 1), (), random.Random(0), Clock())
    with pytest.raises(ValueError, match="only when it is to move"):
        GreedyBot().decide(question)


def test_it_beats_random_play_with_seats_swapped() -> None:
    wins = 0
    for deal in range(200):
        wins += winner([GreedyBot(), UniformBot()], deal) == 0
        wins += winner([UniformBot(), GreedyBot()], deal) == 1
    assert wins >= 0.85 * 400
