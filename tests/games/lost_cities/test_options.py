"""Options: what they change is in the rules; here, what they refuse."""

from __future__ import annotations

from typing import Any

import pytest
from tests.games.checks import check_wrong_options
from tests.games.lost_cities.support import GAME, OPTIONS

from fritillary import FastDealer, InvalidOptionsError
from fritillary_games.lost_cities.model import DiscardPiles, NextStarter, Options

WRONG = [
    ({"colours": 4}, "colours", "(5, 6)"),
    ({"colours": 7}, "colours", "(5, 6)"),
    ({"colours": "5"}, "colours", "an integer"),
    ({"games": 2}, "games", "(1, 3)"),
    ({"games": 0}, "games", "(1, 3)"),
    ({"starter": 2}, "starter", "2"),
    ({"starter": None}, "starter", "an integer"),
    ({"next_starter": "loser"}, "next_starter", "loser"),
    ({"tie_break": 2}, "tie_break", "2"),
    ({"tie_break": "draw"}, "tie_break", "an integer"),
    ({"discard_piles": "closed"}, "discard_piles", "closed"),
    ({"turn_cap": 0}, "turn_cap", "1"),
    ({"turn_cap": 601}, "turn_cap", "600"),
    ({"exploits": ["three-kings"]}, "exploits[0]", "three-kings"),
    ({"exploits": ["three-tens", "three-tens"]}, "exploits", "at most once"),
    ({"exploits": "three-tens"}, "exploits", "list"),
    ({"colour": "red"}, "", "colour"),
]


@pytest.mark.parametrize(("data", "where", "what"), WRONG)
def test_wrong_options_give_one_clear_line(
    data: dict[str, Any], where: str, what: str
) -> None:
    check_wrong_options(GAME, data, where, what)


def test_the_defaults_are_a_match_of_three_games_with_open_piles() -> None:
    assert GAME.options() == Options(
        colours=5,
        games=3,
        starter=0,
        next_starter=NextStarter.HIGHEST_TOTAL,
        tie_break=None,
        discard_piles=DiscardPiles.OPEN,
        turn_cap=None,
        exploits=(),
    )


def test_the_presets() -> None:
    assert GAME.options(preset="match") == Options()
    assert GAME.options(preset="single") == Options(games=1)
    assert GAME.options(preset="long") == Options(colours=6)
    assert GAME.options(preset="long-single") == Options(colours=6, games=1)


@pytest.mark.parametrize("seats", [1, 3])
def test_two_seats_play(seats: int) -> None:
    with pytest.raises(InvalidOptionsError, match="played by 2 seats"):
        GAME.new(FastDealer(1), seats=seats)


@pytest.mark.parametrize("name", OPTIONS)
def test_options_survive_bytes(name: str) -> None:
    options = OPTIONS[name]
    assert GAME.codec.decode_options(GAME.codec.encode_options(options)) == options
