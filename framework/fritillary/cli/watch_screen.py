"""A match that is watched on a terminal: lines above, the board redrawn below."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import Final

from rich.cells import cell_len
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from fritillary.cli.output import many_lines, styled
from fritillary.cli.painting import Painter
from fritillary.cli.servers import lost_text
from fritillary.cli.watched import Watched
from fritillary_client import ArenaError, MatchView
from fritillary_client.matches import Update

#: So many rows of the terminal stay for the lines above the board: as a rule, and for
#: a board that needs more.
_ROWS_ABOVE: Final = 3
_LEAST_ABOVE: Final = 1

#: A board is never cut to fewer rows.
_FEWEST_ROWS: Final = 4

#: Between two looks at the clocks, in seconds: a part of a second that a person takes
#: for even; and the least between two frames.
_TICK_S: Final = 0.2
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
        self._drawn: MatchView | None = None
        self._picture = ""
        self._lost_until: float | None = None
        self._news = asyncio.Event()
        self._over = False
        self._shown: list[str] = []

    # ------------------------------------------------------------- what is told

    def told(self, update: Update) -> None:
        """Show what spectators are told."""
        watched = self._watched
        if self._lost_until is not None:
            self._lost_until = None
            self._line("      the link is back", "dim")
        for line in watched.take(update):
            self._line(line, "dim" if watched.catching_up else "")
        self._news.set()

    def lost(self, error: ArenaError, wait_s: float) -> None:
        """Show that the link was lost, and until when it rests."""
        self._watched.lose()
        if self._lost_until is None:
            self._line(f"      {lost_text(error)}", "red")
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
                    async with asyncio.timeout(_TICK_S):
                        await self._news.wait()

    def _refresh(self, live: Live) -> None:
        rows = self._rows(self._out.width, self._out.height)
        plain = [row.markup for row in rows]
        if not self._lines and plain == self._shown:
            return
        self._shown = plain
        live.update(Group(*rows))
        # All in one go, so that nobody sees lines of which the board knows nothing.
        with self._out:
            if self._lines:
                lines, self._lines = self._lines, []
                live.console.print(Text("\n").join(lines))
            live.refresh()

    def _rows(self, width: int, height: int) -> list[Text]:
        """Return what is redrawn, row by row, so that it fits the terminal."""
        if self._watched.result is not None:
            board = [_fitted(Text(row), width) for row in self._board()]
            return [*board, styled(self._watched.end_line(), style="bold")]
        head = [self._heading(width)]
        seats = [self._seat(seat) for seat in range(len(self._watched.names))]
        room = height - len(head) - len(seats)
        board = [Text(row) for row in self._board()]
        full = sum(bool(row.plain.strip()) for row in board)
        above = _LEAST_ABOVE if full > room - _ROWS_ABOVE else _ROWS_ABOVE
        board = cut_to(board, max(_FEWEST_ROWS, room - above))
        return [_fitted(row, width) for row in (*head, *board, *seats)]

    def _board(self) -> list[str]:
        view = self._watched.view
        if view is not self._drawn and view is not None:
            self._drawn = view
            self._picture = self._painter.picture(view) or self._picture
        return many_lines(self._picture).rstrip().split("\n") if self._picture else []

    def _heading(self, width: int) -> Text:
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

    def _seat(self, seat: int) -> Text:
        watched = self._watched
        acts = seat in watched.acting
        who = f"seat {seat} ({watched.names[seat]})"
        wide = max(len(f"seat {n} ({name})") for n, name in enumerate(watched.names))
        away = watched.away_text(seat)
        parts, short = watched.clock_texts(seat)
        style = "bold" if acts else ""
        row = styled(("> " if acts else "  ", "bold"), (f"{who:{wide}}", style))
        if parts:
            clock = "   ".join(f"{part:>7}" for part in parts)
            row += styled("  ", (clock, "bold red" if short else style))
        elif acts and not away:
            minutes, seconds = divmod(watched.since_told_ms() // 1000, 60)
            spent = f"{minutes}:{seconds:02}" if minutes else f"{seconds} s"
            row += styled("  ", (f"thinks for {spent}", "dim"))
        if away:
            row += styled("  ", (away, "yellow"))
        return row


def _fitted(row: Text, width: int) -> Text:
    """Return a row that does not reach into the next one."""
    row.no_wrap = True
    row.truncate(width, overflow="ellipsis")
    return row


def cut_to(rows: list[Text], most: int) -> list[Text]:
    """Return rows that are not too many: without empty ones, then without the last.

    Args:
        rows: of a picture.
        most: that there is room for.
    """
    if len(rows) <= most:
        return rows
    full = [row for row in rows if row.plain.strip()]
    if len(full) <= most:
        # Of the empty rows the first ones stay as long as there is room.
        spare = most - len(full)
        kept = []
        for row in rows:
            if row.plain.strip():
                kept.append(row)
            elif spare:
                spare -= 1
                kept.append(row)
        return kept
    left_out = len(full) - most + 1
    note = Text(f"({left_out} more rows; a higher window shows them)", style="dim")
    return [*full[: most - 1], note]
