"""A server on which programs play."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from tests.clients.stdio.house import House

from fritillary import Registry
from fritillary.service.arena import Arena
from fritillary.service.server import Server
from fritillary.service.tokens import TokenStore


@pytest.fixture
async def house() -> AsyncIterator[House]:
    registry = Registry()
    registry.load()
    arena = Arena(registry, tokens=TokenStore())
    async with Server(arena) as server, arena:
        house = House(arena, server)
        yield house
        for client in house.clients:
            client.stop()
        await asyncio.gather(*house.tasks, return_exceptions=True)
        for program in house.programs:
            await program.close()
