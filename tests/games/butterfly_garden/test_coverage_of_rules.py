"""Every numbered rule and every worked example has a test that names it."""

from __future__ import annotations

from pathlib import Path

from tests.games import numbered

RULES = [f"I-{letter}" for letter in "abcdefghijklmnop"]
EXAMPLES = [f"IND-{n:02}" for n in (1, 2, 3, 4, 6, 7, 9, 12, 13)]
HERE = Path(__file__).parent


def test_every_rule_and_example_has_a_test() -> None:
    assert {*RULES, *EXAMPLES} - numbered.named(HERE, but={"test_naive.py"}) == set()


def test_no_test_names_a_rule_that_does_not_exist() -> None:
    assert numbered.unknown(HERE, {*RULES, *EXAMPLES}) == []
