"""A server on loopback, and bots on it."""

from __future__ import annotations

import contextlib

import pytest
from tests.service import pig
from tests.service.house import House
from tests.service.rawbot import RawBot

from fritillary.service.arena import Arena
from fritillary.service.limits import Limits
from fritillary.service.server import Server
from fritillary.service.tokens import Role, TokenStore


class Stage:
    """An arena with its server.

    Attributes:
        arena: of the test.
        server: of the test.
    """

    def __init__(self, arena, server):
        self.arena = arena
        self.server = server
        self.address = server.address

    def token(self, name="bob", role=Role.BOT):
        """Return a fresh token."""
        return self.arena.tokens.create(name, role)

    def bot(self, name="bob", token=None, **settings):
        """Return a bot that is not yet connected."""
        return RawBot(self.address, token or self.token(name), **settings)


@pytest.fixture
async def open_stage():
    """Return a function that opens a stage; all are closed after the test."""
    async with contextlib.AsyncExitStack() as stack:

        async def open_one(
            *, limits=None, records=None, tokens=None, secret=None, **more
        ):
            arena = await stack.enter_async_context(
                Arena(
                    pig.registry(),
                    limits=limits or Limits(),
                    records=records,
                    tokens=tokens or TokenStore(),
                    **more,
                )
            )
            server = await stack.enter_async_context(
                Server(arena, session_secret=secret)
            )
            return Stage(arena, server)

        yield open_one


@pytest.fixture
async def stage(open_stage):
    return await open_stage()


@pytest.fixture
async def house(tmp_path):
    """A data folder with a server that runs, and can be started anew."""
    house = House(tmp_path)
    await house.start()
    yield house
    if house.arena is not None:
        await house.stop()


@pytest.fixture
def asking():
    """A simulator with its games, in this process."""
    # Loads every game, which most tests do without.
    from tests.service.simcalls import Asking

    return Asking()
