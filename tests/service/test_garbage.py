"""What is over goes at once, and does not wait for the garbage collector.

A collection holds up all streams: the more there is to collect, the longer.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
from collections import Counter

import grpc
import pytest
from tests.service.calls import Caller
from tests.service.rawbot import decide, last_legal, until

from fritillary.api.v1 import bot_pb2 as pb
from fritillary.api.v1 import common_pb2
from fritillary.record.terms import (
    Consequence,
    EndKind,
    Fault,
    FaultRule,
    LinkBank,
    Policy,
    Terms,
)
from fritillary.service.tokens import Role

#: What belongs to a match or a session is of a class of these.
MODULES = ("fritillary.service.", "fritillary.referee.", "fritillary.core.errors")

#: So often each thing is done while nobody collects.
TIMES = 3


@contextlib.asynccontextmanager
async def no_garbage(stage):
    """Collect only when all is over, and find nothing of the service or the referee."""
    gc.collect()
    gc.disable()
    try:
        yield
        bots = stage.server._bots
        await until(lambda: not bots._open.count and not stage.arena.running.tasks)
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        kinds = [type(one) for one in gc.garbage]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    found = Counter(f"{kind.__module__}.{kind.__qualname__}" for kind in kinds)
    assert {name: n for name, n in found.items() if name.startswith(MODULES)} == {}


@pytest.fixture
async def stage(open_stage):
    """A server that forgets matches once they have ended."""
    return await open_stage(keep_ended=0)


# ------------------------------------------------------------------------ sessions


async def leaves(stage, token):
    async with stage.bot(token=token) as bot:
        await bot.send(goodbye=pb.Goodbye(code="done"))
        await bot.until("closed")


async def cuts_its_link(stage, token):
    async with stage.bot(token=token):
        pass


async def says_no_hello(stage, token):
    bot = stage.bot(token=token, auto=False)
    bot.listen()
    await bot.send(ping=pb.Ping(id=1))
    await bot.until("closed")
    await bot.close()


async def says_hello_twice(stage, token):
    async with stage.bot(token=token) as bot:
        await bot.send(hello=pb.Hello())
        assert (await bot.until("error")).error.code == "hello.repeated"


async def is_replaced(stage, token):
    async with stage.bot(token=token) as bot, stage.bot(token=token):
        assert (await bot.until("goodbye")).code == "session.replaced"
        await bot.until("closed")


async def comes_back_as_another(stage, token):
    async with stage.bot(token=token) as bot:
        shown = (await bot.until("welcome")).session_token
    other = common_pb2.PlayerInfo(name="Bob", build="2")
    async with stage.bot(token=token, bot=other, session_token=shown) as bot:
        assert (await bot.until("refusal")).error.code == "session.other-build"
        await bot.until("closed")


@pytest.mark.parametrize(
    "does",
    [
        leaves,
        cuts_its_link,
        says_no_hello,
        says_hello_twice,
        is_replaced,
        comes_back_as_another,
    ],
    ids=lambda does: does.__name__,
)
async def test_a_session_leaves_no_garbage_whatever_its_bot_does(stage, does):
    token = stage.token()
    await does(stage, token)
    async with no_garbage(stage):
        for _ in range(TIMES):
            await does(stage, token)


# ------------------------------------------------------------------------- matches


async def played(stage, token, play=last_legal, **settings):
    """Play a match to its end; return the result."""
    async with stage.bot(token=token, play=play) as bot:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"], **settings)
        result = await asyncio.shield(hosted.ended)
        await bot.until("match_ended")
    return result


async def is_played(stage, token):
    result = await played(stage, token)
    assert result.finish.kind is EndKind.PLAYED


async def is_declined(stage, token):
    async with stage.bot(token=token, auto=False) as bot:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"])
        offer = await bot.until("match_offer")
        await bot.send(decline=pb.Decline(match_id=offer.match_id, seat=offer.seat))
        await asyncio.shield(hosted.ended)


async def loses_its_bot(stage, token):
    terms = Terms(policy=Policy.of(link=LinkBank(loss_ms=0, total_ms=0)))
    async with stage.bot(token=token) as bot:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"], terms=terms)
        await bot.until("decision_request")
    await asyncio.shield(hosted.ended)


async def gets_its_bot_back(stage, token):
    async with stage.bot(token=token) as bot:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"])
        await bot.until("decision_request")
        shown = (await bot.until("welcome")).session_token
    async with stage.bot(token=token, play=last_legal, session_token=shown) as bot:
        await bot.until("match_ended")
    await asyncio.shield(hosted.ended)


async def is_called_off(stage, token):
    async with stage.bot(token=token) as bot:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"])
        await bot.until("decision_request")
        hosted.pause("for tea")
        await bot.until("decision_closed")
        hosted.abort(EndKind.WITHDRAWN, "test", "enough")
        await bot.until("match_ended")
        await asyncio.shield(hosted.ended)


@pytest.mark.parametrize(
    "goes",
    [is_played, is_declined, loses_its_bot, gets_its_bot_back, is_called_off],
    ids=lambda goes: goes.__name__,
)
async def test_a_match_leaves_no_garbage_however_it_goes(stage, goes):
    token = stage.token()
    await goes(stage, token)
    async with no_garbage(stage):
        for _ in range(TIMES):
            await goes(stage, token)


async def test_a_match_that_was_watched_leaves_no_garbage(stage):
    token = stage.token()

    async def watched():
        async with stage.bot(token=token) as bot:
            hosted = stage.arena.create("pig", ["remote:bob", "uniform"])
            request = await bot.until("decision_request")
            updates = referee.WatchMatch(match_id=hosted.id)
            await updates.read()
            bot.play = last_legal
            await bot.send_all(last_legal(request))
            while await updates.read() is not grpc.aio.EOF:
                pass
            await asyncio.shield(hosted.ended)

    async with Caller(stage, Role.REFEREE) as referee:
        await watched()
        async with no_garbage(stage):
            for _ in range(TIMES):
                await watched()


@pytest.mark.parametrize(
    "choice",
    [
        {},
        {"action": b"\xc1"},
        {"action": b"\x91" * 60 + b"\x01"},
        {"action": b"\x01"},
        {"index": 999},
        {"text": "juggle"},
    ],
    ids=["nothing", "bytes", "nested", "other-data", "index", "text"],
)
@pytest.mark.parametrize("settled", ["by-the-next", "by-another", "by-the-end"])
async def test_a_decision_that_is_ruled_on_leaves_no_garbage(stage, choice, settled):
    def plays(request):
        if settled == "by-the-next" and request.attempt > 1:
            return last_legal(request)
        return decide(request, **choice)

    consequence = Consequence.FORFEIT
    if settled == "by-another":
        consequence = Consequence.SUBSTITUTE
    policy = Policy.of(
        FaultRule(Fault.ILLEGAL, consequence, 1),
        FaultRule(Fault.MALFORMED, consequence, 1),
    )
    terms = Terms(policy=policy)
    token = stage.token()
    result = await played(stage, token, plays, terms=terms)
    ends = EndKind.FORFEITED if settled == "by-the-end" else EndKind.PLAYED
    assert result.finish.kind is ends
    async with no_garbage(stage):
        for _ in range(TIMES):
            await played(stage, token, plays, terms=terms)
