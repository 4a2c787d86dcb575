"""Options: what they change is in the rules; here, what they refuse."""

from __future__ import annotations

from typing import Any

import pytest
from tests.games.checks import check_wrong_options
from tests.games.lepidoptery.support import GAME

from fritillary import FastDealer, InvalidOptionsError
from fritillary_games.lepidoptery.model import Combo, Options

WRONG = [
    ({"heights": [6, 6, 6, 6]}, "heights", "five heights from 1 to 12"),
    ({"heights": [6, 6, 6, 6, 6, 6]}, "heights", "five heights from 1 to 12"),
    ({"heights": [6, 6, 0, 6, 6]}, "heights", "five heights from 1 to 12"),
    ({"heights": [6, 6, 13, 6, 6]}, "heights", "five heights from 1 to 12"),
    ({"heights": [6, 6, "6", 6, 6]}, "heights[2]", "int"),
    ({"heights": 6}, "heights", "list"),
    ({"order": ["single", "pair", "triple", "run2", "run2"]}, "order", "each"),
    ({"order": ["single", "pair", "triple", "run2"]}, "order", "each"),
    ({"order": ["single", "pair", "triple", "run2", "run4"]}, "order[4]", "run4"),
    ({"same_type_may_beat": 1}, "same_type_may_beat", "true or false"),
    ({"draw_at_twelve": "yes"}, "draw_at_twelve", "true or false"),
    ({"starter": 2}, "starter", "2"),
    ({"starter": -1}, "starter", "-1"),
    ({"colour": "red"}, "", "colour"),
]


@pytest.mark.parametrize(("data", "where", "what"), WRONG)
def test_wrong_options_give_one_clear_line(
    data: dict[str, Any], where: str, what: str
) -> None:
    check_wrong_options(GAME, data, where, what)


def test_the_published_rule_sets_are_presets_that_differ_in_one_option() -> None:
    assert GAME.options(preset="classic") == Options()
    assert GAME.options(preset="bga") == Options(same_type_may_beat=False)


def test_an_unknown_preset_names_the_known_ones() -> None:
    with pytest.raises(InvalidOptionsError, match="classic, bga"):
        GAME.options(preset="blitz")


def test_the_default_columns_stand_symmetrically() -> None:
    assert Options().heights == (6, 6, 6, 6, 6)
    assert Options().order == (
        Combo.RUN3,
        Combo.RUN2,
        Combo.SINGLE,
        Combo.PAIR,
        Combo.TRIPLE,
    )


@pytest.mark.parametrize("seats", [1, 3])
def test_two_seats_play(seats: int) -> None:
    with pytest.raises(InvalidOptionsError, match="played by 2 seats"):
        GAME.new(FastDealer(1), seats=seats)


@pytest.mark.parametrize("starter", [0, 1])
def test_the_starter_leads(starter: int) -> None:
    state = GAME.new(FastDealer(1), Options(starter=starter))
    assert GAME.decision_point(state).seat == starter


def test_options_survive_bytes() -> None:
    options = Options(heights=(1, 2, 3, 4, 12), starter=1, draw_at_twelve=False)
    assert GAME.codec.decode_options(GAME.codec.encode_options(options)) == options
