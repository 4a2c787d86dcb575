"""``python -m tests.service.fuzz``: the long form of the fuzz, with a table."""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn
from rich.table import Table
from tests.service.fuzz.kinds import KINDS
from tests.service.fuzz.rounds import (
    FRAGMENTS,
    LONGEST_TURN_MS,
    TOLERANCE,
    Report,
    fuzz,
)
from tests.service.fuzz.target import Target

_FAILED: Final = 3
_INTERRUPTED: Final = 130


def main() -> int:
    """Fuzz; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.service.fuzz",
        description="Attack a server while honest matches are played on it.",
        epilog="Exit code 0: all held; 3: something did not; 130: Ctrl-C. "
        "Example: python -m tests.service.fuzz --frames 1000000 --seed 1",
    )
    parser.add_argument("--frames", type=int, default=100_000, help="about so many")
    parser.add_argument("--seed", type=int, default=1, help="of all that is sent")
    args = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 118)
    report = Report()
    began = time.monotonic()
    interrupted = False
    with tempfile.TemporaryDirectory() as folder:
        try:
            asyncio.run(_run(Path(folder), report, args.frames, args.seed))
        except KeyboardInterrupt:
            interrupted = True
        except RuntimeError as error:
            report.wrong.append(str(error))
    console.print(table_of(report))
    for line in told(report, time.monotonic() - began, args.seed):
        console.print(line, soft_wrap=True, highlight=False, markup=False)
    if report.wrong:
        return _FAILED
    return _INTERRUPTED if interrupted else 0


async def _run(folder: Path, report: Report, frames: int, seed: int) -> None:
    columns = ("frames", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not console.is_terminal) as shown:
        bar = shown.add_task("frames", total=frames)
        told_at = told_wrong = 0

        def progress(sent: int) -> None:
            nonlocal told_at, told_wrong
            shown.update(bar, completed=sent)
            # At once: the end may be an hour away, and may not come.
            for what in report.wrong[told_wrong:]:
                line = f"does not hold: {what}"
                console.print(line, soft_wrap=True, highlight=False, markup=False)
            told_wrong = len(report.wrong)
            # Where nobody looks at a bar: a line now and then.
            if not console.is_terminal and sent - told_at >= max(frames // 20, 1):
                told_at = sent
                console.print(f"{sent:,} frames, {len(report.wrong)} things wrong")

        with Target(folder) as target:
            await fuzz(target, report, frames, seed, progress)


def table_of(report: Report) -> Table:
    """Return what each kind has sent, and what was said to it."""
    table = Table("kind", box=None, pad_edge=False)
    table.add_column("frames", justify="right")
    table.add_column("refused, by code", overflow="fold", ratio=1)
    table.add_column("cut off", justify="right")
    for name in KINDS:
        tally = report.tallies[name]
        codes = ", ".join(f"{code} {n:,}" for code, n in tally.codes.most_common())
        cut = sum(tally.cut.values())
        table.add_row(name, f"{tally.sent:,}", codes or "-", f"{cut:,}" if cut else "-")
    return table


def told(report: Report, seconds: float, seed: int) -> list[str]:
    """Return the lines below the table."""
    cut = sum((one.cut for one in report.tallies.values()), start=Counter[str]())
    ends = ", ".join(f"{how} {n:,}" for how, n in cut.most_common())
    mib = 2**20
    before, after = report.used
    return [
        "",
        f"{report.sent:,} frames in {seconds:.0f} s, seed {seed}",
        f"cut off: {ends or '-'}",
        (
            f"memory in use: {before / mib:.0f} MiB before, "
            + (f"{after / mib:.0f}" if report.after else "unknown")
            + f" after (at most {TOLERANCE // mib} more than before)"
        ),
        (
            f"memory of the process: {report.start / mib:.0f} MiB before, "
            f"{report.peak / mib:.0f} at most, "
            + (f"{report.after / mib:.0f}" if report.after else "unknown")
            + f" after (at most {(TOLERANCE + FRAGMENTS) // mib} more than before)"
        ),
        (
            f"longest turn of the loop: {report.turn_ms} ms of CPU "
            f"(at most {LONGEST_TURN_MS})"
        ),
        *(
            f"honest {fixture.game}: {seen[wanted]:,} of {seen.total():,} matches "
            f"as without the fuzz, content hash {wanted}"
            for fixture, (wanted, seen) in report.matches.items()
        ),
        *(f"does not hold: {what}" for what in report.wrong[:50]),
        _verdict(report),
    ]


def _verdict(report: Report) -> str:
    if report.wrong:
        return f"{len(report.wrong)} things did not hold"
    if not report.after:
        return "stopped early: memory and what is left behind were not looked at"
    return "all held"


if __name__ == "__main__":
    sys.exit(main())
