"""The worked examples of the rules, by number."""

from __future__ import annotations

import pytest
from tests.games.lost_cities.support import GAME, legal, play, position

from fritillary_games.lost_cities.cards import column_score

W = 0


def row(*ranks: int) -> int:
    return column_score(ranks)


@pytest.mark.rule("LC-01")
def test_five_cards_without_a_wager() -> None:
    assert row(2, 4, 6, 9, 10) == 11


@pytest.mark.rule("LC-02")
def test_one_wager_doubles() -> None:
    assert row(W, 3, 5, 7, 8, 9) == 24


@pytest.mark.rule("LC-03")
def test_too_few_cards_cost_points() -> None:
    assert row(4, 6) == -10


@pytest.mark.rule("LC-04")
def test_the_bonus_of_eight_cards_is_not_multiplied() -> None:
    assert row(W, W, 2, 3, 4, 5, 6, 7) == 41


@pytest.mark.rule("LC-05")
def test_a_player_with_four_expeditions() -> None:
    state = position(
        "expedition 0: yellow 2 4 6 9 10, blue W 3 5 7 8 9, white 4 6,"
        " green W W 2 3 4 5 6 7"
    )
    assert GAME.observe(state, 0).scores == ((66, 0),)


@pytest.mark.rule("LC-07")
def test_wagers_alone_are_a_started_column() -> None:
    assert row(W, W, W) == -80


@pytest.mark.rule("LC-08")
def test_the_best_column() -> None:
    assert row(W, W, W, *range(2, 11)) == 156


@pytest.mark.rule("LC-09")
def test_all_numbers_and_all_but_the_ten() -> None:
    assert row(*range(2, 11)) == 54
    assert row(*range(2, 10)) == 44


@pytest.mark.rule("LC-12")
def test_two_wagers_and_three_numbers() -> None:
    assert row(W, W, 6, 8, 10) == 12


@pytest.mark.rule("LC-14")
def test_only_what_exceeds_the_column_can_be_played() -> None:
    state = position("hand 0: red W 3 9\nexpedition 0: red 5")
    assert [text for text in legal(state) if "red" in text] == [
        "play red 9",
        "discard red wager",
        "discard red 3",
        "discard red 9",
    ]


@pytest.mark.rule("LC-15")
def test_the_discarder_may_not_draw_from_the_pile_but_the_opponent_may() -> None:
    state = position("hand 0: red 4\nhand 1: blue 2\ndiscards: red 9")
    play(state, "discard red 4")
    assert "take red" not in legal(state)
    play(state, "draw", "play blue 2", "take red")
    assert 4 in GAME.observe(state, 1).hand[4]
    assert GAME.observe(state, 1).discards[4] == (9,)


@pytest.mark.rule("LC-17")
def test_taking_a_discard_does_not_end_the_game() -> None:
    everything = "W W W 2 3 4 5 6 7 8 9 10"
    state = position(
        "hand 0: yellow W W W 2 3 4 5 10\nhand 1: blue W W W 2 3 4 5 6\ndeck: red 10\n"
        f"discards: yellow 6 7 8 9, blue 7 8 9 10, white {everything},"
        f" green {everything}, red W W W 2 3 4 5 6 7 8 9"
    )
    play(state, "discard yellow 10", "take red")
    assert GAME.outcome_of(state) is None
    assert len(state.deck) == 1
    play(state, "discard blue 2", "draw")
    assert GAME.outcome_of(state).reason == "pile-empty"
