"""Links that are lost, silent or not there any more."""

from __future__ import annotations

import asyncio

import attrs
import grpc
from tests.service.rawbot import RawBot, first_legal, last_legal, until
from tests.service.stopwatch import Stopwatch

from fritillary import Registry
from fritillary.api.v1 import bot_pb2 as pb
from fritillary.record.terms import ClockSettings, EndKind, LinkBank, Policy, Terms
from fritillary.service.limits import Limits


async def test_a_lost_link_that_does_not_come_back_is_a_fault(stage):
    terms = Terms(policy=Policy.of(link=LinkBank(loss_ms=2_000)))
    first = stage.bot(play=None)
    await first.open()
    hosted = stage.arena.create("pig", ["remote:bob", "uniform"], terms=terms)
    await first.until("decision_request")
    await first.close()
    await until(lambda: hosted.phase == "waiting")
    status = hosted.status()
    result = await hosted.ended
    assert list(status.waiting_for) == [0]
    assert 0 < status.waiting_left_ms <= 2_000
    assert result.finish.code == "fault.disconnected"


async def test_the_clock_runs_while_the_link_is_lost(stage):
    first = stage.bot(play=None)
    await first.open()
    hosted = stage.arena.create(
        "pig",
        ["remote:bob", "uniform"],
        clocks=ClockSettings(base_ms=3_000),
        terms=Terms(margin_ms=0),
    )
    await first.until("decision_request")
    await first.close()
    result = await hosted.ended
    assert result.finish.code == "fault.disconnected"
    assert hosted.match.clocks[0].base_ms == 0


async def test_losses_draw_on_one_bank(stage):
    token = stage.token()
    link = LinkBank(loss_ms=120_000, total_ms=120_000)
    terms = Terms(policy=Policy.of(link=link))
    bot = RawBot(stage.address, token, play=None)
    await bot.open()
    hosted = stage.arena.create("pig", ["remote:bob", "uniform"], terms=terms)
    await bot.until("decision_request")
    await bot.close()
    await until(lambda: hosted.phase == "waiting")
    await asyncio.sleep(0.25)
    bot = RawBot(stage.address, token, play=None)
    await bot.open()
    request = await bot.until("decision_request")
    assert request.clock.link_left_ms <= link.total_ms - 250
    # As if the link had been lost for much longer.
    hosted.players[0].loss._bank_ms = 100
    again = Stopwatch()
    await bot.close()
    result = await hosted.ended
    assert result.finish.code == "fault.disconnected"
    assert again.ms() < link.loss_ms / 2


async def test_goodbye_from_the_bot_is_a_lost_link(stage):
    terms = Terms(policy=Policy.of(link=LinkBank(loss_ms=50)))
    async with stage.bot(play=None) as bot:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"], terms=terms)
        await bot.until("decision_request")
        await bot.send(goodbye=pb.Goodbye(code="bot.stopping"))
        result = await hosted.ended
        await bot.until("closed")
        code = await bot.call.code()
    assert result.finish.code == "fault.disconnected"
    assert code is grpc.StatusCode.OK


async def test_a_silent_bot_is_pinged_and_then_lost(open_stage):
    stage = await open_stage(limits=Limits(ping_after_ms=50, pong_within_ms=100))
    async with stage.bot(auto=False) as bot:
        goodbye = await bot.until("goodbye")
        await bot.until("closed")
    assert goodbye.code == "link.silent"
    assert goodbye.reconnect_after_ms == 1_000


async def test_a_busy_bot_is_not_lost_while_its_decision_is_open(open_stage):
    usual = Limits(ping_after_ms=50, pong_within_ms=120_000)
    stage = await open_stage(limits=usual)
    async with stage.bot(play=None) as bot:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"], preset="short")
        request = await bot.until("decision_request")
        # Only now, lest a busy machine loses it before.
        pinging = stage.arena.hub.link("bob").session._pinging
        pinging._limits = attrs.evolve(usual, pong_within_ms=50)
        bot.auto = False
        await asyncio.sleep(0.5)
        assert pinging.open
        assert not bot.all("goodbye")
        pinging._limits = usual
        bot.auto, bot.play = True, first_legal
        await bot.send_all(last_legal(request))
        result = await hosted.ended
    assert result.finish.kind is EndKind.PLAYED


async def test_nothing_is_left_of_a_bot_that_has_gone(stage):
    async with stage.bot():
        pass
    await until(lambda: not stage.arena.hub._links)


async def test_nobody_waits_for_a_seat_whose_link_bank_has_run_out(stage):
    games = Registry()
    games.load()
    link = LinkBank(loss_ms=30, total_ms=1_000)
    async with stage.bot("ann", play=None) as ann, stage.bot("cleo", play=None) as cleo:
        hosted = stage.arena.create(
            games.game("butterfly-garden"),
            ["remote:ann", "remote:cleo", "uniform"],
            terms=Terms(policy=Policy(link=link)),
            seed=b"s" * 32,
        )
        await ann.until("decision_request")
        await ann.close()
        # A stand-in plays on for the first seat, until the second one is asked.
        await cleo.until("decision_request")
        await until(lambda: hosted.phase == "running")
        assert not hosted.players[0].away
        hosted.abort(EndKind.VOID, "host.aborted", "enough")
