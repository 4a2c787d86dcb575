"""fritillary matches at a real server: listed, shown, paused, resumed, aborted."""

import datetime as dt
import json
import re
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Program, Run, one_line
from tests.cli.houses import GAME, TWO, House, Start, begin, last, opened, play

pytestmark = pytest.mark.system

#: Lets the players at seats with a clock be told apart, and thinks for ever.
PONDERS = (
    "import time\n"
    "from fritillary_client import main\n"
    "main(lambda ask: time.sleep(600), name='thinker', version='7')\n"
)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with opened(tmp_path_factory.mktemp("server") / "data") as house:
        yield house


@pytest.fixture
def matches(run: Run, house: House) -> Run:
    """Runs a command of the referee's."""
    return lambda *words: run("matches", *words, *house.there("referee"))


@pytest.fixture
def thought_about(
    start: Start, house: House, tmp_path: Path
) -> Callable[[str], Program]:
    """Begins a match in which seat 0 thinks for ever; it is asked already."""

    def begun(match_id: str) -> Program:
        program = tmp_path / "thinker.py"
        program.write_text(PONDERS)
        player = f"exec:{sys.executable} {program}"
        words = ("-s", player, "-s", "uniform", "--match-id", match_id)
        match = start(
            *("match", GAME, *words, "--clock", "1h+2s", "--clock", "move=5s,bank=30s"),
            *house.there("referee"),
        )
        assert match.error_line().startswith(f"match {match_id} ")
        watching = start("watch", match_id, "--json", *house.there())
        while True:
            told = json.loads(watching.line())
            if told["type"] == "status" and told["phase"] == "running":
                return match

    return begun


def ids(said: str) -> list[str]:
    return [match["match_id"] for match in json.loads(said)]


# ------------------------------------------------------------------------- listing


def test_matches_are_listed_the_newest_first_and_by_what_is_asked_for(
    start: Start, run: Run, house: House, matches: Run
) -> None:
    play(run, house, "listed-1", *TWO, "--label", "cup=spring", "--label", "round=1")
    play(run, house, "listed-2", *TWO, "--label", "cup=spring", "--label", "round=2")
    play(run, house, "listed-3", "-s", "greedy", "-s", "greedy", "--label", "cup=fall")
    program = last(start, run, house, "listed-4")

    def listed(*words: Any) -> list[str]:
        code, said, errors = matches("list", "--json", *words)
        assert (code, errors) == (0, "")
        return [one for one in ids(said) if one.startswith("listed-")]

    assert listed() == ["listed-4", "listed-3", "listed-2", "listed-1"]
    assert listed("--phase", "open") == ["listed-4"]
    assert listed("--phase", "running") == ["listed-4"]
    assert listed("--phase", "offered") == []
    assert listed("--phase", "ended") == ["listed-3", "listed-2", "listed-1"]
    assert listed("--phase", "ended", "--phase", "open") == listed()
    assert listed("--label", "cup=spring") == ["listed-2", "listed-1"]
    assert listed("--label", "cup=spring", "--label", "round=1") == ["listed-1"]
    assert listed("--bot", "uniform", "--phase", "ended") == ["listed-2", "listed-1"]
    assert listed("--game", GAME) == listed()
    assert listed("--game", "lost-cities") == []
    assert listed("--since", "1h") == listed()
    assert listed("--since", "3d") == listed()
    assert listed("--since", "2100-01-01") == []
    code, said, errors = matches("list", "--label", "cup=spring", "--limit", "1")
    assert code == 0
    head, row = said.splitlines()
    columns = ["MATCH", "GAME", "PHASE", "PLY", "MADE", "(UTC)", "PLAYERS", "LABELS"]
    assert head.split() == columns
    assert row.split()[:3] == ["listed-2", GAME, "played"]
    assert "greedy : uniform" in row
    assert row.rstrip().endswith("cup=spring round=2")
    assert errors == "there are more; --limit 1 left them out\n"
    assert matches("list", "--label", "cup=none") == (
        *(0, ""),
        f"there is no such match at {house.address}\n",
    )
    program.signal()
    program.end()


def test_since_leaves_out_what_was_made_before(
    run: Run, house: House, matches: Run
) -> None:
    play(run, house, "before")
    play(run, house, "after")
    made_at_ms = json.loads(matches("show", "after", "--json")[1])["created_at_ms"]
    made = dt.datetime.fromtimestamp(made_at_ms / 1000, dt.UTC)
    when = made.isoformat(timespec="milliseconds")
    code, said, _ = matches("list", "--json", "--since", when)
    assert code == 0
    assert "after" in ids(said)
    assert "before" not in ids(said)


def test_a_spectator_lists_and_looks_and_is_not_told_what_referees_are(
    run: Run, house: House, matches: Run
) -> None:
    code, _, _ = run(
        *("match", GAME, "-s", "exec:false", "-s", "uniform", "--match-id", "seen"),
        *house.there("referee"),
    )
    assert code == 1
    for role, told in (("referee", True), ("spectator", False)):
        code, said, errors = run("matches", "show", "seen", *house.there(role))
        assert (code, errors) == (0, "")
        assert ("exec:false" in said) is told
        assert ("problem  seat 0 (false): the program ended" in said) is told
        data = json.loads(
            run("matches", "show", "seen", "--json", *house.there(role))[1]
        )
        assert bool(data["players"]) is told
        assert bool(data["problems"]) is told
        assert data["result"]["kind"] == "forfeited"


# ------------------------------------------------------------------------- showing


def test_a_match_is_shown_paused_resumed_and_aborted(
    run: Run,
    house: House,
    matches: Run,
    thought_about: Callable[[str], Program],
    tmp_path: Path,
) -> None:
    program = thought_about("handled")

    def shown() -> str:
        code, said, errors = matches("show", "handled")
        assert (code, errors) == (0, "")
        return "\n".join(" ".join(line.split()) for line in said.splitlines())

    said = shown()
    assert "\nphase running\n" in said
    assert "\n0 thinker 7 exec:" in said
    assert re.search(r" 1h\+2s (59:\d\d|1:00:00) to act\n", said)
    assert "move=5s,bank=30s move 5.0 s, bank 0:30" in said
    assert "\nstarted 20" in said
    assert "ended" not in said
    data = json.loads(matches("show", "handled", "--json")[1])
    assert data["seats_to_act"] == [0]
    assert data["status"]["clocks"][0]["left_ms"] <= 3_600_000

    code, said, hint = matches("pause", "handled", "--message", "coffee")
    assert (code, said) == (0, "match handled is paused at ply 0\n")
    assert hint == "'fritillary matches resume handled' lets it go on\n"
    said = shown()
    assert "\nphase paused: coffee\n" in said
    assert "to act" not in said
    code, said, error = matches("pause", "handled")
    assert (code, said) == (1, "")
    assert "is paused; there is nothing to pause" in one_line(error)

    assert matches("resume", "handled") == (
        *(0, "match handled is running at ply 0\n", ""),
    )
    assert "to act" in shown()
    code, said, error = matches("resume", "handled")
    assert (code, said) == (1, "")
    assert "there is nothing to resume" in one_line(error)

    words = ("abort", "handled", "--kind", "void", "-m", "the power failed")
    code, said, hint = matches(*words)
    assert code == 0
    assert said.startswith("match handled is ")
    assert "matches fetch handled" in hint
    code, said, _ = program.end()
    assert code == 1
    assert said.splitlines()[0] == "void: the power failed"
    said = shown()
    assert "\nended 20" in said
    assert said.splitlines()[-1] == "void: the power failed"
    for what in ("pause", "resume", "abort"):
        code, said, error = matches(what, "handled")
        assert (code, said) == (1, "")
        told = one_line(error)
        assert f"match handled is ended; there is nothing to {what}" in told


def test_an_abort_calls_a_match_off_unless_it_says_otherwise(
    start: Start, house: House, matches: Run
) -> None:
    program = begin(start, house, "off")
    data = json.loads(matches("abort", "off", "--json")[1])
    assert data["match_id"] == "off"
    assert data["phase"] in {"closing", "ended"}
    assert program.end()[1].splitlines()[0] == "withdrawn: called off"


# -------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("words", "role", "ends", "said"),
    [
        (("show", "nothing"), "referee", 1, "there is no match 'nothing'"),
        (("pause", "nothing"), "referee", 1, "there is no match 'nothing'"),
        (("resume", "nothing"), "referee", 1, "there is no match 'nothing'"),
        (("abort", "nothing"), "referee", 1, "there is no match 'nothing'"),
        (("fetch", "nothing"), "referee", 1, "there is no match 'nothing'"),
        (("list",), "bot", 1, "--role spectator"),
        (("show", "nothing"), "bot", 1, "there is no match 'nothing'"),
        (("pause", "nothing"), "spectator", 1, "--role referee"),
        (("resume", "nothing"), "spectator", 1, "--role referee"),
        (("abort", "nothing"), "bot", 1, "--role referee"),
        (("list", "--phase", "odd"), "referee", 2, "there is no match phase 'odd'"),
        (("list", "--label", "odd"), "referee", 2, "name=value"),
        (("list", "--label", "a=1", "--label", "a=2"), "referee", 2, "twice"),
        (("list", "--since", "odd"), "referee", 2, "2026-11-30T15:00"),
        (("list", "--since", "-3d"), "referee", 2, "2026-11-30T15:00"),
        (("list", "--limit", "-1"), "referee", 2, "--limit"),
        (("abort", "nothing", "--kind", "odd"), "referee", 2, "withdrawn"),
    ],
)
def test_what_goes_wrong_is_one_clear_line(
    run: Run, house: House, words: tuple[str, ...], role: str, ends: int, said: str
) -> None:
    code, out, error = run("matches", *words, *house.there(role))
    assert (code, out) == (ends, "")
    assert said in one_line(error)


@pytest.mark.parametrize(
    "words", [("list",), *((w, "m") for w in ("show", "pause", "abort", "fetch"))]
)
def test_no_server_and_no_token_are_one_clear_line(
    run: Run,
    house: House,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
) -> None:
    monkeypatch.delenv("FRITILLARY_TOKEN", raising=False)
    for there, ends, said in (
        (("--server", "127.0.0.1:1", "--token", "x"), 1, "no server answers at"),
        (("--server", "there", "--token", "x"), 2, "HOST:PORT"),
        (("--server", house.address), 2, "give --token"),
        (("--server", house.address, "--token", "x"), 1, "this token"),
        (("--server", house.address, "--token", "x", "--ca", "no"), 2, "no"),
    ):
        code, out, error = run("matches", *words, *there)
        assert (code, out) == (ends, ""), there
        assert said in one_line(error), there


def test_server_and_token_are_taken_from_the_environment(
    run: Run, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FRITILLARY_ADDRESS", house.address)
    monkeypatch.setenv("FRITILLARY_TOKEN", house.tokens["spectator"])
    assert run("matches", "list", "--limit", "0", "--json")[0] == 0


def test_a_match_whose_program_was_left_alone_goes_on(
    start: Start, run: Run, house: House, matches: Run
) -> None:
    """Whoever made a match may be gone; another one ends it."""
    program = last(start, run, house, "left-alone")
    program.signal(signal.SIGKILL)
    program.end()
    assert "left-alone" in ids(matches("list", "--phase", "open", "--json")[1])
    assert matches("abort", "left-alone")[0] == 0
    assert "left-alone" not in ids(matches("list", "--phase", "open", "--json")[1])
