"""The server is killed, or stopped, and started again; the match goes on."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.clients.contract.conftest import House, Open
from tests.clients.contract.play import SHORT, asked_in, expected
from tests.clients.contract.programs import WITHIN_S, ContractBot
from tests.clients.contract.servers import Phoenix
from tests.clients.languages import Language
from tests.kill.driver import MATCH
from tests.ports import kept_port

from fritillary.plugins.discovery import Registry
from fritillary.record.events import Restarted
from fritillary.referee.verify import verify

pytestmark = [pytest.mark.system, pytest.mark.timeout(300)]


@pytest.fixture
async def phoenix(tmp_path: Path) -> AsyncIterator[Phoenix]:
    async with Phoenix(tmp_path) as server:
        yield server


async def test_a_match_goes_on_at_a_server_that_was_killed_and_stopped(
    phoenix: Phoenix, language: Language, registry: Registry
) -> None:
    wanted = await expected(registry, SHORT)
    await phoenix.start(SHORT)
    bot = ContractBot(language, phoenix.address, phoenix.token, delay_ms=60, matches=1)
    try:
        await bot.start()
        blows = (signal.SIGKILL, signal.SIGTERM)
        for number, blow in enumerate(blows, 1):
            await bot.until("asked", count=6 * number)
            await phoenix.stop(blow)
            await bot.until("lost", count=number)
            await phoenix.start()
            again = await bot.until("connected", count=number + 1)
            assert again["resumed"] is True
        async with asyncio.timeout(WITHIN_S):
            await phoenix.over.wait()
        for seat in range(2):
            told = await bot.until("ended", seat=seat)
            assert (told["kind"], told["deal"]) == ("played", "verified")
        await bot.stopped()
    finally:
        await bot.kill()
    assert asked_in(bot.events, MATCH) == wanted.asked
    codes = [one["code"] for one in bot.told("lost")]
    assert codes == ["link.lost", "server.stopping"]
    record = verify(phoenix.record.read_bytes(), registry)
    assert record.content_hash == wanted.content_hash
    restarts = [one for one in record.record.events if isinstance(one, Restarted)]
    assert len(restarts) == len(blows)


async def test_a_bot_comes_back_to_a_server_that_stops_as_long_as_it_may(
    open_house: Open,
) -> None:
    with kept_port() as port:
        house = await open_house(address=f"127.0.0.1:{port}")
        bot = await house.connected(give_up_after=0.1)
        await house.server.stop()
        assert (await bot.until("lost"))["code"] == "server.stopping"
        await bot.failed("link.unreachable")
    assert len(bot.told("lost")) == 1


async def test_a_final_goodbye_ends_a_bot(house: House) -> None:
    bot = await house.connected()
    house.arena.hub.forget("bob")
    await bot.stopped()
    assert not bot.told("lost")
