"""The client against the server of this project."""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from attrs import define
from tests.service.rawbot import until

from fritillary import BaseBot, Decision, Registry, Resign, UniformBot
from fritillary.record.terms import (
    ClockSettings,
    Consequence,
    EndKind,
    LinkBank,
    Policy,
    Terms,
    parse_policy,
)
from fritillary.service.arena import Arena
from fritillary.service.limits import Limits
from fritillary.service.server import Server
from fritillary.service.tokens import Role, TokenStore
from fritillary_client import (
    RESIGN,
    Ask,
    Bot,
    BotError,
    Client,
    LegalAction,
    MatchInfo,
    Outcome,
    RefusedError,
    run_async,
)
from fritillary_client.typed import TypedBot

BOTS = Path(__file__).parents[3] / "examples" / "bots"

pytestmark = pytest.mark.system


@pytest.fixture(scope="module")
def registry() -> Registry:
    registry = Registry()
    registry.load()
    assert not registry.problems
    return registry


@define
class House:
    """A server with its arena, and the bots that were connected to it."""

    arena: Arena
    server: Server
    tasks: list[asyncio.Task[None]]
    clients: list[Client]

    def token(self, name: str) -> str:
        return self.arena.tokens.create(name, Role.BOT, passing=True)

    def connect(self, name: str, bot: Any, **settings: Any) -> Client:
        settings = {"token": self.token(name), **settings}
        client = Client(bot, address=self.server.address, **settings)
        self.clients.append(client)
        self.tasks.append(asyncio.ensure_future(client.run()))
        return client


@pytest.fixture
async def house(registry: Registry) -> AsyncIterator[House]:
    async with Arena(registry, tokens=TokenStore()) as arena, Server(arena) as server:
        house = House(arena, server, [], [])
        yield house
        for client in house.clients:
            client.stop()
        await asyncio.gather(*house.tasks, return_exceptions=True)
        # The arena ends the programs that it has started shortly after their match.
        await until(lambda: not _matches_running())


def uniform(ask: Ask) -> LegalAction:
    return ask.rng.choice(ask.legal)


def fixed(name: str) -> bytes:
    return hashlib.sha256(name.encode()).digest()


async def test_a_match_of_two_remote_bots_is_played_to_its_end(house) -> None:
    outcomes: list[Outcome] = []
    texts: list[str] = []

    class Watching(Bot):
        games = ("lepidoptery",)

        def decide(self, ask: Ask) -> LegalAction:
            assert ask.observation["seat"] == ask.seat
            assert ask.observation["to_move"] == ask.seat
            texts.extend(event.text for event in ask.events if event.kind == "action")
            return uniform(ask)

        def end(self, outcome: Outcome) -> None:
            outcomes.append(outcome)

    a = house.connect("a", Watching, matches=1)
    b = house.connect("b", Watching, matches=1)
    clocks = ClockSettings(base_ms=60_000, increment_ms=100)
    result = await house.arena.play(
        "lepidoptery", ["remote:a", "remote:b"], clocks=clocks
    )
    await asyncio.gather(*house.tasks)
    assert result.finish.kind is EndKind.PLAYED
    assert (a.ended, b.ended) == (1, 1)
    assert a.bot_name == "a"
    assert {outcome.seat for outcome in outcomes} == {0, 1}
    assert all(outcome.placing == result.finish.outcome.placing for outcome in outcomes)
    # Each seat has heard of nearly all actions; of those after its last ask it cannot.
    assert len(texts) > result.plies


@pytest.mark.parametrize("encoding", ["msgpack", "json"])
@pytest.mark.parametrize("legal", ["packed", "expanded"])
async def test_encodings_and_legal_forms_lead_to_the_same_match(
    house, encoding, legal
) -> None:
    def by_form(ask: Ask) -> Any:
        action = ask.rng.choice(ask.legal)
        forms = (action, action.index, action.text, action.action)
        return forms[ask.ply % 4]

    house.connect("a", by_form, encoding=encoding, legal=legal)
    result = await house.arena.play(
        "lepidoptery",
        ["remote:a", "uniform"],
        seed=fixed("seed"),
        salt=fixed("salt"),
        match_id="m",
        nonces_wanted=False,
    )
    plain = await house.arena.play(
        "lepidoptery",
        ["uniform", "uniform"],
        seed=fixed("seed"),
        salt=fixed("salt"),
        match_id="n",
        nonces_wanted=False,
    )
    assert result.finish.kind is plain.finish.kind is EndKind.PLAYED


async def test_the_deal_with_the_nonces_of_both_bots_is_verified(house) -> None:
    deals: list[tuple[int, str]] = []

    class Checking(Bot):
        def offered(self, info: MatchInfo) -> None:
            assert info.nonce_wanted

        def decide(self, ask: Ask) -> LegalAction:
            return uniform(ask)

        def end(self, outcome: Outcome) -> None:
            deals.append((outcome.seat, outcome.deal))

    house.connect("a", Checking, matches=1, nonce=fixed("a"))
    house.connect("b", Checking, matches=1, nonce=fixed("b"), encoding="json")
    result = await house.arena.play(
        "lepidoptery",
        ["remote:a", "remote:b"],
        seed=fixed("seed"),
        nonces_wanted=True,
    )
    await asyncio.gather(*house.tasks)
    assert sorted(deals) == [(0, "verified"), (1, "verified")]
    assert result.reveal is not None
    assert result.reveal.nonces == (fixed("a"), fixed("b"))


async def test_the_example_bot_clearly_beats_uniform(house) -> None:
    greedy = _module("greedy")
    house.connect("greedy", greedy.Greedy, capacity=8)
    results = await asyncio.gather(
        *(
            house.arena.play(
                "lepidoptery",
                ["remote:greedy", "uniform"]
                if number % 2
                else ["uniform", "remote:greedy"],
                seed=fixed(f"deal {number // 2}"),
                nonces_wanted=False,
            )
            for number in range(40)
        )
    )
    won = sum(
        result.finish.outcome.placing[0 if number % 2 else 1] == 1
        for number, result in enumerate(results)
    )
    assert all(result.finish.kind is EndKind.PLAYED for result in results)
    assert won >= 32


async def test_many_matches_share_one_stream(house) -> None:
    class Light(Bot):
        light = True

        def decide(self, ask: Ask) -> LegalAction:
            return uniform(ask)

    client = house.connect("a", Light, capacity=64)
    results = await asyncio.gather(
        *(house.arena.play("lepidoptery", ["remote:a", "remote:a"]) for _ in range(16))
    )
    assert {result.finish.kind for result in results} == {EndKind.PLAYED}
    await until(lambda: client.ended == 16)


async def test_a_typed_bot_plays_as_it_does_in_process(house, registry) -> None:
    greedy = registry.game("lepidoptery").bots["greedy"]
    house.connect("greedy", TypedBot(registry, greedy))
    house.connect("uniform", TypedBot(registry, _uniform_of))
    same = {"seed": fixed("seed"), "salt": fixed("salt"), "nonces_wanted": False}
    remote = await house.arena.play(
        "lepidoptery", ["remote:greedy", "remote:uniform"], match_id="m", **same
    )
    local = await house.arena.play(
        "lepidoptery", ["greedy", "uniform"], match_id="n", **same
    )
    assert remote.finish == local.finish
    assert remote.plies == local.plies


async def test_a_typed_bot_plays_variants_and_async_bots_too(house, registry) -> None:
    seen: list[Any] = []

    class Async(BaseBot):
        async def decide(self, ask: Any) -> Any:
            await asyncio.sleep(0)
            seen.append((ask.observation, ask.legal, list(ask.events), ask.clock))
            return Decision(ask.legal[0], "a note") if len(seen) < 5 else Resign()

    house.connect("a", TypedBot(registry, Async))
    result = await house.arena.play("lepidoptery+no-pass", ["remote:a", "greedy"])
    assert result.finish.code == "seat.resigned"
    game = registry.game("lepidoptery+no-pass")
    observation, legal, events, clock = seen[-1]
    assert type(observation) is game.info.observation
    table = game.table(observation.options, 2)
    assert all(action is table.actions[table.index[action]] for action in legal)
    assert {event.body.action in table.index for event in events} == {True}
    assert (clock.move_ms, clock.left_ms) == (None, None)


async def test_a_bot_can_resign(house) -> None:
    house.connect("a", lambda _: RESIGN)
    result = await house.arena.play("lepidoptery", ["remote:a", "uniform"])
    assert result.finish.code == "seat.resigned"
    assert result.finish.outcome.placing == (2, 1)


async def test_an_illegal_answer_is_tried_again_where_the_policy_allows(house) -> None:
    asks: list[Ask] = []

    def stubborn(ask: Ask) -> Any:
        asks.append(ask)
        if ask.attempt == 1:
            return next(i for i in range(110) if i not in ask.legal.indices)
        return uniform(ask)

    policy = parse_policy(["illegal=retry:1"])
    house.connect("a", stubborn)
    result = await house.arena.play(
        "lepidoptery", ["remote:a", "uniform"], terms=Terms(policy=policy)
    )
    assert result.finish.kind is EndKind.PLAYED
    assert asks[1].attempt == 2
    assert asks[1].error is not None
    assert asks[1].error.code == "action.illegal"
    assert asks[1].error.message
    assert Consequence.RETRY.value in {
        event.consequence for ask in asks for event in ask.events
    }


async def test_a_bot_that_raises_stops_and_its_match_is_ruled(house) -> None:
    def broken(ask: Ask) -> int:
        msg = "boom"
        raise ValueError(msg)

    house.connect("a", broken)
    policy = Policy(link=LinkBank(loss_ms=200, total_ms=200))
    result = await house.arena.play(
        "lepidoptery", ["remote:a", "uniform"], terms=Terms(policy=policy)
    )
    assert result.finish.code == "fault.disconnected"
    with pytest.raises(BotError, match="boom"):
        await house.tasks[0]


async def test_an_unknown_token_is_refused(house) -> None:
    with pytest.raises(RefusedError) as caught:
        await run_async(uniform, address=house.server.address, token="frt_bot_x")
    assert caught.value.code == "auth.unknown-token"


async def test_a_token_of_another_role_is_refused(house) -> None:
    token = house.arena.tokens.create("r", Role.REFEREE, passing=True)
    with pytest.raises(RefusedError) as caught:
        await run_async(uniform, address=house.server.address, token=token)
    assert caught.value.code == "auth.wrong-role"


async def test_a_second_client_of_the_same_bot_replaces_the_first(house) -> None:
    token = house.token("a")
    first = house.connect("a", uniform, token=token)
    await until(lambda: first.bot_name == "a")
    second = house.connect("a", uniform, token=token)
    await asyncio.wait_for(house.tasks[0], 60)
    assert first.goodbye[0] == "session.replaced"
    result = await house.arena.play("lepidoptery", ["remote:a", "uniform"])
    assert result.finish.kind is EndKind.PLAYED
    await until(lambda: second.ended == 1)


async def test_a_lost_link_in_the_middle_of_a_match_is_resumed(house, caplog) -> None:
    client: Client

    def decide(ask: Ask) -> LegalAction:
        if ask.ply in {4, 5}:
            # As seen from the server: the stream ends without a word.
            link = client._link
            if link is not None and ask.attempt == 1:
                asyncio.run_coroutine_threadsafe(link._channel.close(), loop)
        return uniform(ask)

    loop = asyncio.get_running_loop()
    client = house.connect("a", decide, matches=1)
    await until(lambda: client.bot_name == "a")
    caplog.set_level("INFO", "fritillary_client")
    result = await house.arena.play("lepidoptery", ["remote:a", "uniform"])
    assert result.finish.kind is EndKind.PLAYED
    await asyncio.wait_for(house.tasks[0], 60)
    assert client.ended == 1
    assert "back at" in caplog.text


async def test_a_server_that_restarts_is_found_again(registry, port) -> None:
    tokens = TokenStore()
    token = tokens.create("a", Role.BOT)
    async with Arena(registry, tokens=tokens) as arena:
        address = f"127.0.0.1:{port}"
        server = Server(arena, address, session_secret=b"s" * 32)
        await server.start()
        client = Client(uniform, address=address, token=token, matches=1)
        task = asyncio.ensure_future(client.run())
        await until(lambda: client.bot_name == "a")
        await server.stop()
        server = Server(arena, address, session_secret=b"s" * 32)
        await server.start()
        result = await arena.play("lepidoptery", ["remote:a", "uniform"])
        assert result.finish.kind is EndKind.PLAYED
        await asyncio.wait_for(task, 60)
        await server.stop()


async def test_a_narrow_limit_of_messages_is_kept(registry) -> None:
    limits = Limits(max_messages_per_second=60)
    async with Arena(registry, limits=limits) as arena, Server(arena) as server:
        token = arena.tokens.create("a", Role.BOT, passing=True)

        class Light(Bot):
            light = True

            def decide(self, ask: Ask) -> LegalAction:
                return uniform(ask)

        client = Client(Light, address=server.address, token=token, capacity=8)
        task = asyncio.ensure_future(client.run())
        results = await asyncio.gather(
            *(arena.play("lepidoptery", ["remote:a", "uniform"]) for _ in range(8))
        )
        assert {result.finish.kind for result in results} == {EndKind.PLAYED}
        client.stop()
        await task


@pytest.mark.parametrize("name", ["uniform", "greedy"])
async def test_an_example_bot_is_started_by_the_server(house, name) -> None:
    command = f"exec:{sys.executable} {BOTS / name}.py"
    result = await house.arena.play("lepidoptery", [command, "uniform"])
    assert result.finish.kind is EndKind.PLAYED, result.finish


async def test_the_last_words_of_a_program_that_fails_are_for_the_host(
    house, tmp_path
) -> None:
    program = tmp_path / "bot.py"
    program.write_text(
        "from fritillary_client import run\n"
        "def decide(ask):\n"
        "    raise ValueError('boom')\n"
        "run(decide)\n"
    )
    terms = Terms(policy=Policy(link=LinkBank(restarts=0)))
    result = await house.arena.play(
        "lepidoptery",
        [f"exec:{sys.executable} {program}", "uniform"],
        terms=terms,
    )
    assert result.finish.code == "fault.crashed"
    hosted = house.arena.match(result.match_id)
    [(seat, problem)] = hosted.problems
    assert seat == 0
    assert problem.endswith("error: decide() raised ValueError: boom [bot.failed]")
    assert b"boom" not in hosted.record()


def _uniform_of(game: Any) -> Any:
    assert game.info.id == "lepidoptery"
    return UniformBot()


def _module(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, BOTS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _matches_running() -> list[Any]:
    return [
        task
        for task in asyncio.all_tasks()
        if getattr(task.get_coro(), "__qualname__", "") == "Running._run"
    ]
