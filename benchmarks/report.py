"""The report as JSON for machines, and as tables in docs/performance.md."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, Final

import attrs

import fritillary
from benchmarks import peers
from benchmarks.rows import Bench, Compiled, LeftOut, Row, number

PAGE: Final = Path(__file__).parents[1] / "docs" / "performance.md"

#: Versions that figures depend on.
_PACKAGES: Final = (
    *("attrs", "cattrs", "msgpack", "pluggy", "typer", "grpcio", "protobuf", "uvloop"),
)


def _processor() -> str:
    """Return what the processor calls itself, where the system tells."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        text = ""
    found = re.search(r"^model name\s*: (.*)$", text, re.MULTILINE)
    return found[1] if found else platform.processor()


def machine() -> dict[str, Any]:
    """Return what runs the benchmarks."""
    return {
        "system": platform.system(),
        "architecture": platform.machine(),
        "processor": _processor(),
        "cores": os.cpu_count(),
    }


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def versions() -> dict[str, str]:
    """Return the versions that figures depend on, those of peers included."""
    own = {
        "python": platform.python_version(),
        "fritillary": fritillary.__version__,
    }
    own |= {name: version for name in _PACKAGES if (version := _version(name))}
    pinned = (word for words in peers.pinned().values() for word in words)
    theirs = (word.split("==") for word in pinned if "==" in word)
    return own | {name: version for name, version in theirs}  # noqa: C416 - typed


def as_json(bench: Bench) -> dict[str, Any]:
    """Return the report as plain data; see docs/performance.md."""
    return {
        "format": 1,
        "machine": machine(),
        "versions": versions(),
        "rounds": bench.rounds,
        "seconds": bench.seconds,
        "rows": [
            {
                "part": part,
                "id": row.id,
                "what": row.what,
                "against": row.against,
                "unit": row.unit,
                "median": row.median,
                "low": row.low,
                "high": row.high,
                "rate": row.rate,
                "reference": row.reference,
                "target": row.target,
                "at_most": row.at_most,
                "met": row.met,
                "compiled": _compiled(row),
            }
            for part, rows in bench.rows.items()
            for row in rows
            if isinstance(row, Row)
        ],
        "left_out": [
            {"part": part, "id": row.id, "what": row.what, "reason": row.reason}
            for part, rows in bench.rows.items()
            for row in rows
            if isinstance(row, LeftOut)
        ],
    }


def _compiled(row: Row) -> dict[str, Any] | None:
    figure = row.compiled
    if figure is None:
        return None
    return {**attrs.asdict(figure), "met": figure.met}


# ------------------------------------------------------------------------------ page


def _cells(row: Row | LeftOut, *, both: bool) -> str:
    if isinstance(row, LeftOut):
        return f"| {row.what} | | left out: {row.reason} |" + " |" * (4 if both else 2)
    figure, target = _figure(row, row.target, met=row.met)
    if row.at_most and target:
        target = f"at most {target}"
    if row.rate is None or row.reference is None:
        figure, rates = f"{figure} {row.unit}".rstrip(), ""
    else:
        rates = f"{row.rate:,.0f} / {row.reference:,.0f} {row.unit}"
    cells = [row.what, row.against, figure, target]
    if both:
        also = row.compiled
        cells += ["", ""] if also is None else _figure(also, also.target, met=also.met)
        if also is not None:
            rates = f"{rates}; {also.rate:,.0f} / {also.reference:,.0f}"
    return f"| {' | '.join([*cells, rates])} |"


def _figure(
    row: Row | Compiled, wanted: float | None, *, met: bool | None
) -> tuple[str, str]:
    """Return the cells of a figure and of its target."""
    figure = number(row.median)
    if (row.low, row.high) != (row.median, row.median):
        figure += f" ({number(row.low)}–{number(row.high)})"
    if wanted is None:
        return figure, ""
    if not met:
        return f"**{figure}**", f"{number(wanted)}, missed"
    return figure, number(wanted)


def _table(bench: Bench, rows: Sequence[Row | LeftOut]) -> str:
    on, at = machine(), versions()
    ran = ", ".join(
        [
            f"{on['cores']} cores of {on['processor'] or on['architecture']}",
            on["system"],
            f"Python {at['python']}",
        ]
    )
    both = any(isinstance(row, Row) and row.compiled is not None for row in rows)
    heads = ["what", "against", "median (spread)", "target"]
    heads += ["compiled", "target"] if both else []
    return "\n".join(
        [
            f"{ran}; {bench.rounds} samples of {bench.seconds:g} s.",
            "",
            f"| {' | '.join([*heads, 'rates'])} |",
            "|---" * (len(heads) + 1) + "|",
            *(_cells(row, both=both) for row in rows),
        ]
    )


def _versions(at: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in at.items()) + "."


def put(text: str, name: str, content: str) -> str:
    """Return a page with other content between the two marks of a block.

    Raises:
        ValueError: if it has no such block.
    """
    begin, end = f"<!-- bench: {name} -->", f"<!-- end of bench: {name} -->"
    block = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    if not block.search(text):
        msg = f"the page has no block {begin}"
        raise ValueError(msg)
    return block.sub(lambda _: f"{begin}\n\n{content}\n\n{end}", text)


def filled(text: str, bench: Bench) -> str:
    """Return the page with the figures of the parts that were measured.

    Raises:
        ValueError: if it has no place for one of them.
    """
    for part, rows in bench.rows.items():
        text = put(text, part, _table(bench, rows))
    return put(text, "versions", _versions(versions()))
