"""``fritillary simulate``."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from typing import Annotated

import typer

from fritillary.cli.logs import metered
from fritillary.cli.loop import breathe, stopping
from fritillary.cli.loop import run as run_loop
from fritillary.cli.output import print_note, say

#: Beside that of the arena.
DEFAULT_ADDRESS = "127.0.0.1:7448"


def simulate(
    listen: Annotated[
        str,
        typer.Option(
            "--listen",
            metavar="HOST:PORT",
            help="Where to listen, on loopback only. Port 0 takes a free one.",
        ),
    ] = DEFAULT_ADDRESS,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            metavar="N",
            min=1,
            max=256,
            help="Calls worked on at a time; default: one for each core.",
        ),
    ] = None,
    attached: Annotated[
        bool,
        typer.Option(
            "--attached",
            help="Stop when standard input ends, and not at Ctrl-C: for programs that "
            "start a simulator of their own.",
        ),
    ] = False,
) -> None:
    """Serve the rules of the installed games to bots that search, until Ctrl-C.

    A bot in any language samples worlds from what it sees, and plays on in them. The
    simulator knows no matches and no tokens: docs/simulator.md has all calls.

    Example: fritillary simulate --listen 127.0.0.1:7448
    """
    # gRPC reads it when it is loaded.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    run_loop(_simulate(listen, workers, attached=attached))


async def _simulate(address: str, workers: int | None, *, attached: bool) -> None:
    from fritillary.service.simulator import SimulatorServer
    from fritillary.service.simulator_limits import SimulatorLimits

    limits = SimulatorLimits() if workers is None else SimulatorLimits(workers=workers)
    stop = stopping(interrupt=not attached)
    await breathe()
    if attached:
        loop = asyncio.get_running_loop()
        threading.Thread(target=_follow, args=(loop, stop), daemon=True).start()
    with metered():
        async with SimulatorServer(address, limits=limits) as server:
            say(f"listening on {server.address}")
            await stop.wait()
            if not attached:
                print_note("stopping")


def _follow(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    """Stop when standard input ends."""
    with contextlib.suppress(OSError):
        while os.read(0, 4096):
            pass
    with contextlib.suppress(RuntimeError):
        # The loop may be gone already.
        loop.call_soon_threadsafe(stop.set)
