"""Write the files that pages show into the pages: ``python docs/fill_readme.py``."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
MARK = re.compile(r"(<!-- file: (\S+) -->\n)(?:\n*```python\n.*?```\n)?", re.DOTALL)


def filled(match: re.Match[str]) -> str:
    """Return a mark followed by the file that it names."""
    code = (ROOT / match[2]).read_text("utf-8")
    return f"{match[1]}\n```python\n{code}```\n"


for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
    text = page.read_text("utf-8")
    page.write_text(MARK.sub(filled, text), "utf-8")
