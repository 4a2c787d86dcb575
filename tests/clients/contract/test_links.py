"""Links are lost, and fall silent; the client comes back, and nothing is lost by it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from tests.clients.contract.conftest import House, Open
from tests.clients.contract.play import SHORT, Deal, expected
from tests.clients.contract.programs import WITHIN_S
from tests.clients.contract.tampering import tamper, written
from tests.kill.proxy import Proxy
from tests.service.rawbot import until

from fritillary.api.v1 import bot_pb2 as pb
from fritillary.record.terms import EndKind
from fritillary.service.limits import Limits

pytestmark = [pytest.mark.system, pytest.mark.timeout(300)]

#: Long enough to do something to a link while a bot thinks, in milliseconds.
THINKING = 60

#: As `Limits` of servers whose bots notice soon that nothing comes any more.
SOON = Limits(ping_after_ms=400, pong_within_ms=1_600)

#: The first HTTP/2 keepalive of a client, in seconds, and its answer: what is noticed
#: before was noticed by the protocol.
HTTP2_S = 30.0

Join = Callable[..., Awaitable[Proxy]]


@pytest.fixture
async def join() -> AsyncIterator[Join]:
    """Puts proxies before houses; all are closed after the test."""
    proxies: list[Proxy] = []

    async def joined(house: House, **how: Any) -> Proxy:
        proxy = Proxy(**how)
        host, _, port = house.address.rpartition(":")
        proxy.target = host, int(port)
        proxies.append(proxy)
        await proxy.start()
        return proxy

    yield joined
    for proxy in proxies:
        await proxy.close()


async def test_after_a_lost_link_the_match_goes_on_as_if_nothing_had_been(
    house: House, join: Join
) -> None:
    proxy = await join(house)
    bot = await house.connected(address=proxy.address, delay_ms=THINKING, matches=1)
    hosted = house.create(SHORT)
    kinds = ("reset", "close", "half-up", "half-down")
    for number, kind in enumerate(kinds, 1):
        await bot.until("asked", count=4 * number)
        await proxy.do(kind)
        await bot.until("lost", count=number)
        again = await bot.until("connected", count=number + 1)
        assert again["resumed"] is True
    await house.went_as_ever(bot, hosted)
    # Each link that was there was lost once, whatever it took to come back.
    assert [one["code"] for one in bot.told("lost")] == ["link.lost"] * len(kinds)
    assert len(bot.told("offered")) == 2
    await bot.stopped()


async def test_several_matches_survive_a_lost_link(house: House, join: Join) -> None:
    deals = [Deal(SHORT.game, number=number) for number in range(1, 4)]
    proxy = await join(house)
    bot = await house.connected(
        address=proxy.address, delay_ms=THINKING, capacity=3, matches=3
    )
    matches = [house.create(deal) for deal in deals]
    await bot.until("asked", count=12)
    await proxy.do("reset")
    await bot.until("connected", resumed=True)
    for hosted, deal in zip(matches, deals, strict=True):
        await house.went_as_ever(bot, hosted, deal)
    await bot.stopped()


async def test_a_slow_link_is_no_lost_one(house: House, join: Join) -> None:
    proxy = await join(house)
    bot = await house.connected(address=proxy.address, delay_ms=5, matches=1)
    hosted = house.create(SHORT)
    await bot.until("asked", count=4)
    await proxy.do("delay")
    await house.went_as_ever(bot, hosted)
    assert not bot.told("lost")
    await bot.stopped()


async def test_while_the_server_is_away_a_loss_is_told_once(
    house: House, join: Join
) -> None:
    proxy = await join(house)
    bot = await house.connected(address=proxy.address, delay_ms=THINKING, matches=1)
    hosted = house.create(SHORT)
    await bot.until("asked", count=4)
    there, proxy.target = proxy.target, None
    await proxy.do("reset")
    refused = proxy.refused
    await until(lambda: proxy.refused >= refused + 2, within=WITHIN_S)
    proxy.target = there
    await house.went_as_ever(bot, hosted)
    assert len(bot.told("lost")) == 1
    assert len(bot.told("connected")) == 2
    await bot.stopped()


async def test_a_bot_that_must_not_wait_gives_up(house: House, join: Join) -> None:
    proxy = await join(house)
    bot = await house.connected(address=proxy.address, give_up_after=0)
    await proxy.do("close")
    await bot.failed("link.lost")
    assert not bot.told("lost")


async def test_pings_keep_a_link_that_a_router_would_forget(
    open_house: Open, join: Join
) -> None:
    house = await open_house(limits=SOON)
    forget_s = 2.0
    proxy = await join(house, forget_s=forget_s)
    bot = await house.connected(address=proxy.address, matches=1)
    await asyncio.sleep(2 * forget_s)
    await house.went_as_ever(bot, house.create(SHORT))
    assert not bot.told("lost")
    await bot.stopped()


async def test_a_link_on_which_nothing_comes_any_more_is_left_for_another(
    open_house: Open, join: Join
) -> None:
    house = await open_house(limits=SOON)
    proxy = await join(house)
    bot = await house.connected(address=proxy.address, delay_ms=THINKING, matches=1)
    hosted = house.create(SHORT)
    await bot.until("asked", count=4)
    await proxy.do("drop")
    began = time.monotonic()
    assert (await bot.until("lost"))["code"] == "link.lost"
    assert time.monotonic() - began < HTTP2_S
    await house.went_as_ever(bot, hosted)
    assert len(bot.told("lost")) == 1
    await bot.stopped()


async def test_a_bot_that_thinks_answers_pings(
    open_house: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    pings = 0

    def change(kind: str, body: Any) -> bytes:
        nonlocal pings
        pings += kind == "ping"
        return written(kind, body)

    house = await open_house(limits=Limits(ping_after_ms=100, pong_within_ms=60_000))
    tamper(house, monkeypatch, change)
    bot = await house.connected(delay_ms=3_000, resign_at=1)
    hosted = house.create(SHORT, "remote:bob", "uniform")
    await bot.until("asked")
    counts = house.arena.hub.counts
    sent, heard = pings, counts.frames_in
    # No Ping is sent while one is open, so each but the last was answered.
    await until(lambda: pings >= sent + 3, within=WITHIN_S)
    assert counts.frames_in >= heard + 2
    assert not hosted.over
    await house.result(hosted, EndKind.FORFEITED)
    assert not bot.told("lost")


@pytest.mark.parametrize("final", [False, True])
async def test_a_server_that_says_goodbye_and_does_not_go_is_left(
    house: House, monkeypatch: pytest.MonkeyPatch, final: bool
) -> None:
    silent = said = False

    def change(kind: str, body: Any) -> bytes:
        nonlocal silent, said
        if kind == "welcome":
            silent = False
        if silent:
            return b""
        if kind == "decision_closed" and not said:
            silent = said = True
            goodbye = pb.Goodbye(code="server.stopping", message="the server stops")
            if not final:
                goodbye.reconnect_after_ms = 1
            return written("goodbye", goodbye)
        return written(kind, body)

    tamper(house, monkeypatch, change)
    bot = await house.connected(matches=1)
    hosted = house.create(SHORT)
    if final:
        await bot.stopped()
        hosted.abort(EndKind.VOID, "match.aborted", "called off")
        await house.result(hosted, EndKind.VOID)
        assert not bot.told("lost")
    else:
        assert (await bot.until("lost"))["code"] == "server.stopping"
        assert (await bot.until("connected", count=2))["resumed"] is True
        await house.went_as_ever(bot, hosted)
        await bot.stopped()


async def test_a_bot_started_again_takes_its_seat_again(house: House) -> None:
    first = await house.connected(delay_ms=THINKING, build="one")
    hosted = house.create(SHORT)
    await first.until("asked", count=6)
    await first.kill()
    second = await house.connected(build="one", matches=1)
    result = await house.result(hosted)
    wanted = await expected(house.arena.registry, SHORT)
    assert result.content_hash.hex() == wanted.content_hash
    for seat in range(2):
        offered = await second.until("offered", seat=seat)
        assert offered["resumed"] is True
        assert (await second.until("ended", seat=seat))["kind"] == "played"
    await second.stopped()


async def test_the_newer_of_two_programs_of_a_bot_stays(house: House) -> None:
    older = await house.connected()
    newer = await house.connected(matches=1)
    # The goodbye that sends the older one away is final.
    await older.stopped()
    await house.went_as_ever(newer, house.create(SHORT))
    await newer.stopped()
