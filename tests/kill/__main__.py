"""The kill matrix: ``python -m tests.kill --runs 300``.

Kills bots and servers and cuts links at each kind of moment of a match, and compares
what comes of it with the same match undisturbed. Exit code 3: something did not hold.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import sys
import time
from collections.abc import Iterable, Sequence

from tests.kill.harness import Ran, strike, undisturbed
from tests.kill.lives import Forge
from tests.kill.plan import KINDS, LINE_UPS, MOMENTS, cases
from tests.kill.run import Undisturbed

from fritillary.cli.loop import run as run_loop


async def all_undisturbed(
    forge: Forge, wanted: Iterable[tuple[str, int]] | None = None
) -> dict[tuple[str, int], Undisturbed]:
    """Play all matches to which nothing is done; by line-up and deal."""
    names = {one.name: one for one in LINE_UPS}
    if wanted is None:
        wanted = [(one.name, deal) for one in LINE_UPS for deal in range(one.seeds)]
    return {
        (name, deal): await undisturbed(forge, names[name], deal)
        for name, deal in wanted
    }


def table(ran: Sequence[Ran]) -> str:
    """Return the matrix: how many runs held, of how many."""
    width = max(map(len, MOMENTS))
    lines = [" " * width + "".join(f"{kind:>11}" for kind in (*KINDS, "all"))]
    for row in (*MOMENTS, "all"):
        line = row.ljust(width)
        for kind in (*KINDS, "all"):
            cell = [
                one
                for one in ran
                if row in {"all", one.case.row} and kind in {"all", one.case.kind}
            ]
            held = sum(not one.failures for one in cell)
            text = f"{held}/{len(cell)}" if cell else "-"
            line += f"{text:>11}"
        lines.append(line)
    return "\n".join(lines)


class Matrix:
    """A number of runs, some at a time.

    Attributes:
        ran: those that have ended.
    """

    def __init__(self, runs: int, seed: int, jobs: int, only: int, *, keep: bool):
        self.ran: list[Ran] = []
        self._runs = runs
        self._seed = seed
        self._jobs = jobs
        self._only = only
        self._keep = keep

    async def play(self) -> None:
        async with Forge() as forge:
            show("playing what is compared to ...")
            known = await all_undisturbed(forge)
            counts = {key: one.counts for key, one in known.items()}
            todo = cases(self._runs, self._seed, counts)
            if self._only:
                todo = iter([one for one in todo if one.number == self._only])
            async with asyncio.TaskGroup() as group:
                for _ in range(self._jobs):
                    group.create_task(self._work(forge, todo, known))

    async def _work(self, forge, todo, known) -> None:
        for case in todo:
            try:
                ran = await strike(
                    forge, case, known[case.line_up.name, case.deal], keep=self._keep
                )
            except Exception as error:  # noqa: BLE001 - told of in the table
                ran = Ran(case, [f"the harness failed: {error!r}"])
            self.ran.append(ran)
            if ran.failures:
                tell(ran)
            bad = sum(bool(one.failures) for one in self.ran)
            show(f"{len(self.ran)} of {self._runs} runs, {bad} did not hold")


def tell(ran: Ran) -> None:
    """Say what did not hold."""
    show("")
    print(f"{ran.case}")
    for failure in ran.failures:
        print(f"    {failure}")
    if ran.folder:
        print(f"    files: {ran.folder}")
    sys.stdout.flush()


def show(what: str) -> None:
    """Show progress, if a person looks on."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{what}", end="", file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.kill", description=__doc__)
    parser.add_argument("--runs", type=int, default=300, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="at a time")
    parser.add_argument("--only", type=int, default=0, metavar="N", help="one run")
    parser.add_argument("--keep", action="store_true", help="files of failed runs")
    given = parser.parse_args()
    matrix = Matrix(given.runs, given.seed, given.jobs, given.only, keep=given.keep)
    began = time.monotonic()
    with contextlib.suppress(KeyboardInterrupt):
        run_loop(matrix.play())
    show("")
    ran = matrix.ran
    failed = sum(bool(one.failures) for one in ran)
    twice = sum(one.twice for one in ran)
    print(table(ran))
    print(
        f"{len(ran)} runs ({twice} struck twice) in {time.monotonic() - began:.0f} s, "
        f"seed {given.seed}; {failed} did not hold"
    )
    return 3 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
