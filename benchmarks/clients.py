"""Round trips of each client against the same server, beside the Python client.

The server runs here, each bot is the client's `uniform` example in a process of its
own. All stay connected, and in each sample one of them plays Lepidoptery against a
uniform bot of the server; what is counted are accepted decisions. The server is in
Python in all samples, so the ratios say what a client adds, not how fast it could be.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Mapping

from tests.clients.languages import PYTHON, Command
from tests.clients.programs import dial_in

from benchmarks.loop import run
from benchmarks.pairs import Ratio, ratio_of
from fritillary import Registry
from fritillary.service.arena import Arena
from fritillary.service.limits import Limits
from fritillary.service.server import Server


async def _sample(arena: Arena, name: str, matches: int, seconds: float) -> float:
    """Return the decisions per second of a bot in so many matches at a time."""
    going = True

    async def play() -> None:
        while going:
            await arena.play("lepidoptery", [f"remote:{name}", "uniform"])

    playing = [asyncio.create_task(play()) for _ in range(matches)]
    try:
        await asyncio.sleep(seconds / 10)
        before, start = sum(arena.hub.counts.decided), time.perf_counter()
        await asyncio.sleep(seconds)
        done = sum(arena.hub.counts.decided) - before
        rate = done / (time.perf_counter() - start)
    finally:
        going = False
    await asyncio.gather(*playing)
    return rate


@contextlib.asynccontextmanager
async def _arena(players: Mapping[str, Command], matches: int) -> AsyncIterator[Arena]:
    registry = Registry()
    registry.load()
    arena = Arena(
        registry, limits=Limits(max_messages_per_second=1_000_000), keep_ended=0
    )
    async with Server(arena) as server, arena:
        running = []
        try:
            for name, command in players.items():
                running.append(
                    await dial_in(
                        arena, server.address, name, command, capacity=matches
                    )
                )
            yield arena
        finally:
            await asyncio.gather(*(each.stop() for each in running))


async def _measure(
    players: Mapping[str, Command], matches: int, rounds: int, seconds: float
) -> dict[str, Ratio]:
    others = [name for name in players if name != PYTHON.name]
    rates: dict[str, list[float]] = {name: [] for name in others}
    references: dict[str, list[float]] = {name: [] for name in others}
    async with _arena(players, matches) as arena:
        for name in players:
            await _sample(arena, name, matches, seconds / 2)
        last = await _sample(arena, PYTHON.name, matches, seconds)
        for name in others:
            references[name].append(last)
            for _ in range(rounds):
                rates[name].append(await _sample(arena, name, matches, seconds))
                last = await _sample(arena, PYTHON.name, matches, seconds)
                references[name].append(last)
    return {name: ratio_of(rates[name], references[name]) for name in others}


def compare(
    players: Mapping[str, Command], matches: int, *, rounds: int, seconds: float
) -> dict[str, Ratio]:
    """Compare the decisions per second of bots with those of the Python one.

    Args:
        players: commands of the bots by name; that of Python must be among them.
        matches: that a bot plays at a time.
        rounds: samples of each.
        seconds: of one sample.
    """
    return run(_measure(players, matches, rounds, seconds))
