"""Ends that bots which stay away have not heard of: a start of the server is quick."""

from __future__ import annotations

import os
import time

import pytest
from tests.service.house import plays
from tests.service.rawbot import first_legal, until

from fritillary.api.v1 import bot_pb2 as pb
from fritillary.service import keeping, seating_again

MANY = [f"m{number}" for number in range(8)]
LONG_AGO_S = 8 * 24 * 3600


async def unheard(house, ids=MANY):
    """Let matches end without their bot hearing of it; return its session's token."""
    async with house.deaf_bot(play=first_legal, capacity=len(ids)) as bot:
        for match_id in ids:
            house.create(match_id=match_id)
        await bot.until("match_ended", count=len(ids))
        token = bot.log[0][1].session_token
    await house.stop()
    return token


@pytest.fixture
def read(monkeypatch):
    """Ids of the matches that are played again, as they are."""
    ids = []
    tell = seating_again.tell_last

    def noting(left, *more):
        ids.append(left.order.match_id)
        tell(left, *more)

    monkeypatch.setattr(seating_again, "tell_last", noting)
    return ids


async def test_nothing_of_an_ended_match_is_read_before_its_bot_is_back(
    house, read, monkeypatch
):
    token = await unheard(house)
    # Nor by the start itself.
    monkeypatch.setattr("fritillary.service.restart.read_file", None)
    await house.start()
    monkeypatch.undo()
    assert read == []
    assert all(house.arena.hub.owes_end("bob", one) for one in MANY)
    async with house.bot(session_token=token) as bot:
        await bot.until("match_ended", count=len(MANY))
        ended = [one.match_id for one in bot.all("match_ended")]
        events = [one.match_id for one in bot.all("event")]
        await until(lambda: not set(house.private.matches()))
    assert sorted(ended) == MANY
    assert set(events) == set(MANY)


async def test_a_bot_that_begins_anew_has_nothing_read(house, read):
    await unheard(house)
    await house.start()
    async with house.bot():
        await until(lambda: not set(house.private.matches()))
    assert read == []


async def test_what_a_bot_acknowledges_meanwhile_is_not_told_again(house):
    token = await unheard(house, ["m"])
    await house.start()
    acks = [pb.Ack(match_id="m", seat=0, event_number=10_000)]
    async with house.bot(session_token=token, acks=acks) as bot:
        await bot.until("match_ended")
        assert bot.all("event") == []
    await house.stop()
    await house.start()
    acks = [pb.Ack(match_id="m", seat=0, ended=True)]
    async with house.bot(session_token=token, acks=acks) as bot:
        await until(lambda: not set(house.private.matches()))
        assert bot.all("match_ended") == []


async def test_a_bot_that_goes_while_it_is_told_is_told_when_it_is_back(house):
    token = await unheard(house)
    await house.start()
    async with house.deaf_bot(session_token=token) as bot:
        await bot.until("match_ended")
    async with house.bot(session_token=token) as bot:
        await bot.until("match_ended", count=len(MANY))
        await until(lambda: not set(house.private.matches()))
    assert sorted(one.match_id for one in bot.all("match_ended")) == MANY


async def test_who_is_away_for_a_week_is_told_no_more_and_no_seed_is_kept(house):
    token = await unheard(house)
    old = time.time() - LONG_AGO_S
    for match_id in MANY[1:]:
        os.utime(house.private.path / f"{match_id}.ended", (old, old))
    await house.start()
    assert set(house.private.matches()) == {MANY[0]}
    async with house.bot(session_token=token) as bot:
        await bot.until("match_ended")
        await until(lambda: not set(house.private.matches()))
        assert [one.match_id for one in bot.all("match_ended")] == [MANY[0]]


async def test_a_server_that_runs_on_forgets_them_as_well(house, monkeypatch):
    async with house.deaf_bot(play=first_legal, capacity=4) as bot:
        house.create(match_id="m0")
        await bot.until("match_ended")
        assert set(house.private.matches()) == {"m0"}
        monkeypatch.setattr(keeping, "_OWED_MS", 0)
        await house.create("uniform", "uniform", match_id="m1").ended
        await until(lambda: not set(house.private.matches()))
        assert not house.arena.hub.owes_end("bob", "m0")


async def test_a_record_that_was_moved_away_is_missed_by_its_bot_alone(house, caplog):
    token = await unheard(house, ["m", "n"])
    (house.records / "m.frec").unlink()
    await house.start()
    assert caplog.messages == []
    async with house.bot(session_token=token) as bot:
        await bot.until("match_ended")
        await until(lambda: "match m is left as it is" in caplog.text)
    assert [one.match_id for one in bot.all("match_ended")] == ["n"]


async def test_a_match_that_goes_on_is_taken_up_beside_them(house):
    async with house.deaf_bot(play=first_legal, capacity=4) as bot:
        await house.create(match_id="over").ended
        bot.play = plays(1)
        house.create()
        asked = bot.all
        await until(lambda: any(r.match_id == "m" for r in asked("decision_request")))
        token = bot.log[0][1].session_token
        await house.crash()
    await house.start()
    assert house.taken_up == 1
    async with house.bot(session_token=token, play=first_legal) as bot:
        await bot.until("match_ended", count=2)
