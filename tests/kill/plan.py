"""What is done to which match at which moment: the cases of the matrix."""

from __future__ import annotations

import hashlib
import itertools
import random
from collections.abc import Iterator, Mapping
from typing import Any, Final

from attrs import Factory, frozen

from fritillary.record.terms import Consequence, Fault, FaultRule, Policy

#: What is done, as the columns of the table.
KINDS: Final = (
    "bot",
    "server",
    "both",
    "term",
    "reset",
    "close",
    "half-up",
    "half-down",
    "delay",
    "reorder",
)

#: Kinds that end the server's process.
SERVER_KINDS: Final = frozenset({"server", "both", "term"})

#: Kinds after which a process of the bot is no more.
BOT_KINDS: Final = frozenset({"bot", "both"})

#: Moments by the rows of the table; those that begin with ``bot:`` lie in the bot.
MOMENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "offer": (
        "kept",
        "after:Header",
        "offer",
        "bot:offer",
        "accepted",
        "bot:ready",
        "readied",
        "before:Dealt",
        "torn:Dealt",
        "after:Dealt",
    ),
    "request sent": ("request", "bot:request", "bot:answering"),
    "received": ("bot:answered", "decided", "before:ActionTaken", "torn:ActionTaken"),
    "recorded": ("after:ActionTaken", "closed", "bot:closed"),
    "ruling": ("before:Ruling", "torn:Ruling", "after:Ruling"),
    "end": ("before:Ended", "torn:Ended", "after:Ended"),
    "reveal": (
        "before:Revealed",
        "torn:Revealed",
        "after:Revealed",
        "before:Closed",
        "torn:Closed",
        "after:Closed",
    ),
    "end told": ("end-told", "bot:end", "bot:end-heard"),
}

#: Rows whose moments come when nobody is asked any more.
OVER: Final = frozenset({"end", "reveal", "end told"})

#: Moments of a server that was started again, for a second blow.
AGAIN: Final = ("after:Restarted", "request", "after:ActionTaken", "after:Revealed")


def row_of(moment: str) -> str:
    """Return the row of the table that a moment belongs to."""
    return next(row for row, moments in MOMENTS.items() if moment in moments)


@frozen(kw_only=True)
class LineUp:
    """A match and its players.

    Args:
        name: to show.
        game: full id.
        players: in seat order; ``remote`` for a bot of the harness, ``program`` for
            one that the server starts.
        policy: what follows faults.
        illegal: ids of decisions that bots answer with an illegal action.
        light: whether bots answer without a thread.
        encoding: of the bots.
        legal: in which form they want legal actions.
        seeds: how many deals.
    """

    name: str
    game: str
    players: tuple[str, ...]
    policy: Policy = Factory(Policy)
    illegal: tuple[int, ...] = ()
    light: bool = False
    encoding: str = "msgpack"
    legal: str = "packed"
    seeds: int = 2

    @property
    def remotes(self) -> list[int]:
        """The seats of bots of the harness."""
        return [n for n, player in enumerate(self.players) if player == "remote"]

    @property
    def programs(self) -> bool:
        """Whether the server starts programs."""
        return "program" in self.players


def _after_illegal(what: Consequence, retries: int = 0) -> Policy:
    return Policy.of(FaultRule(Fault.ILLEGAL, what, retries))


_RETRY: Final = _after_illegal(Consequence.FORFEIT, 2)

LINE_UPS: Final = (
    LineUp(
        name="lepidoptery, one bot",
        game="lepidoptery",
        players=("remote", "uniform"),
        policy=_RETRY,
        illegal=(2, 3, 7, 12),
    ),
    LineUp(
        name="lepidoptery, two bots",
        game="lepidoptery",
        players=("remote", "remote"),
        policy=_after_illegal(Consequence.SUBSTITUTE, 1),
        illegal=(1, 2, 5, 9, 10),
        light=True,
    ),
    LineUp(
        name="lost-cities, one bot",
        game="lost-cities",
        players=("uniform", "remote"),
        policy=_after_illegal(Consequence.SUBSTITUTE),
        illegal=(1, 4, 30),
        encoding="json",
    ),
    LineUp(
        name="lost-cities, two bots",
        game="lost-cities",
        players=("remote", "remote"),
        policy=_RETRY,
        illegal=(3, 4, 21),
        legal="expanded",
    ),
    LineUp(
        name="butterfly-garden, two bots of three",
        game="butterfly-garden",
        players=("remote", "uniform", "remote"),
        policy=_RETRY,
        illegal=(2, 5, 6),
        light=True,
        legal="expanded",
    ),
    LineUp(
        # Both forfeit, one after the other, and a stand-in plays on for the first.
        name="butterfly-garden, forfeits",
        game="butterfly-garden",
        players=("uniform", "remote", "remote"),
        policy=_after_illegal(Consequence.FORFEIT, 1),
        illegal=(3, 6, 7),
    ),
    LineUp(
        name="lepidoptery, a program",
        game="lepidoptery",
        players=("program", "uniform"),
        seeds=1,
    ),
    LineUp(
        name="lost-cities, a program and a bot",
        game="lost-cities",
        players=("remote", "program"),
        policy=_RETRY,
        illegal=(2,),
        seeds=1,
    ),
)

#: In so many of 100 cases a match with programs is taken: they are slow to start.
_PROGRAMS: Final = 8

#: In so many of 100 cases a server that was started again is hit again.
_TWICE: Final = 25


@frozen(kw_only=True)
class Case:
    """One run.

    Args:
        number: of the run.
        line_up: the match.
        deal: which of its deals.
        moment: when something is done.
        occurrence: of the moment, from 1.
        kind: what is done.
        victims: seats to whose bots or links it is done.
        second: kind and moment of a second blow, after a restart of the server.
        server_first: of two that were killed, whether the server is started first.
    """

    number: int
    line_up: LineUp
    deal: int
    moment: str
    occurrence: int
    kind: str
    victims: tuple[int, ...]
    second: tuple[str, str] | None = None
    server_first: bool = True

    @property
    def row(self) -> str:
        """The row of the table."""
        return row_of(self.moment)

    def __str__(self) -> str:
        again = f", then {self.second[0]} at {self.second[1]}" if self.second else ""
        return (
            f"run {self.number}: {self.line_up.name} (deal {self.deal}), {self.kind} "
            f"at {self.moment} #{self.occurrence}, seats {self.victims}{again}"
        )


def seed_of(line_up: LineUp, deal: int) -> bytes:
    """Return the seed of a deal."""
    return hashlib.sha256(f"{line_up.name}/{deal}".encode()).digest()


def fits(moment: str, kind: str) -> bool:
    """Say whether something can be done at a moment."""
    return kind in {"server", "both"} if moment.startswith("torn:") else True


def fits_line_up(line_up: LineUp, moment: str, kind: str) -> bool:
    """Say whether a case makes sense for the players of a match."""
    if line_up.remotes:
        # Its program is not what is killed there.
        return True
    if kind not in {"bot", *SERVER_KINDS}:
        return False
    # A program that ends before it is ready has refused to start.
    return kind not in BOT_KINDS or row_of(moment) not in {"offer", *OVER}


#: How often each moment came in the undisturbed run of a line-up and a deal.
Counts = Mapping[tuple[str, int], Mapping[str, int]]


def all_cells() -> list[tuple[str, str]]:
    """Return all pairs of moment and kind that make sense."""
    moments = itertools.chain.from_iterable(MOMENTS.values())
    return [
        (moment, kind)
        for moment, kind in itertools.product(moments, KINDS)
        if fits(moment, kind)
    ]


def cases(runs: int, seed: int, counts: Counts) -> Iterator[Case]:
    """Yield cases; each pair of moment and kind comes as often as the others."""
    rng = random.Random(seed)
    cells: list[tuple[str, str]] = []
    for number in range(1, runs + 1):
        if not cells:
            cells = all_cells()
            rng.shuffle(cells)
        yield _case(number, *cells.pop(), rng, counts)


def few_cases(seed: int, counts: Counts) -> list[Case]:
    """Return some cases in which each row, each kind and a program comes."""
    rng = random.Random(seed)
    cells = all_cells()
    rng.shuffle(cells)
    wanted = {*MOMENTS, *KINDS}
    chosen: list[tuple[str, str]] = []
    while wanted:
        best = max(cells, key=lambda c: len({row_of(c[0]), c[1]} & wanted))
        wanted -= {row_of(best[0]), best[1]}
        chosen.append(best)
        cells.remove(best)
    # And those in which most has gone wrong before.
    chosen += [("torn:ActionTaken", "server"), ("after:Ruling", "both")]
    chosen += [("after:Closed", "server")]
    found = [_case(n, *cell, rng, counts) for n, cell in enumerate(chosen, 1)]
    number = len(found) + 1
    program = next(one for one in LINE_UPS if one.programs and not one.remotes)
    found.append(_of(number, program, "request", "bot", rng, counts))
    return found


def _case(
    number: int, moment: str, kind: str, rng: random.Random, counts: Counts
) -> Case:
    programs = rng.randrange(100) < _PROGRAMS
    for wanted in (programs, not programs):
        fitting = [
            one
            for one in LINE_UPS
            if one.programs == wanted
            and fits_line_up(one, moment, kind)
            and counts.get((one.name, 0), {}).get(moment)
        ]
        if fitting:
            return _of(number, rng.choice(fitting), moment, kind, rng, counts)
    raise LookupError(moment, kind)


def _of(
    number: int,
    line_up: LineUp,
    moment: str,
    kind: str,
    rng: random.Random,
    counts: Counts,
) -> Case:
    deals = [
        deal
        for deal in range(line_up.seeds)
        if counts.get((line_up.name, deal), {}).get(moment)
    ]
    deal = rng.choice(deals)
    remotes = line_up.remotes
    victims = (
        remotes if rng.randrange(3) == 0 else rng.sample(remotes, 1 if remotes else 0)
    )
    second = None
    if kind in SERVER_KINDS and rng.randrange(100) < _TWICE and not line_up.programs:
        second = rng.choice(KINDS), rng.choice(AGAIN)
    return Case(
        number=number,
        line_up=line_up,
        deal=deal,
        moment=moment,
        occurrence=rng.randint(1, counts[line_up.name, deal][moment]),
        kind=kind,
        victims=tuple(victims),
        second=second,
        server_first=bool(rng.randrange(2)),
    )


def script_of(line_up: LineUp) -> dict[str, Any]:
    """Return how the bots of a match play."""
    return {
        "illegal": line_up.illegal,
        "light": line_up.light,
        "encoding": line_up.encoding,
        "legal": line_up.legal,
    }
