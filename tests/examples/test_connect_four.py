import random
from typing import Any

import pytest
from benchmarks.connect_four import ConnectFour
from examples.connect_four import connect_four
from examples.connect_four.connect_four import LEGAL, TABLE, Options, State
from tests.examples.projects import EXAMPLES, code_lines, entry_points

from fritillary import Act, FastDealer, Game, IllegalActionError, Plugin, playout
from fritillary.testing import perft

GAME: Game[State, Any, State] = Game(Plugin("connect-four", connect_four))
PARSE = GAME.table(Options(), 2).parse


def play(columns: str) -> State:
    state = GAME.new(FastDealer(0))
    for column in columns:
        GAME.play(state, PARSE(column))
    return state


def test_seats_take_turns() -> None:
    assert [GAME.decision_point(play("dde"[:n])) for n in range(4)] == [
        Act(0),
        Act(1),
        Act(0),
        Act(1),
    ]


@pytest.mark.parametrize(
    "columns",
    ["cdcdcdc", "aabbccd", "abbccdcddxd".replace("x", "g"), "gffeededdad"],
    ids=["upright", "row", "rising", "falling"],
)
def test_four_in_a_line_win(columns: str) -> None:
    assert GAME.outcome_of(play(columns[:-1])) is None
    outcome = GAME.outcome_of(play(columns))
    assert (outcome.reason, outcome.scores) == ("four", (1, -1))


def test_the_second_seat_can_win() -> None:
    outcome = GAME.outcome_of(play("acbcbcac"))
    assert (outcome.scores, outcome.placing) == ((-1, 1), (2, 1))


def test_no_line_runs_on_into_the_next_column() -> None:
    # The three on top of column a and the one below in column b, of one seat.
    state = play("ababaa")
    assert GAME.outcome_of(state) is None
    assert GAME.outcome_of(play("abgagagacgcb")) is None


def test_a_full_column_is_illegal() -> None:
    state = play("aaaaaa")
    assert TABLE[0] not in GAME.legal_actions(state)
    with pytest.raises(IllegalActionError, match="column a is full"):
        GAME.play(state, TABLE[0])


def test_a_full_board_without_a_line_is_a_draw() -> None:
    outcome = GAME.outcome_of(play("abababbababacdcdcddcdcdcefefeffefefegggggg"))
    assert (outcome.reason, outcome.scores) == ("full", (0, 0))


def test_the_picture_shows_whose_disc_is_whose() -> None:
    assert GAME.draw_text(play("dde")).splitlines()[-3:] == [
        ". . . O . . .",
        ". . . X X . .",
        "a b c d e f g",
    ]
    assert GAME.draw_text(play("ddee")).splitlines()[-3] == ". . . O O . ."


def test_legal_actions_are_tabled_for_every_set_of_full_columns() -> None:
    assert len(LEGAL) == 128
    assert LEGAL[0] is GAME.legal_actions(play(""))


def test_there_are_as_many_lines_of_play_as_is_known() -> None:
    counts = list(perft(GAME, play(""), 7))
    assert counts == [1, 7, 49, 343, 2401, 16807, 117649, 823536]


def test_it_plays_like_a_plain_class() -> None:
    for seed in range(60):
        rng = random.Random(seed)
        state, plain = play(""), ConnectFour()
        while not plain.is_over():
            legal = plain.legal_actions()
            assert [drop.column for drop in GAME.legal_actions(state)] == legal
            column = rng.choice(legal)
            plain.apply(column)
            GAME.play(state, TABLE[column])
            last = plain.stones[(plain.plies - 1) & 1]
            assert (state.board, state.last) == (sum(plain.stones), last)
        outcome = GAME.outcome_of(state)
        assert outcome.reason == ("four" if plain.won else "full")


def test_random_playouts_end() -> None:
    for seed in range(20):
        assert playout(GAME, play(""), random.Random(seed)).reason in GAME.info.reasons


def test_the_project_announces_the_game() -> None:
    assert entry_points("connect_four") == {GAME.info.id: "connect_four"}


def test_the_module_is_short() -> None:
    assert code_lines(EXAMPLES / "connect_four" / "connect_four.py") < 110
