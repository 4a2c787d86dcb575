import random
from typing import Any

import pytest
from examples.tic_tac_toe import tic_tac_toe
from examples.tic_tac_toe.tic_tac_toe import Mark, Options, State
from tests.examples.projects import EXAMPLES, code_lines, entry_points

from fritillary import Act, FastDealer, Game, IllegalActionError, Plugin, playout
from fritillary.testing import perft

GAME: Game[State, Any, State] = Game(Plugin("tic-tac-toe", tic_tac_toe))
PARSE = GAME.table(Options(), 2).parse


def play(*cells: str) -> State:
    state = GAME.new(FastDealer(0))
    for cell in cells:
        GAME.play(state, PARSE(cell))
    return state


def test_seats_take_turns() -> None:
    assert GAME.decision_point(play()) == Act(0)
    assert GAME.decision_point(play("b2")) == Act(1)
    assert GAME.decision_point(play("b2", "a1")) == Act(0)


@pytest.mark.parametrize(
    "cells",
    [
        ("a3", "a1", "b3", "b1", "c3"),
        ("b3", "a1", "b2", "a2", "b1"),
        ("a3", "a1", "b2", "a2", "c1"),
        ("c3", "b1", "b2", "a2", "a1"),
    ],
    ids=["row", "column", "falling", "rising"],
)
def test_three_in_a_line_win(cells: tuple[str, ...]) -> None:
    assert GAME.outcome_of(play(*cells[:-1])) is None
    outcome = GAME.outcome_of(play(*cells))
    assert (outcome.reason, outcome.scores) == ("line", (1, -1))


def test_the_second_seat_can_win() -> None:
    outcome = GAME.outcome_of(play("a1", "a3", "b1", "b3", "c2", "c3"))
    assert (outcome.scores, outcome.placing) == ((-1, 1), (2, 1))


def test_a_full_board_without_a_line_is_a_draw() -> None:
    cells = ("b2", "a3", "c3", "a1", "a2", "c2", "b3", "b1", "c1")
    outcome = GAME.outcome_of(play(*cells))
    assert (outcome.reason, outcome.scores, outcome.placing) == ("full", (0, 0), (1, 1))


def test_a_taken_cell_is_illegal() -> None:
    with pytest.raises(IllegalActionError, match="cell b2 is taken"):
        play("b2", "b2")


def test_the_picture_shows_letters_and_coordinates() -> None:
    assert GAME.draw_text(play("b2", "a1")) == "3 . . .\n2 . X .\n1 O . .\n  a b c"


def test_notation_is_that_of_the_picture() -> None:
    assert [GAME.format_action(Mark(cell)) for cell in (0, 4, 8)] == ["a3", "b2", "c1"]


def test_there_are_as_many_lines_of_play_as_is_known() -> None:
    # 255,168 games in all: those that end with the fifth, sixth, ... mark.
    counts = list(perft(GAME, play(), 9))
    assert counts == [1, 9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872]


def test_random_playouts_end() -> None:
    for seed in range(20):
        assert playout(GAME, play(), random.Random(seed)).reason in GAME.info.reasons


def test_the_project_announces_the_game() -> None:
    assert entry_points("tic_tac_toe") == {GAME.info.id: "tic_tac_toe"}


def test_the_module_is_short() -> None:
    assert code_lines(EXAMPLES / "tic_tac_toe" / "tic_tac_toe.py") < 80
