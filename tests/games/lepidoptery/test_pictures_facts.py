"""What the pictures of Lepidoptery conclude from an observation is true."""

from __future__ import annotations

import random
from xml.etree import ElementTree as ET

import pytest
from attrs import evolve

import fritillary_games.lepidoptery
from fritillary import FastDealer, Game, Over, Plugin
from fritillary_games.lepidoptery.model import Combo, Observation, Options, Play
from fritillary_games.lepidoptery.pictures_facts import (
    cards_of,
    newest_token,
    table_owner,
    winning_lines,
)

# Columns: run3, run2, single, pair, triple; seat 0 has just put the fourth single.
FOUR = Observation(
    options=Options(),
    seat=None,
    to_move=None,
    hand=(),
    hand_sizes=(8, 10),
    deck_sizes=(17, 21),
    played=((), ()),
    markers=(Combo.SINGLE, Combo.RUN2),
    jokers=(True, True),
    columns=((1, 0), (0, 1), (0, 0, 0, 0), (1, 0, 1), (0,)),
    table=Play(Combo.SINGLE, 10),
    winner=0,
    reason="four-in-line",
)


@pytest.mark.rule("L-n")
@pytest.mark.parametrize(
    ("columns", "line"),
    [
        (((), (1, 0, 0, 0, 0), (), (), ()), [(1, 1), (1, 2), (1, 3), (1, 4)]),
        (((0,), (0,), (0,), (0,), (1,)), [(0, 0), (1, 0), (2, 0), (3, 0)]),
        (
            ((), (0,), (1, 0), (1, 1, 0), (1, 1, 1, 0)),
            [(1, 0), (2, 1), (3, 2), (4, 3)],
        ),
        (
            ((1, 1, 1, 0), (1, 1, 0), (1, 0), (0,), ()),
            [(0, 3), (1, 2), (2, 1), (3, 0)],
        ),
    ],
)
def test_a_line_of_four_is_found_in_every_direction(columns, line):
    assert winning_lines(evolve(FOUR, columns=columns)) == [line]


def test_two_lines_and_a_line_of_five_are_found_whole():
    columns = ((0,), (0,), (0, 0, 0, 0), (0,), (0,))
    assert winning_lines(evolve(FOUR, columns=columns)) == [
        [(2, 0), (2, 1), (2, 2), (2, 3)],
        [(0, 0), (1, 0), (2, 0), (3, 0), (4, 0)],
    ]


@pytest.mark.rule("L-d")
@pytest.mark.parametrize(
    ("play", "cards"),
    [
        (Play(Combo.SINGLE, 4), [(4, False)]),
        (Play(Combo.PAIR, 4, 4), [(4, False), (4, True)]),
        (Play(Combo.TRIPLE, 1, 1), [(1, False), (1, False), (1, True)]),
        (Play(Combo.RUN2, 9, 9), [(9, True), (10, False)]),
        (Play(Combo.RUN3, 4, 5), [(4, False), (5, True), (6, False)]),
    ],
)
def test_cards_of_a_combination_tell_which_one_is_the_joker(play, cards):
    assert cards_of(play) == cards


@pytest.mark.rule("L-o")
def test_newest_token_is_the_top_of_the_column_of_the_table():
    assert newest_token(FOUR) == (2, 3)
    assert newest_token(evolve(FOUR, table=Play(Combo.PAIR, 4))) is None
    assert newest_token(evolve(FOUR, table=None)) is None


@pytest.mark.parametrize("preset", ["classic", "bga"])
@pytest.mark.parametrize("seed", range(5))
def test_what_the_pictures_conclude_is_what_happened_in_a_match(preset, seed):
    game: Game = Game(Plugin("lepidoptery", fritillary_games.lepidoptery))
    chance = random.Random(seed)
    state = game.new(FastDealer(chance), game.options(preset=preset))
    owner = None
    while not isinstance(point := game.decision_point(state), Over):
        action = chance.choice(game.legal_actions(state))
        game.apply(state, action)
        owner = point.seat if isinstance(action, Play) else None
        seen = [game.observe(state, seat) for seat in (None, 0, 1)]
        for observation in seen:
            assert table_owner(observation) == owner
            newest = newest_token(observation)
            if owner is None:
                assert newest is None
            else:
                assert newest is not None
                column, row = newest
                assert observation.options.order[column] is action.combo
                assert row == len(observation.columns[column]) - 1
            by_four = observation.reason == "four-in-line"
            assert bool(winning_lines(observation)) == by_four
            assert max(map(len, game.draw_text(observation).split("\n"))) <= 80
        assert game.draw_svg is not None
        ET.fromstring(game.draw_svg(seen[0]))
