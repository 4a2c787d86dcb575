"""Every numbered rule and every worked example has a test that names it."""

from __future__ import annotations

from pathlib import Path

from tests.games import numbered

RULES = [f"C-{letter}" for letter in "abcdefghij"]
EXAMPLES = [f"LC-{n:02}" for n in (1, 2, 3, 4, 5, 7, 8, 9, 12, 14, 15, 17)]
HERE = Path(__file__).parent


def test_every_rule_and_example_has_a_test() -> None:
    assert {*RULES, *EXAMPLES} - numbered.named(HERE) == set()


def test_no_test_names_a_rule_that_does_not_exist() -> None:
    assert numbered.unknown(HERE, {*RULES, *EXAMPLES}) == []
