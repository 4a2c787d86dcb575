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
        timeout=30,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **environment},
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def only_record(tmp_path: Path) -> Path:
    (path,) = (tmp_path / "data" / "records").glob("*.frec")
    return path


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize(
    "words", [("games",), ("games", "--json"), ("match", GAME, "--watch")]
)
def test_output_that_is_full_is_one_line(run: Run, tmp_path: Path, words: tuple[str, ...]) -> None:
    code, _, error = shell('"$@" >/dev/full', *words)
    assert code == 1
    line = error.splitlines()[-1]
    assert line == "error: cannot write the output: No space left on device"
    assert "Traceback" not in error
    if words[0] == "match":
        assert run("verify", only_record(tmp_path))[0] == 0
    else:
        one_line(error)
