"""A bot that is back after a restart, and does not take its seat again."""

from __future__ import annotations

import asyncio

import pytest
from tests.service.house import plays
from tests.service.rawbot import until

from fritillary.api.v1 import bot_pb2 as pb
from fritillary.record.events import Ruling
from fritillary.record.terms import ClockSettings, Fault, LinkBank, Policy, Terms
from fritillary.referee.player import PlayerFault
from fritillary.service.retaking import Retaking

#: Longest wait of a test, in seconds.
LONG = 60

#: A bot that is away for long loses; here it is the one that is there that must not.
PATIENT = Policy.of(link=LinkBank(loss_ms=60_000, total_ms=120_000))

#: Whoever is ruled on loses by this clock, not by the ceiling.
#: There is time to do something before that, also on a busy machine.
TERMS = Terms(policy=PATIENT, offer_ms=3_000, ready_ms=3_100)


def seat(match_id):
    return {"match_id": match_id, "seat": 0}


async def interrupted(house, **more):
    """Play some decisions, kill the server and start it; return the match."""
    async with house.bot(play=plays(1)) as bot:
        hosted = house.create(clocks=ClockSettings(base_ms=60_000), **more)
        await bot.until("decision_request", count=2)
        await house.crash()
    await house.start()
    return house.arena.match(hosted.id)


async def ruled(house, hosted):
    """Wait for the end of a match; return what its seat 0 was ruled on for."""
    async with asyncio.timeout(LONG):
        result = await asyncio.shield(hosted.ended)
    assert result.finish.outcome.placing == (2, 1)
    ruling = house.record().find(Ruling)
    assert ruling.fault is Fault.DISCONNECTED
    return ruling.message


async def test_who_does_not_accept_its_seat_again_loses_it(house):
    hosted = await interrupted(house, terms=TERMS)
    async with house.bot(auto=False) as bot:
        await bot.until("match_offer")
        why = await ruled(house, hosted)
    assert "did not accept its seat again within 3 s" in why


async def test_who_accepts_and_does_not_get_ready_loses_its_seat(house):
    hosted = await interrupted(house, terms=TERMS)
    async with house.bot(auto=False) as bot:
        offer = await bot.until("match_offer")
        await bot.send(accept=pb.Accept(**seat(offer.match_id)))
        why = await ruled(house, hosted)
    assert "did not get ready again within 3.1 s" in why


async def test_who_comes_and_goes_has_the_time_once(house):
    hosted = await interrupted(house, terms=TERMS)
    visits = 0
    while not hosted.over:
        async with house.bot(auto=False) as bot:
            await bot.until("match_offer", "match_ended", "welcome")
            await asyncio.sleep(0.05)
        visits += 1
        assert visits < 1_000
    assert "did not accept its seat again" in await ruled(house, hosted)


async def test_who_gets_ready_in_time_plays_on(house):
    hosted = await interrupted(
        house, terms=Terms(policy=PATIENT, offer_ms=LONG * 1_000)
    )
    async with house.bot(play=plays(1)) as bot:
        await bot.until("decision_request")
        assert hosted.phase == "running"
        assert not hosted.over


async def test_a_pause_stops_the_time(house):
    hosted = await interrupted(house, terms=TERMS)
    async with house.bot(auto=False) as bot:
        await bot.until("match_offer")
        hosted.pause("tea")
        await until(lambda: hosted.phase == "paused", within=LONG)
        await asyncio.sleep(1.5 * TERMS.offer_ms / 1000)
        assert not hosted.over
        hosted.resume()
        why = await ruled(house, hosted)
    assert "did not accept its seat again" in why


@pytest.mark.parametrize("steps", [(), ("accepted",)])
async def test_the_time_runs_in_one_step_only(steps):
    """Accepting twice does not begin the second step anew."""
    found: list[PlayerFault] = []
    retaking = Retaking(found.append)
    retaking.begin(50, 150)
    for step in steps:
        getattr(retaking, step)()
        getattr(retaking, step)()
    await until(lambda: found, within=LONG)
    word = "get ready" if steps else "accept"
    assert word in found[0].message
    retaking.accepted()
    retaking.pause(False)
    await asyncio.sleep(0.2)
    assert len(found) == 1
