"""fritillary play, with what a person types coming from a pipe."""

import re
from collections.abc import Callable

import pytest
from tests.cli.conftest import Program, Run, one_line

GAME = "lepidoptery"

pytestmark = pytest.mark.system

Start = Callable[..., Program]


def test_what_a_person_types_is_answered(start: Start) -> None:
    typed = ("help", "LEGAL", "nonsense", "0", "9999", "999999", "", "board", "1")
    code, said, errors = start("play", GAME).end("\n".join([*typed, "resign", ""]))
    assert (code, errors) == (0, "")
    assert said.startswith("Lepidoptery: ")
    assert "You have seat 0 of 2" in said
    assert said.count("Other words: legal lists the actions") == 2
    assert re.search(r"^(your action: )? *1\) ", said, re.MULTILINE)
    assert "'nonsense' is no action" in said
    assert said.count("Numbers go from 1 to ") == 2
    # Asked, the board again, asked a second time, and the last position.
    assert said.count("Your hand (") == 4
    assert "seat 1: " in said
    assert "You lose: place 2 (forfeit)." in said
    assert "forfeited: won by seat 1 (greedy), 0 : 1 (seat 0 resigned)" in said
    assert said.splitlines()[-1].startswith("record  ")


def test_no_more_input_is_resignation(start: Start) -> None:
    code, said, errors = start("play", GAME, "--opponent", "uniform").end("")
    assert (code, errors) == (0, "")
    assert "no more input: you resign" in said
    assert "won by seat 1 (uniform)" in said


def test_a_whole_game_is_played(start: Start) -> None:
    words = ("play", GAME, "--seat", 1, "--opponent", "uniform", "--clock", "5min")
    code, said, errors = start(*words).end("1\n" * 500)
    assert (code, errors) == (0, "")
    assert "You have seat 1 of 2" in said
    assert "played: won by seat " in said
    assert "You win (" in said or "You lose: place 2 (" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--seat", 2), "seats are 0 to 1"),
        (("--seats", 3), "2"),
        (("--opponent", "gredy"), "did you mean 'greedy'"),
        (("--clock", "soon"), "duration"),
    ],
)
def test_wrong_words_are_one_clear_line(
    run: Run, words: tuple[object, ...], said: str
) -> None:
    code, out, error = run("play", GAME, *words)
    assert (code, out) == (2, "")
    assert said in one_line(error)
