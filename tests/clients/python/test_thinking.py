"""What goes on while a bot thinks: pings, other matches, requests that are closed."""

from __future__ import annotations

import asyncio
import threading
import time

from tests.clients.python.bots import Recorder
from tests.clients.python.fake_arena import WITHIN_S, a_request, server_message
from tests.service.rawbot import until

from fritillary.api.v1 import bot_pb2 as wire
from fritillary.api.v1 import common_pb2 as common
from fritillary_client import Ask, Bot, LegalAction, Outcome


async def test_pings_are_answered_while_the_bot_thinks(arena, play):
    go = threading.Event()

    def think(ask: Ask) -> int:
        go.wait(60)
        return 1

    play(think)
    stream = await arena.stream()
    await stream.welcome()
    await stream.seated()
    await stream.ask()
    for number in range(3):
        await stream.send(server_message(ping=wire.Ping(id=number)))
        assert (await stream.expect("pong")).id == number
    go.set()
    await stream.expect("decision")


async def test_pings_are_answered_while_the_bot_computes(arena, play):
    go = threading.Event()

    def think(ask: Ask) -> int:
        end = time.monotonic() + 60
        while not go.is_set() and time.monotonic() < end:
            sum(range(1000))
        return 1

    play(think)
    stream = await arena.stream()
    await stream.welcome()
    await stream.seated()
    await stream.ask()
    await stream.send(server_message(ping=wire.Ping(id=1)))
    await stream.expect("pong")
    go.set()
    await stream.expect("decision")


async def test_matches_are_thought_about_at_the_same_time(arena, play):
    together = threading.Barrier(8)

    def decide(ask: Ask) -> LegalAction:
        together.wait(60)
        return ask.rng.choice(ask.legal)

    play(decide, capacity=8)
    stream = await arena.stream()
    hello = await stream.welcome()
    assert hello.capacity == 8
    matches = {f"m{number}" for number in range(8)}
    for match in matches:
        await stream.offer(match)
    for _ in matches:
        await stream.find("ready")
    for _ in range(3):
        for match in matches:
            await stream.ask(match, decision_id=_ + 1)
        answered = {(await stream.find("decision")).match_id for _ in matches}
        assert answered == matches


async def test_many_light_matches_share_frames(arena, play):
    class Light(Bot):
        light = True

        def decide(self, ask: Ask) -> int:
            return ask.legal.indices[0]

    play(Light, capacity=50)
    stream = await arena.stream()
    await stream.welcome()
    matches = [f"m{number}" for number in range(50)]
    for match in matches:
        await stream.offer(match)
    for _ in matches:
        await stream.find("ready")
    before = len(stream.frames)
    await stream.send(
        *(server_message(decision_request=a_request(match)) for match in matches)
    )
    for _ in matches:
        await stream.find("decision")
    assert len(stream.frames) - before < 10


async def test_a_closed_decision_is_told_to_the_bot_and_never_answered(arena, play):
    asks: list[Ask] = []

    def think(ask: Ask) -> int:
        asks.append(ask)
        if len(asks) == 1:
            end = time.monotonic() + 60
            while not ask.closed and time.monotonic() < end:
                time.sleep(0.01)
        return 1

    play(think)
    stream = await arena.stream()
    await stream.welcome()
    await stream.seated()
    await stream.ask(decision_id=1)
    await until(lambda: asks)
    await stream.close_decision(1, wire.DECISION_CLOSURE_WITHDRAWN)
    await stream.ask(decision_id=2)
    assert (await stream.expect("decision")).decision_id == 2
    assert [ask.closed for ask in asks] == [True, False]


async def test_a_closed_decision_cancels_an_async_bot(arena, play):
    cancelled: list[Ask] = []
    thinking = asyncio.Event()

    async def think(ask: Ask) -> int:
        thinking.set()
        if not cancelled:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                cancelled.append(ask)
                raise
        return 1

    play(think)
    stream = await arena.stream()
    await stream.welcome()
    await stream.seated()
    await stream.ask(decision_id=1)
    await asyncio.wait_for(thinking.wait(), WITHIN_S)
    await stream.close_decision(1, wire.DECISION_CLOSURE_WITHDRAWN)
    await stream.ask(decision_id=2)
    assert (await stream.expect("decision")).decision_id == 2
    assert len(cancelled) == 1


async def test_a_match_that_ends_while_the_bot_thinks_ends_for_it_afterwards(
    arena, play
):
    bot = Recorder()
    go = threading.Event()

    class Slow(Recorder):
        def decide(self, ask: Ask) -> int:
            go.wait(60)
            return 1

        def end(self, outcome: Outcome) -> None:
            bot.end(outcome)

    running = play(Slow, matches=1)
    stream = await arena.stream()
    await stream.welcome()
    await stream.seated()
    await stream.ask()
    await stream.ended(kind=common.MATCH_END_KIND_VOID, code="x", outcome=None)
    assert (await stream.find("ack")).ended
    assert not bot.outcomes
    go.set()
    assert (await stream.expect("goodbye")).code == "bot.stopping"
    await running.done()
    (outcome,) = bot.outcomes
    assert (outcome.kind, outcome.counts) == ("void", False)
    assert (outcome.score, outcome.place) == (None, None)
