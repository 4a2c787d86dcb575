"""The README says nothing that the tree does not hold."""

import re
import subprocess
import sys
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
