"""Whole matches over gRPC, in every form of answer."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import msgpack
import pytest
from tests.service.rawbot import decide, first_legal, last_legal

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


def pb_info(name, build):
    return common_pb2.PlayerInfo(name=name, build=build)


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


# ------------------------------------------------------------------------- offers


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


async def test_phases_are_told_as_they_change(stage):
    async with stage.bot(play=last_legal) as bot:
        await stage.arena.play("pig", ["remote:bob", "uniform"], preset="short")
        await bot.until("match_ended")
    phases = [one.phase for one in bot.all("match_status")]
    assert phases[0] == common_pb2.MATCH_PHASE_PREPARING
    assert phases[-1] == common_pb2.MATCH_PHASE_RUNNING
