"""The schedule of the tables of strength: what is played next, kept, and counted."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from attrs import define, field, frozen

import fritillary
from benchmarks.playing import game_of
from benchmarks.strength_pairings import (
    SEATINGS,
    Pairing,
    Played,
    StrengthError,
    Task,
)
from benchmarks.strength_workers import workers
from fritillary.statistics import CappedTest, Frontier, Hypotheses, Verdict

#: H0: as good as the other one; H1: wins three of five.
HYPOTHESES: Final = Hypotheses(0.5, 0.6)

#: How often either may be accepted where the other is true.
ALPHA: Final = 0.05

#: What a result belongs to, as it stands in a line.
_FIELDS: Final = ("pairing", "seed", "rules", "version", "block", "seating")


def _identity(task: Task) -> dict[str, Any]:
    """Return what a result belongs to; after a change of rules that is another."""
    return {
        "pairing": task.pairing.key,
        "seed": task.seed,
        "rules": game_of(task.pairing.game).info.rules_version,
        "version": fritillary.__version__,
        "block": task.block,
        "seating": task.seating,
    }


@frozen
class Kept:
    """A file of results, one in a line, to which each is added as it comes."""

    path: Path

    def read(self) -> dict[tuple[Any, ...], Played]:
        """Return what is kept, and drop a last line that was not written to its end.

        Raises:
            StrengthError: if the file cannot be read, or holds something else.
        """
        try:
            if not self.path.exists():
                return {}
            raw = self.path.read_bytes()
            whole, newline, rest = raw.rpartition(b"\n")
            if rest:
                with self.path.open("rb+") as file:
                    file.truncate(len(whole) + len(newline))
        except OSError as error:
            msg = f"cannot read {self.path}: {error.strerror or error}"
            raise StrengthError(msg) from error
        found: dict[tuple[Any, ...], Played] = {}
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                data = json.loads(line)
                key = tuple(data[name] for name in _FIELDS)
                played = Played(
                    float(data["score"]), int(data["plies"]), float(data["seconds"])
                )
                found.setdefault(key, played)
            except (ValueError, KeyError, TypeError) as error:
                msg = f"{self.path}, line {number} is no result; is it another file?"
                raise StrengthError(msg) from error
        return found

    def add(self, task: Task, played: Played) -> None:
        """Add a result.

        Raises:
            StrengthError: if it cannot be written.
        """
        data = {
            **_identity(task),
            "score": played.score,
            "plies": played.plies,
            "seconds": round(played.seconds, 3),
        }
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(data) + "\n")
        except OSError as error:
            msg = f"cannot write {self.path}: {error.strerror or error}"
            raise StrengthError(msg) from error


@define(eq=False)
class Row:
    """A pairing under way.

    Attributes:
        test: fed with whole blocks, in their order.
        seconds: of all matches that are known.
        matches: how many they are.
    """

    pairing: Pairing
    seed: int
    test: CappedTest
    seconds: float = 0.0
    matches: int = 0
    _frontier: Frontier[float] = field(factory=Frontier)
    _scores: dict[int, list[float]] = field(factory=dict)
    _known: set[tuple[int, int]] = field(factory=set)

    @property
    def over(self) -> bool:
        """Whether the test has come to an end."""
        return self.test.verdict is not Verdict.OPEN

    @property
    def turns(self) -> float:
        """How many turns of its pace were given out or are known."""
        return len(self._known) / (SEATINGS * self.pairing.pace)

    @property
    def left_s(self) -> float:
        """Seconds to the cap, if the matches to come are as long as those so far."""
        if self.over or not self.matches:
            return 0.0
        left = SEATINGS * self.test.most - self.matches
        return max(left, 0) * self.seconds / self.matches

    def tasks(self) -> Iterator[Task]:
        """Return all matches up to the cap, in their order."""
        for block in range(self.test.most):
            for seating in range(SEATINGS):
                yield Task(self.pairing, self.seed, block, seating)

    def next_task(self) -> Task | None:
        """Give out a match that is not known yet; ``None`` if there is none."""
        if self.over:
            return None
        for task in self.tasks():
            if (task.block, task.seating) not in self._known:
                self._known.add((task.block, task.seating))
                return task
        return None

    def take(self, task: Task, played: Played) -> None:
        """Take the result of a match; blocks that are whole and due go to the test."""
        self._known.add((task.block, task.seating))
        self.seconds += played.seconds
        self.matches += 1
        scores = self._scores.setdefault(task.block, [])
        scores.append(played.score)
        if len(scores) < SEATINGS:
            return
        del self._scores[task.block]
        for mean in self._frontier.add(task.block, sum(scores) / SEATINGS):
            # What was played beyond the end of the test does not count.
            if not self.over:
                self.test.add(mean)


def rows_of(
    pairings: Sequence[Pairing], seed: int, least: int | None, kept: Kept
) -> list[Row]:
    """Return rows that know all that is kept.

    Args:
        pairings: one row for each.
        seed: of the schedule.
        least: blocks before a test may decide; ``None`` for half of its cap.
        kept: what was played before.

    Raises:
        StrengthError: if what is kept cannot be read.
    """
    known = kept.read()
    rows = []
    for pairing in pairings:
        test = CappedTest(
            HYPOTHESES,
            most=pairing.cap,
            least=least or (pairing.cap + 1) // 2,
            alpha=ALPHA,
            beta=ALPHA,
        )
        row = Row(pairing, seed, test)
        for task in row.tasks():
            played = known.get(tuple(_identity(task).values()))
            if played is not None:
                row.take(task, played)
        rows.append(row)
    return rows


def next_task(rows: Sequence[Row]) -> tuple[Row, Task] | None:
    """Give out the match that is next: of the row that had the fewest turns.

    So a run that is broken off has spent about as much time on every row.
    """
    for row in sorted(rows, key=lambda row: row.turns):
        task = row.next_task()
        if task is not None:
            return row, task
    return None


def run(rows: Sequence[Row], kept: Kept, jobs: int, tell: Callable[[], None]) -> None:
    """Play until every test is over.

    Args:
        rows: they know what was played before.
        kept: where results are added.
        jobs: worker processes.
        tell: called after each result, and before the first.

    Raises:
        StrengthError: if something cannot be played or written.
    """
    tell()
    if all(row.over for row in rows):
        return
    by_key = {row.pairing.key: row for row in rows}
    with workers(jobs) as crew:
        while True:
            while crew.free and (found := next_task(rows)) is not None:
                crew.give(found[1])
            if not crew.busy:
                return
            for task, played in crew.results():
                kept.add(task, played)
                by_key[task.pairing.key].take(task, played)
                tell()
