"""What the tests of the commands share."""

import asyncio
from collections.abc import Callable
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
