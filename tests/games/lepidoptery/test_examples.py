"""The worked examples of the rules, by number."""

from __future__ import annotations

import pytest
from tests.games.lepidoptery.support import GAME, legal, play, position

from fritillary_games.lepidoptery.model import NO_TYPE, NUMBERS, Combo, Options
from fritillary_games.lepidoptery.tables import size_of


@pytest.mark.rule("LEP-01")
def test_equal_lowest_rank_needs_more_cards() -> None:
    state = position("table: single 7\nhand 0: 7 7 8\njoker 0: used")
    assert legal(state) == ["single 8", "pair 7", "run2 7-8", "pass"]


@pytest.mark.rule("LEP-02")
def test_equal_lowest_rank_and_size_does_not_beat() -> None:
    state = position("table: pair 7\nhand 0: 7 7 8\njoker 0: used")
    assert legal(state) == ["single 8", "pass"]


@pytest.mark.rule("LEP-03")
def test_a_higher_single_beats_a_triple() -> None:
    state = position("table: triple 4\nhand 0: 5\njoker 0: used")
    assert "single 5" in legal(state)


@pytest.mark.rule("LEP-04")
def test_the_joker_joins_tens() -> None:
    state = position("table: single 10\nhand 0: 9 10 10")
    assert legal(state) == ["pair 10", "pair 10*", "triple 10*", "pass"]


@pytest.mark.rule("LEP-07")
def test_a_leader_without_a_play_may_only_pass() -> None:
    state = position("hand 0: 5\nmarker 0: single\njoker 0: used")
    assert legal(state) == ["pass"]


@pytest.mark.rule("LEP-08")
def test_the_same_type_beats_only_where_the_options_allow_it() -> None:
    text = "table: single 4\nhand 0: 3 6\njoker 0: used"
    assert legal(position(text)) == ["single 6", "pass"]
    assert legal(position(text, Options(same_type_may_beat=False))) == ["pass"]


@pytest.mark.rule("LEP-09")
@pytest.mark.parametrize("joker", ["ready", "used"])
def test_a_pass_refreshes_the_passer_and_both_draw(joker: str) -> None:
    state = position(
        f"""
        table: single 9
        hand 0: 7 cards
        hand 1: 13 cards
        deck 0: 10 cards
        deck 1: 5 cards
        marker 0: pair
        joker 0: used
        joker 1: {joker}
        """
    )
    play(state, "pass")
    assert [size_of(hand) for hand in state.hands] == [12, 14]
    assert [len(deck) for deck in state.decks] == [5, 4]
    assert state.jokers == [True, joker == "ready"]
    assert state.markers == [NO_TYPE, NUMBERS[Combo.SINGLE]]
    assert state.table is None
    assert state.to_move == 1


@pytest.mark.rule("LEP-11")
def test_a_newly_full_column_empties_the_other_full_one() -> None:
    state = position(
        """
        hand 0: 4 4 9
        deck 0: 3 cards
        deck 1: 3 cards
        column run3: 1 0
        column run2: 0 1 0 1 0 1
        column single: 1
        column pair: 1 0 1 0 1
        column triple: 0
        """
    )
    play(state, "pair 4")
    assert GAME.outcome_of(state) is None
    assert GAME.observe(state, None).columns == (
        (1, 0),
        (),
        (1,),
        (1, 0, 1, 0, 1, 0),
        (0,),
    )


@pytest.mark.rule("LEP-14")
def test_an_empty_hand_does_not_win_while_the_deck_has_a_card() -> None:
    state = position("hand 0: 5\ndeck 0: 8\nhand 1: 6 9\ndeck 1: 9 cards")
    play(state, "single 5")
    assert GAME.outcome_of(state) is None
    play(state, "single 6")
    assert legal(state) == ["pass"]


@pytest.mark.rule("LEP-15")
def test_the_opponents_pass_does_not_lift_the_ban() -> None:
    state = position("hand 0: 3 3 7 7\njoker 0: used\ndeck 0: none")
    play(state, "pair 3", "pass")
    assert legal(state) == ["single 7"]


@pytest.mark.rule("LEP-16")
def test_the_joker_copies_a_rank_of_which_there_are_no_more() -> None:
    state = position("hand 0: 1 1")
    assert "triple 1*" in legal(state)
