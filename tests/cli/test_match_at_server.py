"""fritillary match --server: what holds a match up, and a server that is away."""

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.cli.conftest import Program, Run, one_line
from tests.cli.houses import GAME, STUCK, House, Start, opened, serve, until
from tests.cli.test_watch import Terminal

from fritillary.record.reader import read_record

pytestmark = pytest.mark.system

#: A bot that thinks until there is a file, and from then on plays first actions.
PATIENT = """
import os, time
from pathlib import Path

def decide(ask):
    while not Path(os.environ["GO"]).exists():
        time.sleep(0.02)
    return ask.legal[0]
"""


@pytest.fixture
def house(tmp_path: Path, port: int) -> Iterator[House]:
    with opened(tmp_path / "arena", port) as house:
        yield house


@pytest.fixture
def go(tmp_path: Path) -> Path:
    """The file for which the bot waits."""
    return tmp_path / "go"


@pytest.fixture
def dial_in(
    start: Start, house: House, tmp_path: Path, go: Path
) -> Callable[[], Program]:
    """Lets the bot dial in; returns when it is there."""
    (tmp_path / "patient.py").write_text(PATIENT)

    def dialled() -> Program:
        bot = start(
            *("bot", "python:patient:decide", "--name", "patient"),
            *("--address", house.address, "--token", house.tokens["bot"]),
            PYTHONPATH=str(tmp_path),
            GO=str(go),
        )
        assert bot.error_line().startswith("connected to ")
        return bot

    return dialled


def begin(start: Start, house: House, *words: str) -> Program:
    """Begin the match ``m`` of the bot."""
    words = ("-s", "remote:bot", "-s", "uniform", "--match-id", "m", *words)
    return start("match", GAME, *words, *house.there("referee"))


# ------------------------------------------------------------------ a bot that is late


def test_a_bot_that_is_not_there_is_told_and_not_waited_for(
    run: Run, house: House
) -> None:
    words = ("match", GAME, "-s", "remote:bot", "-s", "uniform")
    code, out, error = run(*words, *house.there("referee"))
    assert (code, out) == (1, "")
    assert one_line(error) == (
        "error: bot 'bot' is not connected; --wait TIME waits for it"
    )
    code, out, errors = run(*words, "--wait", "200ms", *house.there("referee"))
    assert (code, out) == (1, "")
    waiting, error = errors.splitlines()
    assert waiting == "bot 'bot' is not connected; waiting 1 s for it"
    assert one_line(error) == "error: bot 'bot' is not connected; it was waited for"


def test_a_bot_is_waited_for_and_plays_when_it_is_there(
    start: Start, house: House, dial_in: Callable[[], Program], go: Path
) -> None:
    go.touch()
    match = begin(start, house, "--wait", "2min")
    assert match.error_line() == "bot 'bot' is not connected; waiting 120 s for it"
    dial_in()
    assert match.error_line().startswith("match m at ")
    code, said, _ = match.end()
    assert code == 0
    assert said.startswith("played: won by seat ")


def test_a_match_here_waits_for_a_bot_as_long_as_is_said(run: Run) -> None:
    words = ("-s", "remote:nobody", "-s", "uniform", "--wait", "1500ms")
    code, said, errors = run("match", GAME, *words)
    assert code == 1
    assert said.startswith("forfeited: won by seat 1 ")
    assert errors.startswith("waiting 1.5 s for nobody; it dials in with ")


# ----------------------------------------------------------------- what holds it up


def test_pauses_and_lost_links_are_told_to_who_only_waits(
    start: Start, run: Run, house: House, dial_in: Callable[[], Program], go: Path
) -> None:
    bot = dial_in()
    match = begin(start, house)
    match.error_line()
    until(run, house, "running")
    referee = house.there("referee")
    assert run("matches", "pause", "m", "-m", "coffee", *referee)[0] == 0
    assert match.error_line() == "paused at ply 0: coffee"
    assert run("matches", "resume", "m", *referee)[0] == 0
    assert match.error_line() == "resumed"
    bot.signal(signal.SIGKILL)
    bot.end()
    waiting = match.error_line()
    assert waiting.startswith("waiting for seat 0 (patient), whose link was lost, ")
    dial_in()
    assert match.error_line() == "all are there again; the match goes on"
    go.touch()
    code, said, errors = match.end()
    assert (code, errors) == (0, "")
    assert said.startswith("played: won by seat ")


def test_on_a_terminal_a_match_is_shown_as_watch_shows_it(
    start: Start, run: Run, house: House, dial_in: Callable[[], Program], go: Path
) -> None:
    bot = dial_in()
    terminal = Terminal(
        *("match", GAME, "-s", "remote:bot", "-s", "uniform", "--match-id", "m"),
        *("--clock", "1h", "--watch", "--pace", "1ms", *house.there("referee")),
    )
    terminal.until("59:")
    bot.signal(signal.SIGKILL)
    bot.end()
    terminal.until("waiting for seat 0")
    terminal.until("to come back")
    dial_in()
    go.touch()
    assert terminal.end() == 0
    assert "\nplayed: won by seat " in terminal.text
    assert "\nrecord  " in terminal.text


# --------------------------------------------------------------- a server that is away


@pytest.mark.parametrize(
    ("number", "ends"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)]
)
def test_a_match_that_cannot_be_called_off_is_told_to_go_on(
    start: Start, run: Run, house: House, number: signal.Signals, ends: int
) -> None:
    words = ("-s", STUCK, "-s", "uniform", "--match-id", "m")
    match = start("match", GAME, *words, *house.there("referee"))
    assert match.error_line().startswith("match m at ")
    until(run, house, "offered")
    house.server.process.kill()
    house.server.end()
    assert match.error_line().endswith("; trying again")
    match.signal(number)
    code, said, errors = match.end()
    assert (code, said) == (ends, "")
    (told,) = errors.splitlines()
    assert "match m was NOT called off (no server answers at " in told
    assert f"'fritillary matches abort m --server {house.address}' ends it" in told
    # So it does.
    server, _ = serve(house.data, house.address)
    try:
        there = house.there("referee")
        assert run("matches", "abort", "m", *there)[0] == 0
        until(run, house, "ended")
    finally:
        server.signal()
        server.end()


def test_the_labels_of_a_match_are_in_its_record(
    run: Run, house: House, tmp_path: Path
) -> None:
    path = tmp_path / "m.frec"
    words = ("match", GAME, "--label", "cup=spring", "--label", "empty=")
    assert run(*words, "--record", path)[0] == 0
    record = read_record(path.read_bytes())
    assert record.header.labels == {"cup": "spring", "empty": ""}
    code, out, error = run(*words, "--label", "cup=fall", *house.there("referee"))
    assert (code, out) == (2, "")
    assert "label 'cup' is given twice" in one_line(error)
    code, out, error = run(*words, "--label", "x" * 65 + "=1", *house.there("referee"))
    assert (code, out) == (2, "")
    assert "at most 64 characters" in one_line(error)
