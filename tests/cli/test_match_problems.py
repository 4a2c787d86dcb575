"""Why a program did not start: told alike of a match here and of one at a server."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.conftest import Program, Run

GAME = "lepidoptery"

#: Ends before it dials in; what it wrote last is for the referee alone.
BROKEN = f"exec:{sys.executable} -c \"import sys; sys.exit('no such opening book')\""

#: Reads its start and its first ask, and answers nothing.
ENDS = "stdio:sh -c 'read start; read ask; echo no such tile >&2; exit 3'"

pytestmark = pytest.mark.system


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, ...]]:
    data = tmp_path_factory.mktemp("server") / "data"
    token = ("token", "create", "ref", "--role", "referee", "--data", data)
    referee = Program(*token).end()[1].strip()
    server = Program("serve", "--address", "127.0.0.1:0", "--data", data)
    yield ("--server", server.line().partition(" on ")[2], "--token", referee)
    server.signal()
    server.end()


def test_nobody_is_invited_to_a_match_that_cannot_be_played(run: Run) -> None:
    code, out, errors = run("match", GAME, "--seat", "remote:my-bot")
    assert (code, out) == (2, "")
    assert errors.splitlines() == [
        "error: lepidoptery is played by 2 seats, not 1 [options.invalid]"
    ]


def test_the_last_words_of_a_program_are_told(
    run: Run, there: tuple[str, ...], tmp_path: Path
) -> None:
    words = ("match", GAME, "-s", BROKEN, "-s", "uniform", "--match-id", "m")
    told = []
    for number, where in enumerate(((), there)):
        record = tmp_path / f"{number}.frec"
        code, _, errors = run(*words, *where, "--record", record)
        assert code == 1
        told.append(errors.splitlines()[-1])
        # They may hold secrets, so no record repeats them.
        assert b"opening book" not in record.read_bytes()
    assert told[0] == told[1]
    assert told[0].startswith("error: seat 0 (python")
    assert told[0].endswith("its last words: no such opening book")


def test_why_a_program_of_lines_has_lost_is_told_and_not_that_its_link_is_gone(
    run: Run, there: tuple[str, ...], tmp_path: Path
) -> None:
    words = ("match", GAME, "-s", ENDS, "-s", "uniform", "--match-id", "e")
    haste = ("--clock", "move=60s", "--policy", "restarts=0")
    for number, where in enumerate(((), there)):
        record = tmp_path / f"{number}.frec"
        code, _, errors = run(*words, *haste, *where, "--record", record)
        assert code == 0
        note = errors.splitlines()[-1]
        assert note.startswith("seat 0 (sh")
        assert "the program ended with exit code 3" in note
        assert "link" not in note
        assert b"no such tile" not in record.read_bytes()
