"""The help of all commands: paragraphs fill their lines, examples can be copied."""

import itertools
import re
import shlex
from collections.abc import Iterator

import pytest
from tests.cli.conftest import Run

from fritillary.cli.commands import COMMANDS, command
from fritillary.cli.helps import unfolded

#: Of what a terminal has, one column stays free at each side.
MARGINS = 2


def words_of_all() -> Iterator[tuple[str, ...]]:
    """Yield the words of the program, of each command, and of each of a group."""
    yield ()
    for name in COMMANDS:
        yield (name,)
        for one in getattr(command(name), "commands", {}):
            yield (name, one)


ALL = list(words_of_all())


def paragraphs(help_text: str) -> list[list[str]]:
    """Return the lines of each paragraph between the usage and the first table."""
    prose = help_text.partition("Usage: ")[2].partition("╭")[0]
    lines = [line.strip() for line in prose.splitlines()]
    blocks = "\n".join(lines).strip().split("\n\n")
    return [block.split("\n") for block in blocks[1:]]


@pytest.fixture(params=[60, 80, 120])
def width(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    columns: int = request.param
    monkeypatch.setenv("COLUMNS", str(columns))
    return columns


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_no_line_of_a_help_is_shorter_than_it_must_be(
    run: Run, words: tuple[str, ...], width: int
) -> None:
    code, said, _ = run(*words, "--help")
    assert code == 0
    told = paragraphs(said)
    assert len(told) >= 2
    for lines in told:
        if lines[0] == "Example:":
            continue
        for line, after in itertools.pairwise(lines):
            assert len(line) + 1 + len(after.split()[0]) > width - MARGINS, line


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_the_example_of_a_help_is_one_line_that_can_be_copied(
    run: Run, words: tuple[str, ...], width: int
) -> None:
    del width
    _, said, _ = run(*words, "--help")
    examples = [lines for lines in paragraphs(said) if lines[0] == "Example:"]
    assert len(examples) == 1
    (_, line) = examples[0]
    called = shlex.split(line)
    # That of a group is one of its commands, that of the program any command.
    assert called[: 1 + len(words)] == ["fritillary", *words]
    names = list(called[1:3])
    if not hasattr(command(names[0]), "commands"):
        names = names[:1]
    known = re.findall(r"(?<!\S)--?[a-z-]+", run(*names, "--help")[1])
    for word in called:
        if word.startswith("-"):
            assert word in known


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_nothing_in_a_help_is_cut_off_or_reaches_beyond_the_terminal(
    run: Run, words: tuple[str, ...], width: int
) -> None:
    said = run(*words, "--help")[1]
    assert "…" not in said
    assert max(map(len, said.splitlines())) <= width


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_a_help_shows_words_as_they_are_written(
    run: Run, words: tuple[str, ...], width: int
) -> None:
    del width
    said = run(*words, "--help")[1]
    # Nothing takes a truth value, and no argument is written in braces.
    for odd in ("<bool>", "<str>", "<path>", "<list", "{", "}"):
        assert odd not in said


@pytest.mark.parametrize(
    ("word", "usage"),
    [
        ("watch", "[MATCH]"),
        ("show", "FILE"),
        ("verify", "FILE..."),
        ("new-bot", "LANGUAGE NAME [FOLDER]"),
    ],
)
def test_an_argument_that_may_be_left_out_is_in_brackets(
    run: Run, word: str, usage: str
) -> None:
    assert f" {word} [OPTIONS] {usage} " in run(word, "--help")[1]


def test_the_example_in_a_docstring_becomes_a_line_of_its_own() -> None:
    said = unfolded(
        """Do it.

        It is done
        at once.

        Example: fritillary do it
        """
    )
    assert said == "Do it.\n\nIt is done at once.\n\nExample:\nfritillary do it"
