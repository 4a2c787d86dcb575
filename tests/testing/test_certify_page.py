"""docs/certify.md lists the laws as the code has them."""

import os
import re
import unittest

from tests.examples.projects import EXAMPLES

from fritillary.testing import LAWS

PAGE = EXAMPLES.parent / "docs" / "certify.md"
START = "<!-- The rest is generated from"

GROUPS = {
    "hooks": "Hooks",
    "seed": "The same again",
    "state": "States",
    "turn": "Turns",
    "legal": "Legal actions",
    "play": "The checked door",
    "copy": "Copies",
    "pure": "Purity",
    "observation": "Observations",
    "codec": "Bytes",
    "notation": "Notation",
    "picture": "Pictures",
    "chance": "Chance",
    "evaluate": "Evaluations",
    "outcome": "Outcomes",
    "seats": "Seats",
    "perft": "Counts",
    "playthrough": "Golden playthrough",
    "leak": "Leaks",
    "sampler": "The sampler",
    "witness": "The witness of the leak gate",
}


def generated():
    lines = ["## The laws"]
    group = ""
    for law in LAWS.values():
        family = law.id.partition(".")[0]
        if family != group:
            group = family
            lines += ["", f"### {GROUPS[family]}", "", "| law | what it says | mend |"]
            lines.append("| --- | --- | --- |")
        sentence, mend = (
            re.sub(
                r"\b([A-Za-z_.]+\(\w*\)|constant_sum=None|--[a-z-]+|[a-z]+_[a-z_]+|[A-Z]\w+\.\w+)",
                r"`\1`",
                text,
            )
            for text in (law.sentence, law.mend)
        )
        lines.append(f"| `{law.id}` | {sentence} | {mend} |")
    return "\n".join(lines) + "\n"


def test_the_page_is_generated_from_the_laws():
    head, _, rest = PAGE.read_text("utf-8").partition(START)
    marker, _, page = rest.partition("\n")
    if os.environ.get("FRITILLARY_REWRITE_GOLDEN"):
        page = f"\n{generated()}"
        PAGE.write_text(f"{head}{START}{marker}\n{page}", "utf-8")
    assert page == f"\n{generated()}"


def test_the_python_on_the_page_runs():
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    scope: dict = {}
    exec(block, scope)  # noqa: S102 - our own page
    assert issubclass(scope["TestLepidoptery"], unittest.TestCase)
