"""What the tests of the example projects share."""

import ast
import io
import tokenize
import tomllib
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"

_SILENT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def code_lines(path):
    """Count the lines that are not blank, comment or docstring."""
    text = path.read_text(encoding="utf-8")
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _SILENT:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            lines.difference_update(
                range(node.lineno, (node.end_lineno or node.lineno) + 1)
            )
    return len(lines)


def entry_points(folder):
    """Return the games that a project's pyproject.toml announces."""
    data = tomllib.loads((EXAMPLES / folder / "pyproject.toml").read_text("utf-8"))
    return data["project"]["entry-points"]["fritillary.games"]
