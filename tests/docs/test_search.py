"""docs/search.md tells the parameters of the search bots, and what analyse prints.

``FRITILLARY_REWRITE_GOLDEN=1`` writes both anew.
"""

from __future__ import annotations

import inspect
import os
import re
from pathlib import Path

import pytest
from tests.cli.conftest import Program

from fritillary.bots.search import FlatMcBot, IsmctsBot, MctsBot, SearchBot
from fritillary.referee.lineup import BUILT_IN

PAGE = Path(__file__).parents[2] / "docs" / "search.md"

#: Seat 0 may not play single; seat 1 has two in the column of pairs.
POSITION = """\
to move: 1
table: single 4
hand 0: 6 cards
hand 1: 2 3 5 5 6 7 9
deck 0: 20 cards
deck 1: 18 cards
marker 0: single
column single: 0 1 0
column pair: 1 1
"""

MATCH = (
    *("match", "lepidoptery", "--seat", "greedy", "--seat", "uniform"),
    *("--seed", "ab" * 32, "--match-id", "m-1"),
)

ANALYSES = {
    "position": ("--game", "lepidoptery", "--iterations", "2000", "--top", "5"),
    "match": ("--iterations", "200", "--worst", "3"),
}


def between(start: str, end: str, fill: str) -> tuple[str, str]:
    """Return what stands on the page between two marks, and what should."""
    text = PAGE.read_text("utf-8")
    head, begun, rest = text.partition(f"{start}\n")
    body, ended, tail = rest.partition(f"{end}\n")
    assert begun, start
    assert ended, end
    if os.environ.get("FRITILLARY_REWRITE_GOLDEN"):
        body = fill
        PAGE.write_text(f"{head}{begun}{body}{ended}{tail}", "utf-8")
    return body, fill


# ------------------------------------------------------------------------ parameters


def documented(kind: type) -> dict[str, str]:
    """Return the parameters of a docstring."""
    text = inspect.getdoc(kind) or ""
    arguments = text.partition("Args:\n")[2].partition("\n\n")[0]
    found = re.findall(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", arguments, flags=re.MULTILINE)
    return {
        name: re.sub(r"``([^`]+)``|`([^`]+)`", r"`\1\2`", " ".join(text.split()))
        for name, text in found
    }


def parameters(kind: type) -> dict[str, inspect.Parameter]:
    found = dict(inspect.signature(kind).parameters)
    if found.pop("common", None) is not None:
        found = {**parameters(SearchBot), **found}
    return found


def written(value: object) -> str:
    if value is None:
        return ""
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def table() -> str:
    lines = ["", "| parameter | default | meaning |", "|---|---|---|"]
    meanings = {**documented(SearchBot), **documented(MctsBot)}
    for name, each in parameters(MctsBot).items():
        meaning = meanings[name].replace("see `Payoff`.", "see below.")
        if name not in parameters(IsmctsBot):
            meaning = f"`mcts` only: {meaning}"
        lines.append(f"| `{name}` | {written(each.default)} | {meaning} |")
    return "\n".join([*lines, "", ""])


def test_the_parameters_on_the_page_are_those_of_the_bots() -> None:
    mark = (
        "<!-- parameters: generated from framework/fritillary/bots/search/bots.py -->"
    )
    body, should = between(mark, "<!-- end of parameters -->", table())
    assert body == should
    assert "| `iterations` |" in should


def test_bots_have_the_same_parameters_but_for_what_the_page_says() -> None:
    assert parameters(IsmctsBot) == parameters(FlatMcBot) == parameters(SearchBot)
    assert parameters(MctsBot).keys() - parameters(SearchBot).keys() == {"reuse"}


def test_the_bots_on_the_page_are_those_there_are() -> None:
    named = re.findall(r"^\| `([a-z-]+)` \| .* \| .* \|$", first_table(), re.MULTILINE)
    assert named == [name for name in BUILT_IN if name != "uniform"]


def first_table() -> str:
    return PAGE.read_text("utf-8").partition("\n\n| bot")[2].partition("\n\n")[0]


# ---------------------------------------------------------------------------- analyse


@pytest.mark.system
@pytest.mark.parametrize("name", ANALYSES)
def test_analyse_prints_what_the_page_shows(name: str, tmp_path: Path) -> None:
    settings = {"COLUMNS": "80", "FRITILLARY_DATA": str(tmp_path / "data")}
    if name == "position":
        file = tmp_path / "position.txt"
        file.write_text(POSITION, "utf-8")
    else:
        file = tmp_path / "match.frec"
        assert Program(*MATCH, "--record", file, **settings).end()[0] == 0
    code, said, errors = Program("analyse", file, *ANALYSES[name], **settings).end()
    assert (code, errors) == (0, "")
    shown = "\n".join(line.rstrip() for line in said.splitlines())
    command = " ".join(("fritillary analyse", file.name, *ANALYSES[name]))
    blocks = [f"```console\n$ {command}\n```", f"```text\n{shown}\n```"]
    if name == "position":
        blocks.insert(0, f"```text\n{POSITION}```")
    fill = "\n" + "\n\n".join(blocks) + "\n\n"
    body, should = between(f"<!-- analyse: {name} -->", "<!-- end of analyse -->", fill)
    assert body == should
