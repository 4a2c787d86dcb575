"""The keys of JSON that a page documents, in tables between two marks.

A table begins with ``<!-- json: NAME -->`` and ends with ``<!-- end -->``. A key whose
meaning has the words "left out" may be missing.
"""

import re
from pathlib import Path

TABLE = re.compile(r"<!-- json: ([\w-]+) -->\n(.*?)<!-- end -->", re.DOTALL)
ROW = re.compile(r"^\| `(\w+)` \| (.+) \|$", re.MULTILINE)


def tables(page: Path) -> dict[str, dict[str, str]]:
    """Return the tables of a page by name, each with the meaning of each key."""
    text = page.read_text("utf-8")
    found = TABLE.findall(text)
    assert text.count("<!-- json:") == len(found) == len(dict(found)), page
    return {name: dict(ROW.findall(table)) for name, table in found}


def documented(page: Path, name: str) -> set[str]:
    """Return the keys that a table of a page names."""
    return set(tables(page)[name])
