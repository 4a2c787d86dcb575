"""The `Game` object: options, seats, the checked door, playouts."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.plugins import nim
from tests.plugins.nim import Options, Take

from fritillary import (
    CHANCE,
    FastDealer,
    Game,
    InvalidOptionsError,
    Over,
    playout,
)
from fritillary.core.errors import MatchOverError

GAME = Game(nim.plugin())
DEALER = FastDealer(1)


def test_options_come_from_data_over_a_preset_over_the_defaults() -> None:
    assert GAME.options() == Options()
    assert GAME.options({"matches": 9}) == Options(matches=9)
    assert GAME.options(preset="short") == Options(matches=2)
    assert GAME.options({"most": 1}, preset="short") == Options(matches=2, most=1)


@pytest.mark.parametrize(
    ("data", "preset", "message"),
    [
        (None, "long", "nim: no preset 'long'; known: short"),
        ({"matches": 51}, "", "nim: matches: 'matches' must be in"),
        ({"matchs": 5}, "", "nim: options: unknown field 'matchs'"),
        ([1], "", "nim: options are a map, not list"),
        ("x", "", "nim: options are a map, not str"),
    ],
    ids=str,
)
def test_bad_options_are_refused(data: Any, preset: str, message: str) -> None:
    with pytest.raises(InvalidOptionsError, match=message):
        GAME.options(data, preset)


def test_a_game_without_presets_says_so() -> None:
    with pytest.raises(InvalidOptionsError, match="known: none"):
        Game(nim.plugin(**nim.described(presets={}))).options(preset="short")


@pytest.mark.parametrize("seats", [1, 4, -1, 2.0, True, "2", None])
def test_seats_out_of_range_are_refused(seats: Any) -> None:
    with pytest.raises(InvalidOptionsError, match="nim is played by 2 to 3 seats, not"):
        GAME.check_seats(seats)


def test_a_single_number_of_seats_reads_well() -> None:
    game = Game(nim.plugin(**nim.described(max_seats=2)))
    with pytest.raises(InvalidOptionsError, match="played by 2 seats, not 3"):
        game.new(DEALER, seats=3)


@pytest.mark.parametrize("options", [{}, {"matches": 5}, nim.Seen(Options(), 1)])
def test_new_wants_an_options_object(options: Any) -> None:
    with pytest.raises(InvalidOptionsError, match="nim: options are Options values"):
        GAME.new(DEALER, options)


def test_nothing_can_be_played_after_the_end() -> None:
    state = GAME.new(DEALER, Options(matches=1))
    GAME.play(state, Take(1))
    with pytest.raises(MatchOverError) as caught:
        GAME.play(state, Take(1))
    assert caught.value.code == "match.over"


def test_a_game_says_what_it_is() -> None:
    assert repr(GAME) == "<Game nim rules 1>"
    assert repr(Game(nim.plugin(), [nim.variant()])) == "<Game nim+twist rules 1>"
    assert Game(nim.plugin("x", "dist")).distribution == "dist"


def test_a_game_cannot_get_new_attributes() -> None:
    with pytest.raises(AttributeError):
        GAME.anything = 1  # type: ignore[attr-defined]


def test_playouts_are_reproducible_and_reach_the_end() -> None:
    def play(seed: int) -> tuple[Any, list[int]]:
        state = GAME.new(DEALER, Options(matches=30))
        outcome = playout(GAME, state, random.Random(seed))
        return outcome, state.taken

    assert play(1) == play(1)
    assert len({tuple(play(seed)[1]) for seed in range(9)}) > 1
    outcome, taken = play(3)
    assert sum(taken) == 30
    assert outcome.scores[(len(taken) - 1) % 2] == 1


def test_playouts_draw_chance_by_weight() -> None:
    def decision_point(state: Any) -> Any:
        point = nim.decision_point(state)
        return point if type(point) is Over or state.to_move == 0 else CHANCE

    def chance_outcomes(state: Any) -> Any:
        return [(Take(1), 1)]

    game = Game(
        nim.plugin(
            decision_point=decision_point,
            chance_outcomes=chance_outcomes,
            **nim.described(chance=True),
        )
    )
    state = game.new(DEALER, Options(matches=20))
    playout(game, state, random.Random(1))
    assert set(state.taken[1::2]) == {1}
    assert sum(state.taken) == 20
