"""What the tests of the commands share."""

import asyncio
import os
import queue
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import pytest
from tests.ports import kept_port

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

#: Languages whose projects of bots bring a client along.
WITH_CLIENT = ("go", "typescript")

BOTS = Path(__file__).parents[2] / "examples" / "bots"


def one_line(error: str) -> str:
    """Check that there is one line of error, and return it without its code."""
    lines = error.strip().splitlines()
    assert len(lines) == 1, error
    assert lines[0].startswith("error: ")
    return re.sub(r" \[[a-z.-]+\]$", "", lines[0])


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
        self._log = None
        if words[0] == "serve":
            # It tells more than a pipe holds while nobody reads.
            assert self.process.stderr is not None
            self._log = _Drain(self.process.stderr)
            self.process.stderr = None

    def line(self) -> str:
        """Return the next line that it prints."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().rstrip("\n")

    def error_line(self) -> str:
        """Return the next line of its errors."""
        if self._log is not None:
            return self._log.line()
        assert self.process.stderr is not None
        return self.process.stderr.readline().rstrip("\n")

    def signal(self, number: int = signal.SIGINT) -> None:
        """Send a signal, as Ctrl-C does."""
        self.process.send_signal(number)

    def end(self, typed: str | None = None) -> tuple[int, str, str]:
        """Wait for its end; return its exit code, and the rest of what it printed."""
        out, errors = self.process.communicate(typed, timeout=60)
        if self._log is not None:
            errors = self._log.rest()
        return self.process.returncode, out, errors


class _Drain:
    """Reads a stream to its end in a thread."""

    def __init__(self, stream: IO[str]) -> None:
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._read, args=[stream], daemon=True)
        self._thread.start()

    def _read(self, stream: IO[str]) -> None:
        with stream:
            for line in stream:
                self._lines.put(line)

    def line(self) -> str:
        """Return the next line."""
        return self._lines.get(timeout=60).rstrip("\n")

    def rest(self) -> str:
        """Return what has not been read at the end of the stream."""
        self._thread.join(60)
        return "".join(self._lines.get() for _ in range(self._lines.qsize()))


def journal(errors: str) -> list[str]:
    """Return the lines of a server's log without their time."""
    lines = errors.splitlines()
    times = [line[:21] for line in lines]
    shape = r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ "
    assert all(re.fullmatch(shape, time) for time in times), errors
    return [line[21:] for line in lines]


#: The last lines of a server that has no matches.
STOPPED = ["server stopping unfinished=0", "server stopped"]


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


@pytest.fixture
def port() -> Iterator[int]:
    """A port of 127.0.0.1 for servers of the test, which nobody else is given."""
    with kept_port() as port:
        yield port


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
