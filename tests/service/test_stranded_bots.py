"""Bots of a stranded match keep their seats until it is aborted or taken up."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest
from tests.service.house import SEED, plays
from tests.service.rawbot import first_legal, until
from tests.service.shelf import shelf
from tests.service.test_stranded import GAME, aborted, broken_off

from fritillary.api.v1 import bot_pb2 as pb
from fritillary.api.v1 import common_pb2
from fritillary.core.errors import ServiceError
from fritillary.record.events import Dealt, Ruling
from fritillary.record.terms import ClockSettings, EndKind
from fritillary_client import Bot, Client

#: Of a decision; longer than the test may take.
CLOCK = ClockSettings(move_ms=300_000)


class Gate:
    """A bot that thinks when it is told to, and what it has heard."""

    def __init__(self):
        self.open = asyncio.Event()
        self.asked = 0
        self.ends = []

    def bot(self):
        gate = self

        class Waiting(Bot):
            async def decide(self, ask):
                gate.asked += 1
                await gate.open.wait()
                return ask.legal[0]

            def end(self, outcome):
                gate.ends.append(outcome)

        return Waiting


@contextlib.asynccontextmanager
async def client_in_a_match(house, **more):
    """Let the real client play a match; yield it, and its bot."""
    await house.stop()
    await house.start(shelf("home"))
    gate = Gate()
    client = Client(
        gate.bot(), address=house.address, token=house.text, give_up_after=120
    )
    task = asyncio.ensure_future(client.run())
    try:
        players = ["remote:bob", "uniform"]
        house.arena.create(GAME, players, match_id="m", seed=SEED, **more)
        await until(lambda: gate.asked)
        yield client, gate
    finally:
        client.stop()
        await asyncio.gather(task, return_exceptions=True)


async def killed(house, registry, *, resumes=True):
    """Kill the server, start the next at its address, and let the client come back."""
    address = house.address
    await house.crash()
    await house.start(registry, address=address)
    link = house.arena.hub.link("bob")
    await until(lambda: link.session is not None)
    assert link.resumed is resumes


@pytest.mark.parametrize("answers", [False, True], ids=["thinks", "answers"])
async def test_the_client_keeps_its_seat_and_plays_on_when_it_is_taken_up(
    house, answers
):
    async with client_in_a_match(house, clocks=CLOCK) as (client, gate):
        await killed(house, shelf())
        assert [*house.arena.stranded] == ["m"]
        if answers:
            # What it says now is of no use yet, and costs it nothing.
            counts = house.arena.hub.counts
            before = counts.frames_in
            gate.open.set()
            await until(lambda: counts.frames_in > before)
        assert client.playing == 1
        assert not client.ended
        await killed(house, shelf("home"))
        assert house.taken_up == 1
        gate.open.set()
        ended = house.arena.match("m").ended
        result = await asyncio.wait_for(asyncio.shield(ended), 60)
        await until(lambda: gate.ends)
    assert result.finish.kind is EndKind.PLAYED
    assert not [one for one in house.record().events if isinstance(one, Ruling)]
    assert [one.kind for one in gate.ends] == ["played"]
    assert client.ended == 1


async def test_a_client_that_began_anew_meanwhile_is_offered_its_seat(house):
    async with client_in_a_match(house, clocks=CLOCK) as (client, _):
        await house.crash()
        client.stop()
    await house.start(shelf())
    gate = Gate()
    gate.open.set()
    client = Client(
        gate.bot(), address=house.address, token=house.text, give_up_after=120
    )
    task = asyncio.ensure_future(client.run())
    try:
        link = house.arena.hub.link("bob")
        await until(lambda: link.session is not None)
        await killed(house, shelf("home"), resumes=False)
        assert house.taken_up == 1
        await until(lambda: gate.ends)
    finally:
        client.stop()
        await asyncio.gather(task, return_exceptions=True)
    assert [one.kind for one in gate.ends] == ["played"]
    assert not [one for one in house.record().events if isinstance(one, Ruling)]


async def test_a_session_from_meanwhile_goes_on_while_the_server_runs(house):
    await broken_off(house)
    await house.start(shelf())
    async with house.bot() as bot:
        token = (await bot.until("welcome")).session_token
    async with house.bot(session_token=token) as bot:
        assert (await bot.until("welcome")).resumed
    await house.stop()
    await house.start(shelf("home"))
    async with house.bot(session_token=token, play=first_legal) as bot:
        assert not (await bot.until("welcome")).resumed
        assert (await bot.until("match_offer")).resumed
        ended = await bot.until("match_ended")
    assert ended.result.kind == common_pb2.MATCH_END_KIND_PLAYED


async def test_the_client_hears_that_it_was_aborted(house):
    async with client_in_a_match(house) as (client, gate):
        await killed(house, shelf())
        assert client.playing == 1
        await aborted(house)
        await until(lambda: gate.ends)
        assert [(one.kind, one.code) for one in gate.ends] == [
            ("withdrawn", "match.aborted")
        ]
        assert not client.playing
        await until(lambda: not set(house.private.matches()))
        # Nothing is known of the match that the server would have to remember.
        assert not house.arena.hub.link("bob").stranded


async def test_what_a_bot_says_of_its_seat_lets_it_wait(house):
    token = await broken_off(house)
    await house.start(shelf())
    acks = [pb.Ack(match_id="m", seat=0, event_number=1)]
    async with house.bot(session_token=token, acks=acks) as bot:
        said: Any = {"match_id": "m", "seat": 0}
        await bot.send(ack=pb.Ack(**said, event_number=2))
        await bot.send(accept=pb.Accept(**said))
        await bot.send(ready=pb.Ready(**said))
        await bot.send(decision=pb.Decision(**said, decision_id=3))
        await bot.send(resign=pb.Resign(**said))
        await bot.send(ack=pb.Ack(match_id="none", seat=0))
        await bot.send(accept=pb.Accept(match_id="none", seat=0))
        await bot.until("error", count=3)
        errors = [body.error for kind, body in bot.log if kind == "error"]
    assert [one.code for one in errors] == [
        "decision.stale",
        "decision.stale",
        "match.unknown",
    ]
    assert "not taken up" in errors[0].message
    assert [*house.arena.stranded] == ["m"]


async def test_one_that_had_not_begun_is_offered_to_whoever_waited(house):
    await house.stop()
    await house.start(shelf("home"))
    async with house.bot(auto=False) as bot:
        house.arena.create(GAME, ["remote:bob", "uniform"], match_id="m")
        await bot.until("match_offer")
        token = bot.log[0][1].session_token
        await house.crash()
    await house.start(shelf())
    acks = [pb.Ack(match_id="m", seat=0)]
    async with house.bot(session_token=token, acks=acks, play=plays(0)) as bot:
        await bot.send(accept=pb.Accept(match_id="m", seat=0))
        await bot.send(resign=pb.Resign(match_id="m", seat=0))
        assert (await bot.until("error")).error.code == "decision.stale"
        await house.crash()
    await house.start(shelf("home"))
    async with house.bot(session_token=token, acks=acks, play=first_legal) as bot:
        ended = await bot.until("match_ended")
    assert ended.result.kind == common_pb2.MATCH_END_KIND_PLAYED
    assert sum(isinstance(one, Dealt) for one in house.record().events) == 1


async def test_a_match_that_cannot_even_be_shown_is_known_to_its_bots(
    house, monkeypatch
):
    token = await broken_off(house)
    with monkeypatch.context() as broken:
        broken.setattr("fritillary.service.stranded.stranded_message", None)
        await house.start(shelf())
    assert not house.arena.stranded
    acks = [pb.Ack(match_id="m", seat=0)]
    async with house.bot(session_token=token, acks=acks) as bot:
        await bot.send(decision=pb.Decision(match_id="m", seat=0, decision_id=3))
        assert (await bot.until("error")).error.code == "decision.stale"
        assert bot.kinds().count("error") == 1


async def test_its_id_is_not_used_again_for_a_bot_that_has_yet_to_hear_of_its_end(
    house,
):
    token = await broken_off(house)
    (house.records / "m.frec").write_bytes(b"")
    await house.start(shelf("home", variant=0))
    players = ["remote:bob", "uniform"]
    async with house.deaf_bot(session_token=token) as bot:
        await aborted(house)
        await bot.until("match_ended")
        with pytest.raises(ServiceError, match="'bob' has yet to hear") as caught:
            house.arena.create("pig", players, match_id="m")
        assert caught.value.code == "match.exists"
    async with house.bot(session_token=token, play=first_legal) as bot:
        assert (await bot.until("match_ended")).result.code == "match.aborted"
        await until(lambda: not house.arena.hub.owes_end("bob", "m"))
        house.arena.create("pig", players, match_id="m")
        ended = await bot.until("match_ended", count=2)
    assert ended.result.kind == common_pb2.MATCH_END_KIND_PLAYED
