"""``fritillary bot``."""

from __future__ import annotations

import importlib
import inspect
import sys
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from fritillary.app.application import Application
from fritillary.cli.secure import Ca, Cert, Key
from fritillary.core.errors import UsageError
from fritillary.plugins.game import Game
from fritillary.referee.lineup import PlayerSpec, make_bot, parse_player

if TYPE_CHECKING:
    from fritillary_client.bot import AnyBot
    from fritillary_client.typed import Factory


def bot(
    player: Annotated[
        str,
        typer.Argument(
            metavar="PLAYER",
            help="uniform, a bot of a game, or python:package.module:Class.",
        ),
    ],
    address: Annotated[
        str,
        typer.Option(
            "--address",
            metavar="HOST:PORT",
            envvar="FRITILLARY_ADDRESS",
            help="Server.",
        ),
    ] = "",
    token: Annotated[
        str,
        typer.Option(
            "--token",
            envvar="FRITILLARY_TOKEN",
            help="The bot's token.",
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
    name: Annotated[str, typer.Option("--name", help="To show.")] = "",
    capacity: Annotated[
        int, typer.Option("--capacity", min=1, help="Most matches at a time.")
    ] = 1,
    matches: Annotated[
        int | None, typer.Option("--matches", min=1, help="Leave after so many.")
    ] = None,
) -> None:
    """Let a bot of this machine dial in at a server.

    Ctrl-C lets the matches in play come to their end, a second one leaves at once.

    Example: fritillary bot greedy --address 127.0.0.1:7447 --token TOKEN
    """
    from fritillary_client import run

    spec = parse_player(player)
    app = Application()
    for each in game or ():
        app.registry.game(each)
    run(
        _factory(spec, app, game),
        address=address or None,
        token=token or None,
        ca=ca,
        cert=cert,
        key=key,
        name=name or spec.name.rpartition(":")[2],
        games=game,
        capacity=capacity,
        matches=matches,
    )


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
        msg = f"player {spec.text[:80]!r} does not dial in; name a bot, or python:..."
        raise UsageError(msg, code="usage.player")
    known = {
        name
        for name, info in app.registry.games()
        if spec.name == "uniform" or spec.name in app.registry.game(name).bots
    }
    if not known:
        msg = f"no installed game has a bot {spec.name!r}"
        raise UsageError(msg, code="usage.player")

    def make(rules: Game[Any, Any, Any]) -> Any:
        return make_bot(spec, rules)

    return TypedBot(app.registry, make, only=games or sorted(known))


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
