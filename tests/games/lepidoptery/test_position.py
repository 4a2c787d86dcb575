"""Positions as text."""

from __future__ import annotations

import pytest
from tests.games.lepidoptery.support import GAME, OPTIONS, action, states

from fritillary import InvalidPositionError
from fritillary_games.lepidoptery.model import NO_TYPE, UNITS, Options
from fritillary_games.lepidoptery.position import format_position, parse_position
from fritillary_games.lepidoptery.tables import ranks_in

START = """
    to move: 0
    hand 0: 12 cards
    hand 1: 12 cards
    deck 0: 26 cards
    deck 1: 26 cards
"""

MIDDLE = """
    # Comments and empty lines are left out.

    To Move: 1                  # case does not matter
    table:   run2 5*-6
    hand 0: 7 7 8
    hand 1: 10 cards
    deck 0: 9 2 2 10
    deck 1: none
    marker 1: pair
    joker 1: used
    column run2: 1 0
    column pair: 0 1
"""


def without(text: str, start: str) -> str:
    lines = [line for line in text.splitlines() if not line.strip().startswith(start)]
    return "\n".join(lines)


def test_the_start() -> None:
    state = parse_position(START)
    assert state.table is None
    assert state.jokers == [True, True]
    assert state.markers == [NO_TYPE, NO_TYPE]
    # Named nowhere: in rising order, first the hand, then the deck.
    assert ranks_in(state.hands[0]) == (1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4)
    assert state.decks[1][0] == UNITS[4]
    assert len(state.decks[1]) == 26


def test_the_middle_of_a_match() -> None:
    state = parse_position(MIDDLE)
    seen = GAME.observe(state, 0)
    assert seen.hand == (7, 7, 8)
    assert [ranks_in(card)[0] for card in state.decks[0]] == [9, 2, 2, 10]
    assert seen.hand_sizes == (3, 10)
    assert seen.deck_sizes == (4, 0)
    assert seen.table == action("run2 5*-6")
    # What the last play says itself need not be written.
    assert [marker and marker.value for marker in seen.markers] == ["run2", "pair"]
    assert seen.jokers == (False, False)
    assert seen.columns == ((), (1, 0), (), (0, 1), ())


def test_the_cards_on_the_table_are_left_for_the_played_ones() -> None:
    text = START.replace("deck 1: 26 cards", "deck 1: 25 cards")
    state = parse_position(f"{text}\ntable: single 2\ncolumn single: 1")
    assert GAME.observe(state, 0).played == ((), (2,))


@pytest.mark.parametrize("name", OPTIONS)
def test_every_state_of_a_match_comes_back_from_its_text(name: str) -> None:
    for state in states(OPTIONS[name], 8):
        assert parse_position(format_position(state), OPTIONS[name]) == state


def test_the_text_of_a_state_is_stable() -> None:
    state = parse_position(MIDDLE)
    assert format_position(state).splitlines()[:7] == [
        "to move: 1",
        "table: run2 5*-6",
        "hand 0: 7 7 8",
        "deck 0: 9 2 2 10",
        "played 0: 1 1 1 2 2 3 3 3 3 4 4 4 4 5 5 5 5 6 6 6 6 7 7 8 8 8 9 9 9 10 10",
        "marker 0: run2",
        "joker 0: used",
    ]


FULL_PAIRS = "column pair: 0 1 0 1 0 1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (without(START, "hand 0"), "'hand 0' is missing"),
        (without(START, "deck 1"), "'deck 1' is missing"),
        (
            without(START, "to move"),
            "say either 'to move: SEAT' or 'winner: SEAT by REASON'",
        ),
        (
            START + "winner: 0 by all-shed",
            "say either 'to move: SEAT' or 'winner: SEAT by REASON'",
        ),
        (START.replace("move: 0", "move: 2"), "to move: '2' is no seat; say 0 or 1"),
        ("a butterfly", "line 1: 'a butterfly' is no fact of a position"),
        (START + "hand 2: 7", "line 7: 'hand 2: 7' is no fact of a position"),
        (START + "hand 0: 7", "line 7: 'hand 0' is there twice"),
        (
            START.replace("hand 0: 12 cards", "hand 0: 1 1 1 1"),
            "seat 0 has 4 cards of rank 1; there are 3",
        ),
        (
            START.replace("hand 0: 12 cards", "hand 0: 7 7 7").replace(
                "deck 0: 26 cards", "deck 0: 7 7"
            ),
            "seat 0 has 5 cards of rank 7; there are 4",
        ),
        (
            START.replace("hand 1: 12 cards", "hand 1: 13 cards"),
            "seat 1 has 39 cards; there are 38",
        ),
        (
            START.replace("deck 0: 26 cards", "deck 0: 20 cards") + "played 0: 1 1",
            "seat 0 has 34 cards; there are 38",
        ),
        (
            START.replace("hand 0: 12 cards", "hand 0: 1").replace("26", "27"),
            "deck 0: 27 cards; 26 at most",
        ),
        (
            START.replace("hand 0: 12 cards", "hand 0: 11"),
            "hand 0: '11' is no rank from 1 to 10",
        ),
        (
            START.replace("hand 0: 12 cards", "hand 0: a few"),
            "hand 0: 'a' is no rank from 1 to 10",
        ),
        (
            START + "table: pear 7",
            "table: 'pear 7' is no combination, such as 'pair 7' or 'run2 7*-8'",
        ),
        (START + "marker 0: quad", "marker 0: 'quad' is no type of combination"),
        (START + "joker 0: lost", "joker 0: 'lost'; say ready or used"),
        (START + "column single: 2", "column single: '2' is no seat; say 0 or 1"),
        (
            START + "column single: 0 1 0 1 0 1 0",
            "column single: 7 tokens, but 6 cells",
        ),
        (
            START + FULL_PAIRS + "\ncolumn run2: 1 0 1 0 1 0",
            "the columns pair and run2 are full; at most one can be",
        ),
        (
            START + "column single: 0 0 0 0",
            "seat 0 has four in a line, so it has won by four-in-line",
        ),
        (
            START.replace("hand 0: 12", "hand 0: 0").replace("deck 0: 26", "deck 0: 0"),
            "seat 0 has no card left, so it has won by all-shed",
        ),
        (
            START.replace("to move: 0", "winner: 0 by four-in-line"),
            "seat 0 has not won: it has no four in a line",
        ),
        (
            START.replace("to move: 0", "winner: 1 by all-shed"),
            "seat 1 has not won: it has cards left",
        ),
        (
            START.replace("to move: 0", "winner: 1 by luck"),
            "winner: 'luck' is no reason; say four-in-line or all-shed",
        ),
        (
            START.replace("to move: 0", "winner: 0 by four-in-line")
            + "column single: 0 0 0 0",
            "seat 0 has won by a play, so it lies on the table",
        ),
        (
            START + "marker 1: pair",
            "seat 1 has just passed or not yet played: marker none",
        ),
        (
            START + "joker 1: used",
            "seat 1 has just passed or not yet played: joker ready",
        ),
        (
            START + "table: single 7\nmarker 1: pair",
            "seat 1 played single 7: marker single",
        ),
        (
            START + "table: pair 7*\njoker 1: ready",
            "seat 1 played pair 7*: joker used",
        ),
        (
            START + "table: single 7",
            "seat 1 played single 7: its token is the top one of the single column",
        ),
        (
            START + "table: single 7\ncolumn single: 1 0",
            "seat 1 played single 7: its token is the top one of the single column",
        ),
        (
            START + "table: single 7\ncolumn single: 1",
            "seat 1 played single 7, but these cards are not among those it has played",
        ),
        (
            START.replace("deck 0: 26", "deck 0: 23") + "column triple: 0 0",
            "seat 0 has played 3 cards, but its tokens took at least 4",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(InvalidPositionError) as caught:
        parse_position(text)
    assert caught.value.message == message
    assert caught.value.code == "position.invalid"


def test_heights_and_order_come_from_the_options() -> None:
    text = START.replace("26", "20") + "column single: 0 1"
    with pytest.raises(InvalidPositionError, match="2 tokens, but 1 cells"):
        parse_position(text, Options(heights=(6, 6, 1, 6, 6)))
    assert parse_position(text).filled[0] == 2
