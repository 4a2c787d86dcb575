"""Write the files that pages show into the pages: ``python docs/fill_readme.py``."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
MARK = re.compile(r"(<!-- file: (\S+) -->\n)(?:\n*```\w+\n.*?```\n)?", re.DOTALL)
LANGUAGES = {".go": "go", ".py": "python", ".sh": "sh", ".ts": "typescript"}


def filled(match: re.Match[str]) -> str:
    """Return a mark followed by the file that it names."""
    path = ROOT / match[2]
    language = LANGUAGES[path.suffix]
    return f"{match[1]}\n```{language}\n{path.read_text('utf-8')}```\n"


for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
    text = page.read_text("utf-8")
    page.write_text(MARK.sub(filled, text), "utf-8")
