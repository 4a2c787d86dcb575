"""What is said twice, or not at all, is refused: one of two would be dropped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.cli.conftest import Run, one_line
from tests.cli.houses import GAME
from tests.ids import steady

from fritillary.cli.commands import COMMANDS, command

TWO = ("-s", "uniform", "-s", "uniform")


def leaves(path: tuple[str, ...], one: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield all commands with the words that name them."""
    below = getattr(one, "commands", {})
    if not below:
        yield path, one
    for name, inner in below.items():
        yield from leaves((*path, name), inner)


def valued() -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield all options that take a value, with the words of their command."""
    for name in COMMANDS:
        for path, one in leaves((name,), command(name)):
            for parameter in one.params:
                is_option = parameter.param_type_name == "option"
                if is_option and not (parameter.is_flag or parameter.count):
                    yield path, parameter


OPTIONS = list(valued())


def test_the_options_that_weaken_a_check_if_they_are_dropped_are_among_them() -> None:
    found = {(" ".join(path), option.opts[0]) for path, option in OPTIONS}
    assert found >= {
        ("verify", "--key"),
        ("matches fetch", "--signed-by"),
        ("match", "--token"),
        ("match", "--seed"),
        ("match", "--policy"),
        ("bot", "--ca"),
        ("serve", "--tls-client-ca"),
        ("serve", "--address"),
        ("token create", "--expires"),
    }


@pytest.mark.parametrize(
    ("path", "option"),
    OPTIONS,
    ids=[f"{' '.join(path)} {option.opts[0]}" for path, option in OPTIONS],
)
def test_an_option_takes_no_empty_word_and_no_second_one(
    run: Run, path: tuple[str, ...], option: Any
) -> None:
    for name in option.opts:
        empty = [(*path, name, "")]
        if name.startswith("--"):
            empty.append((*path, f"{name}="))
        for words in empty:
            code, said, error = run(*words)
            assert (code, said) == (2, "")
            assert f"after '{name}' stands an empty word" in one_line(error)
    if not option.multiple:
        first, last = option.opts[0], option.opts[-1]
        code, said, error = run(*path, first, "1", last, "1")
        assert (code, said) == (2, "")
        assert f"{first} is given 2 times; give it once" in one_line(error)


def test_what_takes_no_value_may_be_repeated(run: Run) -> None:
    assert run("games", "--json", "--json") == run("games", "--json")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--policy", "illegal=void", "--policy", "illegal=forfeit"), "illegal"),
        (("--policy", "illegal=retry:2,retry:3,void"), "behind retry:2 stands one"),
        (("--policy", "restarts=1", "--policy", "restarts=1"), "restarts"),
        (("--clock", "move=1s,move=2s"), "repeats 'move'"),
        (("--option", "starter=1", "-o", "starter=1"), "option 'starter' is given"),
        (("--label", "cup=a", "--label", "cup=b"), "label 'cup' is given twice"),
        (("-s", "ismcts:iterations=5,iterations=6", "-s", "greedy"), "iterations is"),
        (("-s", "ismcts:iterations=5, iterations=5", "-s", "greedy"), "iterations is"),
    ],
    ids=steady,
)
def test_what_is_said_twice_within_words_is_refused(
    run: Run, words: tuple[str, ...], why: str
) -> None:
    players = () if words[0] == "-s" else TWO
    code, said, error = run("match", GAME, *players, *words)
    assert (code, said) == (2, "")
    assert why in one_line(error)


@pytest.mark.parametrize("key", [" ", "\n", "ab", "x" * 64, "0x" + "a" * 62])
def test_a_key_that_is_none_is_refused_before_records_are_looked_at(
    run: Run, key: str
) -> None:
    code, said, error = run("verify", "--key", key, "no-such.frec")
    assert (code, said) == (2, "")
    assert "a key is 64 hex digits" in one_line(error)
