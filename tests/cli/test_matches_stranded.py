"""fritillary matches of a match that could not be taken up after a restart."""

import json
import re
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Program, Run, one_line
from tests.cli.houses import GAME, House, Start, begin, open_house

pytestmark = pytest.mark.system

#: Thinks for ever.
PONDERS = (
    "import time\n"
    "from fritillary_client import main\n"
    "main(lambda ask: time.sleep(600), name='thinker', version='7')\n"
)


@pytest.fixture
def again(start: Start, tmp_path: Path) -> Iterator[Callable[[House], House]]:
    """Kills a server and starts it anew, so that it starts no programs."""
    servers: list[Program] = []

    def anew(house: House) -> House:
        house.server.signal(signal.SIGKILL)
        house.server.end()
        server = Program(
            *("serve", "--address", house.address, "--data", house.data),
            *("--programs", "never"),
        )
        servers.append(server)
        assert server.line().startswith("listening on ")
        return House(server, house.address, house.data, house.tokens)

    yield anew
    for server in servers:
        server.signal()
        server.end()


def begun(start: Start, house: House, folder: Path) -> Program:
    """Begin a match whose program has been asked already."""
    program = folder / "thinker.py"
    program.write_text(PONDERS)
    match = begin(start, house, "asked", f"exec:{sys.executable} {program}")
    watching = start("watch", "asked", "--json", *house.there())
    while True:
        told = json.loads(watching.line())
        if told["type"] == "status" and told["phase"] == "running":
            return match


def test_it_is_listed_and_shown_with_the_reason_and_aborted(
    start: Start,
    run: Run,
    tmp_path: Path,
    port: int,
    again: Callable[[House], House],
) -> None:
    house = open_house(tmp_path / "data", port)
    waiting = begun(start, house, tmp_path)
    offered = begin(start, house, "offered")
    house = again(house)

    def matches(*words: Any) -> tuple[int, str, str]:
        return run("matches", *words, *house.there("referee"))

    # Whoever waits for it is told, and does not wait for ever.
    code, _, errors = waiting.end()
    assert code == 1
    assert "match asked is stranded" in errors
    assert offered.end()[0] == 1

    for words in ((), ("--phase", "open"), ("--phase", "stranded")):
        code, said, errors = matches("list", *words)
        assert code == 0
        rows = [row.split()[:3] for row in said.splitlines()[1:]]
        assert rows == [["offered", GAME, "stranded"], ["asked", GAME, "stranded"]]
        assert "match asked is stranded: " in errors
        assert "starts none" in errors
    assert json.loads(matches("list", "--phase", "running", "--json")[1]) == []

    code, said, errors = matches("show", "asked")
    assert (code, errors) == (0, "")
    assert re.search(r"^phase +stranded$", said, re.MULTILINE)
    assert re.search(r"^stranded  .*starts none", said, re.MULTILINE)
    shown = json.loads(matches("show", "asked", "--json")[1])
    assert shown["phase"] == "stranded"
    assert "starts none" in shown["stranded_reason"]
    assert shown["status"] is None

    for words in (("pause", "asked"), ("resume", "asked")):
        code, said, errors = matches(*words)
        assert (code, said) == (1, "")
        assert "is stranded" in one_line(errors)
    code, _, errors = run("watch", "asked", *house.there())
    assert code == 1
    assert "is stranded" in one_line(errors)
    code, said, errors = run("watch", *house.there())
    assert (code, said) == (0, "")
    assert "no match goes on" in errors
    assert matches("fetch", "asked", "--output", tmp_path / "no.frec")[0] == 1

    code, said, errors = matches("abort", "asked", "-m", "the game is gone")
    assert code == 0
    assert "asked is ended, withdrawn at ply 0: the game is gone" in said
    assert "matches fetch asked" in errors
    code, said, errors = matches("fetch", "asked", "--output", tmp_path / "a.frec")
    assert code == 0, errors
    assert run("verify", tmp_path / "a.frec")[0] == 0

    code, said, errors = matches("abort", "offered")
    assert code == 0
    assert "offered is ended, withdrawn" in said
    assert "private/aside/offered-" in errors
    assert "matches fetch" not in errors
    assert "no match" in one_line(matches("show", "offered")[2])
    assert (house.data / "private" / "aside").is_dir()
