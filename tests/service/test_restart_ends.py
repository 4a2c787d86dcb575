"""A match that ends while a bot is away: it hears all of it when it is back."""

from __future__ import annotations

import pytest
from tests.service import pig
from tests.service.house import plays
from tests.service.rawbot import first_legal, until

from fritillary.api.v1 import bot_pb2 as pb
from fritillary.api.v1 import common_pb2
from fritillary.record.terms import EndKind
from fritillary.referee.verify import verify

ENCODINGS = [common_pb2.ENCODING_MSGPACK, common_pb2.ENCODING_JSON]


def _ack(events):
    last = max((event.number for event in events), default=0)
    return pb.Ack(match_id="m", seat=0, event_number=last)


def _order(bot):
    return [kind for kind, _ in bot.log if kind in {"event", "match_ended"}]


def _call_off(house):
    house.arena.match("m").abort(EndKind.WITHDRAWN, "test.off", "called off")


async def test_what_a_bot_missed_before_the_end_is_told_before_it(house):
    async with house.bot(play=plays(1)) as bot:
        hosted = house.create()
        await bot.until("decision_request", count=2)
        token, heard = bot.log[0][1].session_token, bot.all("event")
    await until(lambda: hosted.phase == "waiting")
    _call_off(house)
    await hosted.ended
    async with house.bot(session_token=token, acks=[_ack(heard)]) as bot:
        await bot.until("match_ended")
        told = [event.number for event in bot.all("event")]
    assert told == [heard[-1].number + 1]
    assert _order(bot) == ["event", "match_ended"]


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_the_same_after_a_restart_that_came_after_the_end(house, encoding):
    async with house.deaf_bot(play=first_legal, encoding=encoding) as bot:
        await house.create().ended
        await bot.until("match_ended")
        token, heard = bot.log[0][1].session_token, bot.all("event")
        await house.crash()
    await house.start()
    ack = _ack(heard[:-3])
    again = {"session_token": token, "acks": [ack], "encoding": encoding}
    async with house.bot(**again) as bot:
        await bot.until("match_ended")
        assert bot.all("event") == heard[-3:]
        await until(lambda: "m" not in set(house.private.matches()))
    assert _order(bot) == ["event"] * 3 + ["match_ended"]


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_the_same_where_the_match_ends_after_the_restart(house, encoding):
    async with house.bot(play=plays(1), encoding=encoding) as bot:
        house.create()
        await bot.until("decision_request", count=2)
        token, heard = bot.log[0][1].session_token, bot.all("event")
        closed = bot.all("decision_closed")
        await house.crash()
    await house.start()
    hosted = house.arena.match("m")
    await until(lambda: hosted.phase == "waiting")
    _call_off(house)
    await hosted.ended
    again = {"session_token": token, "encoding": encoding}
    async with house.bot(acks=[pb.Ack(match_id="m", seat=0)], **again) as bot:
        await bot.until("match_ended")
        told = bot.all("event")
        assert told[: len(heard)] == heard
        assert [event.number for event in told] == list(range(1, len(told) + 1))
        closed_again = bot.all("decision_closed")[-1]
        assert closed_again.decision_id >= closed[-1].decision_id
    assert _order(bot)[-1] == "match_ended"
    verify((house.records / "m.frec").read_bytes(), pig.registry())
