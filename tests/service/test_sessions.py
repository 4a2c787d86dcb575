"""Streams: opening, replacing, losing, resuming, limits."""

from __future__ import annotations

import asyncio
import contextlib

import grpc
import pytest
from tests.service.rawbot import RawBot, decide, first_legal, last_legal, until

from fritillary import Registry
from fritillary.api.v1 import bot_pb2 as pb
from fritillary.api.v1 import common_pb2
from fritillary.record.chain import payloads
from fritillary.record.terms import (
    ClockSettings,
    EndKind,
    LinkBank,
    Policy,
    Terms,
)
from fritillary.service import session
from fritillary.service.limits import Limits
from fritillary.service.resume import SessionKey, SessionTokens
from fritillary.service.tokens import TokenStore


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
    stage = await open_stage(limits=Limits(hello_ms=100))
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


def test_a_session_token_outlives_the_server_with_its_secret():
    key = SessionKey("bob", "7", 1, False, ())
    text = SessionTokens(b"s" * 32).new(key)
    assert SessionTokens(b"s" * 32).resumes(text, key)
    assert not SessionTokens(b"t" * 32).resumes(text, key)
    assert not SessionTokens(b"s" * 32).resumes(
        text, SessionKey("eve", "7", 1, False, ())
    )


# -------------------------------------------------------------------- lost for good


async def test_a_lost_link_that_does_not_come_back_is_a_fault(stage):
    terms = Terms(policy=Policy.of(link=LinkBank(loss_ms=200)))
    first = stage.bot(play=None)
    await first.open()
    hosted = stage.arena.create("pig", ["remote:bob", "uniform"], terms=terms)
    await first.until("decision_request")
    await first.close()
    await until(lambda: hosted.phase == "waiting")
    status = hosted.status()
    result = await hosted.ended
    assert list(status.waiting_for) == [0]
    assert 0 < status.waiting_left_ms <= 200
    assert result.finish.code == "fault.disconnected"


async def test_the_clock_runs_while_the_link_is_lost(stage):
    first = stage.bot(play=None)
    await first.open()
    hosted = stage.arena.create(
        "pig",
        ["remote:bob", "uniform"],
        clocks=ClockSettings(base_ms=300),
        terms=Terms(margin_ms=0),
    )
    await first.until("decision_request")
    await first.close()
    result = await hosted.ended
    assert result.finish.code == "fault.disconnected"
    assert hosted.match.clocks[0].base_ms == 0


async def test_losses_draw_on_one_bank(stage):
    token = stage.token()
    terms = Terms(policy=Policy.of(link=LinkBank(loss_ms=400, total_ms=500)))
    bot = RawBot(stage.address, token, play=None)
    await bot.open()
    hosted = stage.arena.create("pig", ["remote:bob", "uniform"], terms=terms)
    await bot.until("decision_request")
    await bot.close()
    await asyncio.sleep(0.25)
    bot = RawBot(stage.address, token, play=None)
    await bot.open()
    request = await bot.until("decision_request")
    began = asyncio.get_running_loop().time()
    await bot.close()
    result = await hosted.ended
    assert request.clock.link_left_ms < 300
    assert result.finish.code == "fault.disconnected"
    assert asyncio.get_running_loop().time() - began < 0.39


async def test_goodbye_from_the_bot_is_a_lost_link(stage):
    terms = Terms(policy=Policy.of(link=LinkBank(loss_ms=50)))
    async with stage.bot(play=None) as bot:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"], terms=terms)
        await bot.until("decision_request")
        await bot.send(goodbye=pb.Goodbye(code="bot.stopping"))
        result = await hosted.ended
        await bot.until("closed")
        code = await bot.call.code()
    assert result.finish.code == "fault.disconnected"
    assert code is grpc.StatusCode.OK


# -------------------------------------------------------------------------- limits


async def test_flooding_is_a_fault_and_ends_the_stream(open_stage):
    stage = await open_stage(limits=Limits(max_messages_per_second=50))
    async with stage.bot(play=None) as bot:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"])
        await bot.until("decision_request")
        await bot.send_all(*[pb.BotMessage(ping=pb.Ping(id=i)) for i in range(200)])
        result = await hosted.ended
        goodbye = await bot.until("goodbye")
        await bot.until("closed")
    assert result.finish.code == "fault.flooding"
    assert goodbye.code == "limit.message-rate"


async def test_an_oversized_frame_is_the_fault_flooding(open_stage):
    stage = await open_stage(limits=Limits(max_message_bytes=10_000))
    async with stage.bot(play=None) as bot:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"])
        request = await bot.until("decision_request")
        await bot.send_all(decide(request, index=0, note="x" * 20_000))
        result = await hosted.ended
        goodbye = await bot.until("goodbye")
    assert result.finish.code == "fault.flooding"
    assert goodbye.code == "limit.message-size"


@pytest.mark.parametrize("size", [300_000, 1_000_000, 2_000_000, 4_000_000])
async def test_an_oversized_frame_is_a_fault_up_to_many_times_the_limit(stage, size):
    async with stage.bot(play=None) as bot:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"])
        request = await bot.until("decision_request")
        await bot.send_all(decide(request, text="x" * size))
        result = await hosted.ended
        goodbye = await bot.until("goodbye")
    assert result.finish.code == "fault.flooding"
    assert goodbye.code == "limit.message-size"


async def test_a_frame_beyond_all_bounds_loses_the_link_and_nothing_else(
    open_stage,
):
    stage = await open_stage(limits=Limits(max_message_bytes=10_000))
    terms = Terms(policy=Policy.of(link=LinkBank(loss_ms=100)))
    async with stage.bot(play=None) as bot:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"], terms=terms)
        request = await bot.until("decision_request")
        await bot.send_all(decide(request, index=0, note="x" * 6_000_000))
        result = await hosted.ended
        await bot.until("closed")
        code = await bot.call.code()
    assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert result.finish.code == "fault.disconnected"
    async with stage.bot("other") as other:
        await other.until("welcome")


async def test_a_bot_that_does_not_read_is_cut_off(open_stage):
    stage = await open_stage(limits=Limits(max_outstanding_bytes=200_000))
    bot = stage.bot(auto=False)
    await bot.send(hello=pb.Hello())
    await until(lambda: stage.arena.hub.link("bob").session is not None)
    hosted = stage.arena.create("pig", ["remote:bob", "uniform"])

    async def flood():
        # Each ping is answered, and no answer is read.
        while not hosted.ended.done():
            try:
                await bot.send_all(
                    *[pb.BotMessage(ping=pb.Ping(id=2**52)) for _ in range(2_000)]
                )
            except (grpc.RpcError, asyncio.InvalidStateError):
                return
            await asyncio.sleep(0.02)

    task = asyncio.create_task(flood())
    # The offer of the seat was not answered: flooding is found before its time is up.
    result = await asyncio.wait_for(hosted.ended, 8)
    await task
    await bot.close()
    assert result.finish.code == "fault.refused-to-start"
    assert any(b"limit." in raw for raw, _ in payloads(hosted.record()))
    assert stage.arena.hub.link("bob").session is None


async def test_a_stream_that_is_not_read_is_one_of_those_its_token_may_have(
    open_stage, monkeypatch
):
    monkeypatch.setattr(session, "_FLUSH_S", 0.1)
    stage = await open_stage(
        limits=Limits(
            max_outstanding_bytes=100_000,
            max_messages_per_second=10**6,
            max_streams=2,
        )
    )
    token = stage.token()
    pings = [pb.BotMessage(ping=pb.Ping(id=2**52)) for _ in range(2_000)]

    def is_there():
        return stage.arena.hub.link("bob").session is not None

    async def stuck():
        """Return a bot that was cut off and has not noticed, and what it sends."""
        bot = stage.bot(token=token, auto=False)
        await bot.send(hello=pb.Hello())
        await until(is_there)

        async def flood():
            with contextlib.suppress(grpc.RpcError, asyncio.InvalidStateError):
                while True:
                    await bot.send_all(*pings)

        task = asyncio.create_task(flood())
        await until(lambda: not is_there())
        return bot, task

    one, other = await stuck(), await stuck()
    third = stage.bot(token=token)
    third.listen()
    await third.until("closed")
    assert await third.call.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    await third.close()
    # Whoever reads what there is, is let go.
    bot, task = one
    bot.listen()
    await bot.until("closed")
    async with stage.bot(token=token) as fourth:
        await fourth.until("welcome")
    for bot, task in (one, other):
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await bot.close()


async def test_a_silent_bot_is_pinged_and_then_lost(open_stage):
    stage = await open_stage(limits=Limits(ping_after_ms=50, pong_within_ms=100))
    async with stage.bot(auto=False) as bot:
        goodbye = await bot.until("goodbye")
        await bot.until("closed")
    assert goodbye.code == "link.silent"
    assert goodbye.reconnect_after_ms == 1_000


async def test_a_busy_bot_is_not_lost_while_its_decision_is_open(open_stage):
    stage = await open_stage(limits=Limits(ping_after_ms=50, pong_within_ms=50))
    async with stage.bot(play=None) as bot:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"], preset="short")
        request = await bot.until("decision_request")
        bot.auto = False
        await asyncio.sleep(0.5)
        assert not bot.all("goodbye")
        bot.auto, bot.play = True, first_legal
        await bot.send_all(last_legal(request))
        result = await hosted.ended
    assert result.finish.kind is EndKind.PLAYED


async def test_a_revoked_token_ends_the_session(open_stage):
    stage = await open_stage(limits=Limits(ping_after_ms=60))
    async with stage.bot() as bot:
        stage.arena.tokens.revoke("bob")
        goodbye = await bot.until("goodbye")
    assert goodbye.code == "auth.revoked-token"


async def test_a_token_file_that_was_damaged_for_a_while_changes_nothing(
    open_stage, tmp_path
):
    path = tmp_path / "tokens.json"
    stage = await open_stage(
        limits=Limits(ping_after_ms=50, pong_within_ms=500), tokens=TokenStore(path)
    )
    async with stage.bot() as bot:
        good = path.read_bytes()
        path.write_bytes(b"{")
        before = len(bot.all("ping"))
        await bot.until("ping", count=before + 3)
        path.write_bytes(good)
        await bot.until("ping", count=len(bot.all("ping")) + 2)
        TokenStore(path).revoke("bob")
        goodbye = await bot.until("goodbye")
    assert goodbye.code == "auth.revoked-token"


async def test_the_link_is_watched_on_whatever_happens(open_stage, monkeypatch):
    stage = await open_stage(limits=Limits(ping_after_ms=60))
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)
    looks = iter([OSError(), OSError()])

    def good(_):
        for error in looks:
            raise error
        return False

    async with stage.bot() as bot:
        monkeypatch.setattr(stage.arena.tokens, "good", good)
        goodbye = await bot.until("goodbye")
    assert goodbye.code == "auth.revoked-token"


async def test_only_so_many_streams_are_open_with_one_token(open_stage):
    stage = await open_stage(limits=Limits(max_streams=3))
    token = stage.token()
    bots = [stage.bot(token=token) for _ in range(5)]
    for bot in bots:
        bot.listen()
    await until(lambda: sum("closed" in bot.kinds() for bot in bots) == 2)
    refused = [bot for bot in bots if "closed" in bot.kinds()]
    for bot in refused:
        assert await bot.call.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        trailing = dict(await bot.call.trailing_metadata())
        info = common_pb2.ErrorInfo.FromString(trailing["fritillary-error-bin"])
        assert info.code == "limit.streams"
        assert info.retry_after_ms > 0
    # Another token has its own streams.
    async with stage.bot("other") as other:
        welcome = await other.until("welcome")
    assert welcome.limits.max_streams == 3
    for bot in bots:
        await bot.close()

    async def again():
        async with stage.bot(token=token) as bot:
            return "welcome" in bot.kinds()

    # Streams that are gone do not count.
    await asyncio.sleep(0.2)
    assert [await again() for _ in range(6)] == [True] * 6


async def test_a_bot_that_dials_in_again_and_again_is_let_in(open_stage):
    stage = await open_stage(limits=Limits(max_streams=3))
    token = stage.token()
    async with contextlib.AsyncExitStack() as stack:
        for _ in range(10):
            bot = await stack.enter_async_context(stage.bot(token=token))
            assert "welcome" in bot.kinds()


async def test_nothing_is_left_of_a_bot_that_has_gone(stage):
    async with stage.bot():
        pass
    await until(lambda: not stage.arena.hub._links)


async def test_nobody_waits_for_a_seat_whose_link_bank_has_run_out(stage):
    games = Registry()
    games.load()
    link = LinkBank(loss_ms=30, total_ms=1_000)
    async with stage.bot("ann", play=None) as ann, stage.bot("cleo", play=None) as cleo:
        hosted = stage.arena.create(
            games.game("butterfly-garden"),
            ["remote:ann", "remote:cleo", "uniform"],
            terms=Terms(policy=Policy(link=link)),
            seed=b"s" * 32,
        )
        await ann.until("decision_request")
        await ann.close()
        # A stand-in plays on for the first seat, until the second one is asked.
        await cleo.until("decision_request")
        await until(lambda: hosted.phase == "running")
        assert not hosted.players[0].away
        hosted.abort(EndKind.VOID, "host.aborted", "enough")
