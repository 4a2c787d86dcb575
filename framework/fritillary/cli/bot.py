"""``fritillary bot``."""

from __future__ import annotations

import contextlib
import enum
import importlib
import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

import typer

from fritillary.app.application import Application
from fritillary.cli.files import check_output
from fritillary.cli.players import check_players
from fritillary.cli.reach import ADDRESS_VARIABLE, DEFAULT_ADDRESS, TOKEN_VARIABLE
from fritillary.cli.secure import Ca, Cert, Key
from fritillary.core.address import host_and_port
from fritillary.core.errors import FritillaryError, UsageError
from fritillary.plugins.game import Game
from fritillary.referee.lineup import BUILT_IN, PlayerSpec, make_bot, parse_player

if TYPE_CHECKING:
    from fritillary_client.bot import AnyBot
    from fritillary_client.settings import Settings
    from fritillary_client.typed import Factory


class OnError(enum.Enum):
    """What to do when a bot fails."""

    STOP = "stop"
    RESIGN = "resign"


#: No program plays more matches at a time, and a server takes no greater number.
_MOST: Final = 1_000_000


def _limited(capacity: int) -> int:
    # Not with max=, which a help would show beside the option.
    if capacity > _MOST:
        msg = f"{str(capacity)[:20]} is more than {_MOST:,}"
        raise typer.BadParameter(msg)
    return capacity


def bot(
    player: Annotated[
        str,
        typer.Argument(
            metavar="PLAYER",
            help="uniform, a search bot such as ismcts:time=1s, a bot of a game, "
            "python:package.module:Class, or stdio:COMMAND for a program that reads "
            "and writes lines.",
        ),
    ],
    address: Annotated[
        str,
        typer.Option(
            "--address",
            metavar="HOST:PORT",
            envvar=ADDRESS_VARIABLE,
            help="Of the server.",
        ),
    ] = DEFAULT_ADDRESS,
    token: Annotated[
        str,
        typer.Option(
            "--token",
            envvar=TOKEN_VARIABLE,
            help="The bot's token; a second program with it takes its place.",
            metavar="TEXT",
        ),
    ] = "",
    ca: Ca = None,
    cert: Cert = None,
    key: Key = None,
    game: Annotated[
        list[str] | None,
        typer.Option("--game", metavar="GAME", help="Only this one; may be repeated."),
    ] = None,
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", help="What it is called.")
    ] = "",
    capacity: Annotated[
        int,
        typer.Option(
            "--capacity",
            metavar="N",
            min=1,
            callback=_limited,
            help="Most matches at a time.",
        ),
    ] = 1,
    matches: Annotated[
        int | None,
        typer.Option("--matches", metavar="N", min=1, help="Leave after so many."),
    ] = None,
    on_error: Annotated[
        OnError,
        typer.Option(
            "--on-error",
            metavar="WHAT",
            help="When the bot fails: stop with all its matches, or resign the one and "
            "play on.",
        ),
    ] = OnError.STOP,
    log: Annotated[
        Path | None,
        typer.Option(
            "--log",
            metavar="FILE",
            help="Append what a program of stdio: says besides its answers; default: "
            "standard error.",
        ),
    ] = None,
) -> None:
    """Let a bot of this machine dial in at a server.

    Ctrl-C or SIGTERM lets the matches in play come to their end, a second one leaves
    at once.

    Example: fritillary bot greedy --token TOKEN
    """
    from fritillary_client import run

    spec = parse_player(player)
    if log is not None and spec.kind != "stdio":
        raise UsageError("--log is for players of stdio:", code="usage.log")
    host_and_port(address, least=1)
    settings: Settings = {
        "address": address or None,
        "token": token or None,
        "ca": ca,
        "cert": cert,
        "key": key,
        "games": game,
        "capacity": capacity,
        "matches": matches,
        "on_error": on_error.value,
    }
    if spec.kind == "stdio":
        # What it plays need not be installed here.
        _run_program(spec, name, log, settings)
        return
    app = Application()
    for each in game or ():
        app.registry.game(each)
    settings["name"] = name or spec.name.rpartition(":")[2]
    run(_factory(spec, app, game), **settings)


def _run_program(
    spec: PlayerSpec, name: str, log: Path | None, settings: Settings
) -> None:
    """Play for a program that reads and writes lines."""
    from fritillary.service.spawn import minimal_environment
    from fritillary_client import run
    from fritillary_client.stdio import Stdio

    check_players([spec.text])
    with _log_to(log) as write:
        program = Stdio(spec.command, environment=minimal_environment({}), log=write)
        settings["name"] = name or program.name
        if program.build:
            settings["build"] = program.build
        run(program, **settings)


@contextlib.contextmanager
def _log_to(path: Path | None) -> Iterator[Callable[[str], None]]:
    """Return what takes the log, line by line."""
    if path is None:
        yield lambda text: print(text, file=sys.stderr, flush=True)
        return
    check_output(path)
    with path.open("a", encoding="utf-8", buffering=1) as file:

        def write(text: str) -> None:
            file.write(f"{text}\n")

        yield write


def _factory(spec: PlayerSpec, app: Application, games: list[str] | None) -> AnyBot:
    """Return what the client makes bots from."""
    from fritillary_client import Bot as ClientBot
    from fritillary_client.typed import TypedBot

    if spec.kind == "python":
        found = _import(spec.name)
        if not inspect.isclass(found) or issubclass(found, ClientBot):
            # A function, or a bot written for the client.
            return cast("AnyBot", found)
        return TypedBot(app.registry, cast("Factory", found), only=games)
    if spec.kind != "local":
        msg = (
            f"player {spec.text[:80]!r} does not dial in from here; name a bot, "
            "python:... or stdio:..."
        )
        raise UsageError(msg, code="usage.player")
    offered = offered_by(spec, app, games)

    def make(rules: Game[Any, Any, Any]) -> Any:
        return make_bot(spec, rules)

    return TypedBot(app.registry, make, only=offered)


def offered_by(
    spec: PlayerSpec, app: Application, games: list[str] | None
) -> Sequence[str]:
    """Return the games that a bot is to play, or else those that it can play.

    Raises:
        FritillaryError: if there is none; says why where there is a reason.
    """
    if games:
        for name in games:
            make_bot(spec, app.registry.game(name))
        return games
    offered, why = [], None
    for name, _ in app.registry.games():
        try:
            game = app.registry.game(name)
            if spec.name in BUILT_IN or spec.name in game.bots:
                make_bot(spec, game)
                offered.append(name)
        except FritillaryError as error:
            why = error
    if not offered:
        msg = f"no installed game has a bot {spec.name!r}"
        raise why or UsageError(msg, code="usage.player")
    return offered


def _import(path: str) -> Any:
    module_name, _, attribute = path.partition(":")
    # As for "python -m": what lies in the current folder can be named.
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        msg = f"cannot import {module_name}: {type(error).__name__}: {error}"
        raise UsageError(msg, code="usage.player") from error
    found = getattr(module, attribute, None)
    if not callable(found):
        msg = f"{module_name} has no class or function {attribute!r}"
        raise UsageError(msg, code="usage.player")
    return found
