"""Limits of a stream, and of the streams of one token."""

from __future__ import annotations

import asyncio
import contextlib

import grpc
import pytest
from tests.service.rawbot import decide, until

from fritillary.api.v1 import bot_pb2 as pb
from fritillary.api.v1 import common_pb2
from fritillary.record.chain import payloads
from fritillary.record.terms import LinkBank, Policy, Terms
from fritillary.service import session
from fritillary.service.limits import Limits


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


async def test_all_streams_of_a_bot_have_one_rate(open_stage):
    """Who dials in again has sent no less for it."""
    stage = await open_stage(limits=Limits(max_messages_per_second=50))
    token = stage.token()
    pings = [pb.BotMessage(ping=pb.Ping(id=i)) for i in range(40)]
    codes = []
    for _ in range(20):
        async with stage.bot(token=token) as bot:
            if not bot.all("refusal"):
                await bot.send_all(*pings)
                await bot.until("closed", "pong")
            codes += [goodbye.code for goodbye in bot.all("goodbye")]
            codes += [refusal.error.code for refusal in bot.all("refusal")]
    assert set(codes) == {"limit.message-rate"}


@pytest.mark.parametrize(
    ("what", "hello"),
    [
        ("acks", {"session_token": "x", "acks": [pb.Ack()] * 1_025}),
        ("games", {"games": [pb.GameSupport()] * 1_025}),
        ("features", {"features": ["x"] * 65}),
        ("bytes", {"games": [pb.GameSupport(game="x" * 200_000)]}),
    ],
)
async def test_a_hello_says_no_more_than_a_bot_has_to_say(stage, what, hello):
    async with stage.bot(**hello) as bot:
        refusal = await bot.until("refusal")
    assert refusal.error.code == "hello.too-large"
    assert f" {what}; " in refusal.error.message


async def test_the_acks_of_a_hello_count_as_messages(open_stage):
    stage = await open_stage(limits=Limits(max_messages_per_second=50))
    token = stage.token()
    async with stage.bot(token=token) as bot:
        session_token = (await bot.until("welcome")).session_token
    acks = [pb.Ack(match_id=f"m{number}") for number in range(1_000)]
    async with stage.bot(token=token, session_token=session_token, acks=acks) as bot:
        refusal = await bot.until("refusal")
    assert refusal.error.code == "limit.message-rate"
    assert refusal.error.retry_after_ms > 0


async def test_a_hello_is_not_kept_for_as_long_as_its_bot_is_there(stage):
    games = [pb.GameSupport(game="pig", any_variant=True)]
    hello = {"games": games, "features": ["x" * 1_000], "acks": [pb.Ack()] * 100}
    async with stage.bot(**hello):
        kept = stage.arena.hub.link("bob").session.hello
        assert kept == pb.Hello(games=games)


async def test_a_frame_of_many_messages_lets_others_have_a_go(stage):
    turns = 0

    async def count():
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    frame = pb.ConnectRequest(messages=[pb.BotMessage()] * 10_000).SerializeToString()
    async with stage.bot() as bot:
        served = stage.arena.hub.link("bob").session
        read = [frame, grpc.aio.EOF]

        class Context:
            async def read(self):
                return read.pop(0)

        served._context, context = Context(), served._context
        counting = asyncio.create_task(count())
        await asyncio.sleep(0)
        turns = 0
        await served._read()
        counting.cancel()
        served._context = context
        assert bot is not None
    assert turns >= 10_000 / session._AT_ONCE


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
    terms = Terms(offer_ms=600_000)
    hosted = stage.arena.create("pig", ["remote:bob", "uniform"], terms=terms)

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
    result = await asyncio.wait_for(hosted.ended, 60)
    # What it writes may find no room any more, and it does not hear why.
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await bot.close()
    assert result.finish.code == "fault.refused-to-start"
    assert any(b"limit." in raw for raw, _ in payloads(hosted.record()))
    await until(lambda: stage.arena.hub.link("bob").session is None)


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
    streams = stage.server._bots._open
    await until(lambda: not streams.count)
    assert [await again() for _ in range(6)] == [True] * 6


async def test_a_bot_that_dials_in_again_and_again_is_let_in(open_stage):
    stage = await open_stage(limits=Limits(max_streams=3))
    token = stage.token()
    async with contextlib.AsyncExitStack() as stack:
        for _ in range(10):
            bot = await stack.enter_async_context(stage.bot(token=token))
            assert "welcome" in bot.kinds()
