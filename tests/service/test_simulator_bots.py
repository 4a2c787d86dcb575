"""A bot in Go that searches through a simulator, at a real arena."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest
from tests.clients import languages
from tests.clients.programs import dial_in
from tests.service.tape import until
from tests.service.test_programs import alive

from fritillary import Registry
from fritillary.record.terms import ClockSettings, EndKind
from fritillary.referee.verify import verify
from fritillary.service.arena import Arena
from fritillary.service.launcher import descendants
from fritillary.service.server import Server
from fritillary.service.simulator import SimulatorServer

pytestmark = [pytest.mark.system, pytest.mark.timeout(600)]

#: Those without a toolchain are named by tests/clients; in CI none may be missing.
WITH_SEARCH = [each for each in languages.found() if each is languages.GO]

#: More than it needs, so that a bot that hangs loses.
CLOCK = ClockSettings(move_ms=120_000)


@pytest.fixture(params=WITH_SEARCH, ids=lambda one: one.name)
def command(request):
    """What starts the bot."""
    request.param.make()
    return (str(request.param.folder / "bin" / "search"),)


@pytest.fixture
async def arena():
    """An arena that is served."""
    registry = Registry()
    registry.load()
    async with Arena(registry) as arena, Server(arena) as server:
        yield arena, server.address, registry


async def won(at, game, players, number, *, clock=CLOCK, options=None):
    """Play a match, check its record, and return whether the bot has won."""
    arena, _, registry = at
    hosted = arena.create(
        game,
        players,
        options=options,
        seed=number.to_bytes(32, "big"),
        clocks=clock,
    )
    result = await hosted.ended
    assert result.finish.kind is EndKind.PLAYED, result.finish
    verify(hosted.record(), registry)
    return result.finish.outcome.placing[players.index("remote:search")] == 1


async def test_it_beats_uniform_clearly(arena, command, monkeypatch):
    async with SimulatorServer() as simulator:
        monkeypatch.setenv("FRITILLARY_SIMULATOR", simulator.address)
        bot = await dial_in(arena[0], arena[1], "search", command, capacity=2)
        try:
            wins = 0
            for deal in range(5):
                wins += sum(
                    await asyncio.gather(
                        won(arena, "lepidoptery", ["remote:search", "uniform"], deal),
                        won(arena, "lepidoptery", ["uniform", "remote:search"], deal),
                    )
                )
        finally:
            await bot.stop()
    assert wins >= 8


@pytest.mark.parametrize(
    ("game", "options"), [("lost-cities", {"games": 1}), ("butterfly-garden", {})]
)
async def test_it_plays_other_games_and_keeps_to_its_clock(
    arena, command, monkeypatch, game, options
):
    # It uses a twentieth of what the clock leaves.
    clock = ClockSettings(move_ms=5_000)
    async with SimulatorServer() as simulator:
        monkeypatch.setenv("FRITILLARY_SIMULATOR", simulator.address)
        bot = await dial_in(arena[0], arena[1], "search", command)
        try:
            players = ["remote:search", "uniform"]
            assert await won(arena, game, players, 1, clock=clock, options=options)
        finally:
            await bot.stop()


async def test_it_starts_a_simulator_that_ends_with_it(arena, command, monkeypatch):
    beside = Path(sys.executable).parent
    monkeypatch.setenv("PATH", f"{beside}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("FRITILLARY_SIMULATOR", raising=False)
    bot = await dial_in(arena[0], arena[1], "search", command)
    try:
        await won(arena, "lepidoptery", ["remote:search", "uniform"], 1)
        found = descendants(bot._process.pid)
    finally:
        await bot.stop()
    assert found
    await until(lambda: not any(map(alive, found)))
