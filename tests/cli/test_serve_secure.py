"""fritillary serve in TLS, what it says of refused calls, and its metrics."""

import http.client
import re
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import BOTS, STOPPED, Program, Run, journal, one_line
from tests.service.authority import HOUR, Authority, Pair

GAME = "lepidoptery"

pytestmark = pytest.mark.system

Start = Callable[..., Program]


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
def pair(authority: Authority) -> Pair:
    return authority.sign("server", "localhost", "127.0.0.1")


@pytest.fixture(autouse=True)
def _no_files(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CA", "CERT", "KEY"):
        monkeypatch.delenv(f"FRITILLARY_{name}", raising=False)


def token_of(run: Run, *words: str) -> str:
    return run("token", "create", *words)[1].strip()


def lines(program: Program, count: int) -> list[str]:
    return [program.line() for _ in range(count)]


# ------------------------------------------------------------------------------- TLS


@pytest.mark.parametrize("members", [False, True])
def test_bots_programs_and_referees_meet_in_tls(
    start: Start, run: Run, authority: Authority, pair: Pair, members: bool
) -> None:
    referee = token_of(run, "ref", "--role", "referee")
    bot = token_of(run, "my-bot")
    words: list[Any] = ["--tls-cert", pair.cert, "--tls-key", pair.key]
    files: list[Any] = ["--ca", authority.ca]
    if members:
        words += ["--tls-client-ca", authority.ca]
        mine = authority.sign("me")
        files += ["--cert", mine.cert, "--key", mine.key]
    words += ["--programs", "always"]
    server = start("serve", "--address", "0.0.0.0:0", *words)
    listening, _, secure = lines(server, 3)
    port = listening.rpartition(":")[2]
    assert listening == f"listening on 0.0.0.0:{port}"
    assert re.fullmatch(r"TLS for localhost, 127\.0\.0\.1 until 20\S+ \S+ UTC", secure)
    there = f"localhost:{port}"
    playing = start(
        *("bot", "greedy", "--address", there, "--token", bot, "--matches", 1), *files
    )
    assert "connected to" in playing.error_line()
    program = f"exec:{sys.executable} {BOTS / 'uniform.py'}"
    code, said, error = run(
        *("match", GAME, "-s", "remote:my-bot", "-s", program),
        *("--server", there, "--token", referee, *files),
    )
    assert code == 0, error
    assert said.startswith("played: ")
    assert playing.end()[0] == 0
    server.signal()
    code, _, errors = server.end()
    assert code == 0
    told = journal(errors)
    assert told[-2:] == STOPPED
    assert any(line.startswith("bot connected bot=my-bot/") for line in told)
    assert any(line.startswith("match ended match=m-") for line in told)


def test_a_certificate_for_no_name_says_so(start: Start, authority: Authority) -> None:
    pair = authority.sign("nameless")
    server = start(
        *("serve", "--address", "127.0.0.1:0"),
        *("--tls-cert", pair.cert, "--tls-key", pair.key),
    )
    assert lines(server, 3)[2].startswith("TLS for no name until ")


def test_wrong_files_are_one_clear_line(
    run: Run, authority: Authority, pair: Pair, tmp_path: Path
) -> None:
    old = authority.sign("old", "localhost", good_for=-HOUR)
    wrong: dict[str, tuple[Any, ...]] = {
        "--tls-key is missing": ("--tls-cert", pair.cert),
        "--tls-cert is missing": ("--tls-key", pair.key),
        "certificate and key": ("--tls-client-ca", authority.ca),
        "No such file": ("--tls-cert", tmp_path / "no", "--tls-key", pair.key),
        "does not belong": ("--tls-cert", pair.cert, "--tls-key", old.key),
        "expired on": ("--tls-cert", old.cert, "--tls-key", old.key),
        "holds a key where": ("--tls-cert", pair.key, "--tls-key", pair.cert),
        "holds no certificate": (
            *("--tls-cert", pair.cert, "--tls-key", pair.key),
            *("--tls-client-ca", Path(__file__)),
        ),
    }
    for said, words in wrong.items():
        code, out, error = run("serve", "--address", "127.0.0.1:0", *words)
        assert (code, out) == (2, ""), said
        assert said in one_line(error)


def test_a_server_that_does_not_fit_is_one_clear_line(
    start: Start, run: Run, authority: Authority, pair: Pair, tmp_path: Path
) -> None:
    other = Authority(tmp_path, "other")
    words = ("--tls-cert", pair.cert, "--tls-key", pair.key)
    server = start("serve", "--address", "127.0.0.1:0", *words)
    address = lines(server, 3)[0].rpartition(" ")[2]
    wrong: dict[str, tuple[Any, ...]] = {
        "is not trusted": ("--ca", other.ca),
        "if it speaks TLS": (),
        "No such file": ("--ca", tmp_path / "no"),
        "cert and key go together": ("--ca", authority.ca, "--cert", pair.cert),
    }
    for said, files in wrong.items():
        match = ("match", GAME, "--server", address, "--token", "frt_x", *files)
        code, out, error = run(*match)
        assert (code, out) == (1 if "T" in said or "trusted" in said else 2, ""), said
        assert said in one_line(error)
        program = start("bot", "greedy", "--address", address, "--token", "x", *files)
        code, out, error = program.end()
        assert (code, out) == (1, "")
        assert said in one_line(error)


def test_files_without_a_server_are_wrong_usage(
    run: Run, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, error = run("match", GAME, "--ca", authority.ca)
    assert (code, out) == (2, "")
    assert "--server" in one_line(error)
    # What the environment names is for whoever dials in.
    monkeypatch.setenv("FRITILLARY_CA", str(authority.ca))
    assert run("match", GAME)[0] == 0


# --------------------------------------------------------------------- refused calls


def test_refused_calls_are_shown_with_their_time(start: Start, run: Run) -> None:
    bot = token_of(run, "my-bot")
    server = start("serve", "--address", "127.0.0.1:0")
    address = lines(server, 2)[0].rpartition(" ")[2]
    for token in (bot, "frt_referee_made-up"):
        there = ("--server", address, "--token", token)
        assert run("match", GAME, "-s", "uniform", "-s", "uniform", *there)[0] == 1
    server.signal(signal.SIGTERM)
    code, _, errors = server.end()
    assert code == 0
    _, wrong, unknown, *stopping = errors.splitlines()
    head = (
        r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ refused "
        r"method=/fritillary\.api\.v1\.MatchService/CreateMatch "
    )
    peer = r"peer=127\.0\.0\.1:\d+ "
    assert re.fullmatch(
        rf"{head}code=auth\.wrong-role {peer}token=my-bot/[0-9a-f]{{8}} role=bot", wrong
    )
    assert re.fullmatch(rf"{head}code=auth\.unknown-token {peer}token=-", unknown)
    assert journal("\n".join(stopping)) == STOPPED
    assert "made-up" not in errors
    assert bot not in errors


def test_a_revoked_bot_is_sent_away_by_a_server_that_runs(
    start: Start, run: Run
) -> None:
    bot = token_of(run, "my-bot")
    server = start("serve", "--address", "127.0.0.1:0")
    address = lines(server, 2)[0].rpartition(" ")[2]
    playing = start("bot", "greedy", "--address", address, "--token", bot)
    assert "connected to" in playing.error_line()
    assert run("token", "revoke", "my-bot")[0] == 0
    code, out, errors = playing.end()
    assert (code, out) == (1, "")
    assert "revoked" in errors.splitlines()[-1]
    server.signal()
    assert "code=auth.revoked-token" in server.end()[2]


# --------------------------------------------------------------------------- metrics


def test_metrics_are_told_where_it_says(start: Start) -> None:
    server = start("serve", "--address", "127.0.0.1:0", "--metrics", "0")
    page = lines(server, 3)[2].removeprefix("metrics on ")
    found = re.fullmatch(r"http://(127\.0\.0\.1:\d+)/metrics", page)
    assert found is not None
    link = http.client.HTTPConnection(found[1], timeout=60)
    link.request("GET", "/metrics")
    text = link.getresponse().read().decode()
    link.close()
    assert "fritillary_bots_connected 0.0" in text.splitlines()
    server.signal()
    code, _, errors = server.end()
    assert code == 0
    assert journal("\n".join(errors.splitlines()[-2:])) == STOPPED


def test_a_port_for_metrics_that_is_in_use_is_one_clear_line(run: Run) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        words = ("--address", "127.0.0.1:0", "--metrics", port)
        code, out, error = run("serve", *words)
    assert (code, out) == (1, "")
    assert f"127.0.0.1:{port}" in one_line(error)
    assert "in use" in error


def test_what_is_no_address_for_metrics_is_wrong_usage(run: Run) -> None:
    code, out, error = run("serve", "--address", "127.0.0.1:0", "--metrics", "here")
    assert (code, out) == (2, "")
    assert "HOST:PORT" in one_line(error)
