"""Pictures of a game: reading them, and what must be true of each."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from xml.etree import ElementTree as ET

SVG = "{http://www.w3.org/2000/svg}"

#: How far left of its anchor a text begins, as a share of its width.
_LEFT = {"start": 0.0, "middle": 0.5, "end": 1.0}


def parse(svg: str) -> ET.Element:
    """Parse a document of our own making."""
    return ET.fromstring(svg)


def part(svg: str, name: str) -> ET.Element:
    """Return the element with an id."""
    (found,) = [e for e in parse(svg).iter() if e.get("id") == name]
    return found


def words(element: ET.Element) -> list[str]:
    """List the texts under an element in the order of drawing."""
    return [text.text or "" for text in element.iter(f"{SVG}text")]


def uses(element: ET.Element, name: str) -> int:
    """Count how often a definition is shown under an element."""
    return sum(use.get("href") == f"#{name}" for use in element.iter(f"{SVG}use"))


def definitions(svg: str) -> str:
    """Return what is defined for use in a picture, as it is written."""
    return svg[svg.index("<defs>") : svg.index("</defs>")]


def check_document(svg: str, prefix: str, allowed: str) -> None:
    """Check that a picture is one plain document that refers to nothing outside.

    Args:
        svg: the picture.
        prefix: of all its ids.
        allowed: the names of the elements that it may have.
    """
    root = parse(svg)
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    width, height = root.get("width"), root.get("height")
    assert root.get("viewBox") == f"0 0 {width} {height}"
    ids = [e.attrib["id"] for e in root.iter() if "id" in e.attrib]
    assert len(ids) == len(set(ids))
    assert all(name.startswith(f"{prefix}-") for name in ids)
    labels = (root.get("aria-labelledby") or "").split()
    assert labels == [f"{prefix}-title", f"{prefix}-desc"]
    assert {e.tag.removeprefix(SVG) for e in root.iter()} <= set(allowed.split())
    for e in root.iter():
        for name, value in e.attrib.items():
            assert not name.startswith("on")
            assert name not in {"style", "class"}
            if name == "href":
                assert value.removeprefix("#") in ids
            for reference in re.findall(r"url\((.*?)\)", value):
                assert reference.removeprefix("#") in ids
    assert svg.count("://") == 1  # the namespace


def check_inside(svg: str) -> None:
    """Check that nothing of a picture is cut off."""
    root = parse(svg)
    width, height = _sizes(root)
    for e in root:
        if e.tag == f"{SVG}defs":
            continue
        for shape in e.iter():
            spots = [*_spots(shape)]
            assert all(0 <= x <= width and 0 <= y <= height for x, y in spots), shape


def _sizes(shape: ET.Element) -> tuple[float, float]:
    return float(shape.get("width", 0)), float(shape.get("height", 0))


def _spots(shape: ET.Element) -> Iterator[tuple[float, float]]:
    """Yield places that a shape covers."""
    x, y = float(shape.get("x", 0)), float(shape.get("y", 0))
    tag = shape.tag.removeprefix(SVG)
    moved = re.match(r"translate\((\S+) (\S+)\)", shape.get("transform", ""))
    if tag == "rect":
        wide, high = _sizes(shape)
        yield from ((x, y), (x + wide, y + high))
    elif tag == "text":
        size = float(shape.get("font-size", 0))
        # No letter of a sans-serif or serif font is wider than this on average over
        # a word.
        reach = 0.7 * size * len(shape.text or "")
        share = _LEFT[shape.get("text-anchor", "start")]
        yield from ((x - share * reach, y - size), (x + (1 - share) * reach, y))
    elif tag == "circle":
        yield float(shape.get("cx", 0)), float(shape.get("cy", 0))
    elif tag == "use":
        assert moved
        yield float(moved[1]), float(moved[2])
    elif tag == "g" and shape.get("transform"):
        # A card: its face begins with its outline, from the corner on.
        assert moved
        x, y = float(moved[1]), float(moved[2])
        wide, high = _sizes(shape[0])
        yield from ((x, y), (x + wide, y + high))


def check_elsewhere(code: str, printed: str) -> None:
    """Check what other processes, which hash otherwise, print.

    Args:
        code: that prints something as bytes.
        printed: what it must print.
    """
    path = f"import sys\nsys.path[:0] = {sys.path!r}\n"
    for seed in ("1", "2"):
        there = subprocess.run(
            [sys.executable, "-c", path + code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        )
        assert there.stdout == printed.encode()
