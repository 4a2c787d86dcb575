"""The person at the terminal, as a bot."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from rich.console import Console

from fritillary.bots.protocol import Ask, BaseBot, MatchStart, Resign
from fritillary.cli.output import looks_on
from fritillary.core.errors import InvalidActionError
from fritillary.core.outcome import Outcome
from fritillary.plugins.game import Game
from fritillary.plugins.table import normal
from fritillary.referee.seen import Acted, Drawn, GaveUp, Ruled

_HELP = (
    "Type an action as it is listed, or its number. Other words: "
    "[bold]legal[/bold] lists the actions, [bold]board[/bold] shows the board, "
    "[bold]resign[/bold] gives up, [bold]help[/bold] shows this."
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
        self._out = out or Console(highlight=False, soft_wrap=not looks_on())
        self._read = read or _typed
        self._seat = 0
        self._seats = 0
        self._board_rows = 0
        #: Draws the board as a seat sees it once the match has ended.
        self.position: Callable[[int], str] = lambda _: ""

    def start(self, info: MatchStart) -> None:
        """Greet the person."""
        self._seat, self._seats = info.seat, info.seats
        game = info.game.info
        self._out.print(f"[bold]{game.title}[/bold]: {game.summary}")
        self._out.print(f"You have seat {info.seat} of {info.seats}. {_HELP}")

    def decide(self, ask: Ask) -> Any:
        """Return the action that the person chooses."""
        self._show(ask)
        # Below the board: what is above it has left a small screen.
        for event in ask.events:
            self._tell(ask.game, event.body)
        self._list(ask, whole=False)
        while True:
            try:
                line = self._read("your action: ").strip()
            except EOFError:
                self._out.print("\nno more input: you resign")
                return Resign()
            word = normal(line)
            if word in {"help", "?"}:
                self._out.print(_HELP)
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
            self._out.print(f"Numbers go from 1 to {len(legal)}.")
            return None
        table = ask.game.table(ask.observation.options, self._seats)
        try:
            action = table.parse(word, legal)
        except InvalidActionError as error:
            self._out.print(f"{error}; 'legal' lists all actions", markup=False)
            return None
        if action in legal:
            return action
        self._out.print(ask.game.explain(ask.observation, action), markup=False)
        return None

    def _show(self, ask: Ask) -> None:
        board = ask.game.draw_text(ask.observation)
        self._board_rows = board.count("\n") + 1
        self._out.print()
        self._out.print(board, markup=False)

    def _list(self, ask: Ask, *, whole: bool) -> None:
        """List the legal actions, if asked for or if the board stays on the screen."""
        rows = _rows(
            [ask.game.format_action(action) for action in ask.legal],
            min(self._out.width, _WIDEST),
        )
        most = _FEW_ROWS
        if self._out.is_terminal:
            most = self._out.height - self._board_rows - _OTHER_ROWS
        if len(rows) > most and not whole:
            self._out.print(f"{len(ask.legal)} legal actions; 'legal' lists them")
            return
        for row in rows:
            self._out.print(row, markup=False)

    def _tell(self, game: Game[Any, Any, Any], body: object) -> None:
        match body:
            case Acted(seat=seat, action=action) if seat != self._seat:
                text = f"seat {seat} plays {game.format_action(action)}"
            case Drawn(action=action):
                text = f"chance: {game.format_action(action)}"
            case Ruled(seat=seat, problem=problem):
                text = f"ruling on seat {seat}: {problem.message}"
            case GaveUp(seat=seat):
                text = f"seat {seat} resigns"
            case _:
                return
        self._out.print(text, markup=False, style="bold")

    def end(self, outcome: Outcome | None) -> None:
        """Show the last board and tell the person how it ended."""
        board = self.position(self._seat)
        if board:
            self._out.print()
            self._out.print(board, markup=False)
        if outcome is None:
            self._out.print("The match does not count.")
        elif outcome.winners == (self._seat,):
            self._out.print(f"[bold green]You win[/bold green] ({outcome.reason}).")
        elif self._seat in outcome.winners:
            self._out.print(f"You share the first place ({outcome.reason}).")
        else:
            place = outcome.placing[self._seat]
            self._out.print(f"You lose: place {place} ({outcome.reason}).")


def _typed(prompt: str) -> str:
    """Return the next line of input; one from a pipe is shown like a typed one."""
    line = input(prompt)
    if not sys.stdin.isatty():
        print(line)
    return line


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
