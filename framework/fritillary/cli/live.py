"""A match as it goes on: the board redrawn in place, or a line for each move."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import AsyncIterator
from typing import Final

from attrs import frozen
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from fritillary.cli.asked import picture_or_why
from fritillary.cli.lines import body_text, finish_text
from fritillary.cli.logs import said
from fritillary.cli.output import drawn, styled
from fritillary.cli.redrawn import TICK_S, Size
from fritillary.referee.match import Match
from fritillary.referee.seen import Acted, Drawn, Finish, MatchResult, SeatEvent

__all__ = ["LiveMatch", "Screen", "body_text", "finish_text"]

#: After these the position is another one.
_MOVES: Final = (Acted, Drawn, Finish)


@frozen
class _Frame:
    """One moment: a line on what happened, and the board after it."""

    line: str
    picture: str | None


class Screen:
    """Shows frame after frame, at a pace that a person can follow.

    Where nobody looks on there is no pace, a line for each move, and the last board.

    Args:
        out: where to show.
        pace_s: least time between two moves on the screen.
        board: redraw the board in place, else print a line for each move.
        whole_s: the pace grows so that no more time than this is spent on pauses.

    Attributes:
        picture: the board of the last frame.
    """

    def __init__(
        self,
        out: Console,
        *,
        pace_s: float = 0.0,
        board: bool = True,
        whole_s: float = math.inf,
    ) -> None:
        self.picture: str | None = None
        self._out = out
        self._pace_s = pace_s if out.is_terminal else 0.0
        self._until = time.monotonic() + whole_s
        self._board = board and out.is_terminal
        self._frames: deque[_Frame] = deque()
        self._news = asyncio.Event()
        self._over = False
        self._size = Size(out)
        self._shown: _Frame | None = None

    def add(self, ply: int, line: str) -> None:
        """Show what happened, with the board as it is now.

        Args:
            ply: plies up to and including this.
            line: what happened.
        """
        self._frames.append(_Frame(f"{ply:4}  {line}", self.picture))
        self._news.set()

    def close(self) -> None:
        """End when all is shown."""
        self._over = True
        self._news.set()

    async def show(self) -> None:
        """Show frames until the end."""
        if self._board:
            with Live(console=self._out, auto_refresh=False, transient=True) as live:
                sizing = asyncio.ensure_future(self._follow_size(live))
                try:
                    async for frame in self._paced():
                        self._shown = frame
                        self._draw(live)
                    if self._size.changed:
                        self._draw(live)
                finally:
                    sizing.cancel()
                    await asyncio.gather(sizing, return_exceptions=True)
        else:
            async for frame in self._paced():
                self._out.print(styled(frame.line))
        if self.picture is not None:
            self._out.print(drawn(self.picture, self._out))

    async def _follow_size(self, live: Live) -> None:
        """Draw anew what is shown whenever the terminal takes another size."""
        while True:
            await asyncio.sleep(TICK_S)
            if self._size.changed:
                self._draw(live)

    def _draw(self, live: Live) -> None:
        """Show the newest frame: the board, an empty row, and what happened.

        All of it has room: what happened takes at most half of the rows, and the board
        the rest.
        """
        frame = self._shown
        if frame is None:
            return
        size = self._out.size
        self._size.wiped(size)
        width, height = size
        told = styled(frame.line, style="bold").wrap(self._out, width)
        below = [Text(), *told[: max(1, height // 2)]]
        board = drawn(frame.picture or "", self._out, height - len(below))
        rows = [*board.split("\n", allow_blank=True), *below]
        live.update(Group(*rows[-height:]), refresh=True)

    async def _paced(self) -> AsyncIterator[_Frame]:
        shown = 0.0
        while True:
            while self._frames:
                frame = self._frames.popleft()
                now = time.monotonic()
                left = max(0.0, self._until - now)
                pace = min(self._pace_s, left / (len(self._frames) + 1))
                wait = shown + pace - now
                if wait > 0:
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
        whole_s: see `Screen`.
    """

    def __init__(
        self,
        match: Match,
        out: Console,
        *,
        pace_s: float = 0.0,
        whole_s: float = math.inf,
    ) -> None:
        super().__init__(out, pace_s=pace_s, whole_s=whole_s)
        self._match = match
        self._names = [player.info.name for player in match.setup.players]
        match.teller.watch(self)

    def on_event(self, event: SeatEvent) -> None:
        """Keep what is to be shown."""
        match = self._match
        try:
            if match.state is not None and isinstance(event.body, _MOVES):
                observation = match.teller.spectator.observation(match.state)
                self.picture = picture_or_why(match.game, observation)
            line = body_text(match.game, self._names, event.body)
        except Exception as error:  # noqa: BLE001 - a stranger's rules
            line = f"(the game failed to tell: {said(error)})"
        self.add(event.ply, line)

    def on_end(self, result: MatchResult) -> None:
        """Stop when all is shown."""
        self.close()
