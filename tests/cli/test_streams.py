"""Commands with streams that are full, closed, narrow or cut off."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import Program, Run, one_line, play_match

GAME = "lepidoptery"

pytestmark = pytest.mark.system

Start = Callable[..., Program]


def shell(line: str, *words: object, **environment: str) -> tuple[int, str, str]:
    """Run a line of the shell; ``"$@"`` in it is the command."""
    done = subprocess.run(
        ["sh", "-c", line, "sh", sys.executable, "-m", "fritillary", *map(str, words)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        timeout=100,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **environment},
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def only_record(tmp_path: Path) -> Path:
    (path,) = (tmp_path / "data" / "records").glob("*.frec")
    return path


@pytest.mark.parametrize(
    "words", [("games",), ("games", "--json"), ("match", GAME, "--watch")]
)
def test_output_that_is_full_is_one_line(
    run: Run, tmp_path: Path, words: tuple[str, ...]
) -> None:
    code, _, error = shell('"$@" >/dev/full', *words)
    assert code == 1
    line = error.splitlines()[-1]
    assert line == "error: cannot write the output: No space left on device"
    assert "Traceback" not in error
    if words[0] == "match":
        assert run("verify", only_record(tmp_path))[0] == 0
    else:
        one_line(error)


def test_a_disk_that_is_full_while_a_record_grows_is_one_line(run: Run) -> None:
    # The key and the folders are made before.
    assert run("match", GAME)[0] == 0
    code, _, error = shell('ulimit -f 1; "$@"', "match", GAME)
    assert code == 1
    assert one_line(error).endswith(".frec: File too large")


def test_a_person_hears_that_the_terminal_has_failed() -> None:
    code, _, error = shell('"$@" >/dev/full', "play", GAME)
    assert code == 1
    assert "the seat was lost by it: No space left" in one_line(error)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('"$@" >&-', ("match", GAME)),
        ('"$@" >&-', ("games",)),
        ('"$@" <&-', ("play", GAME)),
        ('"$@" <&- >&- 2>&-', ("play", GAME)),
    ],
)
def test_streams_that_are_closed_harm_nothing(
    run: Run, tmp_path: Path, line: str, words: tuple[str, ...]
) -> None:
    code, _, error = shell(line, *words)
    assert (code, error) == (0, "")
    if words[0] != "games":
        assert run("verify", only_record(tmp_path))[0] == 0


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
)
def test_a_terminal_with_few_characters_shows_what_it_can(
    frec: Path, environment: dict[str, str]
) -> None:
    code, said, error = shell('"$@"', "show", frec, **environment)
    assert (code, error) == (0, "")
    assert "played (" in said
    code, said, error = shell('"$@"', "export", frec, **environment)
    assert (code, error) == (0, "")
    json.loads(said)


def test_a_match_whose_reader_leaves_closes_its_record(
    run: Run, tmp_path: Path
) -> None:
    _, said, error = shell('"$@" | head -n 1', "match", GAME, "--watch")
    assert said.startswith("   1  seat 0 ")
    assert "error" not in error
    assert run("verify", only_record(tmp_path))[0] == 0


def test_what_is_typed_need_not_be_utf_8(tmp_path: Path) -> None:
    line = r'printf "\377\376\nresign\n" | "$@"'
    code, said, error = shell(line, "play", GAME)
    assert (code, error) == (0, "")
    assert "is no action" in said
    assert "seat 0 resigned" in said


@pytest.mark.parametrize("command", ["verify", "show", "export"])
def test_only_regular_files_are_read(run: Run, tmp_path: Path, command: str) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero")):
        code, _, error = run(command, path)
        assert code == 1
        assert one_line(error) == f"error: {path}: not a regular file"


@pytest.mark.parametrize("command", ["verify", "show", "export"])
def test_errors_name_a_file_once_and_as_it_is(
    run: Run, tmp_path: Path, command: str
) -> None:
    missing = tmp_path / "a[/12] :b: \x1b.frec"
    code, _, error = run(command, missing)
    name = str(missing).replace("\x1b", "\\x1b")
    assert code == 1
    assert one_line(error) == f"error: {name}: No such file or directory"
    missing.parent.mkdir()
    missing.write_text("nonsense")
    code, _, error = run(command, missing)
    assert code == 3
    assert one_line(error).startswith(f"error: {name}: not a match record")
    missing.unlink()
    code, said, error = run(command, play_match(missing))
    assert (code, error) == (0, "")
    assert "\x1b" not in said
    assert command != "verify" or said.startswith(f"verified {name}\n")
