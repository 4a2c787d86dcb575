"""A match as it goes on: the board redrawn in place, or a line for each move."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from fritillary.plugins.game import Game
from fritillary.record.terms import Source, clip
from fritillary.referee.match import Match
from fritillary.referee.seen import (
    Acted,
    Body,
    Drawn,
    Finish,
    GaveUp,
    Halted,
    MatchResult,
    Ruled,
    SeatEvent,
    WentOn,
)


def body_text(game: Game[Any, Any, Any], names: list[str], body: Body) -> str:
    """Return one line on what happened.

    Args:
        game: the rules.
        names: of the players, by seat.
        body: as a spectator sees it.
    """
    match body:
        case Acted(seat=seat, action=action, source=source):
            how = "" if source is Source.PLAYER else f" ({source.value})"
            return f"{_who(names, seat)}: {game.format_action(action)}{how}"
        case Drawn(action=action):
            return f"chance: {game.format_action(action)}"
        case Ruled(seat=seat, fault=fault, consequence=consequence, problem=problem):
            who = "" if seat is None else f"{_who(names, seat)}: "
            return (
                f"ruling: {who}{fault.value} -> {consequence.value} ({problem.message})"
            )
        case GaveUp(seat=seat):
            return f"{_who(names, seat)} resigns"
        case Halted(message=message):
            return f"paused {clip(message, 200)}"
        case WentOn():
            return "resumed"
        case Finish():
            return finish_text(names, body)


def finish_text(names: list[str], finish: Finish) -> str:
    """Return how a match ended, in one line."""
    outcome = finish.outcome
    if outcome is None:
        return f"{finish.kind.value}: {finish.message}"
    who = " and ".join(_who(names, seat) for seat in outcome.winners)
    won = f"won by {who}" if len(outcome.winners) < len(names) else "a draw"
    scores = " : ".join(map(str, outcome.scores))
    why = f" ({finish.message})" if finish.message else f", {outcome.reason}"
    return f"{finish.kind.value}: {won}, {scores}{why}"


def _who(names: list[str], seat: int) -> str:
    return f"seat {seat} ({names[seat]})"


class LiveMatch:
    """Watches one match and shows it at a pace that a person can follow.

    Where nobody looks on there is no pace, a line for each move, and the last board.

    Args:
        match: to watch; its game draws the pictures, as spectators see them.
        out: where to show.
        pace_s: least time between two moves on the screen.
        board: redraw the board in place, else print a line for each move.
    """

    def __init__(
        self, match: Match, out: Console, *, pace_s: float = 0.0, board: bool = True
    ) -> None:
        self._match = match
        self._out = out
        self._pace_s = pace_s if out.is_terminal else 0.0
        self._board = board and out.is_terminal
        self._names = [player.info.name for player in match.setup.players]
        self._frames: deque[tuple[str, str | None]] = deque()
        self._news = asyncio.Event()
        self._over = False
        self.picture: str | None = None
        match.teller.watch(self)

    def on_event(self, event: SeatEvent) -> None:
        """Keep what is to be shown."""
        match = self._match
        if match.state is not None and isinstance(event.body, (Acted, Drawn, Finish)):
            observation = match.teller.spectator.observation(match.state)
            self.picture = match.game.draw_text(observation)
        line = body_text(match.game, self._names, event.body)
        self._frames.append((f"{event.ply:4}  {line}", self.picture))
        self._news.set()

    def on_end(self, result: MatchResult) -> None:
        """Stop when all is shown."""
        self._over = True
        self._news.set()

    async def show(self) -> None:
        """Show the match until its end."""
        if self._board:
            with Live(console=self._out, auto_refresh=False, transient=True) as live:
                async for line, picture in self._paced():
                    text = Text(picture or "")
                    live.update(Group(text, Text(""), Text(line, style="bold")))
                    live.refresh()
        else:
            async for line, _ in self._paced():
                self._out.print(Text(line))
        if self.picture is not None:
            self._out.print(Text(self.picture))

    async def _paced(self) -> Any:
        shown = 0.0
        while True:
            while self._frames:
                wait = shown + self._pace_s - time.monotonic()
                if wait > 0:
                    await asyncio.sleep(wait)
                shown = time.monotonic()
                yield self._frames.popleft()
            if self._over:
                return
            self._news.clear()
            await self._news.wait()
