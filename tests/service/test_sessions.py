"""Streams: opening, replacing and resuming them."""

from __future__ import annotations

import asyncio

import grpc
import pytest
from tests.service.house import plays
from tests.service.rawbot import RawBot, decide, last_legal, until

from fritillary.api.v1 import bot_pb2 as pb
from fritillary.api.v1 import common_pb2
from fritillary.codec.packing import unpack
from fritillary.record.terms import EndKind, LinkBank, Policy, Terms
from fritillary.service.limits import Limits
from fritillary.service.resume import SessionKey, SessionTokens


def info(build):
    return common_pb2.PlayerInfo(name="Bob", build=build)


# --------------------------------------------------------------------------- hello


async def test_welcome_tells_what_is_in_use(open_stage):
    stage = await open_stage(limits=Limits(max_matches=8))
    async with stage.bot(
        capacity=99, features=["decision.joint"], encoding=common_pb2.ENCODING_JSON
    ) as bot:
        welcome = await bot.until("welcome")
    assert welcome.session_token
    assert not welcome.resumed
    assert welcome.bot_name == "bob"
    assert not welcome.features
    assert welcome.encoding == common_pb2.ENCODING_JSON
    assert welcome.legal_form == pb.LEGAL_FORM_PACKED
    assert welcome.capacity == welcome.limits.max_matches == 8
    assert welcome.limits.keepalive.ping_after_ms == 20_000


async def test_the_first_message_must_be_hello(stage):
    bot = stage.bot(auto=False)
    bot.listen()
    await bot.send(ping=pb.Ping(id=1))
    refusal = await bot.until("refusal")
    assert refusal.error.code == "hello.missing"
    assert await bot.call.code() is grpc.StatusCode.INVALID_ARGUMENT
    await bot.close()


async def test_hello_must_come_in_time(open_stage):
    stage = await open_stage(limits=Limits(hello_ms=2_000))
    bot = stage.bot(auto=False)
    bot.listen()
    # The stream begins with its first bytes: an empty frame.
    await bot.send_all()
    refusal = await bot.until("refusal")
    assert refusal.error.code == "hello.late"
    assert await bot.call.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    await bot.close()


async def test_an_unknown_encoding_is_refused(stage):
    async with stage.bot(encoding=9) as bot:
        refusal = await bot.until("refusal")
    assert refusal.error.code == "encoding.unknown"


async def test_pings_are_answered(stage):
    async with stage.bot() as bot:
        await bot.send(ping=pb.Ping(id=42))
        pong = await bot.until("pong")
    assert pong.id == 42


async def test_a_round_trip_is_measured_and_shown(stage):
    async with stage.bot(play=last_legal) as bot:
        await stage.arena.play("pig", ["remote:bob", "uniform"], preset="short")
        closed = await bot.until("decision_closed")
    assert closed.time.HasField("round_trip_ms")


async def test_a_garbage_frame_is_told_and_harms_nothing(stage):
    async with stage.bot(play=None) as bot:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"], preset="short")
        request = await bot.until("decision_request")
        raw = stage.bot("raw", auto=False)
        frame = bot.call
        # The same stream, past the serialiser of the stub.
        serializer, frame._request_serializer = frame._request_serializer, bytes
        await frame.write(b"\xff\xff\xff garbage")
        frame._request_serializer = serializer
        notice = await bot.until("error")
        bot.play = last_legal
        await bot.send_all(last_legal(request))
        result = await hosted.ended
        await raw.close()
    assert notice.error.code == "frame.malformed"
    assert result.finish.kind is EndKind.PLAYED


# ----------------------------------------------------------------------- replacing


async def test_a_second_session_replaces_the_first_and_goes_on(stage):
    token = stage.token()
    async with RawBot(stage.address, token, play=None) as first:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"])
        request = await first.until("decision_request")
        async with RawBot(stage.address, token, play=last_legal) as second:
            goodbye = await first.until("goodbye")
            await first.until("closed")
            offer = await second.until("match_offer")
            again = await second.until("decision_request")
            result = await hosted.ended
            await second.until("match_ended")
    assert goodbye.code == "session.replaced"
    assert offer.resumed
    assert again.decision_id == request.decision_id
    assert again.observation == request.observation
    assert result.finish.kind is EndKind.PLAYED


async def test_a_bot_that_yields_takes_no_place_of_another_session(stage):
    token = stage.token()
    yields = ["visit.yields"]
    async with RawBot(stage.address, token, play=None) as first:
        async with RawBot(stage.address, token, features=yields) as second:
            refusal = await second.until("refusal")
            assert await second.call.code() is grpc.StatusCode.FAILED_PRECONDITION
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"])
        await first.until("decision_request")
        assert "goodbye" not in first.kinds()
    assert refusal.error.code == "session.in-use"
    assert refusal.error.message == (
        "bot 'bob' is connected already; dial in with a token of its own"
    )
    # Its link is lost, and it is waited for.
    await until(lambda: hosted.phase == "waiting")
    async with RawBot(stage.address, token, features=yields) as third:
        refusal = await third.until("refusal")
    assert "is waited for in a match" in refusal.error.message
    hosted.abort(EndKind.VOID, "match.aborted", "enough")
    await hosted.ended
    async with RawBot(stage.address, token, features=yields) as fourth:
        welcome = await fourth.until("welcome")
    assert list(welcome.features) == yields


# ------------------------------------------------------------------------ resuming


async def test_a_lost_bot_resumes_with_its_session_token(stage):
    token = stage.token()
    first = RawBot(stage.address, token, play=None, bot=info("7"))
    await first.open()
    # So many points that the other cannot win before the second request.
    hosted = stage.arena.create(
        "pig", ["remote:bob", "uniform"], options={"target": 60}
    )
    request = await first.until("decision_request")
    await first.send_all(decide(request, index=0))
    await first.until("decision_request", count=2)
    session_token = first.all("welcome")[0].session_token
    await first.close()
    await until(lambda: hosted.phase == "waiting")
    second = RawBot(
        stage.address,
        token,
        play=last_legal,
        bot=info("7"),
        session_token=session_token,
    )
    await second.open()
    result = await hosted.ended
    await second.until("match_ended")
    await second.close()
    assert second.all("welcome")[0].resumed
    assert second.all("welcome")[0].session_token == session_token
    assert not second.all("match_offer")
    status = second.all("match_status")[0]
    assert status.open_decision_id == second.all("decision_request")[0].decision_id == 2
    # What was not acknowledged came again, with its numbers.
    events = second.all("event")
    assert [one.number for one in events] == list(range(1, len(events) + 1))
    assert events[0] == first.all("event")[0]
    assert result.finish.kind is EndKind.PLAYED
    assert second.all("decision_request")[0].clock.link_left_ms < 120_000


async def test_what_was_acknowledged_is_not_sent_again(stage):
    token = stage.token()
    first = RawBot(stage.address, token, play=None)
    await first.open()
    hosted = stage.arena.create("pig", ["remote:bob", "uniform"])
    request = await first.until("decision_request")
    await first.send_all(decide(request, index=0))
    await first.until("decision_request", count=2)
    session_token = first.all("welcome")[0].session_token
    await first.close()
    second = RawBot(
        stage.address,
        token,
        play=last_legal,
        session_token=session_token,
        acks=[
            pb.Ack(match_id=hosted.id, event_number=1, closed_decision_id=1),
            pb.Ack(match_id="unknown", ended=True),
        ],
    )
    await second.open()
    await hosted.ended
    await second.until("match_ended")
    await second.close()
    assert second.all("event")[0].number == 2
    assert second.all("decision_closed")[0].decision_id == 2


async def test_the_end_is_told_to_a_bot_that_missed_it(stage):
    token = stage.token()
    first = RawBot(stage.address, token, play=None)
    await first.open()
    hosted = stage.arena.create("pig", ["remote:bob", "uniform"])
    await first.until("decision_request")
    session_token = first.all("welcome")[0].session_token
    await first.close()
    await until(lambda: hosted.phase == "waiting")
    hosted.abort(EndKind.WITHDRAWN, "match.aborted", "called off")
    await hosted.ended
    for expected in (1, 0):
        second = RawBot(stage.address, token, session_token=session_token)
        await second.open()
        if expected:
            ended = await second.until("match_ended")
            assert ended.result.code == "match.aborted"
            # A bot that hangs up may take its acknowledgement with it.
            await until(lambda: not stage.arena.hub.owes_end("bob", hosted.id))
        await asyncio.sleep(0.05)
        assert len(second.all("match_ended")) == expected
        await second.close()


async def test_a_fresh_session_is_offered_the_seat_again(stage):
    token = stage.token()
    first = RawBot(stage.address, token, play=None)
    await first.open()
    hosted = stage.arena.create("pig", ["remote:bob", "uniform"])
    request = await first.until("decision_request")
    await first.close()
    second = RawBot(
        stage.address, token, play=last_legal, encoding=common_pb2.ENCODING_JSON
    )
    await second.open()
    result = await hosted.ended
    await second.until("match_ended")
    await second.close()
    assert not second.all("welcome")[0].resumed
    assert second.all("match_offer")[0].resumed
    assert second.all("decision_request")[0].decision_id == request.decision_id
    assert second.all("decision_request")[0].observation.startswith(b"{")
    assert result.finish.kind is EndKind.PLAYED


async def test_another_build_cannot_resume(stage):
    token = stage.token()
    first = RawBot(stage.address, token, play=None, bot=info("7"))
    await first.open()
    session_token = first.all("welcome")[0].session_token
    await first.close()
    async with RawBot(
        stage.address, token, bot=info("8"), session_token=session_token
    ) as second:
        refusal = await second.until("refusal")
        code = await second.call.code()
    assert refusal.error.code == "session.other-build"
    assert code is grpc.StatusCode.FAILED_PRECONDITION


async def test_another_build_does_not_get_the_seat(stage):
    token = stage.token()
    terms = Terms(policy=Policy.of(link=LinkBank(loss_ms=300)))
    first = RawBot(stage.address, token, play=None, bot=info("7"))
    await first.open()
    hosted = stage.arena.create("pig", ["remote:bob", "uniform"], terms=terms)
    await first.until("decision_request")
    async with RawBot(stage.address, token, bot=info("8")) as second:
        result = await hosted.ended
        assert not second.all("match_offer")
    await first.close()
    assert result.finish.code == "fault.disconnected"


@pytest.mark.parametrize("text", ["garbage", "Zm9v", "ä" * 40, "A" * 400])
async def test_an_unknown_session_token_opens_a_new_session(stage, text):
    async with stage.bot(session_token=text) as bot:
        welcome = await bot.until("welcome")
    assert not welcome.resumed


async def test_other_settings_cannot_resume(stage):
    token = stage.token()
    first = RawBot(stage.address, token)
    await first.open()
    session_token = first.all("welcome")[0].session_token
    await first.close()
    async with RawBot(
        stage.address,
        token,
        session_token=session_token,
        legal_form=pb.LEGAL_FORM_EXPANDED,
    ) as second:
        refusal = await second.until("refusal")
    assert refusal.error.code == "session.other-settings"


async def test_the_token_of_an_older_session_opens_a_new_one(stage):
    """What it has missed is not known any more, nor in which encoding."""
    token = stage.token()
    async with stage.bot(token=token, play=plays(1)) as first:
        stage.arena.create("pig", ["remote:bob", "uniform"])
        request = await first.until("decision_request", count=2)
        session_token = first.all("welcome")[0].session_token
    async with stage.bot(
        token=token,
        play=plays(2),
        encoding=common_pb2.ENCODING_JSON,
        legal_form=pb.LEGAL_FORM_EXPANDED,
    ) as second:
        await second.until("decision_request", count=3)
    known = pb.Ack(match_id=request.match_id, event_number=request.event_number)
    async with stage.bot(
        token=token, session_token=session_token, acks=[known], play=plays(1)
    ) as third:
        welcome = await third.until("welcome")
        offer = await third.until("match_offer")
        request = await third.until("decision_request", count=2)
    assert not welcome.resumed
    assert welcome.session_token not in {"", session_token}
    assert offer.resumed
    assert not request.legal_actions
    assert unpack(request.observation)


async def test_a_new_session_hears_of_no_request_that_it_never_had(stage):
    token = stage.token()
    async with stage.bot(token=token, play=plays(2)) as first:
        stage.arena.create("pig", ["remote:bob", "uniform"])
        await first.until("decision_request", count=3)
    async with stage.bot(token=token, play=None) as second:
        request = await second.until("decision_request")
        assert second.all("decision_closed") == []
        await second.send_all(decide(request, index=0))
        closed = await second.until("decision_closed")
    assert closed.decision_id == request.decision_id


def test_a_session_token_outlives_the_server_with_its_secret():
    key = SessionKey("bob", "7", 1, False, ())
    text = SessionTokens(b"s" * 32).new(key)
    assert SessionTokens(b"s" * 32).resumes(text, key)
    assert not SessionTokens(b"t" * 32).resumes(text, key)
    assert not SessionTokens(b"s" * 32).resumes(
        text, SessionKey("eve", "7", 1, False, ())
    )
