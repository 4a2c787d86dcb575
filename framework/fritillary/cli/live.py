"""A match as it goes on: the board redrawn in place, or a line for each move."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator

from attrs import frozen
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from fritillary.cli.lines import body_text, finish_text
from fritillary.referee.match import Match
from fritillary.referee.seen import Acted, Drawn, Finish, MatchResult, SeatEvent

__all__ = ["LiveMatch", "Screen", "body_text", "finish_text"]


@frozen
class _Frame:
    """One moment: a line on what happened, and the board after it."""

    line: str
    picture: str | None
    past: bool


class Screen:
    """Shows frame after frame, at a pace that a person can follow.

    Where nobody looks on there is no pace, a line for each move, and the last board.

    Args:
        out: where to show.
        pace_s: least time between two moves on the screen.
        board: redraw the board in place, else print a line for each move.

    Attributes:
        picture: the board of the last frame.
    """

    def __init__(
        self, out: Console, *, pace_s: float = 0.0, board: bool = True
    ) -> None:
        self.picture: str | None = None
        self._out = out
        self._pace_s = pace_s if out.is_terminal else 0.0
        self._board = board and out.is_terminal
        self._frames: deque[_Frame] = deque()
        self._news = asyncio.Event()
        self._over = False

    def add(self, ply: int, line: str, *, past: bool = False) -> None:
        """Show what happened, with the board as it is now.

        Args:
            ply: plies up to and including this.
            line: what happened.
            past: it was over before the board could be seen; it gets its line only.
        """
        self._frames.append(_Frame(f"{ply:4}  {line}", self.picture, past))
        self._news.set()

    def close(self) -> None:
        """End when all is shown."""
        self._over = True
        self._news.set()

    async def show(self) -> None:
        """Show frames until the end."""
        if self._board:
            with Live(console=self._out, auto_refresh=False, transient=True) as live:
                async for frame in self._paced():
                    line = Text(frame.line, style="bold")
                    if frame.past:
                        live.console.print(Text(frame.line))
                    else:
                        board = Text(frame.picture or "")
                        live.update(Group(board, Text(), line), refresh=True)
        else:
            async for frame in self._paced():
                self._out.print(Text(frame.line))
        if self.picture is not None:
            self._out.print(Text(self.picture))

    async def _paced(self) -> AsyncIterator[_Frame]:
        shown = 0.0
        while True:
            while self._frames:
                frame = self._frames.popleft()
                wait = shown + self._pace_s - time.monotonic()
                if wait > 0 and not frame.past:
                    await asyncio.sleep(wait)
                shown = time.monotonic()
                yield frame
            if self._over:
                return
            self._news.clear()
            await self._news.wait()


class LiveMatch(Screen):
    """Watches a match of this process.

    Args:
        match: to watch; its game draws the pictures, as spectators see them.
        out: see `Screen`.
        pace_s: see `Screen`.
        board: see `Screen`.
    """

    def __init__(
        self, match: Match, out: Console, *, pace_s: float = 0.0, board: bool = True
    ) -> None:
        super().__init__(out, pace_s=pace_s, board=board)
        self._match = match
        self._names = [player.info.name for player in match.setup.players]
        match.teller.watch(self)

    def on_event(self, event: SeatEvent) -> None:
        """Keep what is to be shown."""
        match = self._match
        if match.state is not None and isinstance(event.body, (Acted, Drawn, Finish)):
            observation = match.teller.spectator.observation(match.state)
            self.picture = match.game.draw_text(observation)
        self.add(event.ply, body_text(match.game, self._names, event.body))

    def on_end(self, result: MatchResult) -> None:
        """Stop when all is shown."""
        self.close()
