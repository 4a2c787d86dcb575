"""The command new-bot: what it writes, refuses and replaces."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import WITH_CLIENT, Run, one_line

from fritillary.cli import new_bot_sources as sources
from fritillary.cli.new_bot import rendered

ROOT = Path(__file__).parents[2]
LANGUAGES = ("python", "go", "typescript", "stdio")
LONGEST = "x" * 40
NAMES = ("ox", "my-bot", "go-2", "class", "bot", LONGEST)
BODIES = {
    "python": ("examples/bots/uniform.py", "{module}.py", "from fritillary_client"),
    "go": ("clients/go/examples/uniform/main.go", "main.go", "package main"),
    "stdio": ("examples/stdio/uniform.sh", "ox-bot.sh", "exec jq"),
}


# -------------------------------------------------------------------- what is written


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_says_what_it_wrote_and_what_comes_next(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    monkeypatch.chdir(tmp_path)
    code, said, note = run("new-bot", language, "ox")
    assert code == 0
    written = {
        str(path.relative_to(tmp_path))
        for path in (tmp_path / "ox").rglob("*")
        if path.is_file()
    }
    listed = set(said.splitlines())
    brought = {path for path in written if path.startswith("ox/fritillary-client/")}
    if language in WITH_CLIENT:
        assert listed == written - brought | {"ox/fritillary-client"}
        assert "ox/fritillary-client/LICENSE" in brought
    else:
        assert (listed, brought) == (written, set())
    assert {"ox/README.md", "ox/.gitignore"} < listed
    assert note.startswith("next: cd ox, then ")
    assert "fritillary match lepidoptery -s" in note


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_comments_say_what_to_change(language: str, name: str) -> None:
    files = rendered(language, name)
    own = {
        path: text
        for path, text in files.items()
        if not path.startswith("fritillary-client/")
    }
    assert sum("CHANGE" in text for text in own.values()) >= 3, list(own)
    assert not any(
        "$" + word in text
        for text in own.values()
        for word in ("name", "stem", "module", "title", "version", "requires")
    )
    # Nothing is left that is true of the example alone.
    left = re.compile(r"uniform\.(py|sh)|examples/")
    assert not any(map(left.search, own.values()))


@pytest.mark.parametrize("language", BODIES)
def test_the_bot_is_the_example_under_its_own_name(language: str) -> None:
    example, path, begins = BODIES[language]
    written = rendered(language, "ox")[path.format(module="ox_bot")]
    shown = (ROOT / example).read_text("utf-8")
    assert begins in shown
    assert written.partition(begins)[2] == shown.partition(begins)[2].replace(
        '"uniform"', '"ox"'
    )


def test_the_typescript_bot_is_the_example_in_two_files() -> None:
    files = rendered("typescript", "ox")
    shown = (ROOT / "clients/typescript/examples/uniform.ts").read_text("utf-8")
    deciding, _, started = shown.partition("\nawait main(")
    _, _, deciding = deciding.partition("\nfunction decide")
    assert files["src/decide.ts"].endswith(f"\nexport function decide{deciding}")
    assert "import type { Ask, LegalAction } from" in files["src/decide.ts"]
    assert files["src/main.ts"].endswith(
        f"\nawait main({started.replace('uniform', 'ox')}"
    )


@pytest.mark.parametrize("name", NAMES)
def test_python_code_is_formatted_and_clean(
    run: Run, tmp_path: Path, name: str
) -> None:
    folder = tmp_path / "made"
    run("new-bot", "python", name, folder)
    ruff = Path(sys.executable).with_name("ruff")
    for words in (("format", "--check"), ("check", "--select", "E,F,I,W,D2")):
        subprocess.run([ruff, *words, "."], cwd=folder, check=True)


@pytest.mark.parametrize("language", WITH_CLIENT)
def test_a_client_is_brought_along_without_its_tests(language: str) -> None:
    for path in sources.client(language):
        assert "test" not in path
        assert not path.startswith(("bin/", "dist/", "node_modules/", "contract/"))


def test_the_typescript_client_brings_no_tools_for_work_on_it() -> None:
    manifest = json.loads(sources.client("typescript")["package.json"])
    assert manifest["dependencies"]
    assert not {"scripts", "devDependencies"} & set(manifest)


# ------------------------------------------------------------------------- wrong usage


def test_an_unknown_language_is_told_those_there_are(run: Run, tmp_path: Path) -> None:
    code, said, error = run("new-bot", "cobol", "ox", tmp_path / "ox")
    assert (code, said) == (2, "")
    for language in LANGUAGES:
        assert language in one_line(error)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_help_lists_the_languages(run: Run, language: str) -> None:
    code, said, _ = run("new-bot", "--help")
    assert code == 0
    assert language in said


@pytest.mark.parametrize(
    "name",
    ["River", "my_bot", "my bot", "2048", "a--b", "a-", "../up", "é", "@me/bot"],
)
def test_a_name_that_does_not_fit_everywhere_is_refused(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    code, said, error = run("new-bot", "--", "go", name)
    assert (code, said) == (2, "")
    assert "lower-case words joined by hyphens, such as my-bot" in one_line(error)
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_is_too_long_is_refused(run: Run, tmp_path: Path) -> None:
    code, _, error = run("new-bot", "go", LONGEST + "x", tmp_path / "ox")
    assert code == 2
    assert "a name has at most 40 letters" in one_line(error)


def test_what_exists_is_left_alone(run: Run, tmp_path: Path) -> None:
    (tmp_path / "ox").mkdir()
    (tmp_path / "elk").write_text("mine")
    for name in ("ox", "elk"):
        code, _, error = run("new-bot", "go", name, tmp_path / name)
        assert code == 2
        assert "exists already" in one_line(error)
    assert list((tmp_path / "ox").iterdir()) == []
    assert (tmp_path / "elk").read_text() == "mine"


def test_a_folder_that_does_not_exist_is_named(run: Run, tmp_path: Path) -> None:
    code, _, error = run("new-bot", "go", "ox", tmp_path / "no" / "ox")
    assert code == 2
    assert "there is no such folder" in one_line(error)


def fail_at_the_tenth(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Let the tenth file that is written fail."""
    whole, left = Path.write_text, [9]

    def full(path: Path, *words: Any, **more: Any) -> int:
        left[0] -= 1
        if left[0] < 0:
            raise error
        return whole(path, *words, **more)

    monkeypatch.setattr(Path, "write_text", full)


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (OSError(28, "No space left on device"), 1, "No space left on device"),
        (KeyboardInterrupt(), 130, ""),
    ],
    ids=["full", "ctrl-c"],
)
def test_nothing_half_written_is_left(
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    code: int,
    told: str,
) -> None:
    fail_at_the_tenth(monkeypatch, error)
    ended, said, note = run("new-bot", "go", "ox", tmp_path / "ox")
    assert (ended, said) == (code, "")
    assert told in note
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("language", "missing"),
    [("go", "no go"), ("typescript", "no node and no npm"), ("stdio", "no jq")],
)
def test_missing_tools_are_a_note_and_no_failure(
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    language: str,
    missing: str,
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    code, _, note = run("new-bot", language, "ox", tmp_path / "ox")
    assert code == 0
    last = note.splitlines()[-1]
    assert last.startswith(f"there is {missing} on this machine: install ")
    assert "$" not in last


# ----------------------------------------------------------------------- a newer client


@pytest.mark.parametrize("language", WITH_CLIENT)
def test_a_client_can_be_replaced_by_a_newer_one(
    run: Run, tmp_path: Path, language: str
) -> None:
    folder = tmp_path / "ox"
    run("new-bot", language, "ox", folder)
    client = folder / "fritillary-client"
    (client / "LICENSE").unlink()
    (client / "gone.go").write_text("package fritillary")
    (folder / "README.md").write_text("mine")
    code, said, note = run("new-bot", language, "ox", folder, "--refresh")
    assert (code, said) == (0, f"{client}\n")
    assert note.startswith(f"next: cd {folder}, then ")
    files = {
        path.relative_to(client).as_posix(): path.read_text("utf-8")
        for path in client.rglob("*")
        if path.is_file()
    }
    assert files == sources.client(language)
    assert (folder / "README.md").read_text() == "mine"


def test_a_client_that_cannot_be_replaced_stays(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "ox"
    run("new-bot", "go", "ox", folder)
    before = sorted(folder.rglob("*"))
    fail_at_the_tenth(monkeypatch, KeyboardInterrupt())
    assert run("new-bot", "go", "ox", folder, "--refresh")[0] == 130
    monkeypatch.undo()
    rename = Path.rename

    def no_second(path: Path, target: Path) -> Path:
        if target.name == "fritillary-client" and path.suffix != ".old":
            raise KeyboardInterrupt
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", no_second)
    assert run("new-bot", "go", "ox", folder, "--refresh")[0] == 130
    assert sorted(folder.rglob("*")) == before


def test_what_brings_no_client_along_has_none_to_replace(
    run: Run, tmp_path: Path
) -> None:
    run("new-bot", "python", "ox", tmp_path / "ox")
    code, _, error = run("new-bot", "python", "ox", tmp_path / "ox", "--refresh")
    assert code == 2
    assert "brings no client along" in one_line(error)
    for folder, language in ((tmp_path, "go"), (tmp_path / "ox", "typescript")):
        code, _, error = run("new-bot", language, "ox", folder, "--refresh")
        assert code == 2
        assert f"there is no client for {language}" in one_line(error)
