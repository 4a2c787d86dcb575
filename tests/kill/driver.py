"""The processes of a run: a server or a bot, forked from one that has all loaded.

It reads one line of JSON for each process that it is to start. All end with it.
"""

from __future__ import annotations

import asyncio
import ctypes
import json
import logging
import os
import signal
import sys
from pathlib import Path
from typing import Any

import grpc.aio  # noqa: F401 - loaded once for all
import uvloop  # noqa: F401 - likewise
from tests.kill import player
from tests.kill.moments import Control, watch_bot, watch_server

import fritillary_client.running
from fritillary.app.application import Application
from fritillary.cli.loop import run, stops
from fritillary.codec.converter import make_converter
from fritillary.record.reader import read_record
from fritillary.record.terms import Terms
from fritillary.referee.seen import MatchResult
from fritillary.service.arena import Arena
from fritillary.service.past import result_of
from fritillary.service.process import settle
from fritillary.service.server import Server

_log = logging.getLogger(__name__)

MATCH = "m"

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Fork until there is nothing more to read."""
    Application(Path(os.devnull)).registry.load()
    # The kernel takes away what has ended.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    print("ready", flush=True)
    for line in sys.stdin:
        order = json.loads(line)
        if os.fork() == 0:
            _child(order)


def _child(order: dict[str, Any]) -> None:
    code = 1
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        null = os.open(os.devnull, os.O_RDWR)
        log = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        for number, target in ((0, null), (1, log), (2, log)):
            os.dup2(target, number)
        logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
        armed = order["armed"]
        control = Control(
            order["control"], order["tag"], (armed[0], armed[1]) if armed else None
        )
        if order["role"] == "server":
            watch_server(control)
            run(_serve(control, order))
        else:
            watch_bot(control)
            _play(control, order)
        code = 0
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 1
    except BaseException:  # noqa: BLE001 - written down; the process ends
        _log.exception("the process failed")
    finally:
        sys.stderr.flush()
        os._exit(code)


def _play(control: Control, order: dict[str, Any]) -> None:
    script = order["script"]
    fritillary_client.running.run(
        player.make(control.tell, script),
        address=order["address"],
        token=order["token"],
        name=order["name"],
        build="1",
        encoding=script["encoding"],
        legal=script["legal"],
        wait=30,
    )


async def _serve(control: Control, order: dict[str, Any]) -> None:
    """Do what ``fritillary serve`` does."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in stops():
        loop.add_signal_handler(number, stop.set)
    app = Application(Path(order["data"]))
    arena = Arena(
        app.registry,
        app.signer,
        records=app.records,
        private=app.private,
        tokens=app.tokens,
    )
    taken_up = arena.take_up()
    async with Server(arena, session_secret=app.session_secret) as server, arena:
        settle()
        control.tell(listening=server.address, taken_up=taken_up)
        match = order["match"]
        if match is not None:
            arena.create(
                match["game"],
                match["players"],
                terms=make_converter().structure(match["terms"], Terms),
                ceiling_ms=3_600_000,
                match_id=MATCH,
                seed=bytes.fromhex(match["seed"]),
                salt=bytes(32),
            )
        telling = asyncio.create_task(_tell_end(control, arena, app.records))
        await stop.wait()
        telling.cancel()


async def _tell_end(control: Control, arena: Arena, records: Path) -> None:
    result: MatchResult | None
    if any(one.id == MATCH for one in arena.matches()):
        try:
            result = await arena.wait(MATCH)
        except Exception as error:  # noqa: BLE001 - told to the harness
            control.tell(gone=repr(error))
            return
    else:
        # It had ended, and all had heard of it.
        raw = (records / f"{MATCH}.frec").read_bytes()
        result = result_of(read_record(raw, unfinished=True))
    if result is None or not result.final_hash:
        control.tell(gone="the server does not know the match")
        return
    control.tell(
        over=result.content_hash.hex(),
        kind=result.finish.kind.value,
        code=result.finish.code,
        counts=control.counts,
    )


if __name__ == "__main__":
    main()
