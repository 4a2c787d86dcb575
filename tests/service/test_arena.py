"""The arena without a wire, and what it is given."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.service import pig
from tests.service.rawbot import last_legal, until

from fritillary.api.v1 import bot_pb2 as pb
from fritillary.core.errors import FritillaryError, StorageError, UsageError
from fritillary.record.terms import ClockSettings, EndKind, Fault, PlayerInfo, Terms
from fritillary.referee.lineup import local_player, parse_player
from fritillary.referee.player import PlayerFault
from fritillary.service import hosted
from fritillary.service.arena import Arena
from fritillary.service.hub import Link
from fritillary.service.limits import BURST_S, Limits, TokenBucket


def open_files():
    """Return how many files are open, where the system tells."""
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.exists() else 0


async def test_a_match_of_local_bots_needs_no_server():
    async with Arena(pig.registry()) as arena:
        result = await arena.play("pig", ["uniform", "uniform"], preset="short")
    assert result.finish.kind is EndKind.PLAYED


async def test_a_program_needs_a_server():
    async with Arena(pig.registry()) as arena:
        with pytest.raises(UsageError, match="needs a server"):
            arena.create("pig", ["exec:true", "uniform"])


async def test_nobody_plays_by_hand_unless_somebody_makes_it_possible():
    def human(spec, game):
        player = local_player(parse_player("uniform"), game)
        player.info = PlayerInfo("Ada", player=spec.text)
        return player

    async with Arena(pig.registry()) as arena:
        with pytest.raises(UsageError, match="by hand"):
            arena.create("pig", ["human", "uniform"])
    async with Arena(pig.registry(), factories={"human": human}) as arena:
        hosted = arena.create("pig", ["human", "uniform"])
        result = await hosted.ended
    assert result.finish.kind is EndKind.PLAYED
    assert hosted.infos[0].name == "Ada"


async def test_options_are_data_over_a_preset_or_a_value():
    async with Arena(pig.registry()) as arena:
        made = [
            arena.create("pig", ["uniform"] * 2, **settings)
            for settings in (
                {},
                {"preset": "short"},
                {"preset": "short", "options": {"target": 9}},
                {"options": pig.Options(target=11)},
            )
        ]
        assert [one.order.options.target for one in made] == [20, 6, 9, 11]
        for bad in ({"target": "x"}, {"goal": 1}, [1], 7):
            with pytest.raises(FritillaryError):
                arena.create("pig", ["uniform"] * 2, options=bad)


async def test_the_ceiling_follows_from_the_clocks_unless_it_is_given():
    async with Arena(pig.registry()) as arena:
        untimed = arena.create("pig", ["uniform"] * 2)
        timed = arena.create(
            "pig", ["uniform"] * 2, clocks=ClockSettings(base_ms=5_000_000)
        )
        given = arena.create("pig", ["uniform"] * 2, ceiling_ms=77)
    assert untimed.order.terms.ceiling_ms == 3_600_000
    assert timed.order.terms.ceiling_ms > 10_000_000
    assert given.order.terms.ceiling_ms == 77


async def test_seeds_are_in_no_representation():
    async with Arena(pig.registry()) as arena:
        hosted = arena.create("pig", ["uniform"] * 2, seed=b"S" * 32, salt=b"T" * 32)
        assert "SSS" not in repr(hosted.order)
        assert "TTT" not in repr(hosted.order)
        await hosted.ended


async def test_a_player_that_raises_makes_an_end_that_can_be_waited_for():
    def broken(spec, game):
        player: Any = local_player(parse_player("uniform"), game)

        async def accept(offer):
            raise PlayerFault(Fault.REFEREE_ERROR, "no")

        player.accept = accept
        return player

    async with Arena(pig.registry(), factories={"human": broken}) as arena:
        result = await arena.play("pig", ["human", "uniform"])
    assert result.finish.kind is EndKind.VOID


async def test_two_matches_of_the_same_bots_do_not_wait_for_each_other(stage):
    terms = Terms(offer_ms=60_000)
    async with stage.bot("a", play=last_legal), stage.bot("b", play=last_legal):
        matches = [
            stage.arena.create("pig", players, terms=terms)
            for players in (
                ["remote:a", "remote:b"],
                ["remote:b", "remote:a"],
                ["remote:a", "remote:b"],
            )
        ]
        results = await asyncio.gather(*(one.ended for one in matches))
    assert [one.finish.kind for one in results] == [EndKind.PLAYED] * 3


async def test_a_bot_that_comes_in_time_is_given_its_seat(stage):
    hosted = stage.arena.create("pig", ["remote:bob", "uniform"])
    await asyncio.sleep(0.1)
    assert hosted.phase == "offered"
    async with stage.bot(play=last_legal, bot={"name": "Robert"}):
        result = await hosted.ended
    assert result.finish.kind is EndKind.PLAYED
    assert hosted.infos[0].name == "Robert"
    assert hosted.infos[0].player == "remote:bob"


async def test_a_bot_that_loses_its_link_as_it_comes_is_waited_for(stage, monkeypatch):
    reserve = Link.reserve
    lost_links: list[Any] = []

    async def reserved(link, *what):
        await reserve(link, *what)
        if not lost_links:
            # Before whoever waits for the bot has come round.
            lost_links.append(link.session)
            link.session._leave()

    monkeypatch.setattr(Link, "reserve", reserved)
    hosted = stage.arena.create("pig", ["remote:bob", "uniform"])
    token = stage.token()
    build: Any = {"build": "1"}
    lost = stage.bot(token=token)
    lost.listen()
    await lost.send(hello=pb.Hello(bot=build))
    await until(lambda: lost_links)
    await lost.close()
    async with stage.bot(token=token, play=last_legal, bot=build):
        result = await hosted.ended
    assert result.finish.kind is EndKind.PLAYED
    assert hosted.infos[0].build == "1"


async def test_names_of_bots_are_cut_and_cleaned(stage):
    async with stage.bot(play=last_legal, bot={"name": "\x1b[2J" + "x" * 500}) as bot:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"])
        await hosted.ended
        offer = await bot.until("match_offer")
    assert len(offer.seats[0].player.name) == 64
    assert "\x1b" not in offer.seats[0].player.name


async def test_many_bots_and_matches_at_once(stage):
    bots = [stage.bot(f"b{number}", play=last_legal, capacity=4) for number in range(8)]
    for bot in bots:
        await bot.open()
    matches = [
        stage.arena.create(
            "pig", [f"remote:b{n % 8}", f"remote:b{(n + 1 + n // 8) % 8}"]
        )
        for n in range(32)
    ]
    results = await asyncio.gather(*(one.ended for one in matches))
    assert all(one.finish.kind is EndKind.PLAYED for one in results)
    for bot in bots:
        await bot.until("match_ended", count=8)
        assert not bot.all("error")
        await bot.close()


def test_a_bucket_allows_bursts_and_no_more():
    bucket = TokenBucket(10, now=0.0)
    assert bucket.take(int(10 * BURST_S), 0.0)
    assert not bucket.take(1, 0.0)
    assert bucket.take(9, 1.0)
    assert not bucket.take(2, 1.0)
    assert bucket.take(30, 100.0)
    assert not bucket.take(1, 100.0)


@pytest.mark.parametrize("bad", [0, -1, 1.5, "x"])
def test_limits_are_positive_integers(bad):
    with pytest.raises((TypeError, ValueError)):
        Limits(max_matches=bad)


@pytest.mark.parametrize("where", ["wire", "sink", "play"])
async def test_nothing_is_left_of_a_match_that_cannot_be_made(
    tmp_path, monkeypatch, where
):
    def fail(*_, **__):
        raise OSError(13, "no")

    async with Arena(pig.registry(), records=tmp_path) as arena:
        with monkeypatch.context() as patch:
            if where == "wire":
                patch.setattr(hosted, "MatchWire", fail)
            elif where == "sink":
                patch.setattr(Path, "chmod", fail)
            else:
                patch.setattr(hosted, "Match", fail)
            before = open_files()
            with pytest.raises((OSError, StorageError)):
                await arena.play("pig", ["uniform", "uniform"], match_id="m")
            assert open_files() == before
        assert not list(tmp_path.iterdir())
        if where == "play":
            # The arena still knows of it; its id is free again once that is over.
            assert [one.phase for one in arena.matches()] == ["ended"]
            return
        assert not arena.matches()
        await arena.play("pig", ["uniform", "uniform"], match_id="m")
        assert [one.name for one in tmp_path.iterdir()] == ["m.frec"]
