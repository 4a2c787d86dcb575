"""The README says nothing that the tree does not hold."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]
MARK = re.compile(r"<!-- file: (\S+) -->\n+```\w+\n(.*?)```\n", re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_on_a_page_is_the_file_it_names(page: Path) -> None:
    text = page.read_text("utf-8")
    assert text.count("<!-- file:") == len(MARK.findall(text))
    for name, code in MARK.findall(text):
        assert code == (ROOT / name).read_text("utf-8"), name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
        assert (page.parent / link).exists(), link


def test_the_readme_has_the_bot_in_30_lines_and_the_game_in_60() -> None:
    blocks = dict(MARK.findall((ROOT / "README.md").read_text("utf-8")))
    lines = {name: _code_lines(code) for name, code in blocks.items()}
    assert lines["examples/bots/uniform.py"] <= 30
    assert lines["examples/nim/nim_game.py"] <= 60


def _code_lines(code: str) -> int:
    without = re.sub(r'"""[^"]*"""', "", code)
    return sum(1 for line in without.splitlines() if line.strip())


def _gain(page: str, row: str) -> float:
    """Return how much faster the compiled build is, of the first row that begins so."""
    line = next(line for line in page.splitlines() if line.startswith(row))
    plain, compiled = (
        float(re.sub(r"[*]|\(.*", "", line.split("|")[column])) for column in (3, 5)
    )
    return compiled / plain


def test_what_compiling_gains_is_what_was_measured() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    page = (ROOT / "docs" / "performance.md").read_text("utf-8")
    said = re.search(
        r"mypyc: ([\d.]+) times the playouts of Connect Four, ([\d.]+) times\s+"
        r"the simulations of `mcts`",
        readme,
    )
    assert said is not None
    rows = (
        "| Connect Four playouts | OpenSpiel from Python |",
        "| mcts, Connect Four, 1,000 simulations | OpenSpiel's in C++ |",
    )
    for word, row in zip(said.groups(), rows, strict=True):
        assert word == f"{_gain(page, row):.1f}", row


def test_the_layers_of_the_pages_are_those_that_are_checked() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    guide = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    layers = next(one["layers"] for one in contracts if one["id"] == "layers")
    there = [layer for layer in layers if not layer.startswith("(")]
    line = re.search(r"```text\n(cli > .*?)```", readme, re.DOTALL)
    assert line is not None
    assert " ".join(line[1].split()) == " > ".join(there)
    block = re.search(r"```\n(cli\n.*?)```", guide, re.DOTALL)
    assert block is not None
    assert [one.partition("  ")[0] for one in block[1].splitlines()] == there
    rows = set(re.findall(r"^\| `(\w+)` \|", readme, re.MULTILINE))
    assert rows == set(re.findall(r"\w+", " ".join(there)))


def test_the_folders_of_the_tests_are_those_that_their_page_names() -> None:
    page = (ROOT / "tests" / "README.md").read_text("utf-8")
    cells = re.findall(r"^\| (`.*?) \|", page, re.MULTILINE)
    named = re.findall(r"`(\w+)/[^`]*`", " ".join(cells))
    assert len(named) == len(set(named))
    folders = [path.parent.name for path in (ROOT / "tests").glob("*/*.*")]
    folders += [path.parent.parent.name for path in (ROOT / "tests").glob("*/*/*.*")]
    assert set(named) == set(folders) - {"__pycache__"}


def test_make_targets_on_the_pages_exist() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    for page in PAGES:
        for target in re.findall(r"`make ([a-z][a-z-]*)", page.read_text("utf-8")):
            assert target in targets, (page.name, target)


def test_commands_on_the_pages_exist() -> None:
    said = subprocess.run(
        [sys.executable, "-m", "fritillary", "--help"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    known = set(re.findall(r"^\W*([a-z-]+)  ", said, re.MULTILINE))
    for page in PAGES:
        text = page.read_text("utf-8")
        for command in re.findall(r"fritillary ([a-z-]+)[ `\n]", text):
            if f"`fritillary {command}" in text or f"bin/fritillary {command}" in text:
                assert command in known, (page.name, command)
