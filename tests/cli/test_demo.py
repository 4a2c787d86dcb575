"""What `make demo` does."""

import subprocess
import sys
from pathlib import Path

import pytest

DEMO = Path(__file__).parents[2] / "examples" / "demo.py"

pytestmark = pytest.mark.system


def demo(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, DEMO, *words],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def test_the_demonstration_plays_a_match_and_verifies_its_record() -> None:
    done = demo()
    assert (done.returncode, done.stderr) == (0, "")
    assert "server listens on 127.0.0.1:" in done.stdout
    assert "\nplayed: won by seat " in done.stdout
    assert "\nverified " in done.stdout
    picture = Path(done.stdout.partition("\npicture ")[2].splitlines()[0])
    assert picture.read_text("utf-8").startswith("<svg")


def test_a_game_that_there_is_not_is_one_line() -> None:
    done = demo("--game", "nosuch")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: no game 'nosuch'")
    assert len(done.stderr.splitlines()) == 1
