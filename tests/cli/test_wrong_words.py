"""Words that do not go together, or would destroy something, are one clear line."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import Run, one_line

MANY = "9" * 400


@pytest.mark.parametrize(
    "words", [("export", "--output"), ("export", "--lines", "-O"), ("show", "--svg")]
)
@pytest.mark.parametrize("linked", [False, True])
def test_a_record_is_not_written_over(
    run: Run, frec: Path, tmp_path: Path, words: tuple[str, ...], linked: bool
) -> None:
    raw, target = frec.read_bytes(), frec
    if linked:
        target = tmp_path / "link"
        target.symlink_to(frec)
    command, *options = words
    code, said, error = run(command, frec, *options, target)
    assert (code, said) == (2, "")
    assert f"{target}: that is the record itself" in one_line(error)
    assert frec.read_bytes() == raw


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--steps", "--ply", 3), "--steps shows all positions"),
        (("--steps", "--times"), "--steps shows all positions"),
        (("--steps", "--svg", "x.svg"), "--steps shows all positions"),
        (("--times", "--json", "--svg", "x.svg"), "leave out --svg"),
        (("--json",), "--json goes with --times"),
    ],
)
def test_what_show_cannot_show_at_once_is_refused(
    run: Run,
    frec: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[object, ...],
    why: str,
) -> None:
    monkeypatch.chdir(frec.parent)
    code, said, error = run("show", frec, *options)
    assert (code, said) == (2, "")
    assert why in one_line(error)
    assert not Path("x.svg").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("bot", "uniform", "--address", "127.0.0.1:1", "--token", "t", "--capacity"),
        ("bench", "link", "--count", 1, "--streams"),
    ],
)
def test_numbers_that_are_too_big_are_refused(
    run: Run, words: tuple[object, ...]
) -> None:
    code, said, error = run(*words, MANY)
    assert (code, said) == (2, "")
    assert f"Invalid value for '{words[-1]}'" in one_line(error)
