"""docs/write-a-game.md shows what `fritillary new-game` writes, and what comes of it.

With FRITILLARY_REWRITE_GOLDEN=1 the code under its markers is written anew.
"""

import ast
import os
import re
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from fritillary import Game, Plugin
from fritillary.cli.main import main
from fritillary.cli.new_game import module_of, rendered
from fritillary.testing import certify

PAGE = Path(__file__).parents[2] / "docs" / "write-a-game.md"
PACKAGES = {
    "river-race": rendered("river-race"),
    "high-tricks": rendered("high-tricks", hidden=True),
}

#: Definitions of a file, and the block that shows them.
SHOWN = re.compile(
    r"(<!-- new-game (\S+): (\S+): ([^>]+) -->\n)(?:\n```python\n(.*?)```\n)?",
    re.DOTALL,
)
#: A piece of a file, as it stands there.
EXCERPT = re.compile(r"<!-- new-game (\S+): (\S+) -->\n\n```\w+\n(.*?)```\n", re.DOTALL)
#: A hook that breaks a law, and lines of what the kit says.
BROKEN = re.compile(
    r"<!-- broken (\S+): (\S+) -->\n\n```python\n(.*?)```\n.*?```text\n(.*?)```\n",
    re.DOTALL,
)
WRITTEN = re.compile(r"\$ fritillary (new-game .*)\n((?:[^`$\n]+\n)+)")


def nodes_of(source: str) -> dict[str, tuple[int, int]]:
    """Return the lines of every definition, from 0, the last one excluded."""
    found = {}
    for node in ast.parse(source).body:
        first, last = node.lineno - 1, node.end_lineno or node.lineno
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            first = min([first, *(one.lineno - 1 for one in node.decorator_list)])
            found[node.name] = first, last
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = first, last
    return found


def definitions(source: str, names: str) -> str:
    lines, places = source.splitlines(), nodes_of(source)
    parts = ["\n".join(lines[slice(*places[name])]) for name in names.split()]
    return "\n\n\n".join(parts) + "\n"


def replaced(source: str, code: str) -> str:
    """Return the source with the one definition of the code put in its place."""
    (name,) = nodes_of(code)
    first, last = nodes_of(source)[name]
    lines = source.splitlines()
    return "\n".join([*lines[:first], code, *lines[last:]])


def load(name: str, source: str, monkeypatch: pytest.MonkeyPatch) -> Game:
    module = types.ModuleType(module_of(name))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(source, f"{module.__name__}.py", "exec"), vars(module))  # noqa: S102
    return Game(Plugin(name, module))


def test_code_on_the_page_is_what_the_command_writes() -> None:
    def filled(match: re.Match[str]) -> str:
        mark, game, file, names, _ = match.groups()
        return f"{mark}\n```python\n{definitions(PACKAGES[game][file], names)}```\n"

    text = PAGE.read_text("utf-8")
    if os.environ.get("FRITILLARY_REWRITE_GOLDEN"):
        text = SHOWN.sub(filled, text)
        PAGE.write_text(text, "utf-8")
    assert len(SHOWN.findall(text)) + len(EXCERPT.findall(text)) == text.count(
        "<!-- new-game"
    )
    for _, game, file, names, code in SHOWN.findall(text):
        assert code == definitions(PACKAGES[game][file], names), names
    for game, file, code in EXCERPT.findall(text):
        assert code in PACKAGES[game][file]


def test_all_python_on_the_page_is_checked() -> None:
    text = PAGE.read_text("utf-8")
    marked = len(SHOWN.findall(text)) + len(BROKEN.findall(text))
    assert text.count("```python\n") == marked
    assert len(BROKEN.findall(text)) == text.count("<!-- broken") == 2


@pytest.mark.parametrize(
    ("name", "law", "code", "said"), BROKEN.findall(PAGE.read_text("utf-8"))
)
def test_what_the_page_breaks_is_found_and_said_in_these_lines(
    name: str, law: str, code: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = PACKAGES[name][f"{module_of(name)}.py"]
    whole: Any = load(name, source, monkeypatch)
    assert certify(whole, laws=[law]).holds
    broken: Any = load(name, replaced(source, code), monkeypatch)
    (judgement,) = certify(broken, laws=[law]).judgements
    lines = iter(str(judgement.failure).splitlines())
    for line in said.splitlines():
        assert line in lines, f"{line!r} is not said in its place in {judgement}"


def test_the_command_prints_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    shown = WRITTEN.findall(PAGE.read_text("utf-8"))
    assert len(shown) == 2
    for words, printed in shown:
        with pytest.raises(SystemExit) as ended:
            main(words.split())
        assert ended.value.code == 0
        assert capsys.readouterr().out == printed
