"""The catalog: what anybody may ask for holds nobody up."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import sys
import types

import grpc
import msgpack
import pytest
from tests.service import take
from tests.service.calls import bearer, outcome_of
from tests.service.rawbot import until

from fritillary import Plugin, Registry
from fritillary.api.v1 import (
    catalog_pb2,
    catalog_pb2_grpc,
    common_pb2,
    match_pb2,
    match_pb2_grpc,
)
from fritillary.core.errors import FritillaryError, ServiceError
from fritillary.service import catalog_calls, games, rules_apart
from fritillary.service.arena import Arena
from fritillary.service.pages import PAGE_BYTES
from fritillary.service.rules_apart import RulesApart
from fritillary.service.server import Server
from fritillary.service.simulator_limits import SimulatorLimits
from fritillary.service.simulator_worker import by_name
from fritillary.service.tokens import Role


class Asking:
    """The catalog of a server that has Take."""

    def __init__(self, server, arena, channel):
        self.server = server
        self.arena = arena
        self.channel = channel
        self.stub = catalog_pb2_grpc.CatalogServiceStub(channel)

    def game(self, options=None, **more):
        return self.stub.GetGame(
            catalog_pb2.GetGameRequest(game="take", options=options), **more
        )

    async def actions(self, options=None, size=0, metadata=()):
        """Return all pages of the table."""
        pages: list[catalog_pb2.ListActionsResponse] = []
        token = ""
        while token or not pages:
            request = catalog_pb2.ListActionsRequest(
                game="take", options=options, page_size=size, page_token=token
            )
            pages.append(await self.stub.ListActions(request, metadata=metadata))
            token = pages[-1].next_page_token
        return pages


@pytest.fixture
async def asking():
    async with (
        Arena(take.registry()) as arena,
        Server(arena) as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        yield Asking(server, arena, channel)


def options(**values):
    payload = common_pb2.Payload(data=msgpack.packb(values))
    return common_pb2.OptionsChoice(options=payload)


def as_json(text):
    payload = common_pb2.Payload(encoding=common_pb2.ENCODING_JSON, data=text.encode())
    return common_pb2.OptionsChoice(options=payload)


MANY = common_pb2.OptionsChoice(preset="many")


def only_here():
    """Return a registry whose game other processes cannot find."""
    hidden = types.ModuleType("nowhere")
    hidden.__dict__.update(vars(sys.modules["tests.service.take"]))
    hidden.__name__ = "nowhere"
    registry = Registry()
    registry.add_game(Plugin("take", hidden))
    return registry


# ----------------------------------------------------------------- rules that run apart


async def test_rules_run_in_another_process_on_what_a_stranger_sends(asking, tmp_path):
    told = tmp_path / "told"
    game = await asking.game(options(stones=5, told=str(told)))
    assert game.table.size == 5
    assert int(told.read_text()) != os.getpid()
    (page,) = await asking.actions(options(stones=5, told=str(told)))
    assert [one.text for one in page.actions] == [f"take {n}" for n in range(1, 6)]
    assert page.table == game.table


async def test_the_process_ends_with_the_server(tmp_path):
    told = tmp_path / "told"
    async with (
        Arena(take.registry()) as arena,
        Server(arena) as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        stub = catalog_pb2_grpc.CatalogServiceStub(channel)
        choice = options(told=str(told))
        await stub.GetGame(catalog_pb2.GetGameRequest(game="take", options=choice))
        process = int(told.read_text())
        os.kill(process, 0)
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


async def test_errors_of_the_rules_are_told_from_there(asking):
    assert await outcome_of(asking.game(options(stones=0))) == "options.invalid"
    assert await outcome_of(asking.game(options(stones="x"))) == "options.invalid"
    assert await outcome_of(asking.game(as_json("{"))) == "codec.json"


async def test_rules_that_take_too_long_are_stopped_and_hold_nobody_up(
    asking, monkeypatch
):
    short = SimulatorLimits(
        max_call_ms=1_000, max_calls=9, workers=1, memory_bytes=1024**3
    )
    for apart in asking.server._apart._by_known.values():
        monkeypatch.setattr(apart, "_limits", short)
    # It would take minutes, and all memory.
    hanging = asyncio.ensure_future(outcome_of(asking.game(options(stones=10**10))))
    served = 0
    while not hanging.done():
        await asking.stub.ListGames(catalog_pb2.ListGamesRequest())
        served += 1
    assert await hanging in {"limit.time", "plugin.failed", "simulator.failed"}
    assert served > 3
    # It goes on with others.
    assert (await asking.game(options(stones=4))).table.size == 4


async def test_a_stranger_who_sends_what_takes_long_does_not_delay_a_bot(asking):
    async def apart(known):
        await asking.server._apart._by_known[known].ask(
            "Catalog.GetGame",
            catalog_pb2.GetGameRequest(game="take").SerializeToString(),
        )

    await apart(known=True)
    token = asking.arena.tokens.create("bob", Role.BOT)
    hanging = asyncio.ensure_future(outcome_of(asking.game(options(stones=10**10))))
    game = await asking.game(options(stones=4), metadata=bearer(token))
    assert game.table.size == 4
    assert not hanging.done()
    hanging.cancel()


async def test_options_of_the_game_itself_need_no_other_process(asking, monkeypatch):
    async def never(*_):
        raise AssertionError

    monkeypatch.setattr(RulesApart, "ask", never)
    written = msgpack.packb({"stones": 3, "told": ""})
    for choice in (
        None,
        MANY,
        common_pb2.OptionsChoice(options=common_pb2.Payload(data=written)),
        as_json('{"stones":3,"told":""}'),
        as_json('{"stones":6000,"told":""}'),
    ):
        expected = 6_000 if choice == MANY or "6000" in str(choice) else 3
        assert (await asking.game(choice)).table.size == expected
        assert (await asking.actions(choice))[0].table.size == expected


@pytest.mark.parametrize("preset", ["", "nothing", "x" * 3_000])
async def test_presets_that_are_none_are_refused_here(asking, monkeypatch, preset):
    monkeypatch.setattr(RulesApart, "ask", None)
    found = asking.game(common_pb2.OptionsChoice(preset=preset))
    assert await outcome_of(found) == ("options.invalid" if preset else "ok")


def test_games_with_several_variants_are_put_together_apart():
    request = catalog_pb2.GetGameRequest(game="take+a+b")
    assert not catalog_calls.as_known(take.registry(), request)


def test_what_is_no_module_is_not_known_to_other_processes():
    registry = take.registry()
    names = [[["take", "tests.service.take", ""]], []]
    assert json.loads(by_name(registry)) == names
    assert json.loads(by_name(only_here())) == [[], []]


async def test_who_waits_too_long_for_the_process_is_told_so(monkeypatch):
    monkeypatch.setattr(rules_apart, "_WAIT_S", 0.1)
    apart = RulesApart(take.registry())
    request = catalog_pb2.GetGameRequest(
        game="take", options=options(stones=10**10)
    ).SerializeToString()
    try:
        with pytest.raises(Exception, match="nobody came") as caught:
            await apart.ask("Catalog.GetGame", request)
        assert getattr(caught.value, "code", "") == "limit.time"
    finally:
        await apart.stop()


# ------------------------------------------------------------------------- made matches


def order(choice):
    return match_pb2.CreateMatchRequest(
        game="take",
        options=choice,
        seats=[match_pb2.SeatRequest(player="uniform")] * 2,
    )


async def created(arena, channel, choice):
    """Return how a match is made: ``ok``, or a code."""
    token = arena.tokens.create("ann", Role.REFEREE)
    stub = match_pb2_grpc.MatchServiceStub(channel)
    return await outcome_of(stub.CreateMatch(order(choice), metadata=bearer(token)))


async def test_options_of_a_match_are_looked_at_in_another_process_first(
    asking, tmp_path
):
    told = tmp_path / "told"
    looked: list[tuple[str, int]] = []

    async def ask(method, request):
        answer = await real(method, request)
        looked.append((method, int(told.read_text())))
        return answer

    real, asking.server._apart.ask = asking.server._apart.ask, ask
    choice = options(stones=5, told=str(told))
    assert await created(asking.arena, asking.channel, choice) == "ok"
    ((method, process),) = looked
    assert method == "Catalog.CheckOptions"
    assert process != os.getpid()
    (hosted,) = asking.arena.matches()
    await hosted.ended
    # The match itself is played here.
    assert int(told.read_text()) == os.getpid()


async def test_options_that_take_too_long_make_no_match_and_hold_up_no_other(asking):
    making = asyncio.ensure_future(
        created(asking.arena, asking.channel, options(stones=10**10))
    )
    served = 0
    while not making.done():
        await asking.stub.ListGames(catalog_pb2.ListGamesRequest())
        served += 1
    assert await making in {"limit.time", "plugin.failed", "simulator.failed"}
    assert served > 3
    assert not asking.arena.matches()


def test_rules_that_begin_slowly_are_no_rules_of_a_match(monkeypatch):
    request = catalog_pb2.GetGameRequest(game="take", options=options(stones=4))
    catalog_calls.check_options(take.registry(), request)
    monkeypatch.setattr(catalog_calls, "CHECK_S", 0)
    with pytest.raises(ServiceError, match="would wait") as caught:
        catalog_calls.check_options(take.registry(), request)
    assert caught.value.code == "limit.time"


async def test_a_game_that_is_no_module_is_played_with_any_options():
    async with (
        Arena(only_here()) as arena,
        Server(arena) as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        assert await created(arena, channel, options(stones=4)) == "ok"


async def test_a_game_that_is_no_module_is_described_with_any_options():
    async with (
        Arena(only_here()) as arena,
        Server(arena) as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        asking = Asking(server, arena, channel)
        described = await asking.game(options(stones=4))
        pages = await asking.actions(options(stones=4))
    assert described.table == pages[0].table
    assert pages[0].actions


# ------------------------------------------------------------------------------- pages


async def test_pages_of_actions_end_at_a_number_of_bytes_and_go_on(asking):
    pages = await asking.actions(MANY, size=10_000)
    assert len(pages) > 1
    assert all(page.ByteSize() <= 256 * 1024 for page in pages)
    # None is smaller than it has to be.
    assert all(page.ByteSize() > PAGE_BYTES - 1_000 for page in pages[:-1])
    indices = [one.index for page in pages for one in page.actions]
    assert indices == list(range(6_000))


async def test_pages_are_the_same_from_another_process(asking):
    apart = await asking.actions(options(stones=6_000, told=""), size=10_000)
    assert [p.actions for p in apart] == [
        p.actions for p in await asking.actions(MANY, size=10_000)
    ]
    # Keys in another order are not what the server writes.
    assert [len(p.actions) for p in apart] == [
        len(p.actions)
        for p in await asking.actions(as_json('{"told":"","stones":6000}'), 10_000)
    ]


async def test_a_page_is_made_in_pieces_between_which_others_run(asking, monkeypatch):
    ticks = 0
    made: list[tuple[int, int]] = []

    def entries(game, table, start, count):
        made.append((ticks, count))
        return real(game, table, start, count)

    async def tick():
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0)

    real = games.action_entries
    monkeypatch.setattr(games, "action_entries", entries)
    ticking = asyncio.ensure_future(tick())
    await asking.actions(MANY)
    ticking.cancel()
    assert len(made) > 20
    assert max(count for _, count in made) <= 64
    # No two at one moment.
    assert len({at for at, _ in made}) == len(made)


async def test_of_one_caller_one_page_is_made_at_a_time(asking, monkeypatch):
    under_way, most = 0, 0

    def counted(*arguments):
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        yield from real(*arguments)
        under_way -= 1

    real = catalog_calls.list_actions
    monkeypatch.setattr("fritillary.service.catalog.list_actions", counted)
    await asyncio.gather(*(asking.actions(MANY, size=1_000) for _ in range(4)))
    assert most == 1
    assert under_way == 0


# --------------------------------------------------------------------- nothing is kept


async def test_refused_calls_leave_no_garbage_that_waits_for_the_collector(asking):
    def errors():
        found = [one for one in gc.get_objects() if isinstance(one, FritillaryError)]
        return len(found)

    for wrong in (
        common_pb2.OptionsChoice(preset="nothing"),
        # Refused by the other process.
        options(stones=0),
    ):
        assert await outcome_of(asking.game(wrong)) == "options.invalid"
        gc.collect()
        before = errors()
        gc.disable()
        try:
            for _ in range(5):
                await outcome_of(asking.game(wrong))
            await until(lambda: errors() <= before)  # noqa: B023
        finally:
            gc.enable()
