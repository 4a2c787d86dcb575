"""Offers of seats: what they tell, whom they reach, and what may come of them."""

from __future__ import annotations

import asyncio

import msgpack
import pytest
from tests.service.rawbot import first_legal, last_legal

from fritillary.api.v1 import bot_pb2 as pb
from fritillary.api.v1 import common_pb2
from fritillary.record.terms import ClockSettings, EndKind, Fault, Terms


def pb_info(name, build):
    return common_pb2.PlayerInfo(name=name, build=build)


async def test_an_offer_tells_all_that_a_bot_must_know(stage):
    async with stage.bot(play=last_legal, bot=pb_info("Bob", "7")) as bot:
        hosted = stage.arena.create(
            "pig",
            ["uniform", "remote:bob"],
            preset="short",
            clocks=[ClockSettings(), ClockSettings(base_ms=60_000, increment_ms=50)],
        )
        await hosted.ended
        offer = await bot.until("match_offer")
    assert offer.match_id == hosted.id
    assert offer.seat == 1
    assert offer.game.id == "pig"
    assert offer.game.rules_version == 1
    assert offer.table.size == 2
    assert len(offer.table.hash) == len(offer.schemas_hash) == 32
    assert msgpack.unpackb(offer.options) == {"target": 6}
    assert [seat.player.name for seat in offer.seats] == ["uniform", "Bob"]
    assert offer.seats[1].player.build == "7"
    assert offer.seats[1].clock.base_ms == 60_000
    assert not offer.seats[0].clock.HasField("base_ms")
    assert len(offer.terms.policy.rules) == len(Fault)
    assert offer.terms.ceiling_ms == hosted.order.terms.ceiling_ms
    assert offer.terms.policy.link.loss_ms == 30_000
    assert len(offer.commitment.hash) == 32
    assert offer.nonce_wanted
    assert 0 <= offer.bot_seed < 2**53
    assert offer.answer_within_ms == 10_000
    assert not offer.resumed


async def test_a_third_match_waits_for_room(stage):
    async with stage.bot(play=last_legal, capacity=1) as bot:
        matches = [
            stage.arena.create("pig", ["remote:bob", "uniform"]) for _ in range(3)
        ]
        results = await asyncio.gather(*(one.ended for one in matches))
        await bot.until("match_ended", count=3)
    assert all(one.finish.kind is EndKind.PLAYED for one in results)
    kinds = [k for k in bot.kinds() if k in {"match_offer", "match_ended"}]
    assert kinds == ["match_offer", "match_ended"] * 3


async def test_capacity_can_be_raised_later(stage):
    async with stage.bot(play=last_legal, capacity=0) as bot:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"])
        await asyncio.sleep(0.1)
        assert not bot.all("match_offer")
        await bot.send(capacity=pb.Capacity(matches=1))
        result = await hosted.ended
    assert result.finish.kind is EndKind.PLAYED


async def test_a_bot_is_offered_only_games_that_it_named(stage):
    terms = Terms(offer_ms=100, margin_ms=0)
    async with stage.bot(games=[pb.GameSupport(game="chess")]):
        result = await stage.arena.play("pig", ["remote:bob", "uniform"], terms=terms)
    assert result.finish.code == "fault.refused-to-start"


async def test_a_declined_offer_is_a_refusal_to_start(stage):
    async with stage.bot(auto=False) as bot:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"])
        offer = await bot.until("match_offer")
        await bot.send(
            decline=pb.Decline(
                match_id=offer.match_id, code="game.other-table", message="no\x00pe"
            )
        )
        result = await hosted.ended
        ended = await bot.until("match_ended")
    assert result.finish.kind is EndKind.FORFEITED
    assert result.finish.code == "fault.refused-to-start"
    assert ended.result.outcome.placing == [2, 1]


@pytest.mark.parametrize("accepts", [False, True])
async def test_silence_after_an_offer_is_a_refusal_to_start(stage, accepts):
    terms = Terms(offer_ms=150, ready_ms=150, margin_ms=0)
    async with stage.bot(auto=False) as bot:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"], terms=terms)
        offer = await bot.until("match_offer")
        if accepts:
            await bot.send(accept=pb.Accept(match_id=offer.match_id))
        result = await hosted.ended
    assert result.finish.code == "fault.refused-to-start"


async def test_a_match_of_absent_bots_is_void(stage):
    terms = Terms(offer_ms=100, margin_ms=0)
    result = await stage.arena.play("pig", ["remote:x", "remote:y"], terms=terms)
    assert result.finish.kind is EndKind.VOID


async def test_ready_before_accept_is_told_and_changes_nothing(stage):
    async with stage.bot(auto=False) as bot:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"], preset="short")
        offer = await bot.until("match_offer")
        await bot.send(ready=pb.Ready(match_id=offer.match_id))
        notice = await bot.until("error")
        bot.auto, bot.play = True, first_legal
        await bot.send_all(*bot._answers("match_offer", offer))
        result = await hosted.ended
    assert notice.error.code == "seat.not-accepted"
    assert result.finish.kind is EndKind.PLAYED
