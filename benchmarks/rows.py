"""The rows of the report, and what gathers them."""

from __future__ import annotations

import contextlib
import statistics
from collections.abc import Callable, Sequence
from typing import Any, Final

from attrs import define, field, frozen

from benchmarks import compiled, pairs, peers, profiles
from benchmarks.pairs import Ratio, Sample, Workload

#: The compiled build among the processes of peers.
_COMPILED: Final = "compiled"


@frozen(kw_only=True)
class Compiled:
    """The same figure of the compiled build, in the same run.

    Args:
        median: of the figure.
        low: the lowest sample.
        high: the highest sample.
        rate: median of what is measured.
        reference: median of what it is measured against.
        target: what the figure is to reach; ``None`` if nothing is asked for.
    """

    median: float
    low: float
    high: float
    rate: float
    reference: float
    target: float | None

    @property
    def met(self) -> bool | None:
        """Say whether the target is met; ``None`` if there is none."""
        return None if self.target is None else self.median >= self.target


@frozen(kw_only=True)
class Row:
    """One figure. Where it is a ratio, both rates are given as well.

    Args:
        id: a name that stays.
        what: what is measured.
        against: what it is measured against; empty for a figure that stands alone.
        unit: of the figure if it stands alone, else of the two rates.
        median: of the figure.
        low: the lowest sample.
        high: the highest sample.
        rate: median of what is measured; ``None`` for a figure that stands alone.
        reference: median of what it is measured against.
        target: what the figure is to reach; ``None`` if nothing is asked for.
        at_most: the target is the most, not the least.
        compiled: the figure of the compiled build, where it was measured.
    """

    id: str
    what: str
    against: str = ""
    unit: str
    median: float
    low: float
    high: float
    rate: float | None = None
    reference: float | None = None
    target: float | None = None
    at_most: bool = False
    compiled: Compiled | None = None

    @property
    def met(self) -> bool | None:
        """Say whether the target is met; ``None`` if there is none."""
        if self.target is None:
            return None
        if self.at_most:
            return self.median <= self.target
        return self.median >= self.target


@frozen
class OnCompiled:
    """What the compiled build does for the same row.

    Args:
        work: its name and arguments, see `benchmarks.compiled.work`.
        target: what the figure is to reach.
        against: work that it is held against in place of the row's reference.
    """

    work: tuple[Any, ...]
    target: float | None = None
    against: tuple[Any, ...] = ()


@frozen(kw_only=True)
class LeftOut:
    """A row that could not be measured, and why."""

    id: str
    what: str
    reason: str


def number(value: float) -> str:
    """Return a figure with three digits, or all that are before the point."""
    if value == int(value) and abs(value) < 1000:
        return str(int(value))
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.{1 if abs(value) >= 10 else 2 if abs(value) >= 1 else 3}f}"


def _line(row: Row) -> str:
    wanted = ""
    if row.target is not None:
        wanted = _wanted(row.target, "<=" if row.at_most else ">=", met=row.met)
    name = f"{row.what} / {row.against}" if row.against else row.what
    rates = f"{row.unit}"
    if row.rate is not None and row.reference is not None:
        rates = f"{row.rate:,.0f} / {row.reference:,.0f} {row.unit}"
    line = _columns(name, row, wanted, rates)
    if row.compiled is not None:
        also = row.compiled
        wanted = "" if also.target is None else _wanted(also.target, met=also.met)
        rates = f"{also.rate:,.0f} / {also.reference:,.0f} {row.unit}"
        line += "\n" + _columns("    the compiled build", also, wanted, rates)
    return line


def _wanted(target: float, sign: str = ">=", *, met: bool | None) -> str:
    return f"{sign} {number(target)} {'ok' if met else 'MISSED'}"


def _columns(name: str, figure: Row | Compiled, wanted: str, rates: str) -> str:
    spread = f"({number(figure.low)}-{number(figure.high)})"
    return f"{name:<66} {number(figure.median):>7} {spread:<15} {wanted:<15} {rates}"


@define(eq=False)
class Bench:
    """Measures, prints and keeps rows.

    Args:
        rounds: samples of each.
        seconds: of one sample.
        with_peers: measure against other systems.
        with_compiled: measure the compiled build as well.
        with_profiles: show the profile of a target that is missed.
        simulations: of one decision of a search.
        busy: bots that play at the same time, and matches of one that plays many.
        idle: bots that are merely connected.
        many: bots that dial in at once.
    """

    rounds: int = 5
    seconds: float = 0.6
    with_peers: bool = True
    with_compiled: bool = True
    with_profiles: bool = True
    simulations: int = 1_000
    busy: int = 64
    idle: int = 500
    many: int = 2_000
    part: str = ""
    rows: dict[str, list[Row | LeftOut]] = field(factory=dict)
    _not_compiled: str = ""
    _running: dict[str, peers.Peer] = field(factory=dict)
    _stack: contextlib.ExitStack = field(factory=contextlib.ExitStack)

    def begin(self, part: str) -> None:
        """Begin a part of the report."""
        self.part = part
        self.rows[part] = []
        print(f"\n{part}", flush=True)

    def close(self) -> None:
        """Stop the processes of peers."""
        self._running.clear()
        self._stack.close()

    # ------------------------------------------------------------------------- adding

    def add(self, row: Row, profile: Callable[[], None] | None = None) -> None:
        """Print and keep a row; show the profile if its target is missed."""
        self.rows[self.part].append(row)
        print(_line(row), flush=True)
        if row.met is False and profile is not None and self.with_profiles:
            profile()
            print("    what was tried: docs/performance.md")
        if row.compiled is not None and row.compiled.met is False:
            print("    what was tried: docs/performance.md")

    def leave_out(self, id: str, what: str, reason: str) -> None:
        """Print and keep why a row is missing."""
        self.rows[self.part].append(LeftOut(id=id, what=what, reason=reason))
        print(f"{what}: left out; {reason}", flush=True)

    def ratio(
        self,
        id: str,
        what: str,
        against: str,
        ratio: Ratio,
        unit: str,
        target: float | None = None,
        *,
        at_most: bool = False,
        profile: Callable[[], None] | None = None,
        also: Compiled | None = None,
    ) -> None:
        """Add a ratio that was measured elsewhere."""
        row = Row(
            id=id,
            what=what,
            against=against,
            unit=unit,
            median=ratio.median,
            low=ratio.low,
            high=ratio.high,
            rate=ratio.rate,
            reference=ratio.reference,
            target=target,
            at_most=at_most,
            compiled=also,
        )
        self.add(row, profile)

    def value(
        self,
        id: str,
        what: str,
        samples: Sequence[float],
        unit: str,
        target: float | None = None,
        *,
        at_most: bool = False,
        profile: Callable[[], None] | None = None,
    ) -> None:
        """Add a figure that stands alone."""
        row = Row(
            id=id,
            what=what,
            unit=unit,
            median=statistics.median(samples),
            low=min(samples),
            high=max(samples),
            target=target,
            at_most=at_most,
        )
        self.add(row, profile)

    # ---------------------------------------------------------------------- measuring

    def compare(
        self,
        id: str,
        what: str,
        workload: Workload,
        against: str,
        reference: Workload,
        unit: str,
        target: float | None = None,
        on_compiled: OnCompiled | None = None,
    ) -> None:
        """Add the ratio of two workloads of this process."""
        ratio = pairs.compare(
            workload, reference, rounds=self.rounds, seconds=self.seconds
        )
        also = self._also(
            id, what, on_compiled, lambda seconds: pairs.rate(reference, seconds)
        )
        self.ratio(
            id,
            what,
            against,
            ratio,
            unit,
            target,
            profile=lambda: profiles.show_workload(workload),
            also=also,
        )

    def cost(
        self,
        id: str,
        what: str,
        workload: Workload,
        against: str,
        reference: Workload,
        unit: str,
        most: float,
    ) -> None:
        """Add how much more time a unit takes here than there."""
        ratio = pairs.compare(
            reference, workload, rounds=self.rounds, seconds=self.seconds
        )
        # What is measured stays in front; the ratio is of times, the rates are not.
        turned = Ratio(ratio.median, ratio.low, ratio.high, ratio.reference, ratio.rate)
        self.ratio(
            id,
            what,
            against,
            turned,
            unit,
            most,
            at_most=True,
            profile=lambda: profiles.show_workload(workload),
        )

    def against_peer(
        self,
        id: str,
        what: str,
        workload: Workload,
        against: str,
        work: tuple[Any, ...],
        unit: str,
        target: float | None = None,
        on_compiled: OnCompiled | None = None,
    ) -> None:
        """Add the ratio of a workload here and work of a peer.

        Args:
            work: the name of the work, as ``peer.what``, and its arguments.
        """
        name, *arguments = work
        peer = name.partition(".")[0]
        if not self.with_peers:
            self.leave_out(id, f"{what} / {against}", "peers were not asked for")
            return
        try:
            theirs = self._peer(peer)
            reference: Sample = lambda seconds: theirs.rate(  # noqa: E731 - typed
                name, tuple(arguments), seconds
            )
            ratio = pairs.beside(
                lambda seconds: pairs.rate(workload, seconds),
                reference,
                rounds=self.rounds,
                seconds=self.seconds,
            )
            also = self._also(id, what, on_compiled, reference)
        except peers.PeerError as error:
            self._running.pop(peer, None)
            self.leave_out(id, f"{what} / {against}", f"{peer}: {error}")
            return
        self.ratio(
            id,
            what,
            against,
            ratio,
            unit,
            target,
            profile=lambda: profiles.show_workload(workload),
            also=also,
        )

    def _also(
        self, id: str, what: str, on: OnCompiled | None, reference: Sample
    ) -> Compiled | None:
        """Measure the compiled build against the same reference, if it is there."""
        if on is None or not self.with_compiled:
            return None
        try:
            if self._not_compiled:
                raise compiled.NotCompiledError(self._not_compiled)
            theirs = self._peer(_COMPILED)
            ratio = pairs.beside(
                _sample(theirs, on.work),
                _sample(theirs, on.against) if on.against else reference,
                rounds=self.rounds,
                seconds=self.seconds,
            )
        except (compiled.NotCompiledError, peers.PeerError) as error:
            self._running.pop(_COMPILED, None)
            reason = str(error).partition("\n")[0]
            if isinstance(error, compiled.NotCompiledError):
                self._not_compiled = reason
            self.leave_out(f"{id}.compiled", f"{what}, compiled", reason)
            return None
        return Compiled(
            median=ratio.median,
            low=ratio.low,
            high=ratio.high,
            rate=ratio.rate,
            reference=ratio.reference,
            target=on.target,
        )

    def _peer(self, name: str) -> peers.Peer:
        if name not in self._running:
            made = compiled.running() if name == _COMPILED else peers.running(name)
            self._running[name] = self._stack.enter_context(made)
        return self._running[name]


def _sample(peer: peers.Peer, work: tuple[Any, ...]) -> Sample:
    name, *arguments = work
    return lambda seconds: peer.rate(name, tuple(arguments), seconds)
