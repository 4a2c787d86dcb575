"""WatchMatch: what spectators are told, and until when."""

from __future__ import annotations

import asyncio
import json
import types
from typing import Any

import grpc
import pytest
from tests.service.calls import Caller, code_of, outcome_of
from tests.service.rawbot import last_legal, until

from fritillary.api.v1 import common_pb2, match_pb2
from fritillary.record.terms import EndKind
from fritillary.referee.seen import GaveUp, SeatEvent
from fritillary.service import arena, watching
from fritillary.service.hosted import HostedMatch
from fritillary.service.limits import Limits
from fritillary.service.tokens import Role


async def watched(caller, begun=None, **request):
    """Return all updates; an event is set after the first one."""
    found = []
    async for update in caller.WatchMatch(**request):
        found.append(update)
        if begun is not None:
            begun.set()
    return found


async def read_all(call):
    while await call.read() is not grpc.aio.EOF:
        pass


async def read_to_the_end(call):
    """Return the last update."""
    last = None
    while (update := await call.read()) is not grpc.aio.EOF:
        last = update
    return last


def events_of(updates):
    return [one.event for one in updates if one.WhichOneof("update") == "event"]


async def test_watching_from_the_start_tells_everything(stage):
    async with stage.bot(play=None) as bot, Caller(stage, Role.SPECTATOR) as spectator:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"])
        request = await bot.until("decision_request")
        begun = asyncio.Event()
        watching_ = asyncio.create_task(
            watched(
                spectator,
                begun,
                match_id=hosted.id,
                after_event=0,
                encoding=common_pb2.ENCODING_JSON,
                view_each_event=True,
                picture=match_pb2.PICTURE_TEXT,
            )
        )
        await begun.wait()
        bot.play = last_legal
        await bot.send_all(last_legal(request))
        result = await hosted.ended
        updates = await watching_
    kinds = [one.WhichOneof("update") for one in updates]
    assert kinds[:2] == ["view", "status"]
    assert kinds[-1] == "ended"
    first = updates[0].view
    assert first.seats_to_act == [0]
    assert json.loads(first.observation)["scores"] == [0, 0]
    assert first.picture.startswith("scores")
    events = events_of(updates)
    assert [one.number for one in events] == list(range(1, len(events) + 1))
    assert not any(one.HasField("seat") for one in events)
    assert events[-1].WhichOneof("body") == "ended"
    assert events[-2].ply == result.plies
    assert json.loads(events[0].action.action) == {"type": "roll"}
    views = [one.view for one in updates if one.WhichOneof("update") == "view"]
    assert len(views) == len(events) + 1
    assert updates[-1].ended.result.outcome.scores
    assert not updates[-1].ended.HasField("seat")


async def test_watching_late_tells_what_was_missed_if_wanted(stage):
    await stage.arena.play("pig", ["uniform", "uniform"], match_id="m")
    async with Caller(stage, Role.SPECTATOR) as spectator:
        everything = await watched(spectator, match_id="m", after_event=0)
        rest = await watched(spectator, match_id="m", after_event=5)
        nothing = await watched(spectator, match_id="m")
    assert events_of(rest) == events_of(everything)[5:]
    assert [one.WhichOneof("update") for one in nothing] == ["view", "status", "ended"]
    assert everything[0].view.ply == stage.arena.match("m").ply


async def test_watching_may_begin_before_the_players_are_there(stage):
    async with Caller(stage, Role.SPECTATOR) as spectator:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"])
        begun = asyncio.Event()
        watching_ = asyncio.create_task(watched(spectator, begun, match_id=hosted.id))
        await begun.wait()
        async with stage.bot(play=last_legal):
            await hosted.ended
        updates = await watching_
    assert not updates[0].view.HasField("observation")
    assert updates[1].status.phase == common_pb2.MATCH_PHASE_OFFERED
    assert events_of(updates)[0].number == 1
    assert updates[-1].WhichOneof("update") == "ended"


async def test_the_first_view_fits_what_follows_however_late_it_is(stage):
    async with Caller(stage, Role.SPECTATOR) as spectator:
        hosted = stage.arena.create("pig", ["uniform", "uniform"], match_id="m")
        await hosted.ended
        everything = events_of(await watched(spectator, match_id="m", after_event=0))
        first, status, *_ = await watched(spectator, match_id="m")
    assert first.view.event_number == len(everything)
    assert status.status.event_number == len(everything)


async def test_a_watcher_that_leaves_is_forgotten(stage):
    async with stage.bot(play=None) as bot, Caller(stage, Role.SPECTATOR) as spectator:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"])
        await bot.until("decision_request")
        call = spectator.WatchMatch(match_id=hosted.id)
        await call.read()
        assert hosted.match.teller._watchers
        call.cancel()
        await until(lambda: not hosted.match.teller._watchers)
        assert not hosted._watchers


async def test_a_watcher_that_does_not_read_is_cut_off(stage, monkeypatch):
    monkeypatch.setattr(watching, "MAX_QUEUE", 5)
    async with stage.bot(play=None) as bot, Caller(stage, Role.SPECTATOR) as spectator:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"])
        request = await bot.until("decision_request")
        call = spectator.WatchMatch(match_id=hosted.id, after_event=0)
        await call.read()
        # While the server's own loop is busy, nothing is handed over.
        watch = next(iter(hosted.match.teller._watchers))
        for number in range(10):
            watch.on_event(SeatEvent(number, 1, GaveUp(0)))
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await read_all(call)
        bot.play = last_legal
        await bot.send_all(last_legal(request))
        result = await hosted.ended
    assert code_of(caught.value) == "watch.too-slow"
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert result.finish.kind is EndKind.PLAYED


async def test_a_watcher_of_a_long_past_is_not_too_slow(stage, monkeypatch):
    monkeypatch.setattr(watching, "MAX_QUEUE", 5)
    told = []

    free = asyncio.Event()

    async def write(update):
        await free.wait()
        told.append(update.WhichOneof("update"))

    def play(request):
        return last_legal(request) if request.event_number < 20 else None

    async with stage.bot(play=play) as bot:
        hosted = stage.arena.create(
            "pig", ["remote:bob", "uniform"], options={"target": 200}
        )
        await until(
            lambda: any(one.event_number >= 20 for one in bot.all("decision_request"))
        )
        # A stream that takes nothing for a while.
        busy: Any = types.SimpleNamespace(write=write)
        watch = watching.Watch(hosted, match_pb2.WatchMatchRequest(after_event=0))
        running = asyncio.create_task(watch.run(busy))
        await asyncio.sleep(0)
        hosted.abort(EndKind.VOID, "test", "enough")
        await hosted.ended
        free.set()
        await running
    assert told.count("event") > 20
    assert told[-1] == "ended"


async def test_only_so_many_matches_are_watched_with_one_token(open_stage):
    stage = await open_stage(limits=Limits(max_watches=2))
    async with stage.bot(play=None), Caller(stage, Role.SPECTATOR) as spectator:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"])
        calls = [spectator.WatchMatch(match_id=hosted.id) for _ in range(2)]
        for call in calls:
            await call.read()
        assert await outcome_of(spectator.WatchMatch(match_id=hosted.id)) == (
            "limit.streams"
        )
        calls[0].cancel()
        await until(lambda: len(hosted._watchers) == 1)
        assert await outcome_of(spectator.WatchMatch(match_id=hosted.id)) == "ok"


async def test_watchers_hear_the_end_before_the_server_stops(stage):
    async with stage.bot(play=None) as bot, Caller(stage, Role.SPECTATOR) as spectator:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"])
        await bot.until("decision_request")
        calls = [spectator.WatchMatch(match_id=hosted.id) for _ in range(100)]
        for call in calls:
            await call.read()
        watchers = [asyncio.create_task(read_to_the_end(call)) for call in calls]
        await stage.arena.close()
        # As abrupt as it can be: whoever was not told by now never will be.
        await stage.server._server.stop(None)
        last = await asyncio.gather(*watchers)
    assert {one.WhichOneof("update") for one in last} == {"ended"}
    assert last[0].ended.result.code == "server.stopping"


async def test_a_watcher_that_does_not_read_delays_the_end_only_for_a_moment(
    stage, monkeypatch
):
    monkeypatch.setattr(arena, "_TELL_S", 0.1)

    async def stuck(self, context):
        await asyncio.sleep(60)

    monkeypatch.setattr(watching.Watch, "run", stuck)
    async with stage.bot(play=None) as bot, Caller(stage, Role.SPECTATOR) as spectator:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"])
        await bot.until("decision_request")
        call = spectator.WatchMatch(match_id=hosted.id)
        await until(lambda: stage.arena._followers)
        async with asyncio.timeout(60):
            await stage.arena.close()
        call.cancel()


async def test_watching_a_match_that_could_not_be_played_ends_too(stage, monkeypatch):
    async def fail(*_, **__):
        raise OSError

    async with Caller(stage, Role.SPECTATOR) as spectator:
        monkeypatch.setattr(HostedMatch, "play", fail)
        hosted = stage.arena.create("pig", ["remote:late", "uniform"])
        call = spectator.WatchMatch(match_id=hosted.id)
        await call.read()
        async with stage.bot("late"), asyncio.timeout(60):
            last = await read_to_the_end(call)
    assert last.status.phase == common_pb2.MATCH_PHASE_ENDED
