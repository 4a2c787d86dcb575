"""Many bots at one server: what those cost that are merely connected, or do not read.

The server of `benchmarks.over_grpc` in a process of its own, each bot over a connection
of its own as if it were on another machine. Memory is the resident memory of the
server's process; it is read from ``/proc``.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import statistics
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Final

import grpc
from attrs import frozen

from benchmarks.loop import run
from benchmarks.over_grpc import ECHO, Counts, beside, bot, serving, stop
from benchmarks.pairs import Ratio
from fritillary.api.v1 import bot_pb2, bot_pb2_grpc

#: Connections of which the memory is not counted: what comes with the first ones.
_WARM: Final = 50

#: Bytes of a frame of the echo that stands for a bot's Hello and for its Welcome.
_HELLO: Final = 400

#: Sockets beside those of the bots.
_FILES: Final = 200

_OPTIONS: Final = (("grpc.use_local_subchannel_pool", 1),)

#: Longest wait for all bots to be there, or for one to be cut off, in seconds.
_WITHIN: Final = 60.0

#: A server that takes nothing for so long listens no more, in seconds.
_STUCK: Final = 5.0

#: A bot that stops reading asks for so many answers in a frame.
_ASKED: Final = 500

#: So much more than the announced ``max_outstanding_bytes`` may a server grow by for
#: one bot that does not read: windows and buffers of gRPC, the frames under way, what
#: the allocator keeps.
SLACK_BYTES: Final = 4 * 1024 * 1024


def raise_file_limit(wanted: int) -> None:
    """Let this process and those it starts open so many files.

    Raises:
        RuntimeError: if the system does not allow as many.
    """
    try:
        import resource
    except ImportError:  # pragma: no cover - Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    if soft == unlimited or soft >= wanted:
        return
    if hard != unlimited and hard < wanted:
        msg = f"{wanted} open files are needed and {hard} allowed: see 'ulimit -Hn'"
        raise RuntimeError(msg)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def memory(pid: int) -> int:
    """Return the resident memory of a process in bytes."""
    pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _answering() -> Counts:
    """Return the counts of bots that answer from the beginning."""
    counts = Counts()
    counts.go.set()
    return counts


# ------------------------------------------------------------------- idle beside busy


async def _share(active: int, idle: int, rounds: int, seconds: float) -> Ratio:
    with serving(active, 1, idle) as crowded, serving(active) as empty:
        tasks = [
            asyncio.create_task(bot(crowded.address, key, _answering()))
            for key in crowded.keys[active:]
        ]
        beside_idle, alone = Counts(), Counts()
        for at, counts in ((crowded, beside_idle), (empty, alone)):
            tasks += [
                asyncio.create_task(bot(at.address, key, counts))
                for key in at.keys[:active]
            ]
        ratio = await beside(beside_idle, alone, rounds, seconds)
        await stop(tasks)
        return ratio


def idle_share(active: int, idle: int, *, rounds: int, seconds: float) -> Ratio:
    """Compare busy bots beside idle ones with as many busy ones alone.

    Two servers of the same program take turns; the process of the bots is one, so
    that its own connections cost both alike.
    """
    raise_file_limit(active * 2 + idle + _FILES)
    return run(_share(active, idle, rounds, seconds))


# --------------------------------------------------------------------------- connecting


@frozen
class Connected:
    """Connections that were opened at the same time.

    Args:
        count: of those that were answered.
        seconds: until all were.
        each: bytes of memory that the server took for each.
    """

    count: int
    seconds: float
    each: float


#: Opens connection number so and so, calls back when it is answered, holds it open.
_Connection = Callable[[int, Callable[[], None]], Coroutine[Any, Any, None]]


async def _hold(connection: _Connection, count: int, pid: int) -> Connected:
    """Open connections at once, wait until all are answered, close them."""
    answered = 0
    all_there = asyncio.Event()
    tasks: list[asyncio.Task[None]] = []

    def there() -> None:
        nonlocal answered
        answered += 1
        if answered == len(tasks):
            all_there.set()

    async def open_more(more: int) -> float:
        all_there.clear()
        start = time.perf_counter()
        tasks.extend(
            asyncio.create_task(connection(number, there))
            for number in range(len(tasks), len(tasks) + more)
        )
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(all_there.wait(), _WITHIN)
        return time.perf_counter() - start

    await open_more(_WARM)
    await asyncio.sleep(0.3)
    before = memory(pid)
    seconds = await open_more(count)
    await asyncio.sleep(0.3)  # what comes after the answer has come
    each = (memory(pid) - before) / count
    await stop(tasks)
    return Connected(answered - _WARM, seconds, each)


async def _bots(count: int) -> Connected:
    with serving(0, 1, count + _WARM) as at:

        async def connection(number: int, there: Callable[[], None]) -> None:
            await bot(at.address, at.keys[number], _answering(), there=there)

        return await _hold(connection, count, at.pid)


async def _echoes(count: int) -> Connected:
    with serving(0) as at:

        async def connection(_: int, there: Callable[[], None]) -> None:
            address = f"127.0.0.1:{at.echo_port}"
            async with grpc.aio.insecure_channel(address, options=_OPTIONS) as channel:
                call: Any = channel.stream_stream(ECHO)()
                await call.write(str(_HELLO).encode())
                await call.write(b"x" * _HELLO)
                await call.read()
                there()
                await call.read()

        return await _hold(connection, count, at.pid)


async def _memory(count: int, rounds: int) -> Ratio:
    mine, bare = [], []
    for _ in range(rounds):
        mine.append((await _bots(count)).each)
        bare.append((await _echoes(count)).each)
    ratios = [one / other for one, other in zip(mine, bare, strict=True)]
    return Ratio(
        statistics.median(ratios),
        min(ratios),
        max(ratios),
        statistics.median(mine),
        statistics.median(bare),
    )


def idle_memory(count: int, *, rounds: int) -> Ratio:
    """Compare the memory of an idle bot with that of a bare echo stream, in bytes."""
    raise_file_limit(count + _WARM + _FILES)
    return run(_memory(count, rounds))


async def _connect(count: int) -> tuple[Connected, Connected]:
    return await _bots(count), await _echoes(count)


def connect(count: int) -> tuple[Connected, Connected]:
    """Connect so many bots at once, and as many bare echo streams."""
    raise_file_limit(count + _WARM + _FILES)
    return run(_connect(count))


# --------------------------------------------------------------------- a stopped reader


@frozen
class Stopped:
    """What became of a bot that asks and does not read.

    Args:
        announced: the limit on what is held back for it, in bytes.
        grown: by so many bytes the server's memory did at most.
        kept: of these, while the bot keeps its stream.
        seconds: until the server took no more from it; ``None`` if it always did.
        over: whether the stream ended when the bot read what there was at last.
        others: answers to another bot meanwhile, per second.
    """

    announced: int
    grown: int
    kept: int
    seconds: float | None
    over: bool
    others: float


def _pings() -> bot_pb2.ConnectRequest:
    ping = bot_pb2.BotMessage(ping=bot_pb2.Ping(id=1))
    return bot_pb2.ConnectRequest(messages=[ping] * _ASKED)


def _mistakes() -> bot_pb2.ConnectRequest:
    decision = bot_pb2.Decision(match_id="x" * 64, decision_id=1, index=1)
    message = bot_pb2.BotMessage(decision=decision)
    return bot_pb2.ConnectRequest(messages=[message] * _ASKED)


#: What a bot can send that is answered, by name.
ASKING: Final = {"Pings": _pings, "decisions of no match": _mistakes}


class _Silent:
    """A bot that reads Welcome and nothing more, until it is told to."""

    def __init__(self, call: Any, frame: bot_pb2.ConnectRequest) -> None:
        self._call = call
        self._frame = frame
        self._sending: asyncio.Task[None] | None = None
        self.announced = 0

    async def begin(self) -> None:
        hello = bot_pb2.BotMessage(hello=bot_pb2.Hello(capacity=1))
        await self._call.write(bot_pb2.ConnectRequest(messages=[hello]))
        limits = (await self._call.read()).messages[0].welcome.limits
        self.announced = limits.max_outstanding_bytes

    async def ask(self) -> float | None:
        """Ask as long as the server listens; return for how many seconds it did."""
        start = last = time.perf_counter()

        async def send() -> None:
            nonlocal last
            while True:
                await self._call.write(self._frame)
                last = time.perf_counter()

        # A write that is cancelled would end the stream from this side.
        self._sending = asyncio.create_task(send())
        while last - start < _WITHIN:
            before = last
            done, _ = await asyncio.wait({self._sending}, timeout=_STUCK)
            if done or last == before:
                return last - start
        return None

    async def rest(self) -> bool:
        """Read all there is; return whether the stream ends."""
        with contextlib.suppress(grpc.aio.AioRpcError, asyncio.CancelledError):
            async with asyncio.timeout(_STUCK):
                while (await self._call.read()) is not grpc.aio.EOF:
                    pass
        over = bool(self._call.done())
        if self._sending is not None:
            self._sending.cancel()
            await asyncio.gather(self._sending, return_exceptions=True)
        return over


async def _stopped(frame: bot_pb2.ConnectRequest) -> Stopped:
    with serving(1, 1, 1) as at:
        counts = _answering()
        playing = [asyncio.create_task(bot(at.address, at.keys[0], counts))]
        async with grpc.aio.insecure_channel(at.address, options=_OPTIONS) as channel:
            silent = _Silent(
                bot_pb2_grpc.BotServiceStub(channel).Connect(
                    metadata=(("authorization", f"Bearer {at.keys[1]}"),)
                ),
                frame,
            )
            await silent.begin()
            await asyncio.sleep(1.0)  # code warm
            before, decided = memory(at.pid), counts.decisions
            most = before
            start = time.perf_counter()

            async def measure() -> None:
                nonlocal most
                while True:
                    most = max(most, memory(at.pid))
                    await asyncio.sleep(0.002)

            measuring = asyncio.create_task(measure())
            seconds = await silent.ask()
            others = (counts.decisions - decided) / (time.perf_counter() - start)
            kept = memory(at.pid) - before
            over = await silent.rest()
            await stop([measuring, *playing])
        grown = most - before
        return Stopped(silent.announced, grown, kept, seconds, over, others)


def stopped_reader(asking: str) -> Stopped:
    """Let a bot ask without reading the answers; see `ASKING`."""
    return run(_stopped(ASKING[asking]()))
