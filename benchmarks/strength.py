"""``make strength``: how strong the search bots are, as tables of capped tests.

Every deal is played twice, with seats changed; such a block is the sample. Each pairing
is tested one block after the other, in the order of the schedule: is the player as good
as the other one (50 %), or does it win three of five (60 %)? The test ends when it is
sure, or at the cap of the pairing.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NoReturn

import attrs

from benchmarks import strength_report
from benchmarks.statistics import clear, positive
from benchmarks.strength_pairings import PAIRINGS, Pairing, StrengthError, check
from benchmarks.strength_run import Kept, Row, rows_of, run
from fritillary.core.errors import FritillaryError
from fritillary.record.whole import put

_EXAMPLE: Final = """\
examples:
  make strength ARGS="--only lepidoptery --cap 40"
  make strength ARGS="--pairing connect-four mcts:iterations=500 uniform 50"
  make strength ARGS="--show --write"

Ctrl-C prints the tables so far; the same command goes on from there. Results are kept
by what was played, the seed, and the versions of rules and package: remove the file
after a bot has changed.
"""

_KEPT: Final = Path("build") / "strength.jsonl"


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; see --help\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="make strength",
        description=__doc__,
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="TEXT",
        help="pairings whose name contains this, such as lepidoptery or greedy-200; "
        "may be repeated",
    )
    parser.add_argument(
        "--pairing",
        action="append",
        nargs=4,
        metavar=("GAME", "PLAYER", "AGAINST", "CAP"),
        help="play this one in place of those of the page; options stand behind the "
        "game, as in 'lost-cities games=1'; may be repeated",
    )
    parser.add_argument(
        "--cap", type=positive, metavar="N", help="blocks of each pairing at most"
    )
    parser.add_argument(
        "--least",
        type=positive,
        metavar="N",
        help="blocks before a test may decide; default: half of its cap, so that there "
        "is an estimate even where the first few would do",
    )
    parser.add_argument(
        "--seed", type=int, default=1, metavar="N", help="of all deals (1)"
    )
    parser.add_argument(
        "--jobs",
        type=positive,
        default=os.cpu_count() or 1,
        metavar="N",
        help="worker processes; default: one for each core",
    )
    parser.add_argument(
        "--keep",
        type=Path,
        default=_KEPT,
        metavar="FILE",
        help=f"where results are kept as they come ({_KEPT})",
    )
    parser.add_argument(
        "--show", action="store_true", help="play nothing, show what is kept"
    )
    parser.add_argument("--list", action="store_true", help="list the pairings")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write it as JSON")
    parser.add_argument(
        "--write", action="store_true", help="put the tables into docs/strength.md"
    )
    return parser


def _pairing(words: Sequence[str]) -> Pairing:
    named, player, against, cap = words
    game, *options = named.split()
    return Pairing(game, player, against, positive(cap), tuple(options))


def _asked(
    given: argparse.Namespace, parser: argparse.ArgumentParser
) -> tuple[Pairing, ...]:
    """Return the pairings that were asked for."""
    if not given.pairing:
        found = PAIRINGS
    else:
        if given.write:
            parser.error("--write is for the pairings of the page, not for --pairing")
        try:
            found = tuple(map(_pairing, given.pairing))
        except (ValueError, argparse.ArgumentTypeError):
            parser.error("the fourth word of --pairing is a number of blocks, from 1")
        if len({pairing.key for pairing in found}) < len(found):
            parser.error("--pairing names the same match twice")
        try:
            for pairing in found:
                check(pairing)
        except FritillaryError as error:
            parser.error(error.message)
    if given.cap:
        found = tuple(attrs.evolve(pairing, cap=given.cap) for pairing in found)
    if given.only:
        names = ", ".join(pairing.name for pairing in found)
        for text in given.only:
            if not any(text in pairing.name for pairing in found):
                parser.error(f"no pairing is called {text!r}; there are {names}")
    return found


class _Progress:
    """One line on the terminal, for a person who looks on."""

    def __init__(self, rows: Sequence[Row], jobs: int) -> None:
        self._rows = rows
        self._jobs = jobs
        self.shown = sys.stderr.isatty()

    def tell(self) -> None:
        if not self.shown:
            return
        over = sum(row.over for row in self._rows)
        blocks = sum(row.test.blocks.number for row in self._rows)
        left = sum(row.left_s for row in self._rows) / self._jobs / 60
        sys.stderr.write(
            f"\r{over} of {len(self._rows)} tests over, {blocks} blocks; "
            f"{left:.0f} min to go at most    "
        )
        sys.stderr.flush()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = _parser()
    given = parser.parse_args(arguments)
    pairings = _asked(given, parser)
    chosen = [
        pairing
        for pairing in pairings
        if not given.only or any(text in pairing.name for text in given.only)
    ]
    if given.list:
        for pairing in chosen:
            print(f"{pairing.name:<28} {pairing.key}, at most {pairing.cap} blocks")
        return 0
    code = 0
    try:
        kept = Kept(given.keep)
        rows = rows_of(chosen, given.seed, given.least, kept)
        if not given.show:
            progress = _Progress(rows, given.jobs)
            try:
                run(rows, kept, given.jobs, progress.tell)
            except KeyboardInterrupt:
                code = 130
            finally:
                clear(show=progress.shown)
        print(strength_report.as_text(rows))
        if code:
            print("\ninterrupted; the same command goes on from here")
        if given.json:
            text = json.dumps(strength_report.as_json(rows), indent=2)
            put(given.json, f"{text}\n".encode())
        if given.write:
            # The page has all rows, whichever of them were played now.
            every = rows_of(pairings, given.seed, given.least, kept)
            page = strength_report.PAGE
            filled = strength_report.filled(page.read_text("utf-8"), every)
            put(page, filled.encode())
    except (StrengthError, OSError) as error:
        parser.exit(1, f"{parser.prog}: {error}\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
