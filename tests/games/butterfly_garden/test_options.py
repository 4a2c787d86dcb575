"""Options: what they change is in the rules; here, what they refuse."""

from __future__ import annotations

from typing import Any

import pytest
from tests.games.butterfly_garden.support import GAME, INDIGO, SETUPS
from tests.games.checks import check_wrong_options

from fritillary import FastDealer, InvalidOptionsError
from fritillary_games.butterfly_garden.model import Options

WRONG = [
    ({"edition": "moths"}, "edition", "moths"),
    ({"three_players": "both"}, "three_players", "both"),
    ({"end": "never"}, "end", "never"),
    ({"max_rounds": -1}, "max_rounds", "-1"),
    ({"max_rounds": 28}, "max_rounds", "28"),
    ({"max_rounds": "7"}, "max_rounds", "int"),
    ({"open_hands": 1}, "open_hands", "true or false"),
    ({"hide_scores": "yes"}, "hide_scores", "true or false"),
    ({"starter": 4}, "starter", "4"),
    ({"starter": -1}, "starter", "-1"),
    ({"colour": "red"}, "", "colour"),
]


@pytest.mark.parametrize(("data", "where", "what"), WRONG)
def test_wrong_options_give_one_clear_line(
    data: dict[str, Any], where: str, what: str
) -> None:
    check_wrong_options(GAME, data, where, what)


@pytest.mark.parametrize("seats", [0, 1, 5, 6])
def test_two_to_four_seats_play(seats: int) -> None:
    with pytest.raises(InvalidOptionsError) as caught:
        GAME.new(FastDealer(1), seats=seats)
    message = f"butterfly-garden is played by 2 to 4 seats, not {seats}"
    assert caught.value.message == message


@pytest.mark.parametrize(("starter", "seats"), [(2, 2), (3, 2), (3, 3)])
def test_the_starter_is_one_of_the_seats(starter: int, seats: int) -> None:
    with pytest.raises(InvalidOptionsError) as caught:
        GAME.new(FastDealer(1), Options(starter=starter), seats)
    assert caught.value.message == (
        f"butterfly-garden: starter: seat {starter} does not play, "
        f"there are {seats} seats"
    )


def test_the_editions_are_presets() -> None:
    assert GAME.options(preset="butterfly-garden") == Options() == GAME.options()
    assert GAME.options(preset="indigo") == INDIGO


def test_an_unknown_preset_names_the_known_ones() -> None:
    with pytest.raises(InvalidOptionsError, match="butterfly-garden, indigo"):
        GAME.options(preset="diamonds")


@pytest.mark.parametrize("setup", SETUPS)
def test_options_survive_bytes(setup: str) -> None:
    options, _ = SETUPS[setup]
    assert GAME.codec.decode_options(GAME.codec.encode_options(options)) == options
