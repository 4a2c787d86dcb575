"""Who sits where after a restart, and what runs until all are back."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.service import pig
from tests.service.house import PATIENT, plays
from tests.service.rawbot import RawBot, decide, first_legal, last_legal, until

from fritillary.api.v1 import bot_pb2 as pb
from fritillary.api.v1 import common_pb2
from fritillary.record.events import Dealt, Header, Paused, Restarted, Resumed
from fritillary.record.terms import (
    ClockSettings,
    EndKind,
    LinkBank,
    Policy,
    Terms,
)
from fritillary.referee.verify import verify
from fritillary.service.tokens import Role

PROGRAM = Path(__file__).with_name("program.py")

#: Longest wait of a test, in seconds.
LONG = 60


def build(name):
    return common_pb2.PlayerInfo(name="bob", build=name)


def program(how="play"):
    return f"exec:{sys.executable} {PROGRAM} {how}"


async def session_of(house, *, count=1, name="1", **more):
    """Play some decisions as a build, kill the server; return the session's token."""
    async with house.bot(play=plays(count), bot=build(name)) as bot:
        house.create(**more)
        await bot.until("decision_request", count=count + 1)
        token = bot.log[0][1].session_token
        await house.crash()
    return token


# -------------------------------------------------------------------------- programs


async def test_a_program_whose_match_had_not_begun_is_started_again(house):
    # The match waits for Bob, so that its program is there and nothing is dealt.
    hosted = house.create("remote:bob", program(), terms=PATIENT)
    await until(lambda: len(house.arena.hub.sessions()) == 1, within=LONG)
    assert hosted.phase == "offered"
    await house.crash()
    assert not (house.records / "m.frec").read_bytes()
    await house.start()
    assert house.taken_up == 1
    async with house.bot(play=last_legal):
        result = await asyncio.wait_for(house.arena.wait("m"), LONG)
    assert result.finish.kind is EndKind.PLAYED
    verify((house.records / "m.frec").read_bytes(), pig.registry())


# ----------------------------------------------------------------------- other builds


async def test_another_build_cannot_act_on_a_seat_that_is_kept(house):
    await session_of(house)
    await house.start()
    where: Any = {"match_id": "m", "seat": 0}
    async with house.bot(bot=build("2")) as bot:
        await bot.send_all(
            pb.BotMessage(accept=pb.Accept(**where)),
            pb.BotMessage(decline=pb.Decline(**where)),
            pb.BotMessage(ready=pb.Ready(**where)),
            decide(pb.DecisionRequest(decision_id=2, **where), index=0),
            pb.BotMessage(resign=pb.Resign(decision_id=2, **where)),
        )
        # One for each message, after the one that tells why it has no seat.
        await bot.until("error", count=6)
        codes = {error.error.code for error in bot.all("error")}
        assert codes == {"seat.other-build"}
        assert not bot.all("match_offer")
        assert not bot.all("event")
    async with house.bot(play=first_legal, bot=build("1")):
        result = await asyncio.wait_for(house.arena.wait("m"), LONG)
    assert result.finish.kind is EndKind.PLAYED


async def test_the_record_names_the_build_that_plays(house):
    """One is offered the match, the server is killed, another one takes it."""
    async with house.bot(auto=False, bot=build("1")) as bot:
        house.create()
        await bot.until("match_offer")
        await house.crash()
    record = house.record()
    assert [type(one) for one in record.events] == [Header]
    assert record.header.seats[0].player.build == "1"
    await house.start()
    async with house.bot(play=first_legal, bot=build("2")) as bot:
        offer = await bot.until("match_offer")
        result = await asyncio.wait_for(house.arena.wait("m"), LONG)
    assert result.finish.kind is EndKind.PLAYED
    assert offer.seats[0].player.build == "2"
    header = house.record().header
    assert header.seats[0].player.build == "2"
    assert header.commitment == record.header.commitment
    assert offer.commitment.hash.hex() == header.commitment
    verify((house.records / "m.frec").read_bytes(), pig.registry())


async def test_a_match_that_is_killed_before_each_offer_begins_at_last(house):
    for _ in range(3):
        if house.arena is None:
            await house.start()
        async with house.bot(auto=False) as bot:
            if not house.arena.matches():
                house.create()
            await bot.until("match_offer")
            await house.crash()
    await house.start()
    async with house.bot(play=first_legal):
        result = await asyncio.wait_for(house.arena.wait("m"), LONG)
    assert result.finish.kind is EndKind.PLAYED
    events = house.record().events
    assert [type(one) for one in events[:2]] == [Header, Dealt]
    assert house.record().find(Restarted) is None


# -------------------------------------------------------------------- clocks and pauses


async def paused_and_resumed(house):
    """Start again, pause the match while its bot is away, and let it go on."""
    await house.start()
    hosted = house.arena.match("m")
    await until(lambda: hosted.phase == "waiting")
    hosted.pause("tea")
    await until(lambda: hosted.phase == "paused")
    left = hosted.players[0].loss.left_ms
    await asyncio.sleep(0.3)
    assert hosted.players[0].loss.left_ms == left
    hosted.resume()
    await until(lambda: hosted.phase == "waiting")
    return hosted


async def test_neither_clock_nor_link_bank_runs_in_a_pause_while_a_bot_is_away(house):
    token = await session_of(house, clocks=ClockSettings(base_ms=600_000))
    hosted = await paused_and_resumed(house)
    await asyncio.sleep(0.3)
    # Nobody is asked before all are back.
    assert hosted.phase == "waiting"
    assert hosted.match.open_ms is None
    async with house.bot(play=first_legal, session_token=token, bot=build("1")) as bot:
        await bot.until("decision_request")
        await asyncio.wait_for(hosted.ended, LONG)
    kinds = [type(one) for one in house.record().events]
    assert kinds[kinds.index(Restarted) :][1:3] == [Paused, Resumed]
    verify((house.records / "m.frec").read_bytes(), pig.registry())


async def test_after_such_a_pause_the_link_bank_runs_out_all_the_same(house):
    terms = Terms(policy=Policy(link=LinkBank(loss_ms=5_000, total_ms=5_000)))
    await session_of(house, terms=terms)
    hosted = await paused_and_resumed(house)
    result = await asyncio.wait_for(hosted.ended, LONG)
    assert result.finish.code == "fault.disconnected"


async def test_all_that_lost_links_may_take_is_there_again_after_a_restart(house):
    async with house.bot(play=plays(1), bot=build("1")) as bot:
        hosted = house.create()
        await bot.until("decision_request", count=2)
        # As if the link had been lost for long.
        hosted.players[0].loss._bank_ms = 1_000
        await house.crash()
    await house.start()
    hosted = house.arena.match("m")
    await until(lambda: hosted.players)
    # As docs/protocol.md says of what a match is given for lost links.
    page = Path(__file__).parents[2] / "docs" / "protocol.md"
    told = "After a restart of the server the seats have all of that again."
    assert told in " ".join(page.read_text("utf-8").split())
    assert hosted.players[0].loss.left_ms > 1_000


async def test_why_a_match_is_paused_is_told_after_a_restart(house):
    async with house.bot(play=plays(1), bot=build("1")) as bot:
        hosted = house.create()
        await bot.until("decision_request", count=2)
        hosted.pause("lunch")
        await until(lambda: hosted.phase == "paused")
        token = bot.log[0][1].session_token
        await house.crash()
    await house.start()
    hosted = house.arena.match("m")
    await until(lambda: hosted.phase == "paused")
    assert hosted.status().message == "lunch"
    async with house.bot(session_token=token, bot=build("1")) as bot:
        status = await bot.until("match_status")
        assert status.message == "lunch"
        assert status.phase == common_pb2.MATCH_PHASE_PAUSED


# -------------------------------------------------------------------- forfeited seats


async def test_nobody_waits_for_a_seat_that_was_forfeited(house):
    texts = {name: house.tokens.create(name, Role.BOT) for name in ("ann", "cleo")}

    def resigns(request):
        return pb.BotMessage(
            resign=pb.Resign(
                match_id=request.match_id,
                seat=request.seat,
                decision_id=request.decision_id,
            )
        )

    async with (
        RawBot(house.address, texts["ann"], play=resigns),
        RawBot(house.address, texts["cleo"], play=plays(0)) as cleo,
    ):
        house.create("remote:ann", "remote:cleo", "uniform")
        await cleo.until("decision_request")
        await house.crash()
    await house.start()
    hosted = house.arena.match("m")
    await until(lambda: hosted.match is not None and hosted.phase == "waiting")
    assert list(hosted.status().waiting_for) == [1]
    assert not hosted.players[0].away
    # Ann does not come back, and nobody minds.
    async with RawBot(house.address, texts["cleo"], play=last_legal):
        result = await asyncio.wait_for(hosted.ended, LONG)
    assert result.finish.code == "match.forfeited"
    assert result.finish.outcome.placing[0] == 3
    verify((house.records / "m.frec").read_bytes(), pig.registry())


# -------------------------------------------------------------------------- closing


@pytest.mark.parametrize("kept", [True, False])
async def test_an_arena_closes_while_the_program_of_a_forgotten_match_ends(
    open_stage, tmp_path, kept
):
    settings = {"records": tmp_path / "records"} if kept else {}
    if kept:
        settings["private"] = tmp_path / "private"
    stage = await open_stage(keep_ended=0, **settings)
    arena = stage.arena
    if kept:
        arena.take_up()
    hosted = arena.create("pig", [program(), "uniform"], match_id="m", terms=PATIENT)
    await asyncio.wait_for(hosted.ended, LONG)
    # It is in memory no more, and its program has a moment to end by itself.
    assert not arena.matches()
    assert arena.running.tasks
    await arena.close()
    assert not arena.running.tasks
