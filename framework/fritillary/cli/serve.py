"""``fritillary serve``."""

from __future__ import annotations

import asyncio
import signal
from typing import Annotated

import typer

from fritillary.app.application import Application
from fritillary.cli.loop import run as run_loop
from fritillary.cli.loop import stops
from fritillary.cli.output import print_note, say
from fritillary.cli.values import Data

DEFAULT_ADDRESS = "127.0.0.1:7447"


def serve(
    address: Annotated[
        str,
        typer.Option(
            "--address",
            metavar="HOST:PORT",
            help="Where to listen, on loopback; port 0 takes a free one.",
        ),
    ] = DEFAULT_ADDRESS,
    data: Data = None,
) -> None:
    """Serve the arena until Ctrl-C: bots dial in, referees make matches.

    'fritillary token create NAME' makes the token of a bot, with --role referee that
    of whoever makes matches: 'fritillary match GAME --server HOST:PORT --token TOKEN'.

    Example: fritillary serve --address 127.0.0.1:7447
    """
    run_loop(_serve(Application(data), address))


async def _serve(app: Application, address: str) -> None:
    from fritillary.service.arena import Arena
    from fritillary.service.process import settle
    from fritillary.service.server import Server

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, *stops()):
        try:
            loop.add_signal_handler(number, stop.set)
        except NotImplementedError:  # pragma: no cover - Windows
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(stop.set))
    # The server stops after the arena has called off what is running, so that bots
    # still hear how their matches ended.
    arena = Arena(app.registry, app.signer, records=app.records, tokens=app.tokens)
    async with Server(arena, address) as server, arena:
        settle()
        say(f"listening on {server.address}")
        say(f"records in {app.records}")
        if not app.tokens.list():
            print_note(
                "no tokens yet; 'fritillary token create NAME --role bot|referee' "
                "makes one, also while the server runs"
            )
        await stop.wait()
        print_note("stopping")
