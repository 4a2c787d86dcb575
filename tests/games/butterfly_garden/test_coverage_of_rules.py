"""Every numbered rule and every worked example has a test that names it."""

from __future__ import annotations

import re
from pathlib import Path

RULES = [f"I-{letter}" for letter in "abcdefghijklmnop"]
EXAMPLES = [f"IND-{n:02}" for n in (1, 2, 3, 4, 6, 7, 9, 12, 13)]


def test_every_rule_and_example_has_a_test() -> None:
    here = Path(__file__)
    named = {
        rule
        for file in here.parent.glob("test_*.py")
        if file not in {here, here.with_name("test_naive.py")}
        for rule in re.findall(
            r'^@pytest\.mark\.rule\("([^"]+)"\)', file.read_text("utf-8"), re.MULTILINE
        )
    }
    assert {*RULES, *EXAMPLES} - named == set()


def test_no_test_names_a_rule_that_does_not_exist() -> None:
    known = {*RULES, *EXAMPLES}
    for file in Path(__file__).parent.glob("test_*.py"):
        for rule in re.findall(r'mark\.rule\("([^"\[]+)"\)', file.read_text("utf-8")):
            assert rule in known, file.name
