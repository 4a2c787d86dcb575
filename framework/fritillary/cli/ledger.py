"""Where the time of a match went, as its record has it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from attrs import field, frozen

from fritillary.cli.figures import Figures
from fritillary.record.events import (
    ActionTaken,
    Header,
    Paused,
    RecordEvent,
    Resigned,
    Restarted,
    Ruling,
)
from fritillary.record.reader import Record
from fritillary.record.terms import Source

_NAME: Final = 24


@frozen(kw_only=True)
class Row:
    """The time of one event, in milliseconds; ``None`` where it is not known.

    Args:
        number: of the event in the record.
        seat: that decided, or was charged.
        charged_ms: taken from its clock for this event alone.
        decision: whether the player decided; else time was taken for a fault, a pause
            or a restart.
        server_ms: from asking to answering at the server.
        think_ms: as the bot reported it.
        link_ms: round trip of the link as it was last measured by a ping.
        left_ms: what the clock allows for the next decision.
    """

    number: int
    seat: int
    charged_ms: int
    decision: bool = True
    server_ms: int | None = None
    think_ms: int | None = None
    link_ms: int | None = None
    left_ms: int | None = None

    @property
    def rest_ms(self) -> int | None:
        """What neither the bot nor the link explains; less than 0 if they differ.

        Without what the bot reported nothing is explained.
        """
        if self.server_ms is None or self.think_ms is None:
            return None
        return self.server_ms - self.think_ms - (self.link_ms or 0)

    def text(self) -> str:
        """Return the row as columns under `HEADING`."""
        return "".join(
            f"{'-' if value is None else value:>{width}}"
            for value, width in zip(
                (
                    self.charged_ms,
                    self.server_ms,
                    self.think_ms,
                    self.link_ms,
                    self.rest_ms,
                    self.left_ms,
                ),
                _WIDTHS,
                strict=True,
            )
        )

    def data(self) -> dict[str, Any]:
        """Return the row as data."""
        return {
            "seat": self.seat,
            "charged_ms": self.charged_ms,
            "server_ms": self.server_ms,
            "think_ms": self.think_ms,
            "link_ms": self.link_ms,
            "rest_ms": self.rest_ms,
            "left_ms": self.left_ms,
        }


_WIDTHS: Final = (9, 8, 7, 6, 6, 9)

HEADING: Final = "".join(
    f"{name:>{width}}"
    for name, width in zip(
        ("charged", "server", "think", "link", "rest", "left"), _WIDTHS, strict=True
    )
)

#: Of each line of a summary: its heading, its name in data, what it is read from.
_PARTS: Final[tuple[tuple[str, str, Callable[[Row], int | None]], ...]] = (
    ("server", "server_ms", lambda row: row.server_ms),
    ("think", "think_ms", lambda row: row.think_ms),
    ("link", "link_ms", lambda row: row.link_ms),
    ("rest", "rest_ms", lambda row: row.rest_ms),
)


@frozen(kw_only=True)
class SeatTimes:
    """Where the time of one seat went.

    Args:
        seat: which.
        name: of the player.
        decisions: that it made itself.
        charged_ms: taken from its clock in all.
        others: how often it was charged for something else than a decision.
        others_ms: what that has taken, in all.
        figures: by name of the part; ``None`` where nothing is known.
    """

    seat: int
    name: str
    decisions: int
    charged_ms: int
    others: int = 0
    others_ms: int = 0
    figures: dict[str, Figures | None] = field(factory=dict)

    def data(self) -> dict[str, Any]:
        """Return them as data."""
        return {
            "seat": self.seat,
            "name": self.name,
            "decisions": self.decisions,
            "charged_ms": self.charged_ms,
            "other_charges": self.others,
            "other_charged_ms": self.others_ms,
            **{
                name: None if figures is None else figures.data_ms()
                for name, figures in self.figures.items()
            },
        }


class Ledger:
    """The times of a match.

    Args:
        record: of the match.

    Attributes:
        rows: the decisions that players made, and whatever else seats were charged
            for, by number of their event. What a seat was charged is all in its rows.
        seats: a summary for each.
        margin_ms: that deadlines had above the clock, and nobody was charged for.
    """

    def __init__(self, record: Record) -> None:
        header: Header = record.header
        self.margin_ms = header.terms.margin_ms
        self.rows = {row.number: row for row in _rows(record.events)}
        self.seats = [
            self._seat(seat, terms.player.name)
            for seat, terms in enumerate(header.seats)
        ]

    def _seat(self, seat: int, name: str) -> SeatTimes:
        rows = [row for row in self.rows.values() if row.seat == seat]
        others = [row.charged_ms for row in rows if not row.decision and row.charged_ms]
        return SeatTimes(
            seat=seat,
            name=name,
            decisions=sum(row.decision for row in rows),
            charged_ms=sum(row.charged_ms for row in rows),
            others=len(others),
            others_ms=sum(others),
            figures={
                part: Figures.of(
                    value for value in map(read, rows) if value is not None
                )
                for _, part, read in _PARTS
            },
        )

    def table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return headings and rows of the summary."""
        rows = []
        for one in self.seats:
            name = one.name if len(one.name) <= _NAME else f"{one.name[: _NAME - 3]}..."
            who = f"seat {one.seat} ({name})"
            for heading, part, _ in _PARTS:
                figures = one.figures[part]
                if figures is None:
                    continue
                numbers = (
                    figures.count,
                    figures.median,
                    figures.p95,
                    figures.most,
                    figures.total,
                )
                # Each time the link was measured it is the same link: no sum.
                shown = [f"{number:>7}" for number in numbers]
                if part == "link_ms":
                    shown[-1] = f"{'-':>7}"
                rows.append((who, heading, *shown))
                who = ""
            sums = [("charged", one.decisions + one.others, one.charged_ms)]
            if one.others:
                sums.insert(0, ("other", one.others, one.others_ms))
            for heading, count, total in sums:
                words = (str(count), "-", "-", "-", str(total))
                rows.append((who, heading, *(f"{word:>7}" for word in words)))
                who = ""
        columns = ("COUNT", "MEDIAN", "95 %", "MAX", "SUM")
        return ("TIMES IN MS", "", *(f"{name:>7}" for name in columns)), rows


def _rows(events: Iterable[RecordEvent]) -> Iterable[Row]:
    """Yield what there is to tell of the time of each event.

    The record tells of the link when it was measured anew; until then the seat's last
    measurement counts.
    """
    links: dict[int, int] = {}
    for number, event in enumerate(events):
        match event:
            case ActionTaken(source=Source.PLAYER):
                if event.round_trip_ms is not None:
                    links[event.seat] = event.round_trip_ms
                yield Row(
                    number=number,
                    seat=event.seat,
                    charged_ms=event.charged_ms,
                    server_ms=event.server_ms,
                    think_ms=event.think_ms,
                    link_ms=links.get(event.seat),
                    left_ms=event.left_ms,
                )
            case ActionTaken() | Ruling() | Resigned() | Paused() | Restarted() if (
                event.seat is not None and event.charged_ms
            ):
                yield Row(
                    number=number,
                    seat=event.seat,
                    charged_ms=event.charged_ms,
                    decision=False,
                    left_ms=event.left_ms if isinstance(event, Ruling) else None,
                )
