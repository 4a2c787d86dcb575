from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from tests.clients.python.fake_arena import TOKEN, FakeArena, arena_running

from fritillary_client import Client


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ADDRESS", "TOKEN", "CA", "CERT", "KEY"):
        monkeypatch.delenv(f"FRITILLARY_{name}", raising=False)


@pytest.fixture
async def arena() -> AsyncIterator[FakeArena]:
    async with arena_running() as running:
        yield running


class Running:
    """A client that runs beside the test."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.task = asyncio.ensure_future(client.run())

    async def done(self, within_s: float = 5.0) -> None:
        """Wait for the client to end; raises what it raises."""
        await asyncio.wait_for(asyncio.shield(self.task), within_s)


@pytest.fixture
async def play(arena: FakeArena) -> AsyncIterator[Callable[..., Running]]:
    """Starts a client of the fake arena; all are ended after the test."""
    started: list[Running] = []

    def start(bot: Any, **settings: Any) -> Running:
        settings = {"address": arena.address, "token": TOKEN, **settings}
        started.append(Running(Client(bot, **settings)))
        return started[-1]

    yield start
    for running in started:
        running.client.stop()
        with contextlib.suppress(Exception):
            await running.done()
        running.task.cancel()
        await asyncio.gather(running.task, return_exceptions=True)
