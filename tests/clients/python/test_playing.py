"""What a bot is told, and what of its answers reaches the server."""

from __future__ import annotations

import asyncio
import json
import random
import threading
import time

import msgpack
from tests.clients.python.bots import Recorder
from tests.clients.python.fake_arena import an_event

from fritillary.api.v1 import bot_pb2 as wire
from fritillary.api.v1 import common_pb2 as common
from fritillary_client import Ask, Bot, LegalAction, MatchInfo, Outcome


async def test_a_match_is_played_from_hello_to_goodbye(arena, play) -> None:
    bot = Recorder()
    running = play(bot, name="Ann", version="2", author="Bo", games=["nim"], matches=1)
    stream = await arena.stream()
    hello = await stream.welcome()
    assert arena.metadata[0]["authorization"] == "Bearer frt_bot_test"
    assert (hello.bot.name, hello.bot.version, hello.bot.author) == ("Ann", "2", "Bo")
    assert len(hello.bot.build) == 16
    assert [game.game for game in hello.games] == ["nim"]
    assert hello.capacity == 1
    await stream.seated()
    asked = time.perf_counter()
    await stream.ask()
    decision = await stream.find("decision")
    assert (decision.match_id, decision.seat) == ("m1", 0)
    assert (decision.decision_id, decision.index) == (1, 1)
    assert decision.think_ms <= (time.perf_counter() - asked) * 1000
    await stream.ended()
    ack = await stream.find("ack")
    assert ack.ended
    assert (await stream.find("goodbye")).code == "bot.stopping"
    await running.done()
    assert running.client.ended == 1
    (info,), (outcome,) = bot.infos, bot.outcomes
    assert (info.match_id, info.game, info.full_id) == ("m1", "nim", "nim")
    assert (info.seat, info.seats, info.options) == (0, 2, {"heap": 21})
    assert [player.name for player in info.players] == ["player 0", "player 1"]
    assert info.players[0].clock.base_ms == 60_000
    assert info.players[0].clock.move_ms is None
    assert (info.seed, info.table_size, info.margin_ms) == (7, 10, 50)
    assert (outcome.kind, outcome.reason) == ("played", "most-points")
    assert (outcome.score, outcome.place, outcome.counts) == (1, 1, True)
    assert threading.get_ident() not in bot.threads


async def test_an_ask_holds_observation_legal_actions_clock_and_match(arena, play):
    bot = Recorder()
    play(bot)
    stream = await arena.stream()
    await stream.welcome()
    await stream.seated()
    left_ms = 600_000
    await stream.ask(clock=common.ClockReading(left_ms=left_ms, base_left_ms=left_ms))
    await stream.find("decision")
    (ask,) = bot.asks
    assert ask.observation == {"heap": 5}
    assert (ask.seat, ask.game, ask.options, ask.ply) == (0, "nim", {"heap": 21}, 3)
    assert [action.index for action in ask.legal] == [1, 2, 3]
    assert [action.text for action in ask.legal] == ["take 1", "take 2", "take 3"]
    assert ask.legal[1].action == {"take": 2}
    assert ask.legal[-1] == ask.legal[1:][1]
    assert (ask.attempt, ask.error, ask.events) == (1, None, ())
    assert (ask.clock.left_ms, ask.clock.bank_left_ms) == (left_ms, None)
    left = ask.time_left_ms()
    assert left is not None
    assert 0 < left < left_ms


async def test_an_async_bot_runs_in_the_event_loop(arena, play):
    bot = Recorder()

    class Async(Bot):
        async def start(self, info: MatchInfo) -> None:
            bot.start(info)

        async def decide(self, ask: Ask) -> int:
            await asyncio.sleep(0)
            bot.decide(ask)
            return 2

        async def end(self, outcome: Outcome) -> None:
            bot.end(outcome)

    running = play(Async, matches=1)
    stream = await arena.stream()
    await stream.welcome()
    await stream.seated()
    await stream.ask()
    assert (await stream.find("decision")).index == 2
    await stream.ended()
    await running.done()
    assert bot.threads == {threading.get_ident()}
    assert len(bot.infos) == len(bot.outcomes) == 1


async def test_an_async_function_will_do(arena, play):
    async def decide(ask: Ask) -> str:
        return "take 1"

    play(decide)
    stream = await arena.stream()
    await stream.welcome()
    await stream.seated()
    await stream.ask()
    assert (await stream.find("decision")).text == "take 1"


async def test_a_light_bot_is_asked_in_the_event_loop(arena, play):
    class Light(Recorder):
        light = True

    bot = Light()
    play(bot)
    stream = await arena.stream()
    await stream.welcome()
    await stream.seated()
    await stream.ask()
    await stream.find("decision")
    assert bot.threads == {threading.get_ident()}


async def test_each_match_and_seat_has_a_bot_of_its_own(arena, play):
    made: list[Recorder] = []

    class Counted(Recorder):
        def __init__(self) -> None:
            super().__init__()
            made.append(self)

    play(Counted, capacity=2)
    stream = await arena.stream()
    await stream.welcome()
    for match, seat in (("m1", 0), ("m1", 1), ("m2", 1)):
        await stream.seated(match, seat, bot_seed=seat)
        await stream.ask(match, seat)
        decision = await stream.find("decision")
        assert (decision.match_id, decision.seat) == (match, seat)
    assert [len(bot.asks) for bot in made] == [1, 1, 1]
    assert len({ident for bot in made for ident in bot.threads}) == 3


async def test_a_generator_of_the_seed_makes_a_bot_reproducible(arena, play):
    async def answers() -> list[int]:
        stream = await arena.stream()
        await stream.welcome()
        await stream.seated(bot_seed=12345)
        chosen = []
        for number in range(1, 6):
            await stream.ask(decision_id=number, legal=range(10))
            chosen.append((await stream.find("decision")).index)
        stream.close()
        return chosen

    def uniform(ask: Ask) -> LegalAction:
        return ask.rng.choice(ask.legal)

    play(uniform)
    once = await answers()
    play(uniform)
    again = await answers()
    assert once == again
    assert once == [random.Random(f"12345/{n}").choice(range(10)) for n in range(1, 6)]


async def test_events_come_once_and_only_those_since_the_last_ask(arena, play):
    bot = Recorder()
    play(bot)
    stream = await arena.stream()
    await stream.welcome()
    await stream.seated()
    await stream.send(an_event(1), an_event(2), an_event(2))
    await stream.ask()
    await stream.find("decision")
    await stream.send(
        an_event(1),
        an_event(3, chance=wire.ChanceDrawn(action=msgpack.packb(["d6", 4]), text="4")),
        an_event(
            4,
            ruling=wire.Ruling(
                seat=1,
                fault=common.FAULT_LATE,
                consequence=common.CONSEQUENCE_SUBSTITUTE,
                error=common.ErrorInfo(code="fault.late", message="too late"),
            ),
        ),
        an_event(5, resigned=wire.Resigned(seat=1)),
        an_event(6, paused=wire.Paused(message="tea")),
        an_event(7, resumed=wire.Resumed()),
        an_event(8, ended=common.MatchResult(code="match.aborted")),
    )
    await stream.ask(decision_id=2)
    await stream.find("decision")
    one, two = (ask.events for ask in bot.asks)
    assert [event.number for event in one] == [1, 2]
    assert (one[0].kind, one[0].seat, one[0].action) == ("action", 1, {"take": 1})
    assert (one[0].text, one[0].index, one[0].source) == ("take 1", 1, "player")
    assert [event.kind for event in two] == [
        "chance",
        "ruling",
        "resigned",
        "paused",
        "resumed",
        "ended",
    ]
    assert two[0].action == ["d6", 4]
    assert (two[1].seat, two[1].fault) == (1, "late")
    assert (two[1].consequence, two[1].code) == ("substitute", "fault.late")
    assert two[3].message == "tea"


async def test_a_retry_tells_the_attempt_and_what_was_wrong(arena, play):
    bot = Recorder()
    play(bot)
    stream = await arena.stream()
    await stream.welcome()
    await stream.seated()
    await stream.ask(decision_id=1)
    await stream.find("decision")
    await stream.close_decision(1, wire.DECISION_CLOSURE_RULED)
    await stream.ask(
        decision_id=2,
        attempt=2,
        error=common.ErrorInfo(code="action.illegal", message="the heap is smaller"),
    )
    decision = await stream.find("decision")
    assert decision.decision_id == 2
    error = bot.asks[1].error
    assert bot.asks[1].attempt == 2
    assert error is not None
    assert (error.code, error.message) == ("action.illegal", "the heap is smaller")


def test_json_and_msgpack_carry_the_same_data() -> None:
    from fritillary_client.encoding import JSON, MSGPACK

    data = {"a": [1, None, True, "é"], "b": {"c": -5}}
    assert JSON.decode(JSON.encode(data), "x") == data
    assert MSGPACK.decode(MSGPACK.encode(data), "x") == data
    assert json.loads(JSON.encode(data)) == data
