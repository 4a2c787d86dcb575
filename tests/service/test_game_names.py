"""A game has one name on the wire, however a match was asked for and whenever."""

from __future__ import annotations

import asyncio

import pytest
from tests.service.calls import Caller
from tests.service.house import plays
from tests.service.rawbot import first_legal, until
from tests.service.shelf import shelf

from fritillary.api.v1 import catalog_pb2, catalog_pb2_grpc
from fritillary.record.terms import EndKind
from fritillary.service.tokens import Role

ONE = ("home",)
TWO = ("home", "other")

#: Who has Pig, how it is asked for, and how it is named.
NAMES = pytest.mark.parametrize(
    ("homes", "asked_for", "name", "variants"),
    [
        (ONE, "pig", "pig", []),
        (ONE, "home:pig", "pig", []),
        (ONE, "pig+same", "pig", ["same"]),
        (ONE, "home:pig+variants:same", "pig", ["same"]),
        (TWO, "home:pig", "home:pig", []),
        (TWO, "other:pig+same", "other:pig", ["same"]),
    ],
    ids=lambda value: value if isinstance(value, str) else str(len(value)),
)


def named(ref):
    return ref.id, [one.id for one in ref.variants]


async def told(house, match_id="m"):
    """Return how GetMatch and ListMatches name the game of a match."""
    async with Caller(house, Role.SPECTATOR, "eve") as eve:
        got = (await eve.GetMatch(match_id=match_id)).match
        listed = (await eve.ListMatches()).matches
    (found,) = [one for one in listed if one.match_id == match_id]
    return [named(got.game), named(found.game)]


async def start_with(house, games, **more):
    await house.stop()
    await house.start(games, **more)


@NAMES
async def test_a_match_names_its_game_the_same_before_and_after_a_restart(
    house, homes, asked_for, name, variants
):
    games = shelf(*homes)
    await start_with(house, games)
    expected = (name, variants)
    async with house.bot(play=plays(2)) as bot:
        house.arena.create(asked_for, ["remote:bob", "uniform"], match_id="m")
        assert named((await bot.until("match_offer")).game) == expected
        await bot.until("decision_request", count=3)
        assert await told(house) == [expected] * 2
        await house.crash()
    await house.start(games)
    # It goes on, and is offered again to a bot that was started anew.
    assert await told(house) == [expected] * 2
    async with house.bot(play=first_legal) as bot:
        assert named((await bot.until("match_offer")).game) == expected
        await bot.until("match_ended")
        await until(lambda: house.arena.match("m").over)
    # In memory, then in the archive.
    assert await told(house) == [expected] * 2
    await start_with(house, games)
    assert not house.arena.matches()
    assert await told(house) == [expected] * 2


@NAMES
async def test_a_match_that_was_only_offered_names_its_game_the_same(
    house, homes, asked_for, name, variants
):
    games = shelf(*homes)
    await start_with(house, games)
    house.arena.create(asked_for, ["remote:bob", "uniform"], match_id="m")
    assert await told(house) == [(name, variants)] * 2
    await start_with(house, games)
    assert house.taken_up == 1
    assert await told(house) == [(name, variants)] * 2


@NAMES
async def test_the_catalog_names_it_the_same(house, homes, asked_for, name, variants):
    await start_with(house, shelf(*homes))
    async with Caller(house, Role.SPECTATOR, "eve") as eve:
        stub = catalog_pb2_grpc.CatalogServiceStub(eve.channel)
        got = await stub.GetGame(catalog_pb2.GetGameRequest(game=asked_for))
        listed = (await stub.ListGames(catalog_pb2.ListGamesRequest())).games
    assert named(got.info.game) == (name, variants)
    assert name in [one.game.id for one in listed]


async def test_another_game_of_the_same_id_keeps_no_match_from_going_on(house):
    await start_with(house, shelf("home"))
    # One waits for its bot, the other one for its first decision.
    house.arena.create("pig", ["remote:bob", "uniform"], match_id="m")
    async with house.bot(play=plays(1)) as bot:
        await bot.until("decision_request", count=2)
    house.arena.create("home:pig", ["remote:ann", "uniform"], match_id="n")
    await asyncio.sleep(0)
    await house.crash()
    assert not (house.records / "n.frec").read_bytes()
    await house.start(shelf("home", "other"))
    assert house.taken_up == 2
    async with Caller(house, Role.SPECTATOR, "eve") as eve:
        listed = (await eve.ListMatches()).matches
    assert [named(one.game) for one in listed] == [("home:pig", [])] * 2
    async with house.bot(play=first_legal) as bot:
        await bot.until("match_ended")
    house.arena.match("n").abort(EndKind.VOID, "test", "enough")
    await house.arena.wait("n")
    await start_with(house, shelf("home"))
    assert await told(house, "m") == [("pig", [])] * 2
