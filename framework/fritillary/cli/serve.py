"""``fritillary serve``."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Annotated

import typer

from fritillary.app.application import Application
from fritillary.cli.logs import kept, metered
from fritillary.cli.loop import breathe, stopping
from fritillary.cli.loop import run as run_loop
from fritillary.cli.output import print_note, say
from fritillary.cli.reach import DEFAULT_ADDRESS
from fritillary.cli.secure import TlsCert, TlsClientCa, TlsKey, server_tls
from fritillary.cli.values import Data
from fritillary.core.address import host_and_port
from fritillary.service.programs import Programs

if TYPE_CHECKING:
    from fritillary.service.tls import ServerTls


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
    programs: Annotated[
        Programs,
        typer.Option(
            "--programs",
            metavar="WHEN",
            help="Start the programs (exec:, stdio:, python:) that referees name; "
            "they run as this user: never, always, or local: if it listens on "
            "loopback alone.",
        ),
    ] = Programs.LOCAL,
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
    with kept():
        run_loop(_serve(Application(data), address, tls, metrics, programs))


async def _serve(
    app: Application,
    address: str,
    tls: ServerTls | None,
    metrics: str,
    programs: Programs,
) -> None:
    from fritillary.service import journal
    from fritillary.service.arena import Arena
    from fritillary.service.listening import checked_host, is_loopback
    from fritillary.service.process import open_files, settle
    from fritillary.service.server import Server

    host = checked_host(address, needs_loopback=tls is None)
    started = programs.allowed(loopback=is_loopback(host))
    open_files(raised=True)
    stop = stopping()
    await breathe()
    arena = Arena(
        app.registry,
        app.signer,
        records=app.records,
        private=app.private,
        tokens=app.tokens,
    )
    taken_up = arena.take_up(programs=started)
    async with contextlib.AsyncExitStack() as stack:
        # From now on others bring lines about.
        stack.enter_context(metered())
        server = await stack.enter_async_context(
            Server(
                arena,
                address,
                session_secret=app.session_secret,
                tls=tls,
                programs=programs,
            )
        )
        await stack.enter_async_context(arena)
        telling = None
        if metrics:
            from fritillary.service.metrics import Metrics

            telling = Metrics(arena, server, metrics)
            await stack.enter_async_context(telling)
        settle()
        journal.serving(server.address, taken_up)
        say(f"listening on {server.address}")
        say(f"records in {app.records}")
        if taken_up:
            print_note(f"unfinished matches taken up: {taken_up}")
        if tls is not None:
            names = ", ".join(tls.about.names) or "no name"
            say(f"TLS for {names} until {tls.about.good_until:%Y-%m-%d %H:%M} UTC")
        if telling is not None:
            say(f"metrics on http://{telling.address}/metrics")
        if started:
            say("programs that referees name are started, and run as this user")
        if not app.tokens.list():
            print_note(
                "no tokens yet; 'fritillary token create NAME --role "
                f"bot|referee|spectator{app.words}' makes one, also while the server "
                "runs"
            )
        await stop.wait()
        running = sum(not hosted.over for hosted in arena.matches())
        journal.stopping(running)
        await server.refuse()
    journal.stopped()
