"""``fritillary serve``."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Annotated

import typer

from fritillary.app.application import Application
from fritillary.cli.loop import run as run_loop
from fritillary.cli.loop import stopping
from fritillary.cli.output import print_note, say
from fritillary.cli.secure import TlsCert, TlsClientCa, TlsKey, server_tls
from fritillary.cli.values import Data
from fritillary.core.address import host_and_port

if TYPE_CHECKING:
    from fritillary.service.tls import ServerTls

DEFAULT_ADDRESS = "127.0.0.1:7447"


def serve(
    address: Annotated[
        str,
        typer.Option(
            "--address",
            metavar="HOST:PORT",
            help="Where to listen; without TLS on loopback only. Port 0 takes a free "
            "one.",
        ),
    ] = DEFAULT_ADDRESS,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
    tls_client_ca: TlsClientCa = None,
    metrics: Annotated[
        str,
        typer.Option(
            "--metrics",
            metavar="HOST:PORT",
            help="Tell Prometheus metrics there, over HTTP; PORT alone: on loopback.",
        ),
    ] = "",
    data: Data = None,
) -> None:
    """Serve the arena until Ctrl-C: bots dial in, referees make matches.

    'fritillary token create NAME' makes the token of a bot, with --role referee that
    of whoever makes matches: 'fritillary match GAME --server HOST:PORT --token TOKEN'.

    Example: fritillary serve --address 127.0.0.1:7447
    """
    # gRPC reads it when it is loaded. It writes a line for every header that it cannot
    # read, and strangers send as many as they like.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    tls = server_tls(tls_cert, tls_key, tls_client_ca)
    if metrics:
        # Before any match is taken up.
        host_and_port(metrics, host="localhost")
    run_loop(_serve(Application(data), address, tls, metrics))


async def _serve(
    app: Application, address: str, tls: ServerTls | None, metrics: str
) -> None:
    from fritillary.service.arena import Arena
    from fritillary.service.process import open_files, settle
    from fritillary.service.server import Server

    open_files(raised=True)
    stop = stopping()
    arena = Arena(
        app.registry,
        app.signer,
        records=app.records,
        private=app.private,
        tokens=app.tokens,
    )
    taken_up = arena.take_up()
    async with (
        Server(arena, address, session_secret=app.session_secret, tls=tls) as server,
        arena,
        contextlib.AsyncExitStack() as stack,
    ):
        telling = None
        if metrics:
            from fritillary.service.metrics import Metrics

            telling = Metrics(arena, server, metrics)
            await stack.enter_async_context(telling)
        settle()
        say(f"listening on {server.address}")
        say(f"records in {app.records}")
        if taken_up:
            print_note(f"unfinished matches taken up: {taken_up}")
        if tls is not None:
            names = ", ".join(tls.about.names) or "no name"
            say(f"TLS for {names} until {tls.about.good_until:%Y-%m-%d %H:%M} UTC")
        if telling is not None:
            say(f"metrics on http://{telling.address}/metrics")
        if not app.tokens.list():
            print_note(
                "no tokens yet; 'fritillary token create NAME --role bot|referee' "
                "makes one, also while the server runs"
            )
        await stop.wait()
        running = sum(not hosted.over for hosted in arena.matches())
        later = f"; unfinished matches kept for the next start: {running}"
        print_note(f"stopping{later if running else ''}")
        await server.refuse()
