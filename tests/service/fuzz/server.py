"""The server that is fuzzed, in a process of its own.

It prints one line of JSON that says where it is, and then one for each line that it
reads: what it holds at that moment, after it has tidied up its memory.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import json
import os
import sys
import time
from pathlib import Path
from typing import Any, Final

from tests.service import pig

from fritillary.cli.loop import run
from fritillary.service.arena import Arena
from fritillary.service.limits import Limits
from fritillary.service.process import settle
from fritillary.service.server import Server
from fritillary.service.tokens import Role, TokenStore

#: What bots are called that attack; each has a token.
ATTACKERS: Final = tuple(f"eve-{number}" for number in range(64))

#: What bots are called that play as they should.
HONEST: Final = ("ann", "ben")

#: Shorter than usual, so that all that waits has been seen to end; long enough for
#: honest bots on a busy machine, who share a process with the attackers.
LIMITS: Final = Limits(
    hello_ms=1_000,
    # gRPC keeps connections for later; what nobody calls on is closed here.
    idle_ms=5_000,
    ping_after_ms=2_000,
    pong_within_ms=10_000,
    max_watches=24,
    max_outstanding_bytes=1024 * 1024,
)

#: So many ended matches stay in memory; others are found in the folder of the records.
#: A hostile one has thousands of rulings, which are no leak while it is kept.
_KEPT: Final = 2

#: Seconds between looks at the loop.
_LOOK_S: Final = 0.005

#: What a small block of Python takes on average, in bytes; 85 were measured.
_BLOCK: Final = 96


async def serve(records: Path) -> None:
    """Serve until there is nothing more to read.

    Args:
        records: folder for the records of matches.
    """
    registry = pig.registry()
    registry.load()
    tokens = TokenStore()
    arena = Arena(
        registry, tokens=tokens, limits=LIMITS, records=records, keep_ended=_KEPT
    )
    async with Server(arena) as server, arena:
        settle()
        turns = Turns()
        watching = asyncio.create_task(turns.watch())
        reader = asyncio.StreamReader()
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
        )
        _say(
            {
                "address": server.address,
                "tokens": {
                    **{n: tokens.create(n, Role.BOT) for n in (*ATTACKERS, *HONEST)},
                    "referee": tokens.create("referee", Role.REFEREE),
                    "mallory": tokens.create("mallory", Role.REFEREE),
                    "spectator": tokens.create("spectator", Role.SPECTATOR),
                    "revoked": _revoked(tokens),
                },
            }
        )
        while await reader.readline():
            _say({**held(server, arena), "turn_ms": turns.longest_ms})
            turns.begin()
        watching.cancel()


class Turns:
    """Measures for how long one turn of the loop keeps all others waiting.

    By the CPU that the thread takes, so that a busy machine makes no difference.

    Attributes:
        longest_ms: the longest between two looks, in milliseconds.
    """

    def __init__(self) -> None:
        self.longest_ms = 0
        self.begin()

    def begin(self) -> None:
        """Leave out what was done up to now."""
        self._then = time.thread_time()

    async def watch(self) -> None:
        """Look again and again until cancelled."""
        while True:
            await asyncio.sleep(_LOOK_S)
            now = time.thread_time()
            self.longest_ms = max(self.longest_ms, int((now - self._then) * 1000))
            self._then = now


def _revoked(tokens: TokenStore) -> str:
    token = tokens.create("gone", Role.REFEREE)
    tokens.revoke("gone")
    return token


def _say(what: dict[str, Any]) -> None:
    print(json.dumps(what), flush=True)


def held(server: Server, arena: Arena) -> dict[str, int]:
    """Return what the process holds: numbers of things, and bytes of memory."""
    gc.collect()
    _trim()
    return {
        "links": len(arena.hub._links),
        "sessions": len(arena.hub.sessions()),
        "streams": server._bots._open.count if server._bots else 0,
        "watches": server.watches,
        "calls": server.admission.count,
        "matches": len(arena.running.tasks),
        "tasks": len(asyncio.all_tasks()),
        "files": _count("/proc/self/fd"),
        "threads": _count("/proc/self/task"),
        "used": used(),
        "rss": resident(os.getpid()),
    }


def _count(folder: str) -> int:
    return sum(1 for _ in Path(folder).iterdir())


def _trim() -> None:
    """Give back what the C library keeps for later."""
    try:
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    except (OSError, AttributeError):  # pragma: no cover - another C library
        return


class _Heap(ctypes.Structure):
    """``struct mallinfo2`` of the C library; see mallinfo(3)."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    )


def used() -> int:
    """Return the bytes of memory that are in use for something, about.

    Pages that are kept for single blocks do not count: they are in `resident`.
    """
    blocks = sys.getallocatedblocks() * _BLOCK
    try:
        mallinfo = ctypes.CDLL("libc.so.6").mallinfo2
    except (OSError, AttributeError):  # pragma: no cover - another C library
        return blocks
    mallinfo.restype = _Heap
    heap = mallinfo()
    return blocks + int(heap.uordblks) + int(heap.hblkhd)


def resident(pid: int) -> int:
    """Return the bytes of memory that a process takes from the machine."""
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    run(serve(Path(sys.argv[1])))
