"""Every client plays every other, in every game: ``python -m tests.clients.pairings``.

One bot of each language dials in at one server and stays; it takes both seats against
itself. Every record is verified. A table tells for each pairing how many matches were
played and what was wrong; the exit code is 1 if anything was.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from attrs import field, mutable
from rich.console import Console
from rich.table import Table
from tests.clients.languages import Command, commands, found, left_out
from tests.clients.programs import dial_in

from fritillary import Registry
from fritillary.core.errors import FritillaryError
from fritillary.record.terms import ClockSettings, EndKind
from fritillary.referee.verify import verify
from fritillary.service.arena import Arena
from fritillary.service.server import Server

GAMES: Final = ("lepidoptery", "lost-cities", "butterfly-garden")

#: More than any bot needs, so that a match with one that hangs ends too.
_CLOCK: Final = ClockSettings(move_ms=60_000)


@mutable
class Pairing:
    """What came of two players' matches.

    Attributes:
        verified: matches that were played to their end, by records that hold.
        decisions: of both players.
        problems: a line for each other match.
    """

    verified: int = 0
    decisions: int = 0
    problems: list[str] = field(factory=list)


Pairings = dict[tuple[str, str], Pairing]


async def play_all(
    players: Mapping[str, Command], games: Sequence[str] = GAMES, *, seed: int = 1
) -> Pairings:
    """Play every ordered pairing once in each game.

    Args:
        players: commands that start the bots, by name.
        games: ids of games for two.
        seed: of the deals; the same one deals the same.
    """
    registry = Registry()
    registry.load()
    arena = Arena(registry)
    table: Pairings = {(a, b): Pairing() for a in players for b in players}
    async with Server(arena) as server, arena:
        running = [
            await dial_in(arena, server.address, name, command, capacity=4)
            for name, command in players.items()
        ]
        try:
            number = seed
            for game in games:
                for first in players:
                    # One match of each other bot at a time, two of this one's.
                    await asyncio.gather(
                        *(
                            _play(arena, registry, game, number + at, pair, table[pair])
                            for at, pair in enumerate((first, b) for b in players)
                        )
                    )
                    number += len(players)
        finally:
            await asyncio.gather(*(each.stop() for each in running))
    return table


async def _play(
    arena: Arena,
    registry: Registry,
    game: str,
    number: int,
    names: tuple[str, str],
    into: Pairing,
) -> None:
    hosted = arena.create(
        game,
        [f"remote:{name}" for name in names],
        seed=number.to_bytes(32, "big"),
        clocks=_CLOCK,
    )
    result = await hosted.ended
    if result.finish.kind is not EndKind.PLAYED:
        why = f"{result.finish.kind.value} ({result.finish.code})"
        into.problems.append(f"{game}: {why}")
        return
    try:
        verified = verify(hosted.record(), registry)
    except FritillaryError as error:
        into.problems.append(f"{game}: {error}")
        return
    into.verified += 1
    into.decisions += verified.plies


def show(table: Pairings, seconds: float) -> None:
    """Print one row for each first player, one column for each second."""
    names = list(dict.fromkeys(first for first, _ in table))
    out = Table("first \\ second", *names, title="Matches with a verified record")
    for first in names:
        out.add_row(first, *(_cell(table[first, second]) for second in names))
    console = Console(highlight=False)
    console.print(out)
    done = Counter[str]()
    for (first, second), each in table.items():
        done["matches"] += each.verified
        done["decisions"] += each.decisions
        for problem in each.problems:
            console.print(f"{first} against {second}: {problem}", markup=False)
    console.print(
        f"{done['matches']} matches, {done['decisions']:,} decisions, {seconds:.1f} s"
    )


def _cell(pairing: Pairing) -> str:
    wrong = f", {len(pairing.problems)} wrong" if pairing.problems else ""
    return f"{pairing.verified}{wrong}"


def main() -> int:
    """Play, print, and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.clients.pairings", description=__doc__
    )
    parser.add_argument("--seed", type=int, default=1, help="of the deals")
    given = parser.parse_args()
    try:
        for language in found():
            language.make()
        start = time.monotonic()
        table = asyncio.run(play_all(commands(), seed=given.seed))
    except RuntimeError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    show(table, time.monotonic() - start)
    for line in left_out():
        print(line)
    return 1 if any(each.problems for each in table.values()) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
