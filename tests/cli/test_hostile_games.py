"""Commands with games that fail, print, or are full of brackets."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Run, one_line
from tests.plugins import nim

from fritillary import Registry
from fritillary.cli import human
from fritillary.plugins.discovery import DISABLED

HOSTILE = "Nim [/] [bold :b: \x1b[2J"
SHOWN = "Nim [/] [bold :b: \\x1b[2J"

#: Makes a game under a name, from hooks that are not those of Nim.
Install = Callable[..., None]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Install:
    """Installs Nim with other hooks."""
    # The example of that name may be installed.
    monkeypatch.setenv(DISABLED, "nim")

    def installed(**hooks: Any) -> None:
        load = Registry.load

        def loaded(registry: Registry) -> None:
            print("importing")
            load(registry)
            registry.add_game(nim.plugin(**hooks))

        monkeypatch.setattr(Registry, "load", loaded)

    return installed


def fails(observation: Any) -> Any:
    raise ValueError(HOSTILE)


def leaves(observation: Any) -> Any:
    raise SystemExit(0)


def nothing(observation: Any) -> Any:
    return None


def record(run: Run, tmp_path: Path) -> Path:
    path = tmp_path / "m.frec"
    assert run("match", "nim", "--record", path)[0] == 0
    return path


def test_what_a_plugin_prints_when_it_is_loaded_is_no_result(
    run: Run, install: Install
) -> None:
    install()
    code, said, errors = run("games", "--json")
    assert code == 0
    assert said.startswith("{")
    assert errors == "importing\n"


def test_titles_and_summaries_are_text(run: Run, install: Install) -> None:
    install(**nim.described(title=HOSTILE, summary=HOSTILE))
    for words in (("games",), ("game", "nim")):
        code, said, _ = run(*words)
        assert code == 0
        assert SHOWN in said
        assert "\x1b" not in said


def test_a_title_with_brackets_loses_no_match(
    run: Run, install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(**nim.described(title=HOSTILE, summary=HOSTILE))
    monkeypatch.setattr(human, "_typed", lambda _: "1")
    code, said, _ = run("play", "nim", "--opponent", "uniform")
    assert code == 0
    assert said.startswith(f"{SHOWN}: {SHOWN}\n")
    assert "played: won by seat" in said


@pytest.mark.parametrize(
    ("hook", "why"),
    [
        (fails, "nim: draw_text() failed: ValueError: Nim [/] [bold :b: "),
        (leaves, "nim: draw_text() failed: SystemExit"),
        (nothing, "nim: draw_text() must return text, not NoneType"),
    ],
)
def test_a_game_that_cannot_draw_is_played_and_shown_without_a_picture(
    run: Run,
    install: Install,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    hook: Any,
    why: str,
) -> None:
    install(draw_text=hook)
    monkeypatch.setattr(human, "_typed", lambda _: "1")
    code, said, _ = run("play", "nim", "--opponent", "uniform")
    assert code == 0
    assert f"({why}" in said
    assert "played: won by seat" in said
    code, said, _ = run("match", "nim", "--watch")
    assert code == 0
    assert "played: won by seat" in said
    code, said, errors = run("show", record(run, tmp_path))
    assert code == 1
    assert "played (" in said
    assert why in one_line(errors.replace("importing\n", ""))


@pytest.mark.parametrize("hook", [fails, leaves, nothing])
def test_a_game_that_draws_no_svg_after_all_is_one_line(
    run: Run, install: Install, tmp_path: Path, hook: Any
) -> None:
    install(draw_svg=hook)
    picture = tmp_path / "x.svg"
    code, _, errors = run("show", record(run, tmp_path), "--svg", picture)
    assert code == 1
    assert "nim: draw_svg() " in one_line(errors.replace("importing\n", ""))
    assert not picture.exists()


def test_rules_that_fail_are_one_line_and_a_traceback_with_debug(
    run: Run, install: Install
) -> None:
    def apply_action(state: Any, action: Any) -> None:
        raise ValueError(HOSTILE)

    install(apply_action=apply_action)
    code, said, errors = run("match", "nim")
    assert code == 1
    assert said.startswith("void: the referee failed")
    line = errors.splitlines()[-1]
    assert "the referee failed: ValueError: Nim [/] [bold :b: " in line
    assert "\x1b" not in line
    assert len(errors.splitlines()) == 2
    assert "Traceback" in run("match", "nim", "--debug")[2]


def test_what_nobody_expects_is_one_line_and_a_traceback_with_debug(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(registry: Registry) -> None:
        raise ValueError(HOSTILE)

    monkeypatch.setattr(Registry, "load", load)
    code, said, error = run("games")
    assert (code, said) == (1, "")
    assert one_line(error).startswith("error: internal error: ValueError: Nim [/] ")
    assert error.endswith("; run again with --debug\n")
    _, _, error = run("games", "--debug")
    assert "Traceback" in error
    assert "\x1b" not in error


def test_a_person_who_cannot_be_asked_hears_why_the_match_is_lost(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: str) -> str:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(human, "_typed", broken)
    code, said, error = run("play", "lepidoptery")
    assert code == 1
    assert "forfeited: won by seat 1" in said
    assert "the seat was lost by it: Input/output error" in one_line(error)
