"""The referee's client against the server of this project."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import AsyncIterator
from typing import Any

import pytest
from attrs import define, evolve
from tests.service.rawbot import until

from fritillary import Registry
from fritillary.api.v1 import common_pb2
from fritillary.api.v1 import match_pb2 as wire
from fritillary.referee.verify import verify
from fritillary.service.arena import Arena
from fritillary.service.server import Server
from fritillary.service.tokens import Role, TokenStore
from fritillary_client import (
    ArenaError,
    Ask,
    Client,
    ClockSettings,
    ConfigurationError,
    Event,
    FaultRule,
    LegalAction,
    LinkError,
    Match,
    MatchResult,
    MatchStatus,
    MatchView,
    Referee,
    RefusedError,
    Terms,
    match_wire,
)

pytestmark = pytest.mark.system

GAME = "lepidoptery"
TWO = ("greedy", "uniform")


@pytest.fixture(scope="module")
def registry() -> Registry:
    registry = Registry()
    registry.load()
    return registry


@define
class House:
    """A server, and a bot that thinks until it is told to go on."""

    arena: Arena
    server: Server
    go_on: asyncio.Event

    def token(self, role: Role, name: str = "someone") -> str:
        return self.arena.tokens.create(name, role, passing=True)

    def caller(self, role: Role) -> Referee:
        return Referee(self.server.address, self.token(role))


@pytest.fixture
async def house(registry: Registry) -> AsyncIterator[House]:
    go_on = asyncio.Event()

    async def decide(ask: Ask) -> LegalAction:
        await go_on.wait()
        return ask.legal[0]

    async with Arena(registry, tokens=TokenStore()) as arena, Server(arena) as server:
        house = House(arena, server, go_on)
        token = house.token(Role.BOT, "slow")
        slow = Client(decide, address=server.address, token=token, capacity=4)
        task = asyncio.ensure_future(slow.run())
        await until(lambda: slow.bot_name)
        yield house
        slow.stop()
        await task


@pytest.fixture
async def referee(house: House) -> AsyncIterator[Referee]:
    async with house.caller(Role.REFEREE) as referee:
        yield referee


async def ended(referee: Referee, match: Match) -> MatchResult:
    updates = [update async for update in referee.watch(match.match_id)]
    result = updates[-1]
    assert isinstance(result, MatchResult)
    return result


async def code_of(awaitable: Any) -> str:
    with pytest.raises(ArenaError) as caught:
        await awaitable
    assert "\n" not in str(caught.value)
    return caught.value.code


# -------------------------------------------------------------------- making


async def test_a_match_is_made_watched_and_its_record_holds(referee, registry) -> None:
    made = await referee.create_match(GAME, TWO, labels={"round": "1"})
    assert made.full_id == GAME
    assert made.players == TWO
    assert [seat.name for seat in made.seats] == ["greedy", "uniform"]
    assert made.labels == {"round": "1"}
    assert not made.seed_given
    updates = [update async for update in referee.watch(made.match_id)]
    assert isinstance(updates[0], MatchView)
    events = [update for update in updates if isinstance(update, Event)]
    assert [event.number for event in events] == list(range(1, len(events) + 1))
    assert {event.kind for event in events} == {"action", "ended"}
    assert all(event.text for event in events[:-1])
    result = updates[-1]
    assert isinstance(result, MatchResult)
    assert result.kind == "played"
    assert result.counts
    assert result.reveal is not None
    record = await referee.fetch_record(made.match_id)
    verified = verify(record, registry)
    assert bytes.fromhex(verified.final_hash) == result.final_hash
    assert verified.plies == events[-1].ply
    now = await referee.get_match(made.match_id)
    assert (now.phase, now.ply, now.result) == ("ended", verified.plies, result)
    assert now.commitment == made.commitment
    assert now.created_at_ms <= (now.started_at_ms or 0) <= (now.ended_at_ms or 0)


async def test_what_is_asked_for_is_what_is_played(referee) -> None:
    clocks = [
        ClockSettings(base_ms=60_000, increment_ms=1_000),
        ClockSettings(move_ms=5_000, bank_ms=9_000, preparation_ms=1_000),
    ]
    terms = Terms(
        policy=[FaultRule("illegal", "substitute", 2), FaultRule("late", "void")],
        restarts=3,
        link_loss_ms=1_000,
        margin_ms=70,
        ceiling_ms=500_000,
        offer_ms=4_000,
        ready_ms=5_000,
    )
    made = await referee.create_match(
        f"{GAME}+no-pass",
        TWO,
        options={"heights": [5, 5, 5, 5, 5]},
        clock=clocks,
        terms=terms,
        rules_version=1,
        seed=b"s" * 32,
        salt=b"t" * 32,
        match_id="mine",
    )
    assert (made.match_id, made.full_id) == ("mine", f"{GAME}+no-pass")
    assert made.variants[0][0] == "no-pass"
    assert made.options["heights"] == [5] * 5
    assert made.seed_given
    assert [seat.clock for seat in made.seats] == clocks
    rules = {rule.fault: rule for rule in made.terms.policy}
    assert rules["illegal"] == FaultRule("illegal", "substitute", 2)
    assert rules["late"] == FaultRule("late", "void")
    assert rules["crashed"] == FaultRule("crashed", "forfeit")
    assert evolve(made.terms, policy=terms.policy) == evolve(
        terms, stand_in="uniform", link_total_ms=120_000
    )
    result = await ended(referee, made)
    assert result.reveal is not None
    assert (result.reveal.seed, result.reveal.salt) == (b"s" * 32, b"t" * 32)


def test_whether_a_seed_was_given_may_not_be_known() -> None:
    options = common_pb2.Payload(encoding=common_pb2.ENCODING_JSON, data=b"{}")
    for given, unknown, known in (
        (True, False, True),
        (False, False, False),
        (False, True, None),
    ):
        message = wire.Match(
            match_id="m",
            options=options,
            phase=common_pb2.MATCH_PHASE_ENDED,
            seed_given=given,
            seed_given_unknown=unknown,
        )
        assert match_wire.match(message).seed_given is known


async def test_a_preset_and_one_clock_for_all(referee) -> None:
    made = await referee.create_match(
        GAME, TWO, preset="bga", clock=ClockSettings(base_ms=1_000)
    )
    assert made.options["same_type_may_beat"] is False
    assert {seat.clock.base_ms for seat in made.seats} == {1_000}


async def test_the_same_seed_salt_and_id_give_the_same_match(registry) -> None:
    records = []
    for _ in range(2):
        async with Arena(registry) as arena, Server(arena) as server:
            token = arena.tokens.create("r", Role.REFEREE)
            async with Referee(server.address, token) as referee:
                made = await referee.create_match(
                    GAME, TWO, seed=b"s" * 32, salt=b"t" * 32, match_id="m"
                )
                await ended(referee, made)
                records.append(await referee.fetch_record("m"))
    first, second = (verify(raw, registry).content_hash for raw in records)
    assert first == second


# ------------------------------------------------------------------- looking


async def test_matches_are_listed_newest_first_over_pages(referee) -> None:
    for number in range(5):
        game = f"{GAME}+no-pass" if number == 2 else GAME
        parity = {"parity": str(number % 2)}
        made = await referee.create_match(
            game, TWO, match_id=f"m{number}", labels=parity
        )
        await ended(referee, made)
    await referee.create_match(GAME, ["remote:slow", "uniform"], match_id="open")

    async def ids(**conditions: Any) -> list[str]:
        return [match.match_id async for match in referee.list_matches(**conditions)]

    assert await ids(page_size=2) == ["open", "m4", "m3", "m2", "m1", "m0"]
    assert await ids(labels={"parity": "1"}) == ["m3", "m1"]
    assert await ids(game=f"{GAME}+no-pass") == ["m2"]
    assert await ids(phases=["ended"], page_size=1) == ["m4", "m3", "m2", "m1", "m0"]
    assert "open" not in await ids(phases=["closing", "ended"])
    assert await ids(labels={"parity": "7"}) == []


async def test_watching_tells_views_pictures_and_clocks(house, referee) -> None:
    clock = ClockSettings(base_ms=60_000)
    made = await referee.create_match(GAME, ["remote:slow", "uniform"], clock=clock)
    views: list[MatchView] = []
    events: list[Event] = []
    statuses: list[MatchStatus] = []
    async for update in referee.watch(made.match_id, views=True, picture="text"):
        match update:
            case MatchView():
                views.append(update)
                house.go_on.set()
            case Event():
                events.append(update)
            case MatchStatus():
                statuses.append(update)
    assert len(views) > len(events) // 2
    assert "seat 0" in views[-1].picture
    assert views[-1].observation["seat"] is None
    assert views[-1].event_number == events[-1].number
    assert {seat for view in views for seat in view.seats_to_act} == {0, 1}
    left = statuses[-1].clocks[0].base_left_ms
    assert left is not None
    assert 0 < left <= 60_000
    assert "running" in {status.phase for status in statuses}


async def test_watching_begins_where_it_is_wanted(referee) -> None:
    made = await referee.create_match(GAME, TWO)
    await ended(referee, made)

    async def numbers(after: int | None) -> list[int]:
        watching = referee.watch(made.match_id, after=after)
        return [update.number async for update in watching if isinstance(update, Event)]

    everything = await numbers(0)
    assert await numbers(3) == everything[3:]
    assert await numbers(None) == []
    updates = [u async for u in referee.watch(made.match_id, picture="svg")]
    assert isinstance(updates[0], MatchView)
    assert updates[0].picture.lstrip().startswith("<svg")


async def test_watching_can_be_left_early(house, referee) -> None:
    made = await referee.create_match(GAME, ["remote:slow", "uniform"])
    async with contextlib.aclosing(referee.watch(made.match_id)) as watching:
        async for _ in watching:
            break
    assert (await referee.get_match(made.match_id)).result is None
    house.go_on.set()
    assert (await ended(referee, made)).counts


# ------------------------------------------------------------------ stopping


async def test_a_match_is_paused_resumed_and_called_off(house, referee) -> None:
    made = await referee.create_match(GAME, ["remote:slow", "uniform"])
    await until(lambda: house.arena.match(made.match_id).phase == "running")
    assert await code_of(referee.fetch_record(made.match_id)) == "record.private"
    paused = await referee.pause(made.match_id, "lunch")
    assert paused.phase == "paused"
    assert (await referee.resume(made.match_id)).phase == "running"
    assert await code_of(referee.resume(made.match_id)) == "match.phase"
    await referee.abort(made.match_id, "rain")
    updates = [update async for update in referee.watch(made.match_id)]
    result = updates[-1]
    assert isinstance(result, MatchResult)
    assert (result.kind, result.message) == ("withdrawn", "rain")
    assert not result.counts
    told = [update for update in updates if isinstance(update, Event)]
    assert [event.kind for event in told] == ["paused", "resumed", "ended"]
    assert told[0].message == "lunch"
    assert await code_of(referee.abort(made.match_id)) == "match.phase"
    assert await referee.fetch_record(made.match_id)


async def test_a_match_can_be_declared_void(referee) -> None:
    made = await referee.create_match(GAME, ["remote:slow", "uniform"])
    await referee.abort(made.match_id, "power cut", void=True)
    assert (await ended(referee, made)).kind == "void"


# ------------------------------------------------------------------ refusals


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"game": "lepidopter"}, "game.unknown"),
        ({"players": ["uniform"]}, "options.invalid"),
        ({"players": ["gredy", "uniform"]}, "usage.player"),
        ({"players": ["human", "uniform"]}, "usage.player"),
        ({"players": ["remote:nobody", "uniform"]}, "player.absent"),
        ({"options": {"heights": [0]}}, "options.invalid"),
        ({"preset": "x"}, "options.invalid"),
        ({"match_id": "../x"}, "match.id"),
        ({"seed": b"short"}, "usage.seed"),
        ({"rules_version": 99}, "game.other-version"),
        ({"clock": ClockSettings(increment_ms=1)}, "usage.clock"),
        ({"terms": Terms(policy=[FaultRule("late", retries=1)])}, "usage.terms"),
        # Not even sent.
        ({"options": {}, "preset": "bga"}, "usage.options"),
        ({"options": {"x": object()}}, "usage.options"),
        ({"clock": [ClockSettings()]}, "usage.clock"),
        ({"players": "uniform"}, "usage.clock"),
        ({"clock": ClockSettings(move_ms=-1)}, "usage.value"),
        ({"seed": "text"}, "usage.value"),
        ({"terms": Terms(policy=[FaultRule("lazy")])}, "usage.word"),
        ({"terms": Terms(policy=[FaultRule("late", "hang")])}, "usage.word"),
    ],
)
async def test_what_makes_no_sense_is_refused(referee, change, code) -> None:
    wanted: dict[str, Any] = {"game": GAME, "players": TWO, **change}
    assert await code_of(referee.create_match(**wanted)) == code
    assert [match async for match in referee.list_matches()] == []


async def test_a_match_id_is_given_once(referee) -> None:
    await referee.create_match(GAME, TWO, match_id="m")
    assert await code_of(referee.create_match(GAME, TWO, match_id="m")) == (
        "match.exists"
    )


async def test_an_unknown_match_is_named(referee) -> None:
    for call in (
        referee.get_match("x"),
        referee.pause("x"),
        referee.resume("x"),
        referee.abort("x"),
        referee.fetch_record("x"),
        anext(referee.watch("x")),
    ):
        assert await code_of(call) == "match.unknown"


async def test_roles_are_told_apart(house, referee) -> None:
    made = await referee.create_match(GAME, TWO)
    await ended(referee, made)
    async with house.caller(Role.SPECTATOR) as spectator:
        assert (await ended(spectator, made)).counts
        assert await spectator.fetch_record(made.match_id)
        assert (await spectator.get_match(made.match_id)).players == ()
        assert await code_of(spectator.create_match(GAME, TWO)) == "auth.wrong-role"
        assert await code_of(spectator.abort(made.match_id)) == "auth.wrong-role"
    async with house.caller(Role.BOT) as bot:
        with pytest.raises(RefusedError, match="referee or spectator"):
            await ended(bot, made)


async def test_an_unknown_token_is_one_clear_line(house) -> None:
    async with Referee(house.server.address, "frt_referee_x") as nobody:
        with pytest.raises(RefusedError, match="does not know this token") as caught:
            await nobody.create_match(GAME, TWO)
        assert caught.value.code == "auth.unknown-token"
        assert await code_of(anext(nobody.watch("m"))) == "auth.unknown-token"


async def test_no_server_is_one_clear_line() -> None:
    async with Referee("127.0.0.1:1", "t") as referee:
        for call in (referee.get_match("m"), anext(referee.watch("m"))):
            with pytest.raises(LinkError) as caught:
                await call
            assert str(caught.value) == (
                "no server answers at 127.0.0.1:1 (Connection refused) "
                "[link.unreachable]"
            )


async def test_a_server_that_stops_is_a_lost_link(registry) -> None:
    async with Arena(registry) as arena:
        server = Server(arena)
        await server.start()
        token = arena.tokens.create("r", Role.REFEREE)
        async with Referee(server.address, token) as referee:
            made = await referee.create_match(
                GAME, [f"exec:{sys.executable} -c 'input()'", "uniform"]
            )
            watching = referee.watch(made.match_id)
            await anext(watching)
            await server.stop()
            with pytest.raises(LinkError) as caught:
                async for _ in watching:
                    pass
            assert caught.value.code == "link.lost"


def test_address_and_token_come_from_the_environment(monkeypatch) -> None:
    with pytest.raises(ConfigurationError) as caught:
        Referee()
    assert caught.value.code == "usage.address"
    monkeypatch.setenv("FRITILLARY_ADDRESS", "127.0.0.1:7")
    with pytest.raises(ConfigurationError) as caught:
        Referee()
    assert caught.value.code == "usage.token"
    monkeypatch.setenv("FRITILLARY_TOKEN", "t")
    assert Referee().address == "127.0.0.1:7"
    assert Referee("localhost:8").address == "localhost:8"


async def test_it_must_be_entered(house) -> None:
    referee = house.caller(Role.REFEREE)
    assert await code_of(referee.get_match("m")) == "usage.closed"


def test_neither_games_nor_the_server_are_needed() -> None:
    program = (
        "import sys, fritillary_client\n"
        "needed = [name for name in sys.modules if name.startswith("
        "('fritillary_games', 'fritillary.service', 'fritillary.referee',"
        " 'fritillary.record', 'cryptography'))]\n"
        "sys.exit(' '.join(needed) or 0)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
