"""The command new-game: what it writes is complete, and nothing is half-written."""

import importlib
import json
import os
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import attrs
import pytest
from tests.cli.conftest import BOTS, Run, one_line

from fritillary import Game, GameInfo, Plugin
from fritillary.cli.new_folder import write
from fritillary.cli.new_game import module_of, rendered
from fritillary.testing import (
    check_contract,
    check_leaks,
    check_sampler,
    check_sampler_exact,
    check_sampler_statistics,
)

ROOT = Path(__file__).parents[2]
EXAMPLES = ("nim", "pig", "kuhn_poker", "tic_tac_toe", "connect_four")
KINDS = pytest.mark.parametrize("kind", [(), ("--hidden",)], ids=["open", "hidden"])
LONGEST = "x" * 40
NAMES = ("ox", "river-race", "go-2", "war-game", LONGEST)


def command(*words: Any, cwd: Path) -> str:
    """Run a program, which must succeed; return what it printed."""
    done = subprocess.run(
        [str(word) for word in words],
        capture_output=True,
        text=True,
        timeout=100,
        cwd=cwd,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def load(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> Game:
    """Return the game of a package that is not installed."""
    monkeypatch.syspath_prepend(folder / name)
    module = importlib.import_module(module_of(name))
    monkeypatch.delitem(sys.modules, module.__name__)
    return Game(Plugin(name, module))


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("lepidoptery", "the id of a game that is installed"),
        ("class", "a keyword of Python"),
        ("match", "a keyword of Python"),
        ("random", "a module of Python's standard library"),
        ("fritillary", "a name of the framework's own"),
        ("fritillary-games", "a name of the framework's own"),
    ],
    ids=["installed", "keyword", "soft-keyword", "standard", "ours", "our-games"],
)
@KINDS
def test_a_name_that_is_taken_is_refused(
    run: Run, tmp_path: Path, name: str, why: str, kind: tuple[str, ...]
) -> None:
    code, said, note = run("new-game", name, *kind, "--dir", tmp_path)
    assert (code, said) == (2, "")
    assert one_line(note) == f"error: {name!r} is {why}; choose another id"
    assert not list(tmp_path.iterdir())


# -------------------------------------------------------------------- what is written


@KINDS
@pytest.mark.parametrize("name", NAMES)
def test_the_game_is_found_under_its_name(
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    kind: tuple[str, ...],
) -> None:
    code, said, note = run("new-game", name, *kind, "--dir", tmp_path)
    assert code == 0
    assert f"fritillary play {name}" in note
    written = sorted(path for path in (tmp_path / name).rglob("*") if path.is_file())
    assert sorted(map(Path, said.splitlines())) == written
    game = load(tmp_path, name, monkeypatch)
    assert game.id == name
    text = (tmp_path / name / "pyproject.toml").read_text("utf-8")
    points = tomllib.loads(text)["project"]["entry-points"]
    assert points == {"fritillary.games": {name: module_of(name)}}


def test_the_open_game_keeps_every_law(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("new-game", "river-race", "--dir", tmp_path)
    game = load(tmp_path, "river-race", monkeypatch)
    assert check_contract(game).positions > 30
    assert game.draw_svg is not None


def test_the_hidden_game_keeps_every_law(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("new-game", "high-tricks", "--hidden", "--dir", tmp_path)
    game = load(tmp_path, "high-tricks", monkeypatch)
    assert check_contract(game).positions > 30
    check_leaks(game)
    check_sampler(game)
    check_sampler_statistics(game)
    check_sampler_exact(game, options=game.info.presets["tiny"])
    assert game.draw_svg is not None


@KINDS
@pytest.mark.parametrize("name", NAMES)
def test_the_code_is_formatted_and_clean(
    tmp_path: Path, run: Run, name: str, kind: tuple[str, ...]
) -> None:
    run("new-game", name, *kind, "--dir", tmp_path)
    folder = tmp_path / name
    ruff = Path(sys.executable).with_name("ruff")
    command(ruff, "format", "--check", ".", cwd=folder)
    command(ruff, "check", ".", cwd=folder)
    # By the rules of this project as well, but for what imports look like outside.
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["ruff"]
    lint = rules["lint"]
    in_tests = lint["per-file-ignores"]["tests/**"]
    command(
        *(ruff, "check", "--isolated", "."),
        *("--select", ",".join(lint["select"]), "--ignore", ",".join(lint["ignore"])),
        *("--config", "lint.pydocstyle.convention='google'"),
        *("--config", f"lint.per-file-ignores={{'tests/*'={in_tests}}}"),
        cwd=folder,
    )


@KINDS
def test_comments_say_what_to_change(kind: tuple[str, ...]) -> None:
    files = rendered("ox", hidden=bool(kind))
    for path in ("ox_game.py", "tests/test_ox_game.py", "pyproject.toml"):
        assert "# CHANGE" in files[path]
    assert not any("$" in text for text in files.values())


# ------------------------------------------------------------------------- wrong usage


@pytest.mark.parametrize(
    "name",
    ["River", "river_race", "river race", "2048", "a--b", "a-", "../up", "é"],
)
def test_a_name_that_is_no_id_is_refused(run: Run, tmp_path: Path, name: str) -> None:
    code, said, error = run("new-game", "--dir", tmp_path, "--", name)
    assert (code, said) == (2, "")
    assert "lower-case words joined by hyphens" in one_line(error)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match="lower-case words joined by hyphens"):
        info(name)


@pytest.mark.parametrize("name", NAMES)
def test_names_are_ids_of_games(name: str) -> None:
    assert info(name).id == name


def info(name: str) -> GameInfo:
    """Return the description of a game of that name."""
    namespace: dict[str, Any] = {"__name__": "ox_game"}
    exec(rendered("ox")["ox_game.py"], namespace)  # noqa: S102
    described: GameInfo = namespace["describe"]()
    return attrs.evolve(described, id=name)


def test_a_name_that_is_too_long_is_refused(run: Run, tmp_path: Path) -> None:
    code, _, error = run("new-game", LONGEST + "x", "--dir", tmp_path)
    assert code == 2
    assert "at most 40 letters" in one_line(error)


def test_what_exists_is_left_alone(run: Run, tmp_path: Path) -> None:
    (tmp_path / "ox").mkdir()
    (tmp_path / "elk").write_text("mine")
    for name in ("ox", "elk"):
        code, _, error = run("new-game", name, "--dir", tmp_path)
        assert code == 2
        assert "exists already" in one_line(error)
    assert list((tmp_path / "ox").iterdir()) == []
    assert (tmp_path / "elk").read_text() == "mine"


def test_a_folder_that_does_not_exist_is_named(run: Run, tmp_path: Path) -> None:
    code, _, error = run("new-game", "ox", "--dir", tmp_path / "no")
    assert code == 2
    assert "there is no such folder" in one_line(error)


def test_nothing_half_written_is_left(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, left = Path.write_text, [2]

    def full(path: Path, *words: Any, **more: Any) -> int:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(28, "No space left on device")
        return whole(path, *words, **more)

    monkeypatch.setattr(Path, "write_text", full)
    code, said, error = run("new-game", "ox", "--dir", tmp_path)
    assert (code, said) == (1, "")
    assert "No space left on device" in one_line(error)
    assert list(tmp_path.iterdir()) == []


# --------------------------------------------------------------------- as strangers do

NEW = ("river-race", "high-tricks")
STRANGERS = (*NEW, "nim", "pig", "kuhn-poker", "tic-tac-toe", "connect-four")


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment with new packages and all examples installed.

    The folder above it holds the new packages.
    """
    folder = tmp_path_factory.mktemp("outside")
    for name in NEW:
        write(folder / name, rendered(name, hidden=name == "high-tricks"))
    uv = (sys.executable, "-m", "uv")
    command(*uv, "venv", "-q", "--python", sys.executable, "venv", cwd=folder)
    programs = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    command(
        *(*uv, "pip", "install", "-q", "--python", programs / "python"),
        *("-c", ROOT / "requirements.lock", ROOT),
        *(ROOT / "examples" / example for example in EXAMPLES),
        *(f"{folder / name}[test]" for name in NEW),
        cwd=folder,
    )
    return programs


@pytest.mark.system
def test_new_packages_and_the_examples_install_together(outside: Path) -> None:
    said = command(outside / "fritillary", "games", "--json", cwd=outside)
    listed = json.loads(said)
    assert listed["skipped"] == []
    assert set(STRANGERS) < {game["id"] for game in listed["games"]}


@pytest.mark.system
@pytest.mark.parametrize("name", NEW)
def test_a_new_package_passes_its_tests_and_certifies(outside: Path, name: str) -> None:
    folder = outside.parents[1] / name
    command(outside / "python", "-m", "pytest", "-q", cwd=folder)
    words = ("certify", name, "--profile", "quick", "--json")
    said = command(outside / "fritillary", *words, cwd=folder)
    assert json.loads(said)["holds"] is True


@pytest.mark.system
@pytest.mark.parametrize("name", STRANGERS)
def test_a_bot_in_a_process_of_its_own_plays_it_over_grpc(
    outside: Path, name: str
) -> None:
    bot = shlex.join([str(outside / "python"), str(BOTS / "uniform.py")])
    # The search plays it with no code but its hooks, whatever is hidden in it.
    players = ("--seat", f"exec:{bot}", "--seat", "ismcts:iterations=20")
    words = ("match", name, *players, "--json")
    said = command(outside / "fritillary", *words, cwd=outside)
    assert json.loads(said)["kind"] == "played", said
