"""A little SVG: elements as strings, numbers in a fixed form, text escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

SANS: Final = "'Segoe UI', 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"
SERIF: Final = "Georgia, 'Times New Roman', 'DejaVu Serif', serif"


def number(value: float) -> str:
    """Write a number with at most two decimals, always the same way."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def element(name: str, *children: str, **attributes: str | float) -> str:
    """Build an element.

    Args:
        name: the tag.
        children: markup to put inside, already escaped.
        attributes: by name, with ``_`` for ``-``; a trailing ``_`` is dropped.
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="'
        f'{escape(value) if isinstance(value, str) else number(value)}"'
        for key, value in attributes.items()
    )
    if not children:
        return f"<{name}{written}/>"
    return f"<{name}{written}>{''.join(children)}</{name}>"


def group(*children: str, **attributes: str | float) -> str:
    """Build a ``<g>``, one child a line."""
    return element("g", "\n", "\n".join(children), "\n", **attributes)


def box(
    x: float, y: float, width: float, height: float, **attributes: str | float
) -> str:
    """Build a ``<rect>``."""
    return element("rect", x=x, y=y, width=width, height=height, **attributes)


def text(
    x: float,
    y: float,
    content: str | int,
    size: float,
    *,
    anchor: str = "middle",
    bold: bool = False,
    fill: str = "#22303c",
    family: str = "",
) -> str:
    """Build a line of text whose baseline is at ``y``.

    Args:
        x: where the anchor is.
        y: where the baseline is.
        content: the words, not yet escaped.
        size: of the font, in units of the picture.
        anchor: ``start``, ``middle`` or ``end``.
        bold: whether the font is bold.
        fill: the colour.
        family: another font family than that of the document.
    """
    more: dict[str, str | float] = {}
    if bold:
        more["font_weight"] = "bold"
    if family:
        more["font_family"] = family
    return element(
        "text",
        escape(str(content), quote=False),
        x=x,
        y=y,
        font_size=size,
        text_anchor=anchor,
        fill=fill,
        **more,
    )


def use(
    name: str, x: float, y: float, scale: float = 1.0, **attributes: str | float
) -> str:
    """Show a definition of this document with its origin at a place."""
    transform = f"translate({number(x)} {number(y)})"
    if scale != 1:
        transform += f" scale({scale:.4g})"
    return element("use", href=f"#{name}", transform=transform, **attributes)


def document(
    parts: Sequence[str],
    *,
    prefix: str,
    title: str,
    description: str,
    definitions: str,
    width: float,
    height: float,
    paper: str,
) -> str:
    """Build a whole picture: its parts on a sheet of paper with round corners.

    Args:
        parts: the elements on it, from the lowest.
        prefix: of all ids.
        title: what it shows, in a few words.
        description: what it shows, for those who cannot see it.
        definitions: the ``defs`` element.
        width: in user units.
        height: in user units.
        paper: the colour of the sheet.
    """
    return element(
        "svg",
        "\n",
        element("title", title, id=f"{prefix}-title"),
        "\n",
        element("desc", description, id=f"{prefix}-desc"),
        "\n",
        definitions,
        "\n",
        box(0, 0, width, height, rx=20, fill=paper),
        "\n",
        "\n".join(parts),
        "\n",
        xmlns="http://www.w3.org/2000/svg",
        width=width,
        height=height,
        viewBox=f"0 0 {number(width)} {number(height)}",
        role="img",
        aria_labelledby=f"{prefix}-title {prefix}-desc",
        font_family=SANS,
    )
