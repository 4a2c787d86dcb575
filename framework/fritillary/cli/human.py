"""The person at the terminal, as a bot."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any, Final

from rich.console import Console

from fritillary.bots.protocol import Ask, BaseBot, MatchStart, Resign
from fritillary.cli.asked import notation, picture_or_why
from fritillary.cli.logs import said
from fritillary.cli.output import (
    Part,
    console,
    drawn,
    looks_on,
    one_line,
    styled,
)
from fritillary.core.errors import InvalidActionError
from fritillary.core.outcome import Outcome
from fritillary.plugins.game import Game
from fritillary.plugins.table import normal
from fritillary.referee.seen import Acted, Drawn, GaveUp, Ruled

_HELP: Final[tuple[Part, ...]] = (
    "Type an action as it is listed, or its number. Other words: ",
    *(("legal", "bold"), " lists the actions, "),
    *(("board", "bold"), " shows the board, "),
    *(("resign", "bold"), " gives up, "),
    *(("help", "bold"), " shows this."),
)

#: Rows of a list that are shown unasked where no screen has to hold them.
_FEW_ROWS = 6

#: Rows that a screen must have besides board and list: news, the prompt, and what is
#: typed there.
_OTHER_ROWS = 4

#: A list is no wider than this, since eyes have to cross it.
_WIDEST = 100


class HumanBot(BaseBot):
    """Shows the board, reads an action, says what is wrong with it.

    Args:
        out: where to show.
        read: reads a line after a prompt; ``EOFError`` means there are no more.
    """

    def __init__(
        self, out: Console | None = None, read: Callable[[str], str] | None = None
    ) -> None:
        self._out = out or console(wrap=True)
        self._read = read or _typed
        self._seat = 0
        self._seats = 0
        self._board_rows = 0
        #: Draws the board as a seat sees it once the match has ended.
        self.position: Callable[[int], str] = lambda _: ""
        #: What went wrong with showing or reading.
        self.failure: BaseException | None = None

    def start(self, info: MatchStart) -> None:
        """Greet the person."""
        self._seat, self._seats = info.seat, info.seats
        game = info.game.info
        with self._noting():
            self._say((game.title, "bold"), f": {game.summary}")
            self._say(f"You have seat {info.seat} of {info.seats}. ", *_HELP)

    def decide(self, ask: Ask) -> Any:
        """Return the action that the person chooses."""
        with self._noting():
            return self._decide(ask)

    @contextlib.contextmanager
    def _noting(self) -> Iterator[None]:
        """Keep what goes wrong, since the referee asks no further than that it did."""
        try:
            yield
        except BaseException as error:
            self.failure = error
            raise

    def _say(self, *parts: Part, style: str = "") -> None:
        self._out.print(styled(*parts, style=style))

    def _decide(self, ask: Ask) -> Any:
        self._show(ask)
        # Below the board: what is above it has left a small screen.
        for event in ask.events:
            self._tell(ask.game, event.body)
        self._list(ask, whole=False)
        while True:
            try:
                line = self._read("your action: ").strip()
            except EOFError:
                self._out.print()
                self._say("no more input: you resign")
                return Resign()
            word = normal(line)
            if word in {"help", "?"}:
                self._say(*_HELP)
            elif word == "board":
                self._show(ask)
            elif word == "legal":
                self._list(ask, whole=True)
            elif word in {"resign", "quit"}:
                return Resign()
            elif word:
                action = self._action(ask, word)
                if action is not None:
                    return action

    def _action(self, ask: Ask, word: str) -> Any:
        """Return the legal action of a word, or say why there is none."""
        legal = ask.legal
        if word.isdecimal() and len(word) < 6:
            if 1 <= int(word) <= len(legal):
                return legal[int(word) - 1]
            self._say(f"Numbers go from 1 to {len(legal)}.")
            return None
        table = ask.game.table(ask.observation.options, self._seats)
        try:
            action = table.parse(word, legal)
        except InvalidActionError as error:
            self._say(f"{error}; 'legal' lists all actions")
            return None
        if action in legal:
            return action
        try:
            why = str(ask.game.explain(ask.observation, action))
        except Exception as error:  # noqa: BLE001 - a stranger's rules
            why = f"that is not legal ({said(error)})"
        self._say(why)
        return None

    def _show(self, ask: Ask) -> None:
        picture = drawn(picture_or_why(ask.game, ask.observation), self._out)
        self._board_rows = picture.plain.count("\n") + 1
        self._out.print()
        self._out.print(picture)

    def _list(self, ask: Ask, *, whole: bool) -> None:
        """List the legal actions, if asked for or if the board stays on the screen."""
        rows = _rows(
            [one_line(notation(ask.game, action)) for action in ask.legal],
            min(self._out.width, _WIDEST),
        )
        most = _FEW_ROWS
        if self._out.is_terminal:
            most = self._out.height - self._board_rows - _OTHER_ROWS
        if len(rows) > most and not whole:
            self._say(f"{len(ask.legal)} legal actions; 'legal' lists them")
            return
        for row in rows:
            self._say(row)

    def _tell(self, game: Game[Any, Any, Any], body: object) -> None:
        match body:
            case Acted(seat=seat, action=action) if seat != self._seat:
                text = f"seat {seat}: {notation(game, action)}"
            case Drawn(action=action):
                text = f"chance: {notation(game, action)}"
            case Ruled(seat=seat, problem=problem):
                text = f"ruling on seat {seat}: {problem.message}"
            case GaveUp(seat=seat):
                text = f"seat {seat} resigns"
            case _:
                return
        self._say(text, style="bold")

    def end(self, outcome: Outcome | None) -> None:
        """Show the last board and tell the person how it ended."""
        picture = self.position(self._seat)
        if picture:
            self._out.print()
            self._out.print(drawn(picture, self._out))
        if outcome is None:
            self._say("The match does not count.")
        elif outcome.winners == (self._seat,):
            self._say(("You win", "bold green"), f" ({outcome.reason}).")
        elif self._seat in outcome.winners:
            self._say(f"You share the first place ({outcome.reason}).")
        else:
            place = outcome.placing[self._seat]
            self._say(f"You lose: place {place} ({outcome.reason}).")


#: Read from a pipe and not yet asked for; all who play here share it.
_pending = bytearray()


def _typed(prompt: str) -> str:
    """Return the next line of input; one from a pipe is shown like a typed one."""
    if sys.stdin.isatty() and looks_on():
        return input(prompt)
    print(prompt, end="", flush=True)
    line = _next_line()
    if not sys.stdin.isatty():
        print(one_line(line), flush=True)
    return line


def _next_line() -> str:
    """Return the next line of a pipe.

    A thread that waits in ``sys.stdin`` itself would keep Python from leaving.

    Raises:
        EOFError: if there is none.
    """
    while b"\n" not in _pending:
        more = os.read(sys.stdin.fileno(), 4096)
        if not more:
            break
        _pending.extend(more)
    if not _pending:
        raise EOFError
    line, _, rest = bytes(_pending).partition(b"\n")
    _pending[:] = rest
    return line.decode("utf-8", "replace")


def _rows(texts: list[str], width: int) -> list[str]:
    """Return numbered texts in columns, to be read row by row."""
    digits = len(str(len(texts)))
    cells = [f"{number:{digits}}) {text}" for number, text in enumerate(texts, 1)]
    wide = max(map(len, cells)) + 3
    columns = max(1, (width + 3) // wide)
    return [
        "".join(cell.ljust(wide) for cell in cells[start : start + columns]).rstrip()
        for start in range(0, len(cells), columns)
    ]
