"""A match that is watched on a terminal: lines above, the board redrawn below."""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections import deque
from collections.abc import Sequence
from typing import Final

from rich.cells import cell_len
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from fritillary.cli.output import cut_to, many_lines, styled
from fritillary.cli.painting import Painter
from fritillary.cli.redrawn import TICK_S, Size
from fritillary.cli.servers import lost_text
from fritillary.cli.watched import NO_PLY, Watched, found_text
from fritillary_client import ArenaError, MatchView
from fritillary_client.matches import Update

#: So many rows of the terminal stay for the lines above the board: as a rule, and for
#: a board that needs more.
_ROWS_ABOVE: Final = 3
_LEAST_ABOVE: Final = 1

#: Rows of the heading.
_HEADING: Final = 1

#: Before a seat that is to act.
_ACTS: Final = "> "

#: Blanks between seats that stand side by side, and between the parts of a clock.
_GAP: Final = 3

#: So many lines are kept, to be shown again above the board.
_KEPT_LINES: Final = 200

#: The least between two frames, in seconds.
_FRAME_S: Final = 0.06

_STYLES: Final = {
    "running": "green",
    "waiting": "yellow",
    "paused": "yellow",
    "offered": "yellow",
    "preparing": "yellow",
}


class TerminalOutput:
    """Shows one match on a terminal.

    Args:
        out: the terminal.
        watched: what is known of the match.
        painter: draws the board.
    """

    def __init__(self, out: Console, watched: Watched, painter: Painter) -> None:
        self._out = out
        self._watched = watched
        self._painter = painter
        self._lines: list[Text] = []
        self._told: deque[Text] = deque(maxlen=_KEPT_LINES)
        self._size = Size(out)
        self._drawn: MatchView | None = None
        self._picture = ""
        self._lost_until: float | None = None
        self._news = asyncio.Event()
        self._over = False
        self._shown: list[str] = []
        self._found = ""
        self._line(f"{NO_PLY}{watched.title()}", "bold")

    # ------------------------------------------------------------- what is told

    def told(self, update: Update) -> None:
        """Show what spectators are told."""
        watched = self._watched
        if self._lost_until is not None:
            self._lost_until = None
            self._line(f"{NO_PLY}{self._found}", "dim")
        for line in watched.take(update):
            self._line(line, "dim" if watched.catching_up else "")
        self._news.set()

    def lost(self, error: ArenaError, wait_s: float) -> None:
        """Show that the link was lost, and until when it rests."""
        self._watched.lose()
        if self._lost_until is None:
            self._found = found_text(error)
            self._line(f"{NO_PLY}{lost_text(error)}", "red")
        self._lost_until = time.monotonic() + wait_s
        self._news.set()

    def close(self) -> None:
        """Let the last frame be the last."""
        self._over = True
        self._news.set()

    def _line(self, line: str, style: str) -> None:
        self._lines.append(styled(line, style=style))

    # ---------------------------------------------------------------- the screen

    async def show(self) -> None:
        """Show frames until the end; the last one stays."""
        with Live(
            console=self._out,
            auto_refresh=False,
            vertical_overflow="crop",
            redirect_stdout=False,
            redirect_stderr=False,
        ) as live:
            while True:
                self._news.clear()
                over = self._over
                self._refresh(live)
                if over:
                    return
                await asyncio.sleep(_FRAME_S)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(TICK_S):
                        await self._news.wait()

    def _refresh(self, live: Live) -> None:
        """Show what is new, or all of it where the terminal has another size."""
        size = self._out.size
        rows = self._rows(*size)
        plain = [row.markup for row in rows]
        if size == self._size.known and not self._lines and plain == self._shown:
            return
        self._shown = plain
        lines, self._lines = self._lines, []
        self._told.extend(lines)
        if self._size.wiped(size):
            lines = newest(self._told, size.height - len(rows), size.width)
        # All in one go, so that nobody sees lines of which the board knows nothing. The
        # board is first: lines are put above the one that was drawn last, and one that
        # was larger than the terminal is now would push them out.
        with self._out:
            live.update(Group(*rows), refresh=True)
            if lines:
                live.console.print(Text("\n").join(lines))

    def _rows(self, width: int, height: int) -> list[Text]:
        """Return what is redrawn, row by row, so that it fits the terminal."""
        if self._watched.result is not None:
            board = [_fitted(Text(row), width) for row in self._board()]
            ended = styled(self._watched.end_line(), style="bold")
            return [*board, *ended.wrap(self._out, width)]
        seats = self._seats(width)
        if len(seats) + _HEADING + _LEAST_ABOVE >= height:
            seats = self._seats(width, fold=False)
        board = [Text(row) for row in self._board()]
        full = sum(bool(row.plain.strip()) for row in board)
        if full + len(seats) + _HEADING + _LEAST_ABOVE > height:
            seats = beside(seats, width)
        room = height - _HEADING - len(seats)
        above = _LEAST_ABOVE if full > room - _ROWS_ABOVE else _ROWS_ABOVE
        board = cut_to(board, max(1, room - above))
        hidden = max(0, full - len(board))
        head = self._heading(width, hidden)
        return [_fitted(row, width) for row in (head, *board, *seats)]

    def _board(self) -> list[str]:
        view = self._watched.view
        if view is not self._drawn and view is not None:
            self._drawn = view
            self._picture = self._painter.picture(view) or self._picture
        return many_lines(self._picture).rstrip().split("\n") if self._picture else []

    def _heading(self, width: int, hidden: int) -> Text:
        """Return the row above the board.

        Args:
            width: of the terminal.
            hidden: rows of the board for which there is no room.
        """
        watched = self._watched
        status = watched.status
        phase = status.phase if status is not None else watched.match.phase
        told = watched.phase_text()
        if status is not None and status.waiting_for:
            told = f"waiting for seat {' and '.join(map(str, status.waiting_for))}"
        tail = styled(f"  ply {watched.ply}  ", (told, _STYLES.get(phase, "")), " ")
        if self._lost_until is not None:
            left = max(0.0, self._lost_until - time.monotonic())
            when = f"next try in {left:.0f} s" if left >= 1 else "trying again"
            tail = styled("  ", (f"no link; {when}", "bold red"), " ")
        if hidden:
            rows = "row" if hidden == 1 else "rows"
            tail += styled((f" {hidden} {rows} hidden ", "dim"))
        names = styled(
            ("-- ", "dim"),
            (watched.match.full_id, "bold"),
            f"  {watched.match.match_id}",
        )
        # Where the match is counts more than what it is called.
        room = max(8, width - cell_len(tail.plain))
        names.truncate(room, overflow="ellipsis")
        heading = names + tail
        rest = width - cell_len(heading.plain)
        return heading + Text("-" * max(0, rest), style="dim")

    def _seats(self, width: int, *, fold: bool = True) -> list[Text]:
        """Return the rows of the seats.

        Where they have no room, names are cut in favour of clocks, and of nothing
        else; then what stands behind a seat goes below it.

        Args:
            width: of the terminal.
            fold: whether a seat may take more than one row.
        """
        watched = self._watched
        seats = range(len(watched.names))
        tails = [self._tail(seat) for seat in seats]
        names = [styled(f"seat {n} ({name})") for n, name in enumerate(watched.names)]
        clocks = [self._joined(self._clock(seat)) for seat in seats]
        taken = max((clock.cell_len for clock in clocks), default=0)
        least = max((len(f"seat {seat}") for seat in seats), default=0)
        wide = max((name.cell_len for name in names), default=0)
        wide = min(wide, max(least, width - len(_ACTS) - taken))
        rows = []
        for seat, (name, tail) in enumerate(zip(names, tails, strict=True)):
            acts = seat in watched.acting
            style = "bold" if acts else ""
            row = styled((_ACTS if acts else " " * len(_ACTS), "bold"))
            behind = self._joined(tail)
            apart = fold and len(_ACTS) + wide + behind.cell_len > width
            room = width - len(_ACTS) if apart else wide
            name.truncate(room, overflow="ellipsis", pad=not apart)
            name.stylize(style)
            row += name
            if not apart:
                row += behind
            rows.append(row)
            if apart:
                rows += _below(tail, width)
        return rows

    def _tail(self, seat: int) -> list[Text]:
        """Return what stands behind a seat: its clock, what it does."""
        watched = self._watched
        away = watched.away_text(seat)
        tail = self._clock(seat)
        if not tail and seat in watched.acting and not away:
            tail.append(styled((watched.thinks_text(), "dim")))
        if away:
            tail.append(styled((away, "yellow")))
        return tail

    def _clock(self, seat: int) -> list[Text]:
        """Return the parts of the clock of a seat; none where it has no clock."""
        parts, short = self._watched.clock_texts(seat)
        style = "bold" if seat in self._watched.acting else ""
        return [
            styled((f"{part:>7}", "bold red" if short else style)) for part in parts
        ]

    @staticmethod
    def _joined(tail: list[Text]) -> Text:
        return Text("  ") + Text(" " * _GAP).join(tail) if tail else Text()


def _below(parts: list[Text], width: int) -> list[Text]:
    """Return rows of parts, as many in one as there is room for, none of them cut.

    Args:
        parts: of what stands behind a seat.
        width: of the terminal.
    """
    margin = " " * (2 * len(_ACTS))
    rows: list[Text] = []
    for part in parts:
        kept = part[len(part.plain) - len(part.plain.lstrip()) :]
        if rows and rows[-1].cell_len + _GAP + kept.cell_len <= width:
            rows[-1].pad_right(_GAP)
            rows[-1] += kept
            continue
        lines = kept.wrap(Console(), max(1, width - len(margin)))
        rows += [Text(margin) + line for line in lines]
    return rows


def _fitted(row: Text, width: int) -> Text:
    """Return a row that does not reach into the next one."""
    row.no_wrap = True
    row.truncate(width, overflow="ellipsis")
    return row


def newest(lines: Sequence[Text], most: int, width: int) -> list[Text]:
    """Return the last lines, as many as there is room for.

    Args:
        lines: of any width; the terminal breaks those that are too long.
        most: rows that there is room for.
        width: of the terminal.
    """
    kept: list[Text] = []
    for line in reversed(lines):
        most -= max(1, math.ceil(line.cell_len / width))
        if most < 0:
            break
        kept.insert(0, line)
    return kept


def beside(rows: list[Text], width: int) -> list[Text]:
    """Return rows side by side, as many as there is room for.

    Args:
        rows: of seats.
        width: of the terminal.
    """
    wide = max((row.cell_len for row in rows), default=0)
    columns = max(1, (width + _GAP) // (wide + _GAP))
    joined = []
    for start in range(0, len(rows), columns):
        line = Text()
        for row in rows[start : start + columns]:
            if line:
                line.pad_right(_GAP)
            line += row
            line.pad_right(wide - row.cell_len)
        line.rstrip()
        joined.append(line)
    return joined
