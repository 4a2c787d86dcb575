"""Ids of test cases: workers in parallel must agree on them."""

import re


def steady(value: object) -> str:
    """Return how a value is written, without the address of an object."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))
