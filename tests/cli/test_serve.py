"""fritillary serve, and what is done at a server: each command a process."""

import json
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from tests.cli.conftest import BOTS, STOPPED, Program, Run, journal, one_line

GAME = "lepidoptery"
TWO = ("-s", "greedy", "-s", "uniform")

pytestmark = pytest.mark.system

Start = Callable[..., Program]


def served(program: Program) -> str:
    """Return the address at which a server has begun to listen, on loopback."""
    word, _, address = program.line().partition(" on ")
    assert word == "listening", program.end()
    assert program.line().startswith("records in ")
    assert program.line() == (
        "programs that referees name are started, and run as this user"
    )
    return address


@frozen
class House:
    """A server that runs, with its own data folder."""

    address: str
    data: Path
    referee: str


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    data = tmp_path_factory.mktemp("server") / "data"
    token = ("token", "create", "ref", "--role", "referee", "--data", data)
    code, referee, _ = Program(*token).end()
    assert code == 0
    server = Program("serve", "--address", "127.0.0.1:0", "--data", data)
    served_at = served(server)
    yield House(served_at, data, referee.strip())
    server.signal()
    code, out, errors = server.end()
    assert (code, out) == (0, "")
    serving, *lines, stopping, stopped = journal(errors)
    assert serving.startswith(f"server serving address={served_at} ")
    assert [stopping, stopped] == STOPPED
    told = ("match ", "refused method=/fritillary", "bot ", "token ")
    assert all(line.startswith(told) for line in lines), errors


@pytest.fixture
def at(run: Run, house: House) -> Run:
    """Runs ``fritillary match`` at the server."""

    def command(*words: Any) -> tuple[int, str, str]:
        there = ("--server", house.address, "--token", house.referee)
        return run("match", GAME, *words, *there)

    return command


# --------------------------------------------------------------------- serve


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_server_tells_its_address_and_ends_when_told(
    start: Start, number: signal.Signals
) -> None:
    server = start("serve", "--address", "127.0.0.1:0")
    host, _, port = served(server).rpartition(":")
    assert host == "127.0.0.1"
    with socket.create_connection((host, int(port)), 60):
        pass
    assert " server serving address=127.0.0.1:" in server.error_line()
    assert "no tokens yet" in server.error_line()
    server.signal(number)
    code, out, errors = server.end()
    assert (code, out, journal(errors)) == (0, "", STOPPED)


def test_a_server_can_be_told_to_start_no_programs(start: Start, run: Run) -> None:
    referee = run("token", "create", "ref", "--role", "referee")[1].strip()
    server = start("serve", "--address", "127.0.0.1:0", "--programs", "never")
    address = server.line().partition(" on ")[2]
    program = f"exec:{sys.executable} {BOTS / 'uniform.py'}"
    code, out, error = run(
        *("match", GAME, "-s", program, "-s", "uniform"),
        *("--server", address, "--token", referee),
    )
    assert (code, out) == (1, "")
    assert "is a program, and this server starts none" in one_line(error)
    server.signal()
    code, out, _ = server.end()
    assert code == 0
    assert "programs" not in out


def test_a_port_in_use_is_one_line(run: Run, house: House) -> None:
    code, out, error = run("serve", "--address", house.address)
    assert (code, out) == (1, "")
    assert "the port is in use" in one_line(error)


@pytest.mark.parametrize(
    ("address", "code", "said"),
    [
        ("0.0.0.0:0", 1, "not on loopback"),
        ("example.org:80", 1, "not on loopback"),
        ("localhost", 2, "HOST:PORT"),
        ("127.0.0.1:99999", 2, "HOST:PORT"),
    ],
)
def test_other_addresses_are_refused(
    run: Run, address: str, code: int, said: str
) -> None:
    ended, out, error = run("serve", "--address", address)
    assert (ended, out) == (code, "")
    assert said in one_line(error)


# ------------------------------------------------------------ matches at a server


def test_a_match_is_played_there_and_its_record_fetched(
    at: Run, run: Run, house: House, tmp_path: Path
) -> None:
    target = tmp_path / "m.frec"
    code, said, note = at(*TWO, "--record", target)
    assert code == 0
    outcome, _, _, where = said.splitlines()
    assert outcome.startswith("played: won by seat ")
    assert where == f"record  {target}"
    match_id = note.split()[1]
    assert note == f"match {match_id} at {house.address}\n"
    assert run("verify", target)[0] == 0
    there = house.data / "records" / f"{match_id}.frec"
    assert there.read_bytes() == target.read_bytes()


def test_what_is_said_is_the_same_as_of_a_match_here(
    at: Run, run: Run, tmp_path: Path
) -> None:
    words = (
        *(*TWO, "--seed", "5a" * 32, "--salt", "a5" * 32, "--match-id", "same"),
        *("-o", "heights=5,5,5,5,5", "--preset", "bga", "--margin", "70ms"),
        *("--clock", "5min+2s", "--clock", "move=5s,bank=30s", "--json"),
        *("--policy", "illegal=retry:2,substitute", "--policy", "restarts=4"),
    )
    code, there, note = at(*words, "--data", tmp_path / "there")
    assert (code, note) == (0, "")
    here = json.loads(run("match", GAME, *words)[1])
    data = json.loads(there)
    assert data.pop("record") == str(tmp_path / "there" / "records" / "same.frec")
    assert here.pop("record")
    # These hold times as well.
    assert here.pop("final_hash") != data.pop("final_hash")
    assert data == here


def test_without_record_it_goes_to_the_local_folder(
    at: Run, house: House, tmp_path: Path
) -> None:
    code, said, _ = at(*TWO, "--match-id", "kept")
    assert code == 0
    path = tmp_path / "data" / "records" / "kept.frec"
    assert said.splitlines()[-1] == f"record  {path}"
    # The server's own folder holds it already.
    code, said, _ = at(*TWO, "--match-id", "shared", "--data", house.data)
    assert code == 0
    assert (house.data / "records" / "shared.frec").exists()


def test_a_file_in_the_way_is_left_alone(at: Run, tmp_path: Path) -> None:
    path = tmp_path / "data" / "records" / "mine.frec"
    path.parent.mkdir(parents=True)
    path.write_text("precious")
    code, out, errors = at(*TWO, "--match-id", "mine")
    assert (code, out) == (1, "")
    assert errors.splitlines()[-1].startswith(f"error: {path}: there is another file")
    assert path.read_text() == "precious"


def test_it_is_watched_line_by_line_where_nobody_looks_on(at: Run) -> None:
    player = f"exec:{sys.executable} {BOTS / 'uniform.py'}"
    code, said, _ = at("-s", player, "-s", "greedy", "--watch", "--pace", "1h")
    assert code == 0
    # As 'fritillary watch' tells it: when, the ply, and what happened.
    lines = [line[20:].strip() for line in said.splitlines()]
    assert "lepidoptery" in lines[0]
    assert any(line.startswith("1  seat 0 (uniform): ") for line in lines)
    assert any(line.startswith("2  seat 1 (greedy): ") for line in lines)
    told = [line for line in said.splitlines() if "played: won by seat " in line]
    assert len(told) == 2
    assert told[0].endswith(told[1])


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("-s", "gredy", "-s", "uniform"), 2, "did you mean 'greedy'"),
        (("-s", "human", "-s", "uniform"), 2, "fritillary play"),
        (("-s", "remote:nobody", "-s", "uniform"), 1, "nobody"),
        (("-s", "uniform"), 2, "2"),
        ((*TWO, "-o", "heights=0"), 2, "heights"),
        ((*TWO, "--preset", "x"), 2, "bga"),
        ((*TWO, "--match-id", "no good"), 2, "match id"),
        ((*TWO, "--policy", "stand-in=gredy"), 2, "did you mean 'greedy'"),
        ((*TWO, "--record", "no/such/folder/m.frec"), 2, "folder does not exist"),
    ],
)
def test_what_a_server_refuses_is_one_clear_line(
    at: Run, tmp_path: Path, words: tuple[str, ...], code: int, said: str
) -> None:
    ended, out, error = at(*words)
    assert (ended, out) == (code, "")
    assert said in one_line(error)
    assert not list(tmp_path.rglob("*.frec"))


def test_a_player_that_cannot_be_started_there_is_exit_code_1_and_told_why(
    at: Run,
) -> None:
    code, said, errors = at("-s", "exec:false", "-s", "uniform")
    assert code == 1
    assert said.startswith("forfeited: won by seat 1")
    line = errors.splitlines()[-1]
    assert line.startswith("error: seat 0 (false) did not start: the program ended")


def test_no_server_and_no_token_are_one_clear_line(
    run: Run, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FRITILLARY_TOKEN", raising=False)
    there = ("match", GAME, *TWO, "--server", house.address)
    code, _, error = run(*there)
    assert code == 2
    assert "--role referee" in one_line(error)
    code, _, error = run(*there, "--token", "frt_referee_x")
    assert code == 1
    assert "does not know this token" in one_line(error)
    code, _, error = run("match", GAME, "--server", "127.0.0.1:1", "--token", "t")
    assert code == 1
    assert "no server answers at 127.0.0.1:1" in one_line(error)
    code, _, error = run("match", GAME, "--server", "there", "--token", "t")
    assert code == 2
    assert "HOST:PORT" in one_line(error)
    monkeypatch.setenv("FRITILLARY_TOKEN", house.referee)
    assert run(*there)[0] == 0


@pytest.mark.parametrize(
    ("number", "name", "ends"),
    [(signal.SIGINT, "Ctrl-C", 130), (signal.SIGTERM, "SIGTERM", 143)],
)
def test_a_signal_calls_the_match_off_there(
    start: Start,
    run: Run,
    house: House,
    tmp_path: Path,
    number: signal.Signals,
    name: str,
    ends: int,
) -> None:
    target = tmp_path / "m.frec"
    stuck = f"exec:{sys.executable} -c 'import time; time.sleep(60)'"
    words = ("-s", stuck, "-s", "uniform", "--record", target)
    there = ("--server", house.address, "--token", house.referee)
    program = start("match", GAME, *words, *there)
    assert program.error_line().startswith("match m-")
    program.signal(number)
    code, said, errors = program.end()
    assert code == ends
    assert said.splitlines()[0] == f"withdrawn: called off by {name}"
    assert said.splitlines()[-1] == f"record  {target}"
    assert errors.split() == ["calling", "the", "match", "off"]
    assert run("verify", target)[0] == 0


# -------------------------------------------------------------- tokens and bots


def test_a_token_made_meanwhile_counts_at_once_and_a_bot_plays_with_it(
    start: Start, at: Run, run: Run, house: House
) -> None:
    token = run("token", "create", "my-bot", "--data", house.data)[1].strip()
    words = ("--address", house.address, "--token", token, "--matches", 1)
    bot = start("bot", "greedy", *words)
    assert "connected to" in bot.error_line()
    code, said, _ = at("-s", "remote:my-bot", "-s", "uniform", "--json")
    assert code == 0
    data = json.loads(said)
    assert data["kind"] == "played"
    assert data["players"] == ["greedy", "uniform"]
    assert run("verify", data["record"])[0] == 0
    code, out, errors = bot.end()
    assert (code, out) == (0, "")
    assert "Traceback" not in errors
    # A bot's token makes no matches, and a revoked one opens nothing.
    there = ("match", GAME, *TWO, "--server", house.address, "--token", token)
    code, _, error = run(*there)
    assert code == 1
    assert "--role referee" in one_line(error)
    assert run("token", "revoke", "my-bot", "--data", house.data)[0] == 0
    code, out, error = start("bot", "greedy", *words).end()
    assert (code, out) == (1, "")
    assert "revoked" in one_line(error)
