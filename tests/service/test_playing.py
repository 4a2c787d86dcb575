"""Whole matches over gRPC, in every form of answer."""

from __future__ import annotations

import asyncio
import json

import msgpack
import pytest
from tests.service.rawbot import decide, last_legal

from fritillary.api.v1 import bot_pb2 as pb
from fritillary.api.v1 import common_pb2
from fritillary.record.terms import EndKind

HOLD = {"type": "hold"}
ROLL = {"type": "roll"}


def by_index(request):
    return last_legal(request)


def by_text(request):
    return decide(request, text=" HOLD" if len(request.legal) > 1 else "roll")


def by_msgpack(request):
    return decide(
        request, action=msgpack.packb(HOLD if len(request.legal) > 1 else ROLL)
    )


def by_json(request):
    value = HOLD if len(request.legal) > 1 else ROLL
    return decide(request, action=json.dumps(value).encode())


@pytest.mark.parametrize(
    ("play", "encoding"),
    [
        (by_index, common_pb2.ENCODING_UNSPECIFIED),
        (by_text, common_pb2.ENCODING_MSGPACK),
        (by_msgpack, common_pb2.ENCODING_MSGPACK),
        (by_json, common_pb2.ENCODING_JSON),
    ],
)
async def test_a_match_is_played_in_every_form_of_answer(stage, play, encoding):
    async with stage.bot(play=play, encoding=encoding) as bot:
        result = await stage.arena.play("pig", ["remote:bob", "uniform"])
        ended = await bot.until("match_ended")
    assert result.finish.kind is EndKind.PLAYED
    assert ended.result.kind == common_pb2.MATCH_END_KIND_PLAYED
    assert tuple(ended.result.outcome.scores) == result.finish.outcome.scores
    assert ended.result.final_hash == result.final_hash
    assert ended.result.reveal.seed == result.reveal.seed
    closed = bot.all("decision_closed")
    assert {one.closure for one in closed} == {pb.DECISION_CLOSURE_ACCEPTED}
    assert [one.decision_id for one in closed] == list(range(1, len(closed) + 1))


async def test_events_are_numbered_without_gaps_and_end_with_the_result(stage):
    async with stage.bot(play=last_legal) as bot:
        result = await stage.arena.play("pig", ["remote:bob", "uniform"])
        await bot.until("match_ended")
    events = bot.all("event")
    assert [event.number for event in events] == list(range(1, len(events) + 1))
    assert events[-1].WhichOneof("body") == "ended"
    assert not events[-1].ended.final_hash
    assert events[-2].ply == result.plies
    closings = {one.event_number for one in bot.all("decision_closed")}
    mine = {
        e.number
        for e in events
        if e.WhichOneof("body") == "action" and e.action.seat == 0
    }
    assert closings == mine


async def test_a_nonce_enters_the_deal_and_the_reveal(stage):
    async with stage.bot(auto=False) as bot:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"], preset="short")
        offer = await bot.until("match_offer")
        await bot.send(accept=pb.Accept(match_id=offer.match_id, nonce=b"n" * 33))
        notice = await bot.until("error")
        await bot.send(accept=pb.Accept(match_id=offer.match_id, nonce=b"n" * 32))
        bot.auto, bot.play = True, last_legal
        await bot.send(ready=pb.Ready(match_id=offer.match_id))
        result = await hosted.ended
    assert notice.error.code == "nonce.too-long"
    assert result.reveal.nonces == (b"n" * 32, b"")


async def test_the_expanded_form_writes_every_legal_action_out(stage):
    async with stage.bot(
        play=last_legal,
        legal_form=pb.LEGAL_FORM_EXPANDED,
        encoding=common_pb2.ENCODING_JSON,
    ) as bot:
        await stage.arena.play("pig", ["remote:bob", "uniform"])
        await bot.until("match_ended")
    request = next(one for one in bot.all("decision_request") if len(one.legal) == 2)
    assert [one.index for one in request.legal_actions] == [0, 1]
    assert [one.text for one in request.legal_actions] == ["roll", "hold"]
    assert json.loads(request.legal_actions[1].action) == HOLD
    assert "options" not in json.loads(request.observation)
    assert json.loads(request.observation)["seat"] == 0


async def test_the_packed_form_has_indices_alone(stage):
    async with stage.bot(play=last_legal) as bot:
        await stage.arena.play("pig", ["remote:bob", "uniform"])
        await bot.until("match_ended")
    assert not any(one.legal_actions for one in bot.all("decision_request"))


async def test_two_bots_play_each_other(stage):
    async with stage.bot("a", play=last_legal) as a, stage.bot("b", play=by_text) as b:
        result = await stage.arena.play("pig", ["remote:a", "remote:b"])
        await a.until("match_ended")
        await b.until("match_ended")
    assert result.finish.kind is EndKind.PLAYED
    assert len(a.all("event")) == len(b.all("event"))


async def test_one_bot_takes_both_seats_and_must_name_them(stage):
    def play(request):
        answer = last_legal(request)
        if request.decision_id == 1 and request.seat == 0:
            answer.decision.ClearField("seat")
            asyncio.get_running_loop().call_later(
                0.05, lambda: asyncio.ensure_future(bot.send_all(last_legal(request)))
            )
        return answer

    async with stage.bot(play=play) as bot:
        result = await stage.arena.play("pig", ["remote:bob", "remote:bob"])
        await bot.until("match_ended", count=2)
    assert result.finish.kind is EndKind.PLAYED
    assert [one.error.code for one in bot.all("error")] == ["seat.missing"]


async def test_two_matches_share_one_stream(stage):
    async with stage.bot(play=last_legal, capacity=2) as bot:
        first = stage.arena.create("pig", ["remote:bob", "uniform"], match_id="one")
        second = stage.arena.create("pig", ["uniform", "remote:bob"], match_id="two")
        results = await asyncio.gather(first.ended, second.ended)
        await bot.until("match_ended", count=2)
    assert [one.finish.kind for one in results] == [EndKind.PLAYED] * 2
    assert {one.match_id for one in bot.all("event")} == {"one", "two"}


async def test_a_resignation_forfeits(stage):
    def give_up(request):
        return pb.BotMessage(
            resign=pb.Resign(match_id=request.match_id, decision_id=request.decision_id)
        )

    async with stage.bot(play=give_up) as bot:
        result = await stage.arena.play("pig", ["remote:bob", "uniform"])
        ended = await bot.until("match_ended")
    assert result.finish.kind is EndKind.FORFEITED
    assert result.finish.code == ended.result.code == "seat.resigned"
    assert result.finish.outcome.placing == (2, 1)


async def test_phases_are_told_as_they_change(stage):
    async with stage.bot(play=last_legal) as bot:
        await stage.arena.play("pig", ["remote:bob", "uniform"], preset="short")
        await bot.until("match_ended")
    phases = [one.phase for one in bot.all("match_status")]
    assert phases[0] == common_pb2.MATCH_PHASE_PREPARING
    assert phases[-1] == common_pb2.MATCH_PHASE_RUNNING
