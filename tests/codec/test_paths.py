from __future__ import annotations

from typing import Any

import pytest

from fritillary.codec.paths import key_step, say


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (7, "7"),
        (2**5000, "a long integer"),
        ("x", "'x'"),
        ("x" * 10**6, f"'{'x' * 40}...'"),
        ("\ud800", "'\\ud800'"),
        ([1] * 1000, "a list of 1000"),
        ({"a": 1}, "a map"),
        (1.5, "float"),
        (b"x", "bytes"),
    ],
    ids=lambda value: ascii(value)[:20],
)
def test_foreign_data_are_described_briefly(value: Any, said: str) -> None:
    assert say(value) == said


def test_steps_to_odd_keys_are_quoted() -> None:
    assert key_step("a") == ".a"
    assert key_step("") == "['']"
    assert key_step("a.b") == "['a.b']"
    assert key_step("a" * 41) == f"['{'a' * 40}...']"
