"""What a bot is told, and what of its answers reaches the server."""

from __future__ import annotations

import asyncio
import json
import random
import re
import threading
import time
from typing import Any

import msgpack
import pytest
from tests.clients.python.fake_arena import an_event, server_message

from fritillary.api.v1 import bot_pb2 as wire
from fritillary.api.v1 import common_pb2 as common
from fritillary_client import (
    ArenaError,
    Ask,
    Bot,
    Declined,
    GameSupport,
    LegalAction,
    MatchInfo,
    Outcome,
)


def first(ask: Ask) -> LegalAction:
    return ask.legal[0]


class Recorder(Bot):
    """Keeps all that it is told."""

    def __init__(self) -> None:
        self.infos: list[MatchInfo] = []
        self.asks: list[Ask] = []
        self.outcomes: list[Outcome] = []
        self.threads: set[int] = set()
        self.answer: Any = None

    def start(self, info: MatchInfo) -> None:
        self.infos.append(info)

    def decide(self, ask: Ask) -> Any:
        self.asks.append(ask)
        self.threads.add(threading.get_ident())
        return ask.legal[0] if self.answer is None else self.answer

    def end(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)


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
    await stream.ask()
    decision = await stream.find("decision")
    assert (decision.match_id, decision.seat) == ("m1", 0)
    assert (decision.decision_id, decision.index) == (1, 1)
    assert decision.think_ms < 1000
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
    await stream.ask()
    await stream.find("decision")
    (ask,) = bot.asks
    assert ask.observation == {"heap": 5}
    assert (ask.seat, ask.game, ask.options, ask.ply) == (0, "nim", {"heap": 21}, 3)
    assert [action.index for action in ask.legal] == [1, 2, 3]
    assert [action.text for action in ask.legal] == ["take 1", "take 2", "take 3"]
    assert ask.legal[1].action == {"take": 2}
    assert ask.legal[-1] == ask.legal[1:][1]
    assert (ask.attempt, ask.error, ask.events) == (1, None, ())
    assert (ask.clock.left_ms, ask.clock.bank_left_ms) == (5000, None)
    left = ask.time_left_ms()
    assert left is not None
    assert 0 < left < 5000


async def test_the_action_table_is_fetched_once_for_all_matches(arena, play):
    play(first, capacity=3)
    stream = await arena.stream()
    await stream.welcome()
    for match in ("m1", "m2", "m3"):
        await stream.offer(match)
    for _ in range(3):
        await stream.find("ready")
    assert [request.page_token for request in arena.listed] == ["", "4", "8"]
    assert arena.listed[0].game == "nim"
    assert msgpack.unpackb(arena.listed[0].options.options.data) == {"heap": 21}


async def test_legal_actions_written_out_need_no_table(arena, play):
    bot = Recorder()
    play(bot, legal="expanded", encoding="json")
    stream = await arena.stream()
    hello = await stream.welcome()
    assert hello.encoding == common.ENCODING_JSON
    assert hello.legal_form == wire.LEGAL_FORM_EXPANDED
    await stream.seated(options=b'{"heap":21}')
    await stream.ask(
        observation=b'{"heap":5}',
        legal=[4],
        legal_actions=[wire.LegalAction(index=4, text="four", action=b'{"take":4}')],
    )
    decision = await stream.find("decision")
    assert decision.index == 4
    assert bot.asks[0].observation == {"heap": 5}
    assert bot.asks[0].legal[0].action == {"take": 4}
    assert not arena.listed


async def test_a_game_without_table_sends_its_legal_actions_with_each_request(
    arena, play
):
    bot = Recorder()
    play(bot)
    stream = await arena.stream()
    await stream.welcome()
    await stream.seated(table=None)
    await stream.ask(
        legal=[0],
        legal_actions=[
            wire.LegalAction(index=0, text="go", action=msgpack.packb({"go": 1}))
        ],
    )
    assert (await stream.find("decision")).index == 0
    assert bot.asks[0].legal[0].action == {"go": 1}
    assert bot.infos[0].table_size is None
    assert not arena.listed


async def test_a_bot_that_needs_no_table_has_the_indices(arena, play):
    class Frugal(Bot):
        needs_table = False

        def decide(self, ask: Ask) -> int:
            if ask.ply == 4:
                return ask.legal[0].index
            return ask.legal.indices[-1]

    running = play(Frugal)
    stream = await arena.stream()
    await stream.welcome()
    await stream.seated()
    await stream.ask()
    assert (await stream.find("decision")).index == 3
    assert not arena.listed
    await stream.ask(decision_id=2, ply=4)
    with pytest.raises(ArenaError, match="no action table in which to look up"):
        await running.done()


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


async def test_pings_are_answered_while_the_bot_thinks(arena, play):
    go = threading.Event()

    def think(ask: Ask) -> int:
        go.wait(5)
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
    def think(ask: Ask) -> int:
        end = time.monotonic() + 0.5
        while time.monotonic() < end:
            sum(range(1000))
        return 1

    play(think)
    stream = await arena.stream()
    await stream.welcome()
    await stream.seated()
    await stream.ask()
    await stream.send(server_message(ping=wire.Ping(id=1)))
    await stream.expect("pong", "decision")


async def test_matches_are_thought_about_at_the_same_time(arena, play):
    together = threading.Barrier(8)

    def decide(ask: Ask) -> LegalAction:
        together.wait(5)
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
    from tests.clients.python.fake_arena import a_request

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
            end = time.monotonic() + 5
            while not ask.closed and time.monotonic() < end:
                time.sleep(0.01)
        return 1

    play(think)
    stream = await arena.stream()
    await stream.welcome()
    await stream.seated()
    await stream.ask(decision_id=1)
    await asyncio.sleep(0.05)
    await stream.close_decision(1, wire.DECISION_CLOSURE_WITHDRAWN)
    await stream.ask(decision_id=2)
    assert (await stream.expect("decision")).decision_id == 2
    assert [ask.closed for ask in asks] == [True, False]


async def test_a_closed_decision_cancels_an_async_bot(arena, play):
    cancelled: list[Ask] = []

    async def think(ask: Ask) -> int:
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
    await asyncio.sleep(0.05)
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
            go.wait(5)
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


async def test_capacity_is_lowered_as_the_last_matches_begin(arena, play):
    running = play(first, capacity=2, matches=3)
    stream = await arena.stream()
    assert (await stream.welcome()).capacity == 2
    await stream.seated("m1")
    await stream.seated("m2")
    await stream.ended("m1")
    await stream.find("ack")
    await stream.offer("m3")
    assert (await stream.find("capacity")).matches == 0
    await stream.find("ready")
    await stream.ended("m2")
    await stream.ended("m3")
    await stream.find("goodbye")
    await running.done()
    assert running.client.ended == 3


def test_games_can_be_named_in_every_form() -> None:
    from fritillary_client.settings import resolve

    class Named(Bot):
        games = ("nim+long", GameSupport("go", (1, 2), any_variant=True))

    setup = resolve(Named, {"address": "localhost:1", "token": "t"})
    assert [
        (game.game, list(game.rules_versions), list(game.variants), game.any_variant)
        for game in setup.games
    ] == [("nim", [], ["long"], False), ("go", [1, 2], [], True)]
    other = resolve(Named, {"address": "localhost:1", "token": "t", "games": ["go"]})
    assert [game.game for game in other.games] == ["go"]


@pytest.mark.parametrize(
    ("announced", "full_id", "version", "covered"),
    [
        ([], "nim+long", 3, True),
        (["nim"], "nim", 3, True),
        (["nim"], "go", 3, False),
        (["go", "nim"], "nim", 3, True),
        (["nim"], "nim+long", 3, False),
        (["nim+long"], "nim", 3, True),
        (["nim+long"], "nim+long", 3, True),
        (["nim+long"], "nim+long+short", 3, False),
        ([GameSupport("nim", any_variant=True)], "nim+long", 3, True),
        ([GameSupport("nim", (1, 3))], "nim", 3, True),
        ([GameSupport("nim", (1, 2))], "nim", 3, False),
        (["somebody:nim"], "nim", 3, True),
        (["nim"], "somebody:nim", 3, True),
    ],
)
def test_only_what_was_announced_is_played(
    announced, full_id, version, covered
) -> None:
    from fritillary_client.settings import resolve

    setup = resolve(first, {"address": "h:1", "token": "t", "games": announced})
    game, *variants = full_id.split("+")
    offered = common.GameRef(
        id=game,
        rules_version=version,
        variants=[common.VariantRef(id=each, version=1) for each in variants],
    )
    if covered:
        setup.consider(offered)
        return
    with pytest.raises(Declined, match=re.escape(full_id)) as caught:
        setup.consider(offered)
    assert caught.value.code == "game.not-announced"


async def test_a_game_that_was_not_announced_makes_no_bot_and_is_declined(arena, play):
    made = []

    class Counted(Bot):
        games = ("nim",)

        def __init__(self) -> None:
            made.append(self)

        def decide(self, ask: Ask) -> int:
            return 1

    play(Counted)
    stream = await arena.stream()
    await stream.welcome()
    await stream.offer("m1", game=common.GameRef(id="go", rules_version=1))
    decline = await stream.find("decline")
    assert (decline.match_id, decline.seat) == ("m1", 0)
    assert decline.code == "game.not-announced"
    assert made == []
    await stream.seated("m2")
    assert len(made) == 1


def test_json_and_msgpack_carry_the_same_data() -> None:
    from fritillary_client.encoding import JSON, MSGPACK

    data = {"a": [1, None, True, "é"], "b": {"c": -5}}
    assert JSON.decode(JSON.encode(data), "x") == data
    assert MSGPACK.decode(MSGPACK.encode(data), "x") == data
    assert json.loads(JSON.encode(data)) == data
