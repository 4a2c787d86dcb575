"""How commands speak: results on stdout, everything else on stderr.

What comes from records, plugins, bots and users is text and nothing else: brackets and
colons mean nothing, and what a terminal would act on is shown as an escape.
"""

from __future__ import annotations

import contextlib
import json
import sys
import unicodedata
from typing import Any, TypeAlias

from rich.console import Console
from rich.text import Text

from fritillary.codec.packing import to_json

#: A piece of a line: as it is, or in a style of ours.
Part: TypeAlias = str | tuple[str, str]

#: No table is squeezed into less.
_NARROWEST = 20


class _Console(Console):
    """A console whose reader may leave before the end."""

    def on_broken_pipe(self) -> None:
        """Let whoever prints hear of it, in place of leaving at once."""
        raise BrokenPipeError


def one_line(text: object) -> str:
    r"""Return text fit for one line.

    Control characters, line breaks and what turns the direction of writing become
    escapes such as ``\x1b``.
    """
    line = str(text)
    if line.isprintable():
        return line
    return "".join(
        char if _harmless(char) else char.encode("unicode_escape").decode()
        for char in line
    )


def _harmless(char: str) -> bool:
    """Say whether a terminal just shows a character; spaces of any width count."""
    return char.isprintable() or unicodedata.category(char) == "Zs"


def many_lines(text: object) -> str:
    """Return text as `one_line` does, but with its line breaks and tabs."""
    return "\n".join(map(one_line, str(text).expandtabs().split("\n")))


def styled(*parts: Part, style: str = "") -> Text:
    """Return one line of parts, each safe to be shown."""
    return Text.assemble(
        *(
            one_line(part) if isinstance(part, str) else (one_line(part[0]), part[1])
            for part in parts
        ),
        style=style,
    )


def console(*, stderr: bool = False, wrap: bool = False) -> Console:
    """Return a console.

    Args:
        stderr: for remarks.
        wrap: break lines between words where somebody looks on; else nowhere.
    """
    out = _Console(
        stderr=stderr,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=not (wrap and (sys.stderr if stderr else sys.stdout).isatty()),
    )
    if out.width < _NARROWEST:
        out.width = _NARROWEST
    return out


def say(*parts: Part, style: str = "") -> None:
    """Print one line to stdout."""
    console().print(styled(*parts, style=style))


def drawn(picture: str, out: Console, most: int | None = None) -> Text:
    """Return a picture; on a terminal its rows are cut to what there is room for.

    Rows that a terminal breaks make it unreadable.

    Args:
        picture: to be shown.
        out: where.
        most: rows that there is room for; ``None`` for any number.
    """
    rows = [Text(row, no_wrap=True) for row in many_lines(picture).split("\n")]
    wide = max(row.cell_len for row in rows)
    if out.is_terminal and wide > out.width:
        for row in rows:
            row.truncate(out.width, overflow="ellipsis")
        rows.append(Text(f"(all of it takes {wide} columns)", style="dim"))
    if most is not None:
        rows = cut_to(rows, max(1, most))
    return Text("\n", no_wrap=True).join(rows)


def cut_to(rows: list[Text], most: int) -> list[Text]:
    """Return rows that are not too many: without empty ones, then without the last.

    Args:
        rows: of a picture.
        most: that there is room for.
    """
    if len(rows) <= most:
        return rows
    # Of the empty rows the first ones stay as long as there is room.
    spare = most - sum(bool(row.plain.strip()) for row in rows)
    kept = []
    for row in rows:
        if row.plain.strip():
            kept.append(row)
        elif spare > 0:
            spare -= 1
            kept.append(row)
    return kept[:most]


def show(picture: str) -> None:
    """Print a picture to stdout."""
    out = console()
    out.print(drawn(picture, out))


def json_text(data: Any, *, indent: int | None = 2) -> str:
    """Return data as JSON that any terminal can show."""
    encoding = str(getattr(sys.stdout, "encoding", None) or "utf-8")
    if encoding.lower().replace("-", "") != "utf8":
        return json.dumps(data, indent=indent)
    return "\n".join(
        "".join(map(_json_char, line)) if not line.isprintable() else line
        for line in to_json(data, indent=indent).split("\n")
    )


def _json_char(char: str) -> str:
    if _harmless(char):
        return char
    # JSON has but two bytes for a character, so some take two escapes.
    raw = char.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{raw[start : start + 4]}" for start in range(0, len(raw), 4))


def print_json(data: Any) -> None:
    """Print data as JSON."""
    print(json_text(data))


def print_error(message: str) -> None:
    """Print one line to stderr."""
    _remark(styled(("error: ", "bold red"), str(message).strip()))


def print_note(message: str, *, wrap: bool = False) -> None:
    """Print a remark to stderr.

    Args:
        message: the remark.
        wrap: break it between words on a terminal; not where it has a command in it,
            which is copied.
    """
    _remark(styled(str(message).strip(), style="dim"), wrap=wrap)


def _remark(line: Text, *, wrap: bool = False) -> None:
    # There is nowhere to complain that nothing can be said.
    with contextlib.suppress(OSError, ValueError):
        console(stderr=True, wrap=wrap).print(line)


def print_text(text: str) -> None:
    """Print sentences, broken between words where somebody looks on."""
    console(wrap=True).print(styled(text))


def looks_on() -> bool:
    """Say whether a person looks at stdout."""
    return sys.stdout.isatty()
