"""What the tests of the commands share."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fritillary import Registry, UniformBot
from fritillary.cli.main import main
from fritillary.record.signing import Signer
from fritillary.record.terms import PlayerInfo
from fritillary.record.writer import FileSink
from fritillary.referee.match import Match
from fritillary.referee.player import LocalPlayer
from fritillary.referee.setup import MatchSetup

#: Runs a command; returns its exit code, what it printed, and its errors.
Run = Callable[..., tuple[int, str, str]]

BOTS = Path(__file__).parents[2] / "examples" / "bots"


def one_line(error: str) -> str:
    """Check that there is one line of error, and return it."""
    lines = error.strip().splitlines()
    assert len(lines) == 1, error
    assert lines[0].startswith("error: ")
    return lines[0]


class Program:
    """A command in a process of its own."""

    def __init__(self, *words: Any, **environment: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "fritillary", *map(str, words)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **environment},
            text=True,
        )

    def line(self) -> str:
        """Return the next line that it prints."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().rstrip("\n")

    def error_line(self) -> str:
        """Return the next line of its errors."""
        assert self.process.stderr is not None
        return self.process.stderr.readline().rstrip("\n")

    def signal(self, number: int = signal.SIGINT) -> None:
        """Send a signal, as Ctrl-C does."""
        self.process.send_signal(number)

    def end(self, typed: str | None = None) -> tuple[int, str, str]:
        """Wait for its end; return its exit code, and the rest of what it printed."""
        out, errors = self.process.communicate(typed, timeout=20)
        return self.process.returncode, out, errors


@pytest.fixture
def start() -> Iterator[Callable[..., Program]]:
    """Starts commands as processes; all are ended after the test."""
    programs: list[Program] = []

    def started(*words: Any, **environment: str) -> Program:
        programs.append(Program(*words, **environment))
        return programs[-1]

    yield started
    for program in programs:
        program.process.kill()
        program.process.communicate()


@pytest.fixture(autouse=True)
def _own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FRITILLARY_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def command(*words: Any) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
        printed = capsys.readouterr()
        code = ended.value.code
        return code if isinstance(code, int) else 0, printed.out, printed.err

    return command


def play_match(path: Path, game_id: str = "lepidoptery") -> Path:
    """Play a match of two uniform bots and return its record."""
    registry = Registry()
    registry.load()
    info = PlayerInfo("uniform", player="uniform")
    setup = MatchSetup(
        game=registry.game(game_id),
        players=(LocalPlayer(UniformBot(), info), LocalPlayer(UniformBot(), info)),
        match_id="m-1",
        seed=b"s" * 32,
        salt=b"t" * 32,
    )
    asyncio.run(Match(setup, FileSink(path), Signer(b"k" * 32)).run())
    return path


@pytest.fixture
def frec(tmp_path: Path) -> Path:
    return play_match(tmp_path / "match.frec")
