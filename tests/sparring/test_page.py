"""docs/check-bot.md lists the items as the code has them.

``FRITILLARY_REWRITE_GOLDEN=1`` writes the list anew.
"""

from __future__ import annotations

import os
from pathlib import Path

from fritillary.sparring.items import ITEMS

PAGE = Path(__file__).parents[2] / "docs" / "check-bot.md"
START = "<!-- The rest is generated from framework/fritillary/sparring/items.py. -->\n"


def generated() -> str:
    lines = ["", "## The items"]
    for item in ITEMS:
        lines += ["", f"### {item.id}", "", item.what, "", f"To mend it: {item.mend}"]
        if item.starts:
            lines += ["", "Only checked of a bot that is started by the checker."]
    return "\n".join(lines) + "\n"


def test_the_page_is_generated_from_the_items() -> None:
    head, start, rest = PAGE.read_text("utf-8").partition(START)
    if os.environ.get("FRITILLARY_REWRITE_GOLDEN"):
        rest = generated()
        PAGE.write_text(f"{head}{start}{rest}", "utf-8")
    assert start
    assert rest == generated()
