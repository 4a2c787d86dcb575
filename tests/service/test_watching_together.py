"""WatchMatch: what many spectators share, and what none of them can cost."""

from __future__ import annotations

import asyncio
import functools
import itertools
from typing import Any

import grpc
import pytest
from tests.service import pig
from tests.service.calls import Caller, code_of
from tests.service.rawbot import last_legal, until

from fritillary.api.v1 import common_pb2, match_pb2
from fritillary.core.errors import PluginError, ServiceError
from fritillary.record.terms import EndKind
from fritillary.referee.seen import SeatEvent
from fritillary.service import watching, wire
from fritillary.service.hosted import HostedMatch
from fritillary.service.tokens import Role
from fritillary.service.turns import Turns


class Busy:
    """A stream that takes nothing until it is free."""

    def __init__(self) -> None:
        self.free = asyncio.Event()
        self.told: list[str | None] = []

    async def write(self, update: match_pb2.WatchMatchResponse) -> None:
        await self.free.wait()
        self.told.append(update.WhichOneof("update"))


class Keeper:
    """Keeps the events that a stream is sent."""

    def __init__(self) -> None:
        self.events: list[Any] = []

    async def write(self, update: Any) -> None:
        if update.WhichOneof("update") == "event":
            self.events.append(update)


async def read_all(call):
    while await call.read() is not grpc.aio.EOF:
        pass


async def numbers_of(call):
    """Return the numbers of the events that are told."""
    numbers = []
    while (update := await call.read()) is not grpc.aio.EOF:
        if update.WhichOneof("update") == "event":
            numbers.append(update.event.number)
    return numbers


def look(hosted, stream: Any, **request: Any) -> asyncio.Task[None]:
    held = request.pop("held", None)
    watch = watching.Watch(hosted, match_pb2.WatchMatchRequest(**request), held)
    return asyncio.ensure_future(watch.run(stream))


async def test_a_picture_is_drawn_once_for_all_who_look_on(stage, monkeypatch):
    drawn = []
    plain = pig.draw_text

    async with stage.bot(play=None) as bot:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"])
        request = await bot.until("decision_request")
        game = hosted.order.game

        def text(observation):
            drawn.append(observation)
            return plain(observation)

        monkeypatch.setattr(
            type(game), "text", lambda _, observation: text(observation)
        )
        streams = [Busy() for _ in range(20)]
        for stream in streams:
            stream.free.set()
        wanted = {"view_each_event": True, "picture": match_pb2.PICTURE_TEXT}
        looking = [look(hosted, stream, **wanted) for stream in streams]
        await until(lambda: all(len(stream.told) >= 2 for stream in streams))
        assert len(drawn) == 1
        bot.play = last_legal
        await bot.send_all(last_legal(request))
        result = await hosted.ended
        await asyncio.gather(*looking)
    views = [stream.told.count("view") for stream in streams]
    assert set(views) == {views[0]}
    assert views[0] > result.plies
    # Once for each moment, however many look on.
    assert len(drawn) <= views[0]


async def test_views_in_two_encodings_are_kept_apart(stage):
    async with stage.bot(play=None) as bot, Caller(stage, Role.SPECTATOR) as spectator:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"])
        await bot.until("decision_request")
        first = []
        for encoding in (common_pb2.ENCODING_JSON, common_pb2.ENCODING_MSGPACK) * 2:
            call = spectator.WatchMatch(match_id=hosted.id, encoding=encoding)
            first.append((await call.read()).view.observation)
            call.cancel()
    assert first[0].startswith(b"{")
    assert not first[1].startswith(b"{")
    assert first[2:] == first[:2]


async def test_what_is_held_back_for_a_watcher_is_bounded_in_bytes(stage):
    async with stage.bot(play=None) as bot:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"])
        request = await bot.until("decision_request")
        stream = Busy()
        watch = watching.Watch(
            hosted,
            match_pb2.WatchMatchRequest(view_each_event=True),
            watching.Held(500),
        )
        running = asyncio.ensure_future(watch.run(stream))  # type: ignore[arg-type]
        await asyncio.sleep(0)
        bot.play = last_legal
        await bot.send_all(last_legal(request))
        await hosted.ended
        held = sum(
            update.ByteSize()
            for update in watch._queue
            if not isinstance(update, SeatEvent)
        )
        assert held <= 500
        stream.free.set()
        with pytest.raises(ServiceError) as caught:
            await running
    assert caught.value.code == "watch.too-slow"


async def test_all_watches_of_a_token_share_one_bound_and_the_slowest_loses(stage):
    held = watching.Held(3_000)
    async with stage.bot(play=None) as bot:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"])
        request = await bot.until("decision_request")
        stuck, quick = Busy(), Busy()
        quick.free.set()
        running = [
            look(hosted, stuck, held=held, view_each_event=True),
            look(hosted, quick, held=held),
        ]
        await asyncio.sleep(0)
        bot.play = last_legal
        await bot.send_all(last_legal(request))
        await hosted.ended
        await running[1]
        # It holds nothing any more, though it still cannot be told so.
        assert not running[0].done()
        assert held._all == 0
        stuck.free.set()
        with pytest.raises(ServiceError) as caught:
            await running[0]
    assert caught.value.code == "watch.too-slow"
    assert quick.told[-1] == "ended"


async def test_the_past_is_not_copied_for_who_does_not_read(stage):
    def play(request):
        return last_legal(request) if request.event_number < 30 else None

    async with stage.bot(play=play) as bot:
        hosted = stage.arena.create(
            "pig", ["remote:bob", "uniform"], options={"target": 200}
        )
        await until(
            lambda: any(one.event_number >= 30 for one in bot.all("decision_request"))
        )
        watches = [
            watching.Watch(hosted, match_pb2.WatchMatchRequest(after_event=0))
            for _ in range(3)
        ]
        stream = Busy()
        running = [
            asyncio.ensure_future(watch.run(stream))  # type: ignore[arg-type]
            for watch in watches
        ]
        await asyncio.sleep(0)
        past = [
            [one for one in watch._queue if isinstance(one, SeatEvent)]
            for watch in watches
        ]
        assert len(past[0]) >= 30
        for mine, others in zip(*past[:2], strict=True):
            assert mine is others
        hosted.abort(EndKind.VOID, "test", "enough")
        await hosted.ended
        stream.free.set()
        await asyncio.gather(*running)
    assert stream.told.count("event") >= 90
    assert stream.told.count("ended") == 3


async def test_a_picture_that_fails_costs_the_picture_alone(stage, monkeypatch):
    async with stage.bot(play=None) as bot, Caller(stage, Role.SPECTATOR) as spectator:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"])
        request = await bot.until("decision_request")

        def fail(*_):
            raise PluginError("no picture today", code="plugin.failed")

        monkeypatch.setattr(type(hosted.order.game), "text", fail)
        call = spectator.WatchMatch(
            match_id=hosted.id,
            after_event=0,
            view_each_event=True,
            picture=match_pb2.PICTURE_TEXT,
        )
        first = await call.read()
        bot.play = last_legal
        await bot.send_all(last_legal(request))
        await hosted.ended
        kinds = []
        while (update := await call.read()) is not grpc.aio.EOF:
            kinds.append(update.WhichOneof("update"))
    assert first.view.observation
    assert first.view.picture == ""
    assert kinds.count("event") > 2
    assert kinds[-1] == "ended"


async def test_a_match_that_goes_on_later_says_when_to_come_back(stage, monkeypatch):
    async def stop(*_, **__):
        raise ServiceError(
            "the server is stopping", code="server.stopping", retry_after_ms=1_000
        )

    async with Caller(stage, Role.SPECTATOR) as spectator:
        monkeypatch.setattr(HostedMatch, "play", stop)
        hosted = stage.arena.create("pig", ["remote:late", "uniform"])
        call = spectator.WatchMatch(match_id=hosted.id)
        await call.read()
        async with stage.bot("late"), asyncio.timeout(60):
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await read_all(call)
    assert code_of(caught.value) == "server.stopping"
    assert caught.value.code() is grpc.StatusCode.UNAVAILABLE


async def long_match(stage, bot):
    """Return a match with more than thirty events that waits for the bot."""
    hosted = stage.arena.create(
        "pig", ["remote:bob", "uniform"], options={"target": 200}
    )
    await until(
        lambda: any(one.event_number >= 30 for one in bot.all("decision_request"))
    )
    return hosted


def until_30(request):
    return last_legal(request) if request.event_number < 30 else None


async def test_many_who_catch_up_write_out_one_event_between_two_looks(
    stage, monkeypatch
):
    written: list[int] = []
    plain = watching.Watch._event

    def event(self, what):
        written.append(what.number)
        return plain(self, what)

    async with stage.bot(play=until_30) as bot:
        hosted = await long_match(stage, bot)
        monkeypatch.setattr(watching.Watch, "_event", event)
        turns, stream, seen = Turns(), Busy(), []
        stream.free.set()
        looking = [
            asyncio.ensure_future(
                watching.Watch(
                    hosted,
                    match_pb2.WatchMatchRequest(after_event=0),
                    turn=functools.partial(turns.one, str(number % 2)),
                ).run(stream)  # type: ignore[arg-type]
            )
            for number in range(20)
        ]
        async with asyncio.timeout(60):
            while len(written) < 20 * 30:
                seen.append(len(written))
                await asyncio.sleep(0)
        hosted.abort(EndKind.VOID, "test", "enough")
        await hosted.ended
        await asyncio.gather(*looking)
    assert max(b - a for a, b in itertools.pairwise(seen)) == 1


async def test_what_happens_while_a_watcher_catches_up_comes_after_it(stage):
    async with stage.bot(play=until_30) as bot:
        hosted = await long_match(stage, bot)
        stream = Busy()
        numbers: list[int] = []
        plain = stream.write

        async def write(update: match_pb2.WatchMatchResponse) -> None:
            await plain(update)
            if update.WhichOneof("update") == "event":
                numbers.append(update.event.number)

        stream.write = write  # type: ignore[method-assign]
        looking = look(hosted, stream, after_event=0)
        await asyncio.sleep(0)
        bot.play = last_legal
        await bot.send_all(last_legal(bot.all("decision_request")[-1]))
        await hosted.ended
        stream.free.set()
        await looking
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) == hosted.match.teller.spectator.number
    assert stream.told[-1] == "ended"


async def test_ended_matches_are_played_again_one_at_a_time_and_once_for_all(
    open_stage, tmp_path
):
    first = await open_stage(records=tmp_path)
    for match_id in "mn":
        await first.arena.play("pig", ["uniform", "uniform"], match_id=match_id)
    stage = await open_stage(records=tmp_path, private=tmp_path / "private")
    playing, most = 0, 0
    played: list[HostedMatch] = []
    archive = stage.arena.archive
    plain = archive.played_again

    async def played_again(hosted):
        nonlocal playing, most
        playing += 1
        most = max(most, playing)
        if not played:
            await until(lambda: stage.server._matches.watches.count == 10)
        again = await plain(hosted)
        played.append(again)
        playing -= 1
        return again

    archive.played_again = played_again
    async with Caller(stage, Role.SPECTATOR) as spectator:
        calls = [
            spectator.WatchMatch(match_id=match_id, after_event=0)
            for match_id in "mn" * 5
        ]
        async with asyncio.timeout(60):
            told = await asyncio.gather(*map(numbers_of, calls))
    assert most == 1
    assert sorted(one.id for one in played) == ["m", "n"]
    assert told == told[:2] * 5


async def test_an_event_is_written_out_once_for_all_who_catch_up(stage):
    async with stage.bot(play=until_30) as bot:
        hosted = await long_match(stage, bot)
        told = watching.Told()
        updates: list[list[Any]] = []
        looking = []
        for number in range(4):
            keeper: Any = Keeper()
            updates.append(keeper.events)
            request = match_pb2.WatchMatchRequest(
                after_event=0,
                encoding=(common_pb2.ENCODING_JSON, common_pb2.ENCODING_MSGPACK)[
                    number % 2
                ],
            )
            watch = watching.Watch(hosted, request, told=told)
            looking.append(asyncio.ensure_future(watch.run(keeper)))
        await until(lambda: all(len(one) >= 30 for one in updates))
        # What happens now is shared as well.
        hosted.abort(EndKind.VOID, "test", "enough")
        await hosted.ended
        await asyncio.gather(*looking)
    assert len(updates[0]) == hosted.match.teller.spectator.number
    for one, another in ((0, 2), (1, 3)):
        for mine, theirs in zip(updates[one], updates[another], strict=True):
            assert mine is theirs
    assert updates[0] != updates[1]
    assert [one.event.number for one in updates[0]] == [
        one.event.number for one in updates[1]
    ]


async def test_what_is_kept_of_what_was_told_is_bounded_in_bytes(stage):
    most = 10 * 1_200
    async with stage.bot(play=until_30) as bot:
        hosted = await long_match(stage, bot)
        told = watching.Told(most)
        seen: list[SeatEvent] = []

        class Ear:
            def on_event(self, event):
                seen.append(event)

            def on_end(self, result):
                pass

        hosted.watch(Ear())
        first = [told.update(hosted, event, wire.MSGPACK) for event in seen]
        assert len(seen) >= 30
        assert 5 < len(told._kept) < 15
        assert told._bytes <= most
        # Whoever comes later is told the same, written out anew.
        again = [told.update(hosted, event, wire.MSGPACK) for event in seen]
        assert again == first
        assert again[0] is not first[0]
