"""Answers that are wrong, late or stale, and what is said beside them."""

from __future__ import annotations

import asyncio
from typing import Any

import msgpack
import pytest
from tests.service.rawbot import decide, last_legal

from fritillary.api.v1 import bot_pb2 as pb
from fritillary.api.v1 import common_pb2
from fritillary.record.chain import payloads
from fritillary.record.terms import (
    ClockSettings,
    Consequence,
    EndKind,
    Fault,
    FaultRule,
    Policy,
    Terms,
)

# ------------------------------------------------------------------------ faults


async def test_illegal_and_unreadable_answers_are_retried_within_the_policy(stage):
    tries: list[dict[str, Any]] = [
        {"text": "hold"},
        {"text": "dance"},
        {"action": b"\xc1 garbage"},
        {"index": 99},
        {},
    ]

    def play(request):
        return decide(request, **tries.pop(0)) if tries else last_legal(request)

    policy = Policy.of(
        FaultRule(Fault.ILLEGAL, Consequence.FORFEIT, 1),
        FaultRule(Fault.MALFORMED, Consequence.FORFEIT, 5),
    )
    async with stage.bot(play=play) as bot:
        result = await stage.arena.play(
            "pig", ["remote:bob", "uniform"], terms=Terms(policy=policy)
        )
        await bot.until("match_ended")
    assert result.finish.kind is EndKind.PLAYED
    first = bot.all("decision_request")[:6]
    assert [one.attempt for one in first] == [1, 2, 3, 4, 5, 6]
    assert [one.error.code for one in first] == [
        "",
        "action.illegal",
        *["action.invalid"] * 4,
    ]
    ruled = [e for e in bot.all("event") if e.WhichOneof("body") == "ruling"]
    assert [one.ruling.consequence for one in ruled] == [
        common_pb2.CONSEQUENCE_RETRY
    ] * 5


@pytest.mark.parametrize(
    ("choice", "fault"),
    [
        ({"text": "hold"}, "illegal"),
        ({"action": b"\xff\xff"}, "malformed"),
        ({"action": b"\xc0"}, "malformed"),
        ({"action": b"\x93\x01\x02\x03"}, "malformed"),
        ({"text": ""}, "malformed"),
        ({"index": 2**32 - 1}, "malformed"),
    ],
)
async def test_a_bad_answer_is_a_forfeit_by_default(stage, choice, fault):
    async with stage.bot(play=lambda r: decide(r, **choice)) as bot:
        result = await stage.arena.play("pig", ["remote:bob", "uniform"])
        await bot.until("match_ended")
    assert result.finish.kind is EndKind.FORFEITED
    assert result.finish.code == f"fault.{fault}"
    assert bot.all("decision_closed")[-1].closure == pb.DECISION_CLOSURE_RULED


async def test_a_late_answer_loses_and_is_told_so(stage):
    async with stage.bot() as bot:
        result = await stage.arena.play(
            "pig",
            ["remote:bob", "uniform"],
            clocks=ClockSettings(move_ms=100),
            terms=Terms(margin_ms=0),
        )
        request = await bot.until("decision_request")
        await bot.until("match_ended")
        await bot.send_all(last_legal(request))
        notice = await bot.until("error")
    assert result.finish.code == "fault.late"
    assert 0 < request.clock.left_ms <= 100
    assert notice.error.code == "decision.stale"
    assert notice.decision_id == request.decision_id


async def test_substitution_plays_on(stage):
    policy = Policy.of(FaultRule(Fault.LATE, Consequence.SUBSTITUTE))
    async with stage.bot() as bot:
        result = await stage.arena.play(
            "pig",
            ["remote:bob", "uniform"],
            preset="short",
            clocks=ClockSettings(move_ms=20),
            terms=Terms(margin_ms=0, policy=policy),
        )
        await bot.until("match_ended")
    assert result.finish.kind is EndKind.PLAYED
    sources = {
        e.action.source
        for e in bot.all("event")
        if e.WhichOneof("body") == "action" and e.action.seat == 0
    }
    assert sources == {pb.ACTION_SOURCE_SUBSTITUTE}


async def test_a_stand_in_plays_on_for_a_forfeited_seat(stage):
    async with (
        stage.bot("a", play=lambda r: decide(r, text="x")) as a,
        stage.bot("b", play=last_legal) as b,
    ):
        result = await stage.arena.play(
            "pig", ["remote:a", "remote:b", "uniform"], preset="short"
        )
        await a.until("match_ended")
        await b.until("match_ended")
    assert result.finish.kind is EndKind.FORFEITED
    assert result.finish.outcome.placing[0] == 3
    assert len(a.all("decision_request")) == 1
    ruling = next(e.ruling for e in b.all("event") if e.WhichOneof("body") == "ruling")
    assert "x" not in ruling.error.message.split()


async def test_remarks_go_to_the_record_and_to_no_seat(stage):
    def play(request):
        n = len(request.legal)
        return decide(
            request,
            index=request.legal[-1],
            note="my \x1b[31msecret" + "!" * 5000,
            probabilities=[1 / n] * n,
            think_ms=7,
        )

    async with stage.bot("a", play=play) as a, stage.bot("b", play=last_legal) as b:
        hosted = stage.arena.create("pig", ["remote:a", "remote:b"], preset="short")
        await hosted.ended
        await b.until("match_ended")
        closed = await a.until("decision_closed")
    assert closed.time.think_ms == 7
    events = [msgpack.unpackb(raw) for raw, _ in payloads(hosted.record())]
    noted = [e for e in events if e.get("note")]
    assert noted
    assert all(len(e["note"]) <= 2_000 and "\x1b" not in e["note"] for e in noted)
    assert noted[0]["probabilities"] == [1_000_000]
    assert noted[0]["think_ms"] == 7
    assert not any("secret" in str(body) for _, body in b.log)


async def test_nonsense_beside_a_decision_is_dropped(stage):
    def play(request):
        return decide(
            request,
            index=request.legal[0],
            probabilities=[float("nan"), -1.0, 2.0],
            think_ms=2**32 - 1,
        )

    async with stage.bot(play=play):
        result = await stage.arena.play(
            "pig", ["remote:bob", "uniform"], preset="short"
        )
    assert result.finish.kind is EndKind.PLAYED


# ------------------------------------------------- decisions that change nothing


async def test_stale_unknown_and_repeated_decisions_change_nothing(stage):
    async with stage.bot(play=None) as bot:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"])
        first = await bot.until("decision_request")
        await bot.send_all(
            decide(first, index=0),
            # Again the same: harmless. Another choice for it: too late.
            decide(first, index=0),
            decide(first, index=1),
        )
        second = await bot.until("decision_request", count=2)
        await bot.send_all(
            decide(first, index=0),
            pb.BotMessage(
                message_id=77,
                decision=pb.Decision(
                    match_id=first.match_id, decision_id=2**40, index=0
                ),
            ),
            pb.BotMessage(
                decision=pb.Decision(match_id="nope", decision_id=1, index=0)
            ),
            pb.BotMessage(
                decision=pb.Decision(
                    match_id=first.match_id, seat=1, decision_id=2, index=0
                )
            ),
            pb.BotMessage(message_id=5),
            pb.BotMessage(ready=pb.Ready(match_id=first.match_id)),
            pb.BotMessage(accept=pb.Accept(match_id=first.match_id)),
            pb.BotMessage(hello=pb.Hello()),
        )
        await bot.until("error", count=6)
        await asyncio.sleep(0.05)
        notices = bot.all("error")
        bot.play = last_legal
        await bot.send_all(last_legal(second))
        result = await hosted.ended
    assert [one.error.code for one in notices] == [
        "decision.stale",
        "decision.unknown",
        "match.unknown",
        "seat.wrong",
        "message.empty",
        "hello.repeated",
    ]
    assert notices[1].message_id == 77
    assert notices[1].decision_id == 2**40
    assert notices[4].message_id == 5
    assert result.finish.kind is EndKind.PLAYED


async def test_a_repeated_decision_after_a_ruling_is_stale(stage):
    policy = Policy.of(FaultRule(Fault.ILLEGAL, Consequence.FORFEIT, 3))
    async with stage.bot() as bot:
        hosted = stage.arena.create(
            "pig", ["remote:bob", "uniform"], terms=Terms(policy=policy)
        )
        first = await bot.until("decision_request")
        await bot.send_all(decide(first, text="hold"))
        second = await bot.until("decision_request", count=2)
        await bot.send_all(decide(first, text="hold"))
        notice = await bot.until("error")
        bot.play = last_legal
        await bot.send_all(last_legal(second))
        result = await hosted.ended
    assert notice.error.code == "decision.stale"
    assert result.finish.kind is EndKind.PLAYED
