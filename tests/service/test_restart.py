"""A server that starts anew, from what it kept: matches go on."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
from pathlib import Path

import pytest
from tests.service import pig
from tests.service.house import PATIENT, SIGNER, House, plays
from tests.service.rawbot import RawBot, first_legal, until
from tests.service.stopwatch import Stopwatch

from fritillary.api.v1 import bot_pb2 as pb
from fritillary.core.errors import StorageError, UsageError
from fritillary.plugins.discovery import Registry
from fritillary.record.events import (
    ActionTaken,
    Closed,
    Dealt,
    Ended,
    Header,
    Restarted,
    Revealed,
)
from fritillary.record.reader import read_record
from fritillary.record.terms import ClockSettings, EndKind
from fritillary.referee.verify import verify
from fritillary.service.arena import Arena
from fritillary.service.tokens import Role


def first(kind, record):
    return next(n for n, one in enumerate(record.events) if isinstance(one, kind))


async def undisturbed(house) -> bytes:
    """Return the content hash of a match that nothing happens to."""
    async with house.bot(play=first_legal):
        result = await house.create(match_id="undisturbed").ended
    return result.content_hash


@pytest.mark.parametrize("how", ["stop", "crash"])
@pytest.mark.parametrize("count", [0, 1, 3])
async def test_a_match_goes_on_where_it_stood(house, how, count):
    expected = await undisturbed(house)
    async with house.bot(play=plays(count)) as bot:
        hosted = house.create()
        await bot.until("decision_request", count=count + 1)
        token = bot.log[0][1].session_token
        asked = bot.all("decision_request")[-1]
        heard = [event.number for event in bot.all("event")]
        await getattr(house, how)()
    assert hosted.ended.exception() is not None
    await house.start()
    assert house.taken_up == 1
    ack = pb.Ack(match_id="m", seat=0, event_number=max(heard, default=0))
    async with house.bot(play=first_legal, session_token=token, acks=[ack]) as bot:
        assert bot.log[0][1].resumed
        again = await bot.until("decision_request")
        assert again.decision_id == asked.decision_id
        assert again.event_number == asked.event_number
        assert again.observation == asked.observation
        result = await house.arena.wait("m")
        await bot.until("match_ended")
    assert result.content_hash == expected
    numbers = [event.number for event in bot.all("event")]
    assert numbers == list(range(max(heard, default=0) + 1, numbers[-1] + 1))
    raw = (house.records / "m.frec").read_bytes()
    assert verify(raw, pig.registry()).content_hash == expected.hex()
    assert isinstance(house.record().find(Restarted), Restarted)


async def test_what_was_not_acknowledged_is_told_again(house):
    async with house.bot(play=plays(2)) as bot:
        house.create()
        await bot.until("decision_request", count=3)
        token = bot.log[0][1].session_token
        heard = bot.all("event")
        closed = bot.all("decision_closed")[-1]
        await house.crash()
    await house.start()
    async with house.bot(play=first_legal, session_token=token) as bot:
        await bot.until("decision_request")
        told = bot.all("event")
        assert told[: len(heard)] == heard
        again = bot.all("decision_closed")[0]
        assert again.decision_id == closed.decision_id
        await bot.until("match_ended")


async def test_another_process_of_the_bot_is_offered_the_seat_again(house):
    expected = await undisturbed(house)
    async with house.bot(play=plays(2)) as bot:
        house.create()
        await bot.until("decision_request", count=3)
        await house.crash()
    await house.start()
    async with house.bot(play=first_legal) as bot:
        offer = await bot.until("match_offer")
        assert offer.resumed
        result = await house.arena.wait("m")
    assert result.content_hash == expected


async def test_another_build_does_not_get_the_seat_and_is_told_why(house, caplog):
    async with house.bot(play=plays(1), bot=_build("1")) as bot:
        house.create()
        await bot.until("decision_request", count=2)
        await house.crash()
    await house.start()
    hosted = house.arena.match("m")
    notices = []
    for _ in range(2):
        async with house.bot(bot=_build("2")) as bot:
            notices.append(await bot.until("error"))
            assert not bot.all("match_offer")
    assert notices[0] == notices[1]
    assert (notices[0].match_id, notices[0].seat) == ("m", 0)
    assert notices[0].error.code == "seat.other-build"
    why = notices[0].error.message
    assert why.startswith("the seat is kept for build '1' of the bot, and this is")
    assert "build '2'" in why
    # Once, however often it dials in.
    told = f"bot 'bob' does not get its seat: {why}"
    assert hosted.problems == [(0, told)]
    assert f"match m, seat 0: {told}" in caplog.messages
    async with house.bot(bot=_build("")) as bot:
        notice = await bot.until("error")
        assert "this is a build without a name" in notice.error.message
    assert len(hosted.problems) == 2
    async with house.bot(play=first_legal, bot=_build("1")) as bot:
        await bot.until("match_ended")


def _build(build):
    from fritillary.api.v1 import common_pb2

    return common_pb2.PlayerInfo(name="bob", build=build)


async def test_used_time_is_kept_and_downtime_costs_nobody(house):
    clock = ClockSettings(base_ms=600_000)
    async with house.bot(play=plays(1)) as bot:
        up = Stopwatch()
        house.create(clocks=clock)
        await bot.until("decision_request", count=2)
        before = house.arena.match("m").match.clocks[0].base_ms
        await asyncio.sleep(0.3)
        await house.stop()
        up_ms = up.ms()
    await asyncio.sleep(0.4)
    await house.start()
    await asyncio.sleep(0.4)
    back = Stopwatch()
    async with house.bot(play=first_legal) as bot:
        request = await bot.until("decision_request")
        back_ms = back.ms()
        left = request.clock.left_ms
        await bot.until("match_ended")
    restarted = house.record().find(Restarted)
    assert restarted.seat == 0
    assert 250 <= restarted.charged_ms <= up_ms
    spent_ms = before - left
    assert 250 <= spent_ms <= restarted.charged_ms + back_ms
    verify((house.records / "m.frec").read_bytes(), pig.registry())


@pytest.mark.parametrize("how", ["stop", "crash"])
async def test_when_a_match_started_stays_as_it_was(house, how):
    async with house.bot(play=plays(1)) as bot:
        hosted = house.create()
        await bot.until("decision_request", count=2)
        started = hosted.started_at_ms
        await getattr(house, how)()
    assert started
    await asyncio.sleep(0.01)
    await house.start()
    async with house.bot(play=first_legal) as bot:
        await bot.until("decision_request")
        assert house.arena.match("m").started_at_ms == started
        await house.arena.wait("m")
        await bot.until("match_ended")
        # A bot that hangs up may take its acknowledgement with it.
        await until(lambda: not list(house.private.path.glob("m*")))
    assert house.arena.match("m").started_at_ms == started


async def test_a_match_that_had_not_started_starts_when_its_seats_are_ready(house):
    hosted = house.create()
    assert hosted.started_at_ms is None
    await house.stop()
    await house.start()
    again = house.arena.match("m")
    assert again.started_at_ms is None
    async with house.bot(play=first_legal) as bot:
        await house.arena.wait("m")
        await bot.until("match_ended")
    assert again.started_at_ms >= again.created_at_ms


@pytest.mark.parametrize("raw", [b"", b"soon", b"-1", b"9" * 30])
async def test_when_a_match_started_may_be_unreadable(house, raw):
    async with house.bot(play=plays(1)) as bot:
        house.create()
        await bot.until("decision_request", count=2)
        await house.crash()
    (house.private.path / "m.started").write_bytes(raw)
    (house.private.path / "gone.started").write_bytes(b"1")
    await house.start()
    assert not (house.private.path / "gone.started").exists()
    async with house.bot(play=first_legal):
        assert (await house.arena.wait("m")).finish.kind is EndKind.PLAYED
    assert house.arena.match("m").started_at_ms


async def test_a_program_is_started_again(house, tmp_path):
    program = Path(__file__).with_name("program.py")
    words = f"exec:{sys.executable} {program} slow"
    house.create(words, "uniform", terms=PATIENT)
    await until(lambda: house.arena.match("m").ply > 2, within=60)
    await house.crash()
    await house.start()
    result = await asyncio.wait_for(house.arena.wait("m"), 60)
    assert result.finish.kind is EndKind.PLAYED
    verify((house.records / "m.frec").read_bytes(), pig.registry())


async def test_a_match_that_had_not_begun_begins(house):
    house.create()
    await asyncio.sleep(0.05)
    await house.crash()
    await house.start()
    assert house.taken_up == 1
    async with house.bot(play=first_legal) as bot:
        offer = await bot.until("match_offer")
        assert not offer.resumed
        result = await house.arena.wait("m")
    assert result.finish.kind is EndKind.PLAYED
    assert house.record().find(Restarted) is None


async def test_an_offer_that_was_not_answered_is_made_again(house):
    async with house.bot(auto=False) as bot:
        house.create()
        await bot.until("match_offer")
        token = bot.log[0][1].session_token
        await house.crash()
    assert [type(one) for one in house.record().events] == [Header]
    await house.start()
    ack = pb.Ack(match_id="m", seat=0)
    async with house.bot(play=first_legal, session_token=token, acks=[ack]) as bot:
        await bot.until("match_ended")
        assert not bot.all("error")
    verify((house.records / "m.frec").read_bytes(), pig.registry())


async def test_an_end_that_was_not_heard_is_told_after_the_restart(house):
    async with house.bot(play=first_legal):
        await house.create().ended
        await until(lambda: "m" not in set(house.private.matches()))
    async with house.deaf_bot(play=first_legal) as bot:
        token = bot.log[0][1].session_token
        await house.create(match_id="n").ended
        await bot.until("match_ended")
        await house.crash()
    assert "n" in set(house.private.matches())
    await house.start()
    assert house.taken_up == 0
    async with house.bot(session_token=token) as bot:
        ended = await bot.until("match_ended")
        assert ended.match_id == "n"
        assert ended.result.final_hash == (await house.arena.wait("n")).final_hash
        await until(lambda: "n" not in set(house.private.matches()))


@pytest.mark.parametrize("last", [Ended, Revealed])
async def test_a_record_that_lacks_only_its_closing_is_closed(house, last):
    async with house.deaf_bot(play=first_legal) as bot:
        result = await house.create().ended
        await bot.until("match_ended")
        await house.crash()
    house.cut(first(last, house.record()) + 1)
    await house.start()
    record = house.record()
    assert isinstance(record.events[-1], Closed)
    raw = (house.records / "m.frec").read_bytes()
    assert verify(raw, pig.registry()).content_hash == result.content_hash.hex()


async def test_a_torn_last_event_is_dropped(house):
    async with house.bot(play=plays(2)) as bot:
        house.create()
        await bot.until("decision_request", count=3)
        await house.crash()
    events = len(house.record().events)
    house.cut(events, torn=b"\0\0\0\x20abc")
    await house.start()
    async with house.bot(play=first_legal) as bot:
        await bot.until("match_ended")
    verify((house.records / "m.frec").read_bytes(), pig.registry())


async def test_without_its_seed_a_match_is_void_and_the_bots_are_told(house, caplog):
    async with house.bot(play=plays(2)) as bot:
        house.create()
        await bot.until("decision_request", count=3)
        token = bot.log[0][1].session_token
        await house.crash()
    house.private.forget("m")
    with caplog.at_level(logging.WARNING):
        await house.start()
    assert "the seed of the deal is lost" in caplog.text
    ended = house.record().find(Ended)
    assert (ended.kind, ended.code) == (EndKind.VOID, "server.seed-lost")
    async with house.bot(session_token=token) as bot:
        told = await bot.until("match_ended")
        assert told.result.code == "server.seed-lost"
    # It stays so.
    await house.stop()
    await house.start()
    assert house.taken_up == 0


async def test_a_record_that_another_process_writes_is_not_touched(house, tmp_path):
    async with Arena(pig.registry(), SIGNER, records=house.records) as other:
        other.create("pig", ["remote:nobody", "uniform"], match_id="theirs")
        async with house.bot(play=plays(1)) as bot:
            house.create()
            await bot.until("decision_request", count=2)
            path = house.records / "m.frec"
            other_house = House(house.path)
            with pytest.raises(StorageError, match="another server uses it"):
                await other_house.start()
            elsewhere = House(tmp_path / "x")
            elsewhere.path.mkdir()
            (elsewhere.path / "records").symlink_to(house.records)
            size = path.stat().st_size
            await elsewhere.start()
            assert path.stat().st_size == size
            await elsewhere.stop()


async def test_a_match_whose_game_is_not_installed_waits_for_it(house, caplog):
    async with house.bot(play=plays(1)) as bot:
        house.create()
        await bot.until("decision_request", count=2)
        await house.crash()
    events = house.record().events
    await house.start(Registry())
    assert house.taken_up == 0
    assert "match m is left as it is" in caplog.text
    assert house.record().events == events
    await house.stop()
    await house.start()
    async with house.bot(play=first_legal) as bot:
        await bot.until("match_ended")


@pytest.mark.parametrize(
    "raw", [b"", b"garbage", b"\x80", b"\x81\xa6format\x63", b"\xc1" * 100]
)
async def test_garbage_in_the_private_folder_is_left_as_it_is(house, caplog, raw):
    async with house.bot(play=plays(1)) as bot:
        house.create()
        await bot.until("decision_request", count=2)
        await house.crash()
    (house.private.path / "m.order").write_bytes(raw)
    events = house.record().events
    await house.start()
    assert house.taken_up == 0
    assert "match m is left as it is" in caplog.text
    assert house.record().events == events


async def test_an_order_of_another_deal_is_left_as_it_is(house, caplog):
    import attrs

    async with house.bot(play=plays(1)) as bot:
        house.create()
        await bot.until("decision_request", count=2)
        await house.crash()
    kept = house.private.load("m")
    house.private.save(attrs.evolve(kept, seed="00" * 32))
    events = house.record().events
    await house.start()
    assert "match m is left as it is" in caplog.text
    assert house.record().events == events


async def test_what_is_kept_is_for_its_owner_alone(house):
    async with house.bot(play=plays(1)) as bot:
        house.create()
        await bot.until("decision_request", count=2)
        path = house.private.path
        assert path.stat().st_mode & 0o777 == 0o700
        assert (path / "m.order").stat().st_mode & 0o777 == 0o600
        assert (house.records / "m.frec").stat().st_mode & 0o777 == 0o600
        assert "seed=" not in repr(house.private.load("m"))


async def test_nothing_is_kept_of_a_match_that_has_ended_here(house):
    await house.create("uniform", "uniform").ended
    await until(lambda: not set(house.private.matches()))


async def test_a_sealed_match_keeps_its_seed(house):
    await house.create("uniform", "uniform", sealed=True).ended
    await house.stop()
    assert set(house.private.matches()) == {"m"}
    await house.start()
    assert isinstance(house.record().events[-1], Ended)
    assert (await house.arena.wait("m")).reveal is None


async def test_a_paused_match_stays_paused(house):
    async with house.bot(play=plays(1)) as bot:
        hosted = house.create()
        await bot.until("decision_request", count=2)
        hosted.pause("lunch")
        await until(lambda: hosted.phase == "paused")
        await house.stop()
    await house.start()
    hosted = house.arena.match("m")
    async with house.bot(play=first_legal) as bot:
        await until(lambda: hosted.phase == "paused")
        await asyncio.sleep(0.05)
        assert not bot.all("decision_request")
        hosted.resume()
        await bot.until("match_ended")
    verify((house.records / "m.frec").read_bytes(), pig.registry())


async def test_a_bot_that_does_not_come_back_loses_by_its_link(house):
    from fritillary.record.terms import LinkBank, Policy, Terms

    terms = Terms(policy=Policy(link=LinkBank(loss_ms=200, total_ms=400)))
    async with house.bot(play=plays(1)) as bot:
        house.create(terms=terms)
        await bot.until("decision_request", count=2)
        await house.crash()
    await house.start()
    result = await asyncio.wait_for(house.arena.wait("m"), 60)
    assert result.finish.code == "fault.disconnected"


async def test_a_seat_that_the_server_does_not_know_is_told_so(house):
    async with house.bot() as bot:
        token = bot.log[0][1].session_token
    ack = pb.Ack(match_id="never", seat=0)
    async with house.bot(session_token=token, acks=[ack]) as bot:
        error = await bot.until("error")
        assert (error.error.code, error.match_id) == ("match.unknown", "never")


async def test_matches_that_survive_need_a_folder_for_records(tmp_path):
    with pytest.raises(UsageError, match="folder for records"):
        Arena(pig.registry(), private=tmp_path)


async def test_several_matches_of_several_bots_go_on(house):
    texts = {name: house.tokens.create(name, Role.BOT) for name in ("ann", "cleo")}
    async with contextlib.AsyncExitStack() as stack:
        bots = []
        for text in texts.values():
            bot = RawBot(house.server.address, text, play=plays(6), capacity=8)
            bots.append(await stack.enter_async_context(bot))
        for number in range(6):
            house.create("remote:ann", "remote:cleo", match_id=f"m{number}")
        # The first decision of each match, and one after each that Ann makes.
        await until(lambda: sum(len(b.all("decision_request")) for b in bots) >= 12)
        await house.crash()
    begun = [
        path.stem
        for path in house.records.glob("m?.frec")
        if read_record(path.read_bytes(), unfinished=True).find(Dealt)
    ]
    assert begun
    await house.start()
    async with contextlib.AsyncExitStack() as stack:
        for text in texts.values():
            bot = RawBot(house.server.address, text, play=first_legal, capacity=8)
            await stack.enter_async_context(bot)
        results = [
            await asyncio.wait_for(house.arena.wait(f"m{number}"), 60)
            for number in range(6)
        ]
    assert {result.finish.kind for result in results} == {EndKind.PLAYED}
    for number in range(6):
        raw = (house.records / f"m{number}.frec").read_bytes()
        assert any(isinstance(one, ActionTaken) for one in read_record(raw).events)
        verify(raw, pig.registry())
