"""fritillary watch at a real server: each command a process, or in this one."""

import json
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Run, one_line
from tests.cli.houses import (
    GAME,
    SEED,
    House,
    Start,
    begin,
    last,
    open_house,
    play,
    serve,
)
from tests.cli.terminals import Terminal

#: A moment as lines begin with it.
MOMENT = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"

pytestmark = pytest.mark.system


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    house = open_house(tmp_path_factory.mktemp("server") / "data")
    yield house
    house.server.signal()
    house.server.end()


@pytest.fixture
def watch(run: Run, house: House) -> Run:
    return lambda *words: run("watch", *words, *house.there())


# ---------------------------------------------------------------------- one match


def test_who_comes_late_is_told_everything_a_line_an_event(
    run: Run, watch: Run, house: House
) -> None:
    play(run, house, "late")
    code, said, errors = watch("late")
    assert (code, errors) == (0, "")
    lines = [line.split(maxsplit=2) for line in said.splitlines()]
    assert lines[0][1:] == ["-", "match late, lepidoptery, greedy : uniform, no clock"]
    assert lines[1][2].startswith("seat 0 (greedy): ")
    assert [int(line[1]) for line in lines[1:-1]] == list(range(1, len(lines) - 1))
    # Of what is past only the making and the end have a time.
    assert {line[0] for line in lines[1:-1]} == {"-"}
    assert all(re.fullmatch(MOMENT, line[0]) for line in (lines[0], lines[-1]))
    assert lines[-1][2].startswith("played: won by seat ")
    assert all(line.isprintable() for line in said.splitlines())
    # What is said of a record is the same.
    shown = run("show", house.data / "records" / "late.frec")[1]
    assert f"  {lines[-2][2].partition('): ')[2]}\n" in shown


def test_json_is_one_object_a_line(run: Run, watch: Run, house: House) -> None:
    play(run, house, "data")
    code, said, errors = watch("data", "--json")
    assert (code, errors) == (0, "")
    told = [json.loads(line) for line in said.splitlines()]
    assert [one["type"] for one in told[:3]] == ["match", "view", "status"]
    assert told[0]["seats"][0]["name"] == "greedy"
    assert told[1]["observation"]["seat"] is None
    events = [one for one in told if one["type"] == "event"]
    assert [one["number"] for one in events] == list(range(1, len(events) + 1))
    assert events[0]["action"]["type"]
    assert told[-1]["type"] == "result"
    assert told[-1]["placing"] in ([1, 2], [2, 1])
    assert len(told[-1]["final_hash"]) == 64


def test_what_bots_are_called_does_not_act_on_the_terminal(
    start: Start, run: Run, house: House, tmp_path: Path
) -> None:
    program = tmp_path / "bot.py"
    program.write_text(
        "from fritillary_client import main\n"
        "main(lambda ask: ask.legal[0], name='b\\x1b[31m\\u202ed')\n"
    )
    play(run, house, "rude", "-s", f"exec:{sys.executable} {program}", "-s", "greedy")
    for words in ((), ("--json",)):
        said = run("watch", "rude", *words, *house.there())[1]
        assert "\x1b" not in said
        assert "\u202e" not in said


def test_a_match_is_watched_from_before_its_players_are_there_to_its_end(
    start: Start, house: House
) -> None:
    # It is there before: a program that never dials in is not waited for for long.
    watching = start("watch", "--latest", *house.there())
    assert watching.error_line() == f"waiting for a match at {house.address}"
    match = begin(start, house, "early")
    assert "  -  match early, lepidoptery, " in watching.line()
    assert watching.line().endswith("  -  the seats are being taken")
    match.signal()
    code, said, errors = watching.end()
    assert (code, errors) == (0, "")
    assert said.splitlines()[-1].endswith("  0  withdrawn: called off by Ctrl-C")
    match.end()


@pytest.mark.parametrize(
    ("number", "ends"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)]
)
def test_a_signal_leaves_and_the_match_goes_on(
    start: Start, run: Run, house: House, number: signal.Signals, ends: int
) -> None:
    match_id = f"left-{ends}"
    match = last(start, run, house, match_id)
    watching = start("watch", match_id, *house.there())
    assert f"  -  match {match_id}, lepidoptery, " in watching.line()
    watching.signal(number)
    code, said, errors = watching.end()
    assert code == ends
    assert said == ""
    assert "Traceback" not in errors
    assert match_id in run("watch", *house.there())[1]
    match.signal()
    match.end()


def test_a_reader_that_has_enough_ends_it(start: Start, run: Run, house: House) -> None:
    play(run, house, "enough")
    watching = start("watch", "enough", *house.there())
    assert watching.line()
    assert watching.process.stdout is not None
    watching.process.stdout.close()
    assert watching.process.wait(60) in {0, 1}
    assert watching.process.stderr is not None
    assert watching.process.stderr.read() == ""


# ------------------------------------------------------------------ which of them


def test_without_a_match_those_that_go_on_are_listed(
    start: Start, run: Run, watch: Run, house: House
) -> None:
    play(run, house, "over")
    code, said, errors = watch()
    assert (code, said) == (0, "")
    assert f"no match goes on at {house.address}" in errors
    assert watch("--json") == (0, "", "")
    match = begin(start, house, "open")
    code, said, _ = watch()
    assert code == 0
    head, row = said.splitlines()
    assert head.split() == ["MATCH", "GAME", "PHASE", "PLY", "PLAYERS"]
    assert row.split()[:4] == ["open", GAME, "offered", "0"]
    data = json.loads(watch("--json")[1])
    assert (data["type"], data["match_id"]) == ("match", "open")
    match.signal()
    match.end()


def test_the_latest_one_is_waited_for_and_then_the_next(
    start: Start, run: Run, house: House
) -> None:
    play(run, house, "before")
    watching = start("watch", "--latest", "--follow", *house.there())
    assert watching.error_line() == f"waiting for a match at {house.address}"
    for match_id in ("first", "second"):
        play(run, house, match_id)
        # One that ends before it is noticed is told all the same.
        line = watching.line()
        assert f"  -  match {match_id}, lepidoptery, greedy : uniform" in line
        while "  played: " not in line:
            line = watching.line()
        assert watching.error_line() == f"waiting for a match at {house.address}"
    watching.signal()
    assert watching.end()[0] == 130


def test_the_latest_is_the_newest_of_those_that_go_on(
    start: Start, run: Run, house: House
) -> None:
    programs = [last(start, run, house, match_id) for match_id in ("older", "newer")]
    play(run, house, "newest-but-over")
    watching = start("watch", "--latest", "--json", *house.there())
    assert json.loads(watching.line())["match_id"] == "newer"
    for program in programs:
        program.signal()
        program.end()
    assert watching.end()[0] == 0


# --------------------------------------------------------------------------- errors


def test_what_goes_wrong_is_one_clear_line(
    run: Run, watch: Run, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FRITILLARY_TOKEN", raising=False)
    for words, ends, said in (
        (("watch", "nothing", *house.there()), 1, "there is no match 'nothing'"),
        (("watch", "nothing", *house.there("bot")), 1, "--role spectator"),
        (("watch", *house.there("bot")), 1, "--role spectator"),
        (("watch", "--server", house.address), 2, "give --token"),
        (("watch", "--server", house.address, "--token", "x"), 1, "this token"),
        (("watch", "x", "--server", "127.0.0.1:1", "--token", "x"), 1, "no server"),
        (("watch", "--server", "there", "--token", "x"), 2, "HOST:PORT"),
        (("watch", "x", "--latest", *house.there()), 2, "not both"),
        (("watch", "x", "--give-up", "soon", *house.there()), 2, "soon"),
    ):
        code, out, error = run(*words)
        assert (code, out) == (ends, ""), words
        assert said in one_line(error), words


def test_a_server_that_is_killed_and_comes_back_without_the_match_is_one_line(
    start: Start, tmp_path: Path, port: int
) -> None:
    house = open_house(tmp_path / "data", port)
    begin(start, house, "gone")
    watching = start("watch", "gone", *house.there())
    assert "  -  match gone, lepidoptery, " in watching.line()
    assert watching.line().endswith("  -  the seats are being taken")
    house.server.process.kill()
    house.server.end()
    line = watching.line()
    lost = f"Z     -  the link to {house.address} was lost; trying again"
    assert line.endswith(lost), watching.end()
    # Another folder, so that there is nothing to be taken up.
    other = tmp_path / "other"
    other.mkdir(mode=0o700)
    (other / "tokens.json").write_bytes((house.data / "tokens.json").read_bytes())
    (other / "tokens.json").chmod(0o600)
    server, _ = serve(other, house.address)
    try:
        code, _, error = watching.end()
        assert code == 1
        assert "does not know match gone any more" in one_line(error)
    finally:
        server.signal()
        server.end()


def test_a_match_is_watched_and_waited_for_over_a_server_that_is_killed(
    start: Start, run: Run, tmp_path: Path, port: int
) -> None:
    house = open_house(tmp_path / "data", port)
    program = tmp_path / "bot.py"
    program.write_text(
        "import time\nfrom fritillary_client import main\n"
        "def decide(ask):\n    time.sleep(0.2)\n    return ask.legal[0]\n"
        "main(decide, name='slow')\n"
    )
    record = tmp_path / "copy.frec"
    player = f"exec:{sys.executable} {program}"
    words = ("-s", player, "-s", "uniform", "--match-id", "kept", "--record", record)
    match = start("match", GAME, *words, *SEED, *house.there("referee"))
    match.error_line()
    watching = start("watch", "kept", "--json", *house.there())
    told: list[dict[str, Any]] = []

    def until(kind: str) -> None:
        while not told or told[-1]["type"] != kind:
            line = watching.line()
            assert line, watching.end()
            told.append(json.loads(line))

    until("event")
    house.server.process.kill()
    house.server.end()
    until("lost")
    server, _ = serve(house.data, house.address)
    try:
        until("result")
        assert watching.end()[0] == 0
        assert match.end()[0] == 0
    finally:
        server.signal()
        server.end()
    assert "found" in [one["type"] for one in told]
    events = [one["number"] for one in told if one["type"] == "event"]
    assert events == list(range(1, len(events) + 1))
    assert told[-1]["kind"] == "played"
    assert run("verify", record)[0] == 0


def test_a_server_that_stays_away_is_given_up(
    start: Start, run: Run, tmp_path: Path, port: int
) -> None:
    house = open_house(tmp_path / "data", port)
    last(start, run, house, "away")
    watching = start("watch", "away", "--give-up", "1s", "--json", *house.there())
    assert json.loads(watching.line())["match_id"] == "away"
    assert json.loads(watching.line())["type"] == "view"
    house.server.process.kill()
    house.server.end()
    code, said, error = watching.end()
    assert code == 1
    assert "gave up after" in one_line(error)
    told = json.loads(said.splitlines()[-1])
    assert (told["type"], told["code"]) == ("lost", "link.unreachable")


# ------------------------------------------------------------------------- terminal


def test_on_a_terminal_the_last_board_and_the_result_stay(
    run: Run, house: House
) -> None:
    play(run, house, "board")
    terminal = Terminal("watch", "board", *house.there())
    assert terminal.end() == 0
    assert "└───────┴───────┴" in terminal.text
    assert terminal.text.splitlines()[-1].startswith("played: won by seat ")
    # The cursor is there again.
    raw = terminal.raw
    assert raw.rindex("\x1b[?25h") > raw.rindex("\x1b[?25l")


def test_ctrl_c_on_a_terminal_leaves_it_clean(
    start: Start, run: Run, house: House
) -> None:
    match = last(start, run, house, "cut")
    terminal = Terminal("watch", "cut", *house.there())
    terminal.until_seen(lambda rows: any(row.startswith("> seat 0 ") for row in rows))
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.end() == 130
    raw = terminal.raw
    assert raw.rindex("\x1b[?25h") > raw.rindex("\x1b[?25l")
    assert "Traceback" not in raw
    match.signal()
    match.end()
