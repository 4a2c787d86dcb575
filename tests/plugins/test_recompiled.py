"""Wrappers are made functions only of the very source that they were compiled from."""

from __future__ import annotations

import linecache
import warnings
from pathlib import Path
from typing import Any

import pytest
from tests.plugins.texts import defined

from fritillary.plugins.straight import straightened


def inner(state: Any) -> Any:
    return state


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("1", "True"),
        ("1", "1.0"),
        ("0.0", "-0.0"),
        ("0j", "-0j"),
        ("(1, 2)", "(True, 2.0)"),
        ("((0.0, 1), 2)", "((-0.0, 1), 2)"),
        ("state in {1, 2}", "state in {1.0, 2}"),
        ("(lambda: 1)", "(lambda: True)"),
        ("'x'", "b'x'"),
    ],
)
def test_source_changed_to_an_equal_constant_is_not_taken_for_the_wrapper(
    was: str, now: str, tmp_path: Path
) -> None:
    text = f"def wrapper(state):\n    return [(yield), {was}]\n"
    file = tmp_path / "variant.py"
    wrapper = defined(file, text)
    file.write_text(text.replace(was, now), encoding="utf-8")
    linecache.checkcache()
    assert straightened(wrapper, inner) is None
    assert straightened(defined(tmp_path / "same.py", text), inner) is not None


def test_source_with_one_more_argument_is_not_taken_for_the_wrapper(
    tmp_path: Path,
) -> None:
    text = "def wrapper(state):\n    more = yield\n    return more\n"
    file = tmp_path / "variant.py"
    wrapper = defined(file, text)
    file.write_text(text.replace("(state)", "(state, more)"), encoding="utf-8")
    linecache.checkcache()
    assert straightened(wrapper, inner) is None


@pytest.mark.parametrize(
    "line",
    [
        "import math",
        "import os.path, math",
        "import cmath as math",
        "from os import path as math",
        "if True:\n    import math",
        "try:\n    import math\nexcept ImportError:\n    math = None",
        "math = print",
    ],
)
def test_functions_of_whatever_stands_above_may_be_called(
    line: str, tmp_path: Path
) -> None:
    text = f"{line}\ndef wrapper(state):\n    yield\n    return math.__repr__()\n"
    straight = straightened(defined(tmp_path / "variant.py", text), inner)
    assert straight is not None
    assert isinstance(straight(1), str)


def test_the_right_one_of_two_definitions_is_read(tmp_path: Path) -> None:
    text = "def wrapper(state):\n    return [(yield), 1]\n"
    file = tmp_path / "variant.py"
    straight = straightened(defined(file, text + text.replace("1", "2")), inner)
    assert straight is not None
    assert straight(5) == [5, 2]


def test_warnings_of_the_source_are_not_shown_again(tmp_path: Path) -> None:
    text = "def wrapper(state):\n    found = state is 5\n    return [(yield), found]\n"
    with warnings.catch_warnings(record=True) as first:
        warnings.simplefilter("always")
        wrapper = defined(tmp_path / "literal.py", text)
    with warnings.catch_warnings(record=True) as again:
        warnings.simplefilter("always")
        straight = straightened(wrapper, inner)
    assert [warning.category for warning in first] == [SyntaxWarning]
    assert again == []
    assert straight is not None
