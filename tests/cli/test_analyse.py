"""The command analyse."""

import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from examples.connect_four import connect_four
from examples.pig import pig
from examples.tic_tac_toe import tic_tac_toe
from tests.bots.matches import write_match
from tests.cli.conftest import Run, one_line
from tests.examples.test_connect_four import GAME as CONNECT_FOUR
from tests.examples.test_pig import GAME as PIG
from tests.examples.test_tic_tac_toe import GAME as TIC_TAC_TOE

from fritillary import FastDealer, Plugin, Registry
from fritillary.bots.search.infosets import InformationSets
from fritillary.bots.search.uct import UctTree
from fritillary.codec.packing import pack, to_json

FEW = ("--iterations", 20)

#: X has a win at c1 in ply 5, plays c3, and loses.
BLUNDER = ("a1", "a2", "b1", "b2", "c3", "c2")

#: Seat 0 has three in a column and does not make it four.
CONNECT_BLUNDER = ("a", "b", "a", "b", "a", "b", "g", "b")

LEPIDOPTERY = """
    to move: 1
    table: single 2
    hand 0: {mine}
    hand 1: 1 3 5 5 9
    deck 0: {deck}
    deck 1: 20 cards
    marker 0: single
    column single: 0
"""


@pytest.fixture(autouse=True)
def _examples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the examples be installed."""
    load = Registry.load

    def loaded(registry: Registry) -> None:
        load(registry)
        for name, module in (
            ("connect-four", connect_four),
            ("pig", pig),
            ("tic-tac-toe", tic_tac_toe),
        ):
            if name not in dict(registry.games()):
                registry.add_game(Plugin(name, module))

    monkeypatch.setattr(Registry, "load", loaded)


@pytest.fixture
def blunder(tmp_path: Path) -> Path:
    return write_match(tmp_path / "m.frec", TIC_TAC_TOE, BLUNDER)


def typed(monkeypatch: pytest.MonkeyPatch, raw: bytes) -> None:
    """Let something stand on standard input."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))


def interrupt_at(monkeypatch: pytest.MonkeyPatch, kind: Any, number: int) -> None:
    """Press Ctrl-C in an iteration of a search."""
    iterate, made = kind.iterate, [0]

    def counted(search: Any) -> None:
        made[0] += 1
        if made[0] == number:
            signal.raise_signal(signal.SIGINT)
        iterate(search)

    monkeypatch.setattr(kind, "iterate", counted)


def written(tmp_path: Path, text: str, name: str = "position.txt") -> Path:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    return path


# ----------------------------------------------------------------------- positions


def test_a_position_lists_the_best_actions_with_how_sure_that_is(
    run: Run, tmp_path: Path
) -> None:
    path = written(tmp_path, LEPIDOPTERY.format(mine="7 7 8", deck="20 cards"))
    words = ("analyse", path, "--game", "lepidoptery", "--iterations", 300)
    code, said, errors = run(*words)
    assert (code, errors) == (0, "")
    lines = said.splitlines()
    assert lines[0] == "lepidoptery: seat 1 is to act"
    assert "Your hand (5):  1  3  5 5  9" in said
    assert "ismcts:objective=place,iterations=300, seed 0: 300 iterations." in lines
    assert any("how often the seat to act wins" in line for line in lines)
    heading = next(at for at, line in enumerate(lines) if "visits" in line)
    assert lines[heading].split() == ["action", "wins", "range", "visits", "then"]
    assert re.match(r"   1  .+  \d+\.\d %  \d+–\d+  .+  \d+  ", lines[heading + 1])
    assert max(map(len, lines[heading:])) <= 100
    code, few, _ = run(*words, "--top", 2)
    assert "\n   2  " in few
    assert "\n   3  " not in few
    assert re.search(r"and \d+ more", few)


def test_the_same_seed_gives_the_same_answer_and_another_one_another(
    run: Run, tmp_path: Path
) -> None:
    path = written(tmp_path, LEPIDOPTERY.format(mine="7 7 8", deck="20 cards"))
    words = ("analyse", path, "--game", "lepidoptery", "--iterations", 60)
    seeded = [run(*words, "--seed", seed)[1] for seed in (5, 5, 6)]
    assert seeded[0] == seeded[1] != seeded[2]
    # The seed may be the bot's as well.
    assert run(*words, "--bot", "ismcts:seed=5")[1] == seeded[0]


def test_worlds_that_the_seat_cannot_tell_apart_give_equal_output(
    run: Run, tmp_path: Path
) -> None:
    said = []
    for mine, deck in (("7 7 8", "1 1 2 10"), ("1 2 10", "7 1 8 7")):
        text = LEPIDOPTERY.format(mine=mine, deck=deck)
        path = written(tmp_path, text)
        for more in ((), ("--json",)):
            words = ("--game", "lepidoptery", "--iterations", 60, *more)
            said.append(run("analyse", path, *words)[1])
    assert said[:2] == said[2:]
    assert len(said[0]) > 500


def test_an_observation_as_json_or_msgpack_is_a_position_as_well(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = CONNECT_FOUR.new(FastDealer(0))
    data = CONNECT_FOUR.codec.observation_to_data(CONNECT_FOUR.observe(state, 0))
    words = ("--game", "connect-four", *FEW, "--json")
    said = []
    for raw in (to_json(data).encode(), pack(data)):
        typed(monkeypatch, raw)
        said.append(run("analyse", "-", *words)[1])
        path = tmp_path / "observation"
        path.write_bytes(raw)
        said.append(run("analyse", path, *words)[1])
    assert len(set(said)) == 1
    got = json.loads(said[0])
    assert (got["seat"], got["iterations"], got["whole"]) == (0, 20, True)
    assert got["search"] == "mcts:objective=place,iterations=20"
    assert len(got["candidates"]) == 7
    first = got["candidates"][0]
    assert first["line"][0] == first["text"]
    assert first["interval"][0] <= first["value"] <= first["interval"][1]


@pytest.mark.parametrize(
    ("objective", "says", "heading"),
    [
        ("place", "a tie counting one half", "wins"),
        ("score", "lead in points", "value"),
        ("both", "nine parts how often", "value"),
    ],
)
def test_what_a_value_means_is_said_in_words(
    run: Run, tmp_path: Path, objective: str, says: str, heading: str
) -> None:
    path = written(tmp_path, LEPIDOPTERY.format(mine="7 7 8", deck="20 cards"))
    words = ("--game", "lepidoptery", "--bot", f"ismcts:objective={objective}", *FEW)
    said = run("analyse", path, *words)[1]
    assert says in said
    assert re.search(rf"action +{heading}", said)


def test_with_three_seats_a_value_is_the_share_of_seats_that_are_beaten(
    run: Run, tmp_path: Path
) -> None:
    path = written(tmp_path, "seats: 3\n")
    words = ("analyse", path, "--game", "butterfly-garden", "--iterations", 5)
    assert "the share of the other seats" in run(*words)[1]


# ------------------------------------------------------------------------- records


def test_the_blunder_of_a_match_is_told_first(run: Run, blunder: Path) -> None:
    words = ("analyse", blunder, "--iterations", 400)
    code, said, errors = run(*words)
    assert (code, errors) == (0, "")
    assert said.splitlines()[0] == "tic-tac-toe  match m-1"
    row = re.search(
        r"^  5 +0  c3 +\d+ % +\d+–\d+  c1 +100 % +\d+–100 +!", said, re.MULTILINE
    )
    assert row, said
    worst = said.partition("Lost most\n")[2].splitlines()
    assert worst[0].startswith("  1  ply 5, seat 0 (reader-0): ")
    assert re.match(r"     played  c3 ", worst[1])
    assert re.match(r"     best    c1 +100 %", worst[2])
    data = json.loads(run(*words, "--json", "--worst", 1)[1])
    assert data["worst"] == [5]
    assert [each["ply"] for each in data["decisions"]] == [1, 2, 3, 4, 5, 6]
    assert data["decisions"][4]["best"]["text"] == "c1"
    assert data["decisions"][4]["loss"] > 0.4


def test_four_that_are_not_made_in_connect_four_are_told_first(
    run: Run, tmp_path: Path
) -> None:
    path = write_match(tmp_path / "c.frec", CONNECT_FOUR, CONNECT_BLUNDER)
    data = json.loads(run("analyse", path, "--iterations", 600, "--json")[1])
    worst = data["decisions"][data["worst"][0] - 1]
    assert (worst["ply"], worst["best"]["text"]) == (7, "a")
    assert worst["best"]["value"] == 1.0


def test_one_decision_is_shown_with_what_was_played(run: Run, blunder: Path) -> None:
    code, said, _ = run("analyse", blunder, "--ply", 5, "--iterations", 200)
    assert code == 0
    assert said.splitlines()[0] == (
        "tic-tac-toe, match m-1, ply 5 of 6: seat 0 (reader-0) is to act"
    )
    assert "▸" in said
    assert re.search(r"▸ c3 was played: \d+\.\d points were given away", said)
    good = run("analyse", blunder, "--ply", 6, "--iterations", 200)[1]
    assert "▸ c2 was played: nothing better was found." in good


def test_a_record_gives_no_more_than_the_observation_of_the_seat(
    run: Run, frec: Path, tmp_path: Path
) -> None:
    data = json.loads(run("analyse", frec, "--ply", 4, *FEW, "--json")[1])
    path = written(tmp_path, to_json(data["observation"]))
    again = json.loads(run("analyse", path, "--game", "lepidoptery", *FEW, "--json")[1])
    assert again["candidates"] == data["candidates"]
    assert data["played"]["text"]


def test_decisions_of_one_seat_only(run: Run, blunder: Path) -> None:
    data = json.loads(run("analyse", blunder, "--seat", 1, *FEW, "--json")[1])
    assert [each["ply"] for each in data["decisions"]] == [2, 4, 6]


def test_plies_are_numbered_as_show_does(run: Run, frec: Path) -> None:
    shown = dict(
        re.findall(r"^ +(\d+)  seat \d  (.+)$", run("show", frec)[1], re.MULTILINE)
    )
    data = json.loads(run("analyse", frec, "--iterations", 2, "--json")[1])
    told = {str(each["ply"]): each["played"]["text"] for each in data["decisions"]}
    assert told == shown


def test_a_long_match_of_hidden_cards_fits_into_80_columns(
    run: Run, frec: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    code, said, _ = run("analyse", frec, "--iterations", 4)
    assert code == 0
    table = said[said.index("ply  seat") :]
    assert max(map(len, table.splitlines())) <= 80


# -------------------------------------------------------------------------- Ctrl-C


@pytest.mark.parametrize("columns", [40, 50, 60, 80])
def test_numbers_are_whole_in_a_narrow_terminal(
    run: Run, blunder: Path, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    words = ("analyse", blunder, "--ply", "1", "--iterations", "200", "--seed", "1")

    def numbers() -> list[str]:
        code, said, _ = run(*words)
        assert code == 0
        table = said[said.index("visits") : said.index("was played")]
        return re.findall(r"[0-9.]+ %|[0-9]+–[0-9]+", table)

    monkeypatch.setenv("COLUMNS", "200")
    whole = numbers()
    assert whole
    monkeypatch.setenv("COLUMNS", str(columns))
    assert numbers() == whole


def test_ctrl_c_gives_what_was_found_of_a_position(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, LEPIDOPTERY.format(mine="7 7 8", deck="20 cards"))
    words = ("analyse", path, "--game", "lepidoptery")
    handler = signal.getsignal(signal.SIGINT)
    interrupt_at(monkeypatch, InformationSets, 50)
    code, said, errors = run(*words)
    assert code == 130
    assert "50 iterations." in said
    assert "partial" in errors
    assert signal.getsignal(signal.SIGINT) == handler


def test_ctrl_c_gives_the_decisions_that_were_analysed(
    run: Run, blunder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Two decisions are done after 20 and 10 iterations each, or twice 10.
    interrupt_at(monkeypatch, UctTree, 85)
    code, said, errors = run("analyse", blunder, *FEW, "--json")
    data = json.loads(said)
    done = len(data["decisions"])
    assert (code, data["whole"]) == (130, False)
    assert 0 < done < 6
    assert f"partial: {done} of 6 decisions were analysed" in errors


def test_ctrl_c_at_once_gives_no_table(
    run: Run, blunder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt_at(monkeypatch, UctTree, 1)
    code, said, errors = run("analyse", blunder, *FEW)
    assert (code, said) == (130, "")
    assert "0 of 6 decisions" in errors


@pytest.mark.parametrize(
    ("command", "step"), [("analyse", "bytes_of"), ("certify", "game_and_options")]
)
def test_ctrl_c_before_anything_is_found_is_told(
    run: Run, blunder: Path, monkeypatch: pytest.MonkeyPatch, command: str, step: str
) -> None:
    def interrupted(*_: object) -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(f"fritillary.cli.{command}.{step}", interrupted)
    what = blunder if command == "analyse" else "lepidoptery"
    assert run(command, what) == (130, "", "interrupted\n")


def test_ctrl_c_while_a_command_is_loaded_is_told(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: str) -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("fritillary.cli.commands.command", interrupted)
    assert run("games") == (130, "", "interrupted\n")


@pytest.mark.system
def test_on_a_terminal_a_bar_shows_how_far_it_is_and_ctrl_c_ends_it(
    frec: Path,
) -> None:
    ours, theirs = pty.openpty()
    words = ("analyse", frec, "--ply", "1", "--time", "100s")
    program = subprocess.Popen(
        [sys.executable, "-m", "fritillary", *map(str, words)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm"},
        text=True,
    )
    os.close(theirs)
    try:
        shown = b""
        while b" 1%" not in shown:
            shown += os.read(ours, 1024)
        program.send_signal(signal.SIGINT)
        out, _ = program.communicate(timeout=60)
    finally:
        program.kill()
        program.communicate()
        os.close(ours)
    assert program.returncode == 130
    assert "ply 1 of" in out
    assert "visits" in out


def test_without_a_terminal_there_is_no_bar(run: Run, blunder: Path) -> None:
    assert run("analyse", blunder, *FEW)[2] == ""


# -------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("--ply", 0), 2, "there is no ply 0; the match has plies 1 to 6"),
        (("--ply", 7), 2, "there is no ply 7"),
        (("--ply", 2, "--seat", 0), 2, "seat 1 decided at ply 2, not seat 0"),
        (("--seat", 2), 2, "there is no seat 2; seats are 0 to 1"),
        (("--bot", "greedy"), 2, "--bot names one of mcts, ismcts, flat-mc"),
        (("--bot", "uniform"), 2, "--bot names one of mcts, ismcts, flat-mc"),
        (("--bot", "mcts:speed=3"), 2, "unexpected keyword argument 'speed'"),
        (("--bot", "mcts:depth=3"), 2, "tic-tac-toe has no evaluate"),
        (("--time", "soon"), 2, "'soon' is no duration"),
        (("--iterations", 0), 2, "iterations"),
        (("--game", "tic-tac-toe"), 2, "a match record names its game"),
        (("--option", "a=1"), 2, "a match record has its options"),
    ],
)
def test_what_makes_no_sense_for_a_record_is_one_clear_line(
    run: Run, blunder: Path, words: tuple[Any, ...], code: int, says: str
) -> None:
    got, out, error = run("analyse", blunder, *words)
    assert (got, out) == (code, "")
    assert says in one_line(error)


@pytest.mark.parametrize(
    ("text", "words", "code", "says"),
    [
        ("", ("--game", "lepidoptery"), 2, "it is empty"),
        ("to move: 1", (), 2, "no match record; for a position, name its game"),
        ("{}", ("--game", "lepidopter"), 2, "did you mean 'lepidoptery'"),
        ("{}", ("--game", "lepidoptery"), 1, "no observation of lepidoptery"),
        ('{"a": 1.5}', ("--game", "lepidoptery"), 1, "numbers are integers"),
        ("{", ("--game", "lepidoptery"), 1, "not JSON"),
        ("no such thing", ("--game", "lepidoptery"), 1, "is no fact of a position"),
        ("rubbish", ("--game", "tic-tac-toe"), 1, "has no notation of positions"),
        ("seats: 2", ("--game", "butterfly-garden", "--ply", 3), 2, "--ply is for"),
        ("seats: 2", ("--game", "butterfly-garden", "--seat", 1), 2, "seat 0 is to"),
        ("seats: 2", ("--game", "butterfly-garden", "--bot", "mcts"), 2, "is hidden"),
        ("seats: 2", ("--game", "butterfly-garden", "-o", "x=1"), 2, "no option 'x'"),
    ],
)
def test_what_is_no_position_is_one_clear_line(
    run: Run,
    tmp_path: Path,
    text: str,
    words: tuple[Any, ...],
    code: int,
    says: str,
) -> None:
    got, out, error = run("analyse", written(tmp_path, text), *words)
    assert (got, out) == (code, ""), error
    assert says in one_line(error)


def test_a_position_that_is_over_or_chance_s_is_one_clear_line(
    run: Run, tmp_path: Path
) -> None:
    state = PIG.new(FastDealer(0))
    PIG.apply(state, PIG.legal_actions(state)[0])
    rolling = to_json(PIG.codec.observation_to_data(PIG.observe(state, 0)))
    end = '{"cells": "XXXOO...."}'
    for game, text, says in (
        ("pig", rolling, "chance is to act, no seat"),
        ("tic-tac-toe", end, "the match is over"),
        ("lepidoptery", "winner: 0 by four-in-line\ncolumn single: 0 0 0 0", "over"),
    ):
        path = written(tmp_path, text)
        code, out, error = run("analyse", path, "--game", game)
        assert (code, out) == (1, "")
        assert says in one_line(error)


@pytest.mark.parametrize(
    ("spoil", "code", "says"),
    [
        (lambda raw: raw[:-40], 3, "cut off"),
        (lambda raw: raw[:200] + b"x" + raw[201:], 3, "event 0: "),
        (lambda raw: raw[5:], 2, "no match record"),
    ],
    ids=["unfinished", "altered", "garbage"],
)
def test_what_is_no_finished_record_is_one_clear_line(
    run: Run, blunder: Path, spoil: Any, code: int, says: str
) -> None:
    blunder.write_bytes(spoil(blunder.read_bytes()))
    got, out, error = run("analyse", blunder)
    assert (got, out) == (code, "")
    assert says in one_line(error)


def test_a_record_of_a_game_that_is_not_installed_is_one_clear_line(
    run: Run, blunder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Registry, "load", Registry.games)
    code, out, error = run("analyse", blunder)
    assert (code, out) == (1, "")
    assert "no game 'tic-tac-toe'" in one_line(error)


@pytest.mark.parametrize(
    ("name", "says"), [("nowhere", "No such file"), (".", "not a regular file")]
)
def test_a_file_that_cannot_be_read_is_one_clear_line(
    run: Run, tmp_path: Path, name: str, says: str
) -> None:
    code, out, error = run("analyse", tmp_path / name)
    assert (code, out) == (1, "")
    assert says in one_line(error)
