"""fritillary match, played here."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import BOTS, Program, Run, one_line

from fritillary.record.events import Header
from fritillary.record.reader import read_file, read_record

GAME = "lepidoptery"
TWO = ("-s", "greedy", "-s", "uniform")


def header(path: Path) -> Header:
    return read_record(read_file(path)).header


def test_a_match_is_played_told_and_recorded(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "match.frec"
    code, said, errors = run("match", GAME, *TWO, "--record", target)
    assert (code, errors) == (0, "")
    outcome, plies, content, where = said.splitlines()
    assert outcome.startswith("played: won by seat ")
    assert plies.split()[0] == "plies"
    assert len(content.split()[1]) == 64
    assert len(content) <= 80
    assert where == f"record  {target}"
    assert run("verify", target)[0] == 0
    kept = list((tmp_path / "data" / "records").glob("*.frec"))
    assert [path.read_bytes() for path in kept] == [target.read_bytes()]


def test_without_players_two_uniform_bots_play(run: Run) -> None:
    data = json.loads(run("match", GAME, "--json")[1])
    assert data["players"] == ["uniform", "uniform"]


def test_the_result_as_json(run: Run) -> None:
    code, said, errors = run("match", f"{GAME}+no-pass", *TWO, "--json")
    assert (code, errors) == (0, "")
    data = json.loads(said)
    assert list(data) == [
        *("match_id", "game", "players", "kind", "code", "message", "reason"),
        *("scores", "placing", "plies", "content_hash", "final_hash", "record"),
    ]
    assert data["game"] == f"{GAME}+no-pass"
    assert data["players"] == ["greedy", "uniform"]
    assert (data["kind"], data["code"], data["message"]) == ("played", "", "")
    assert sorted(data["scores"]) == [0, 1]
    assert sorted(data["placing"]) == [1, 2]
    verified = json.loads(run("verify", data["record"], "--json")[1])[0]
    for name in ("plies", "content_hash", "final_hash"):
        assert verified[name] == data[name]


def test_the_same_seed_salt_and_id_are_the_same_match(run: Run, tmp_path: Path) -> None:
    hashes = []
    for folder in ("a", "b"):
        words = ("--seed", "5a" * 32, "--salt", "A5" * 32, "--match-id", "same")
        data = tmp_path / folder
        said = run("match", GAME, *TWO, *words, "--data", data, "--json")[1]
        hashes.append(json.loads(said)["content_hash"])
        assert (data / "records" / "same.frec").exists()
    assert hashes[0] == hashes[1]
    assert run("match", GAME, *TWO, "--json")[1] not in hashes


def test_a_match_is_watched_line_by_line_where_nobody_looks_on(run: Run) -> None:
    code, said, _ = run("match", GAME, *TWO, "--watch", "--pace", "1h")
    assert code == 0
    lines = said.splitlines()
    assert lines[0].startswith("   1  seat 0 (greedy): ")
    assert any(line.startswith("   2  seat 1 (uniform): ") for line in lines)
    assert said.count("Lepidoptery - seat ") == 1


@pytest.mark.parametrize(
    "player",
    [
        f"exec:{sys.executable} {BOTS / 'uniform.py'}",
        "python:fritillary.bots.protocol:UniformBot",
    ],
)
def test_programs_and_classes_play(run: Run, player: str) -> None:
    code, said, errors = run("match", GAME, "-s", player, "-s", "uniform", "--json")
    assert (code, errors) == (0, "")
    data = json.loads(said)
    assert data["kind"] == "played"
    # The words of a command are not for everybody who reads the record.
    shown = player if player.startswith("python:") else "exec:python"
    assert header(Path(data["record"])).seats[0].player.player == shown


def test_options_clocks_and_policies_stand_in_the_record(
    run: Run, tmp_path: Path
) -> None:
    target = tmp_path / "m.frec"
    words = (
        *("-o", "heights=5,5,5,5,5", "--preset", "bga", "--margin", "70ms"),
        *("--clock", "5min+2s", "--clock", "move=5s,bank=30s"),
        *("--policy", "illegal=retry:2,substitute", "--policy", "late=void"),
        *("--policy", "stand-in=greedy", "--policy", "restarts=4"),
    )
    assert run("match", GAME, *TWO, *words, "--record", target)[0] == 0
    found = header(target)
    first, second = (seat.clock for seat in found.seats)
    assert (first.base_ms, first.increment_ms) == (300_000, 2_000)
    assert (second.move_ms, second.bank_ms) == (5_000, 30_000)
    assert found.terms.margin_ms == 70
    policy = found.terms.policy
    assert policy.stand_in == "greedy"
    assert policy.link.restarts == 4
    rules = {
        rule.fault.value: (rule.retries, rule.consequence.value)
        for rule in policy.rules
    }
    assert rules["illegal"] == (2, "substitute")
    assert rules["late"] == (0, "void")
    assert rules["crashed"] == (0, "forfeit")
    options = json.loads(run("export", target)[1])[0]["options"]
    assert options["heights"] == [5] * 5
    assert options["same_type_may_beat"] is False


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-s", "gredy", "-s", "uniform"), "did you mean 'greedy'"),
        (("-s", "Greedy!", "-s", "uniform"), "exec:COMMAND"),
        (("-s", "python:no_colon", "-s", "uniform"), "python:pkg.module:Class"),
        (("-s", "exec:", "-s", "uniform"), "needs a command"),
        (("-s", "exec:'open", "-s", "uniform"), "quotation"),
        (("-s", "exec:/nonexistent", "-s", "uniform"), "no file '/nonexistent'"),
        (("-s", "exec:no-such-bot", "-s", "uniform"), "no command 'no-such-bot'"),
        (("-s", "exec:/tmp", "-s", "uniform"), "'/tmp' is a folder"),
        (("-s", f"exec:{__file__}", "-s", "uniform"), "cannot be executed"),
        (("-s", "python:no_such.mod:X", "-s", "uniform"), "no module 'no_such'"),
        (("-s", "remote:no spaces", "-s", "uniform"), "remote:NAME"),
        (("-s", "greedy:depth=3", "-s", "uniform"), "depth"),
        (("-s", "uniform"), "2"),
        (("-s", "uniform") * 3, "2"),
        ((*TWO, "--clock", "soon"), "duration"),
        ((*TWO, "--clock", "5min", "--clock", "none", "--clock", "1s"), "3 times"),
        ((*TWO, "--clock", "bank=5s"), "bank"),
        ((*TWO, "--clock", "lunch=5s"), "'lunch'"),
        ((*TWO, "--policy", "illegal"), "FAULT=CONSEQUENCE"),
        ((*TWO, "--policy", "lazy=forfeit"), "lazy"),
        ((*TWO, "--policy", "late=retry:1,void"), "late"),
        ((*TWO, "--policy", "illegal=retry:x,void"), "illegal=retry"),
        ((*TWO, "--policy", "stand-in=gredy"), "did you mean 'greedy'"),
        ((*TWO, "--margin", "-1s"), "duration"),
        ((*TWO, "--watch", "--pace", "slow"), "duration"),
        ((*TWO, "--seed", "5a"), "64 hex digits"),
        ((*TWO, "--salt", "zz" * 32), "64 hex digits"),
        ((*TWO, "--match-id", "../x"), "match id"),
        ((*TWO, "--preset", "x"), "bga"),
        ((*TWO, "-o", "heights=0"), "heights"),
        ((*TWO, "--record", "no/such/folder/m.frec"), "folder does not exist"),
    ],
)
def test_wrong_words_are_one_clear_line_and_nothing_is_played(
    run: Run, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    code, out, error = run("match", GAME, *words)
    assert (code, out) == (2, "")
    assert said in one_line(error)
    assert not list(tmp_path.rglob("*.frec"))


def test_a_record_is_never_written_over(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "mine.frec"
    target.write_text("precious")
    code, _, error = run("match", GAME, *TWO, "--record", target)
    assert code == 2
    assert "there is a file already" in one_line(error)
    assert target.read_text() == "precious"
    assert run("match", GAME, *TWO, "--match-id", "m")[0] == 0
    code, _, error = run("match", GAME, *TWO, "--match-id", "m")
    assert code == 1
    assert "there is a match 'm' already" in one_line(error)


SAYS = "import sys; sys.exit('no weights')"

CRASHES = """\
import os
from fritillary_client import main

def decide(ask):
    os.write(2, b"out of luck\\n")
    os._exit(7)

main(decide, [])
"""


@pytest.mark.parametrize(
    ("player", "why"),
    [
        ("exec:false", "(false) did not start: the program ended with exit code 1"),
        (f'exec:{sys.executable} -c "{SAYS}"', "its last words: no weights"),
        ("python:os:nosuch", "os has no class or function 'nosuch'"),
    ],
)
@pytest.mark.parametrize("output", [(), ("--json",)])
def test_a_player_that_cannot_be_started_is_exit_code_1_and_told_why(
    run: Run, player: str, why: str, output: tuple[str, ...]
) -> None:
    words = ("-s", player, "-s", "uniform", *output)
    code, said, error = run("match", GAME, *words)
    assert code == 1
    assert "forfeited" in said
    assert one_line(error).startswith("error: seat 0 (")
    assert why in error


def test_a_bot_that_fails_later_loses_and_the_command_succeeds(
    run: Run, tmp_path: Path
) -> None:
    script = tmp_path / "b.py"
    script.write_text(CRASHES)
    player = f"exec:{sys.executable} {script}"
    words = ("-s", player, "-s", "uniform", "--policy", "restarts=0")
    code, said, note = run("match", GAME, *words)
    assert code == 0
    assert said.startswith("forfeited: won by seat 1 (uniform), 0 : 1 (")
    assert "exit code 7; its last words: out of luck" in note
    assert len(note.splitlines()) == 1


def test_a_match_that_does_not_count_is_exit_code_1(run: Run) -> None:
    policy = ("--policy", "refused-to-start=void", "--policy", "restarts=0")
    code, said, _ = run("match", GAME, "-s", "exec:false", "-s", "uniform", *policy)
    assert code == 1
    assert said.startswith("void: ")


def test_a_token_is_for_a_server(run: Run) -> None:
    code, _, error = run("match", GAME, *TWO, "--token", "t")
    assert code == 2
    assert "--server" in one_line(error)


STUCK = """\
import os, pathlib, sys, time
from fritillary_client import main

def decide(ask):
    pathlib.Path(sys.argv[1]).write_text(str(os.getpid()))
    time.sleep(60)

main(decide, [])
"""


@pytest.mark.system
@pytest.mark.parametrize(
    ("number", "name", "code"),
    [
        (signal.SIGINT, "Ctrl-C", 130),
        (signal.SIGTERM, "SIGTERM", 143),
        (signal.SIGHUP, "SIGHUP", 129),
    ],
)
def test_a_signal_calls_a_match_off_and_keeps_its_record(
    run: Run,
    start: Callable[..., Program],
    tmp_path: Path,
    number: signal.Signals,
    name: str,
    code: int,
) -> None:
    script, noted, target = (tmp_path / file for file in ("b.py", "pid", "m.frec"))
    script.write_text(STUCK)
    player = f"exec:{sys.executable} {script} {noted}"
    words = ("-s", player, "-s", "uniform", "--watch", "--record", target)
    program = start("match", GAME, *words)
    pid = _number(noted)
    program.signal(number)
    ended, said, errors = program.end()
    assert ended == code
    assert said.splitlines()[0] == f"withdrawn: called off by {name}"
    assert said.splitlines()[-1] == f"record  {target}"
    assert errors.split() == ["calling", "the", "match", "off"]
    assert run("verify", target)[0] == 0
    _until(lambda: not _alive(pid))


@pytest.mark.system
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)]
)
def test_a_signal_calls_off_a_match_that_waits_for_a_person(
    start: Callable[..., Program], number: signal.Signals, code: int
) -> None:
    program = start("play", GAME)
    assert program.process.stdout is not None
    asked = ""
    while not asked.endswith("your action: "):
        piece = program.process.stdout.read(1)
        assert piece, asked
        asked += piece
    program.signal(number)
    program.process.wait(60)
    ended, said, errors = program.end()
    assert ended == code
    assert "withdrawn: called off by " in said
    assert errors == "calling the match off\n"


@pytest.mark.system
def test_a_signal_that_is_to_be_ignored_is(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "m.frec"
    line = 'trap "" HUP; "$@" & kill -HUP $!; wait $!'
    command = (sys.executable, "-m", "fritillary", "match", GAME, "--record", target)
    done = subprocess.run(["sh", "-c", line, "sh", *command], check=False)
    assert done.returncode == 0
    assert run("verify", target)[0] == 0


def _number(path: Path) -> int:
    _until(lambda: path.exists() and path.read_text())
    return int(path.read_text())


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _until(true: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("butterfly-garden", "-o", "starter=3"), "starter"),
        (("lost-cities", "-o", "exploits=foo"), "three-wagers"),
    ],
)
def test_options_that_do_not_go_together_are_one_line_and_leave_nothing(
    run: Run, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    code, out, error = run("match", *words)
    assert (code, out) == (2, "")
    assert said in error
    assert error.count("\n") == 1
    assert not list(tmp_path.rglob("*.frec"))


def test_lists_of_one_item_and_of_none_can_be_given(run: Run) -> None:
    one = ("lost-cities", "-o", "exploits=three-wagers", "-o", "games=1")
    assert run("match", *one)[0] == 0
    none = ("lost-cities", "-o", "exploits=", "-o", "tie_break=none", "-o", "games=1")
    assert run("match", *none)[0] == 0
