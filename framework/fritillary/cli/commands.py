"""What commands there are. The module of a command is imported when it is called.

The help of the program names them all, and importing them all would take longer than
most of them run.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final, NoReturn

import typer
from typer.core import TyperCommand
from typer.main import get_command, get_group

from fritillary.cli.helps import tidied
from fritillary.cli.once import said_once

#: Commands in the order of the help, with the first line of their own.
COMMANDS: Final = {
    "games": "List the installed games and variants.",
    "game": "Tell all about one game: options, bots, actions, schemas.",
    "play": "Play against bots, here in the terminal.",
    "match": "Play one refereed and recorded match, here or at a server.",
    "serve": "Serve the arena until Ctrl-C: bots dial in, referees make matches.",
    "simulate": "Serve the rules of the installed games to bots that search, until "
    "Ctrl-C.",
    "bot": "Let a bot of this machine dial in at a server.",
    "watch": "Watch a match at a server as spectators may see it, or list those that "
    "go on.",
    "matches": "List, show, pause, resume and abort matches at a server; fetch "
    "records.",
    "show": "Show a finished match: who played, what was played, the last position.",
    "verify": "Replay records and check everything that the referee did.",
    "export": "Write a record as JSON, with each action in notation beside its index.",
    "analyse": "Search for the best actions, in a position or throughout a match.",
    "certify": "Check every law of a game, and write a certificate.",
    "check-bot": "Play against a bot to find out whether it keeps the protocol.",
    "perft": "Count the sequences of actions from a deal, ply by ply.",
    "new-game": "Write an installable package of a tiny game, to be changed into "
    "yours.",
    "new-bot": "Write a project of a bot that plays any game, to be changed into "
    "yours.",
    "token": "Make, list and revoke the tokens of bots, referees and spectators.",
    "bench": "Measure links and servers.",
}


@functools.cache
def command(name: str) -> Any:
    """Return a command, from its module.

    The module ``check_bot`` has a function ``check_bot``, or an ``app`` where the
    command has commands of its own.
    """
    module_name = name.replace("-", "_")
    module: ModuleType = importlib.import_module(f"fritillary.cli.{module_name}")
    if hasattr(module, "app"):
        return said_once(tidied(get_group(module.app)))
    alone = typer.Typer(add_completion=False)
    alone.command(name)(getattr(module, module_name))
    return said_once(tidied(get_command(alone)))


class _Named(TyperCommand):
    """A command of which no more is known than name and help, before it is called."""

    def make_context(self, info_name: str | None, *arguments: Any, **more: Any) -> Any:
        return command(str(self.name)).make_context(info_name, *arguments, **more)


def _never_called() -> NoReturn:
    raise AssertionError


def add_commands(app: typer.Typer) -> None:
    """Add all commands to the program."""
    add: Callable[..., Any] = app.command
    for name, summary in COMMANDS.items():
        add(name, cls=_Named, help=summary)(_never_called)
