"""Decisions over gRPC, against a bare aio echo of as many bytes.

The server runs in a process of its own: rules, clocks and records of one match of
Lepidoptery per stream (the bot that dials in against a uniform one in process), and
beside it an echo that reads and writes frames of the same sizes and does nothing else.
The bots are as bare as a bot can be: they answer a random legal index.

A second comparison has one bot in many matches on one stream, against the same bot
playing one match at a time: what is ready together travels together. What many bots
cost that are merely connected is in `benchmarks.crowd`.
"""

from __future__ import annotations

import asyncio
import contextlib
import cProfile
import logging
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
from attrs import frozen

from benchmarks import profiles
from benchmarks.loop import run
from benchmarks.pairs import Ratio, ratio_of
from fritillary.api.v1 import bot_pb2, bot_pb2_grpc

ECHO = "/bench.Echo/Echo"

#: Whether the system tells the CPU of another process.
_TELLS_CPU = Path("/proc/self/stat").exists()

#: Names the file into which a server writes a profile of itself.
_PROFILE = "FRITILLARY_BENCH_PROFILE"
_PROFILE_AFTER_S, _PROFILE_FOR_S = 1.5, 2.0


# ---------------------------------------------------------------------- the server


async def serve(streams: int, matches: int = 1, idle: int = 0) -> None:
    """Serve so many bots, each in so many matches at a time, and the echo.

    Args:
        streams: bots that play.
        matches: of each at a time.
        idle: bots that are merely connected; their tokens come last.
    """
    from fritillary import Registry
    from fritillary.service.arena import Arena
    from fritillary.service.limits import Limits
    from fritillary.service.process import settle
    from fritillary.service.server import Server
    from fritillary.service.tokens import Role, TokenStore

    # Some bots do what is refused, and are meant to; a report has no place for it.
    logging.getLogger("fritillary.audit").addHandler(logging.NullHandler())
    registry = Registry()
    registry.load()
    tokens = TokenStore()
    arena = Arena(
        registry,
        tokens=tokens,
        limits=Limits(max_messages_per_second=1_000_000),
        keep_ended=0,
    )
    echo, port = await _echo_server()
    async with Server(arena) as server, arena:
        names = [f"bot-{number}" for number in range(streams)]
        others = [f"idle-{number}" for number in range(idle)]
        keys = [tokens.create(name, Role.BOT) for name in names + others]
        settle()
        if _PROFILE in os.environ:
            _profile_into(Path(os.environ[_PROFILE]))
        print(server.address, port, *keys, flush=True)

        async def play(name: str) -> None:
            while True:
                await arena.play("lepidoptery", [f"remote:{name}", "uniform"])

        async with asyncio.TaskGroup() as group:
            for name in names * matches:
                group.create_task(play(name))
            await asyncio.Event().wait()  # until it is killed
    await echo.stop(None)


def _profile_into(path: Path) -> None:
    profile = cProfile.Profile()
    loop = asyncio.get_running_loop()

    def stop() -> None:
        profile.disable()
        profile.dump_stats(path)

    loop.call_later(_PROFILE_AFTER_S, profile.enable)
    loop.call_later(_PROFILE_AFTER_S + _PROFILE_FOR_S, stop)


async def _echo_server() -> tuple[grpc.aio.Server, int]:
    async def echo(requests: AsyncIterator[bytes], context: Any) -> None:
        sizes = await context.read()
        answer = b"x" * int(sizes)
        while (await context.read()) is not grpc.aio.EOF:
            await context.write(answer)

    handler = grpc.method_handlers_generic_handler(
        "bench.Echo", {"Echo": grpc.stream_stream_rpc_method_handler(echo)}
    )
    # As many may dial in at once as at our server.
    server = grpc.aio.server(options=(("grpc.server.max_pending_requests", 8192),))
    server.add_generic_rpc_handlers((handler,))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    return server, port


# ----------------------------------------------------------------------- the client


class Counts:
    """What all bots did; they answer only while ``go`` is set."""

    def __init__(self) -> None:
        self.decisions = 0
        self.sent = 0
        self.received = 0
        self.go = asyncio.Event()


async def bot(
    address: str,
    token: str,
    counts: Counts,
    capacity: int = 1,
    there: Callable[[], None] = lambda: None,
) -> None:
    """Play until cancelled; ``there`` is called at Welcome."""
    rng = random.Random(token)
    options = (("grpc.use_local_subchannel_pool", 1),)
    async with grpc.aio.insecure_channel(address, options=options) as channel:
        call = bot_pb2_grpc.BotServiceStub(channel).Connect(
            metadata=(("authorization", f"Bearer {token}"),)
        )
        hello = bot_pb2.Hello(capacity=capacity)
        await call.write(_frame(bot_pb2.BotMessage(hello=hello)))
        while True:
            frame: Any = await call.read()
            if frame is grpc.aio.EOF:
                return
            answers = []
            for message in frame.messages:
                kind = message.WhichOneof("message")
                if kind == "decision_request":
                    request = message.decision_request
                    legal = request.legal
                    decision = bot_pb2.Decision(
                        match_id=request.match_id,
                        decision_id=request.decision_id,
                        index=legal[int(rng.random() * len(legal))],
                    )
                    answers.append(bot_pb2.BotMessage(decision=decision))
                    counts.decisions += 1
                elif kind == "match_offer":
                    match_id = message.match_offer.match_id
                    answers += [
                        bot_pb2.BotMessage(accept=bot_pb2.Accept(match_id=match_id)),
                        bot_pb2.BotMessage(ready=bot_pb2.Ready(match_id=match_id)),
                    ]
                elif kind == "match_ended":
                    match_id = message.match_ended.match_id
                    ack = bot_pb2.Ack(match_id=match_id, ended=True)
                    answers.append(bot_pb2.BotMessage(ack=ack))
                elif kind == "ping":
                    pong = bot_pb2.Pong(id=message.ping.id)
                    answers.append(bot_pb2.BotMessage(pong=pong))
                elif kind == "welcome":
                    there()
            if answers:
                if not counts.go.is_set():
                    await counts.go.wait()
                out = bot_pb2.ConnectRequest(messages=answers)
                counts.sent += out.ByteSize()
                counts.received += frame.ByteSize()
                await call.write(out)


def _frame(message: bot_pb2.BotMessage) -> bot_pb2.ConnectRequest:
    return bot_pb2.ConnectRequest(messages=[message])


async def echo(
    port: int, sent: int, received: int, counts: list[int], go: asyncio.Event
) -> None:
    options = (("grpc.use_local_subchannel_pool", 1),)
    address = f"127.0.0.1:{port}"
    async with grpc.aio.insecure_channel(address, options=options) as channel:
        call: Any = channel.stream_stream(ECHO)()
        await call.write(str(received).encode())
        request = b"x" * sent
        while True:
            if not go.is_set():
                await go.wait()
            await call.write(request)
            await call.read()
            counts[0] += 1


@frozen
class Serving:
    """A server in a process of its own: where, the echo's port, tokens, process id."""

    address: str
    echo_port: int
    keys: tuple[str, ...]
    pid: int


@contextlib.contextmanager
def serving(*sizes: int, profile: Path | None = None) -> Iterator[Serving]:
    """Yield a server of its own, for as many bots as `serve` is told."""
    command = [sys.executable, "-m", "benchmarks.over_grpc", *map(str, sizes)]
    environment = {**os.environ}
    if profile is not None:
        environment[_PROFILE] = str(profile)
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=environment
    ) as server:
        try:
            if server.stdout is None:
                raise RuntimeError
            address, port, *keys = server.stdout.readline().split()
            yield Serving(address, int(port), tuple(keys), server.pid)
        finally:
            server.kill()


@frozen
class Compared:
    """Decisions against echoes.

    Args:
        rates: per second.
        costs: microseconds of the server's CPU for each; nothing where the system
            does not tell.
    """

    rates: Ratio
    costs: Ratio | None


def _cpu_seconds(pid: int) -> float:
    """Return the CPU that a process has taken, read from ``/proc``; 0 without that."""
    if not _TELLS_CPU:
        return 0.0
    after_name = (
        Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2]
    )
    user, system = after_name.split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


async def _sizes(counts: Counts, seconds: float) -> tuple[int, int]:
    """Return the bytes that a decision takes from a bot and to it; stop the bots."""
    counts.go.set()
    await asyncio.sleep(max(0.5, seconds / 2))  # all connected, code warm
    while not counts.decisions:  # noqa: ASYNC110 - seldom, on a busy machine
        await asyncio.sleep(0.1)
    counts.go.clear()
    return counts.sent // counts.decisions, counts.received // counts.decisions


async def _samples(streams: int, rounds: int, seconds: float) -> Compared:
    with serving(streams) as at:
        return await _measure(at, rounds, seconds)


async def _measure(at: Serving, rounds: int, seconds: float) -> Compared:
    counts = Counts()
    tasks = [asyncio.create_task(bot(at.address, key, counts)) for key in at.keys]
    sent, received = await _sizes(counts, seconds)
    echoed = [0]
    go = asyncio.Event()
    tasks += [
        asyncio.create_task(echo(at.echo_port, sent, received, echoed, go))
        for _ in at.keys
    ]

    async def sample(
        go: asyncio.Event, count: Callable[[], int]
    ) -> tuple[float, float]:
        """Return the rate, and the CPU of each in microseconds."""
        before, cpu = count(), _cpu_seconds(at.pid)
        rate = await _window(go, count, seconds)
        # The system counts in hundredths of a second: some CPU was taken in any case.
        taken = max(_cpu_seconds(at.pid) - cpu, 0.001)
        return rate, taken / max(count() - before, 1) * 1e6

    async def echoes() -> tuple[float, float]:
        return await sample(go, lambda: echoed[0])

    async def decisions() -> tuple[float, float]:
        return await sample(counts.go, lambda: counts.decisions)

    await echoes()
    found, references = [], [await echoes()]
    for _ in range(rounds):
        found.append(await decisions())
        references.append(await echoes())
    await stop(tasks)
    rates = ratio_of([one for one, _ in found], [one for one, _ in references])
    if not _TELLS_CPU:
        return Compared(rates, None)
    costs = ratio_of([cost for _, cost in found], [cost for _, cost in references])
    return Compared(rates, costs)


async def _measure_echo(items: int, rounds: int, seconds: float) -> Ratio:
    """Compare echoes of so many decisions in a frame with echoes of one."""
    with serving(1) as at:
        counts = Counts()
        tasks = [asyncio.create_task(bot(at.address, at.keys[0], counts))]
        sent, received = await _sizes(counts, seconds)
        echoed = {items: [0], 1: [0]}
        gates = {size: asyncio.Event() for size in echoed}
        tasks += [
            asyncio.create_task(
                echo(
                    at.echo_port,
                    sent * size,
                    received * size,
                    echoed[size],
                    gates[size],
                )
            )
            for size in echoed
        ]

        async def sample(size: int) -> float:
            return await _window(gates[size], lambda: size * echoed[size][0], seconds)

        await sample(items)
        rates, references = [], [await sample(1)]
        for _ in range(rounds):
            rates.append(await sample(items))
            references.append(await sample(1))
        await stop(tasks)
        return ratio_of(rates, references)


async def _measure_one(matches: int, rounds: int, seconds: float) -> Ratio:
    with serving(1, matches) as many_at, serving(1) as one_at:
        many, one = Counts(), Counts()
        tasks = [
            asyncio.create_task(bot(many_at.address, many_at.keys[0], many, matches)),
            asyncio.create_task(bot(one_at.address, one_at.keys[0], one)),
        ]
        ratio = await beside(many, one, rounds, seconds)
        await stop(tasks)
        return ratio


async def beside(
    counts: Counts, reference: Counts, rounds: int, seconds: float
) -> Ratio:
    """Compare the decisions per second of two sets of bots, one after the other."""

    async def decisions(counts: Counts) -> float:
        return await _window(counts.go, lambda: counts.decisions, seconds)

    await decisions(counts)  # all connected, code warm
    await decisions(reference)
    rates, references = [], [await decisions(reference)]
    for _ in range(rounds):
        rates.append(await decisions(counts))
        references.append(await decisions(reference))
    return ratio_of(rates, references)


async def stop(tasks: list[asyncio.Task[None]]) -> None:
    """End bots; raise what has ended one before."""
    for task in tasks:
        if task.done():
            task.result()
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _window(go: asyncio.Event, count: Any, seconds: float) -> float:
    go.set()
    await asyncio.sleep(seconds / 10)
    before, start = count(), time.perf_counter()
    await asyncio.sleep(seconds)
    rate = (count() - before) / (time.perf_counter() - start)
    go.clear()
    await asyncio.sleep(0.1)  # what is under way arrives
    return rate


def compare(streams: int, *, rounds: int, seconds: float) -> Compared:
    """Compare decisions over so many streams with echoes."""
    return run(_samples(streams, rounds, seconds))


def compare_echo(items: int, *, rounds: int, seconds: float) -> Ratio:
    """Compare bare echoes of many decisions in a frame with those of one, by decision.

    What a stream allows to `compare_one`, whose frames are as full.
    """
    return run(_measure_echo(items, rounds, seconds))


def compare_one(matches: int, *, rounds: int, seconds: float) -> Ratio:
    """Compare one bot in many matches on one stream with the same bot in one."""
    return run(_measure_one(matches, rounds, seconds))


async def _profiled(sizes: tuple[int, ...], path: Path) -> None:
    with serving(*sizes, profile=path) as at:
        counts = Counts()
        counts.go.set()
        capacity = sizes[1] if len(sizes) > 1 else 1
        tasks = [
            asyncio.create_task(bot(at.address, key, counts, capacity))
            for key in at.keys
        ]
        await asyncio.sleep(_PROFILE_AFTER_S + _PROFILE_FOR_S + 1.0)
        await stop(tasks)


def show_profile(*sizes: int) -> None:
    """Print what the server spends its time on."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "server.prof")
        run(_profiled(sizes, path))
        profiles.show(path, " (the server)")


if __name__ == "__main__":
    run(serve(*map(int, sys.argv[1:])))
