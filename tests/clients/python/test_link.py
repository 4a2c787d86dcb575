"""Links that are lost and found again, and leaving."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import grpc
import pytest
from tests.clients.python.bots import Recorder, first
from tests.clients.python.fake_arena import an_event, server_message
from tests.service.rawbot import until

from fritillary.api.v1 import bot_pb2 as wire
from fritillary.api.v1 import common_pb2 as common
from fritillary_client import ArenaError, Ask, LinkError, RefusedError
from fritillary_client.link import PING_AFTER_S


async def test_a_lost_link_is_resumed_with_session_token_and_acks(arena, play):
    play(first, capacity=2)
    stream = await arena.stream()
    hello = await stream.welcome(session_token="secret")
    assert hello.session_token == ""
    await stream.seated("m1")
    await stream.send(an_event(1), an_event(2))
    await stream.ask("m1", decision_id=4, event_number=2)
    await stream.find("decision")
    await stream.close_decision(4, wire.DECISION_CLOSURE_ACCEPTED)
    await stream.settled()
    stream.abort(grpc.StatusCode.UNAVAILABLE, "gone")
    stream = await arena.stream()
    hello = await stream.welcome()
    assert hello.session_token == "secret"
    (ack,) = hello.acks
    assert (ack.match_id, ack.seat) == ("m1", 0)
    assert (ack.event_number, ack.closed_decision_id, ack.ended) == (2, 4, False)
    await stream.ask("m1", decision_id=5)
    assert (await stream.find("decision")).decision_id == 5


async def test_an_answer_that_was_lost_is_given_again(arena, play):
    asked = []

    def decide(ask: Ask) -> int:
        asked.append(ask)
        return 2

    play(decide)
    stream = await arena.stream()
    await stream.welcome()
    await stream.seated()
    await stream.ask()
    before = await stream.find("decision")
    stream.close()
    stream = await arena.stream()
    await stream.welcome()
    await stream.ask(clock=common.ClockReading(left_ms=10))
    assert await stream.find("decision") == before
    assert len(asked) == 1


async def test_a_bot_thinks_on_while_the_link_is_lost(arena, play):
    go = threading.Event()
    asked = []

    def decide(ask: Ask) -> int:
        asked.append(ask)
        go.wait(60)
        return 3

    play(decide)
    stream = await arena.stream()
    await stream.welcome()
    await stream.seated()
    await stream.ask()
    await until(lambda: asked)
    stream.close()
    stream = await arena.stream()
    await stream.welcome()
    await stream.ask()
    await stream.settled()
    go.set()
    assert (await stream.find("decision")).index == 3
    assert len(asked) == 1


async def test_preparation_is_told_again_after_a_lost_link(arena, play):
    play(first)
    stream = await arena.stream()
    await stream.welcome()
    await stream.seated()
    stream.close()
    stream = await arena.stream()
    await stream.welcome()
    status = wire.MatchStatus(match_id="m1", seat=0, phase=common.MATCH_PHASE_OFFERED)
    await stream.send(server_message(match_status=status))
    await stream.expect("accept", "ready")
    status.phase = common.MATCH_PHASE_PREPARING
    await stream.send(server_message(match_status=status))
    await stream.expect("ready")
    await stream.offer(resumed=True)
    await stream.expect("accept", "ready")


async def test_an_end_is_acknowledged_again_after_a_lost_link(arena, play):
    bot = Recorder()
    play(bot)
    stream = await arena.stream()
    await stream.welcome()
    await stream.seated()
    await stream.ended()
    await stream.find("ack")
    stream.close()
    stream = await arena.stream()
    await stream.welcome()
    await stream.ended()
    ack = await stream.find("ack")
    assert (ack.match_id, ack.seat, ack.ended) == ("m1", 0, True)
    # Each match has a thread of its own, which nobody waits for.
    await until(lambda: bot.outcomes)
    assert len(bot.outcomes) == 1


async def test_a_session_that_cannot_be_resumed_ends_its_matches(arena, play):
    bot = Recorder()
    play(bot)
    stream = await arena.stream()
    await stream.welcome()
    await stream.seated()
    stream.close()
    stream = await arena.stream()
    await stream.welcome(resumed=False, session_token="other")
    await stream.seated("m2")
    await until(lambda: bot.outcomes)
    assert [(outcome.kind, outcome.code) for outcome in bot.outcomes] == [
        ("unknown", "link.lost")
    ]


async def test_a_refused_session_token_leads_to_a_new_session(arena, play):
    play(first)
    stream = await arena.stream()
    await stream.welcome()
    stream.close()
    stream = await arena.stream()
    assert (await stream.expect("hello")).session_token
    info = common.ErrorInfo(code="session.unknown", message="never heard of it")
    await stream.send(server_message(refusal=wire.Refusal(error=info)))
    stream = await arena.stream()
    assert (await stream.welcome()).session_token == ""


async def test_goodbye_tells_when_to_come_back(arena, play):
    play(first)
    stream = await arena.stream()
    await stream.welcome()
    left = time.monotonic()
    await stream.goodbye("server.stopping", reconnect_after_ms=300)
    stream = await arena.stream()
    assert time.monotonic() - left >= 0.3
    assert (await stream.welcome()).session_token == "session-1"


async def test_a_stream_that_does_not_end_after_a_goodbye_is_left(arena, play):
    running = play(first)
    stream = await arena.stream()
    await stream.welcome()
    said = wire.Goodbye(code="server.stopping", reconnect_after_ms=0)
    await stream.send(server_message(goodbye=said))
    stream = await arena.stream()
    assert (await stream.welcome()).session_token == "session-1"
    await stream.send(
        server_message(goodbye=wire.Goodbye(code="session.replaced", message="x"))
    )
    await running.done()
    assert running.client.goodbye == ("session.replaced", "x")


async def test_goodbye_without_that_is_the_end(arena, play):
    running = play(first)
    stream = await arena.stream()
    await stream.welcome()
    await stream.goodbye("session.replaced", message="another\x1b[31m one")
    await running.done()
    code, message = running.client.goodbye
    assert code == "session.replaced"
    assert "\x1b" not in message


@pytest.mark.parametrize("code", ["auth.revoked-token", "limit.message-rate"])
async def test_goodbye_for_something_done_wrong_is_an_error(arena, play, code):
    running = play(first)
    stream = await arena.stream()
    await stream.welcome()
    await stream.goodbye(code, message="no more")
    with pytest.raises(RefusedError) as caught:
        await running.done()
    assert (caught.value.code, caught.value.message) == (code, "no more")


async def test_a_server_that_restarts_is_found_again(play, arena):
    play(first)
    stream = await arena.stream()
    await stream.welcome()
    await arena.stop()
    await asyncio.sleep(0.3)
    await arena.start()
    stream = await arena.stream()
    assert (await stream.welcome()).session_token == "session-1"


async def test_a_link_lost_while_a_table_is_fetched_leaves_the_seat_to_be_taken(
    arena, play
):
    play(first)
    stream = await arena.stream()
    await stream.welcome()
    arena.handing_out.clear()
    await stream.offer()
    await arena.was_asked.wait()
    await stream.goodbye("server.stopping", reconnect_after_ms=100)
    stream = await arena.stream()
    await stream.welcome()
    arena.handing_out.set()
    await stream.offer()
    assert (await stream.find("accept")).match_id == "m1"


async def test_trying_again_has_an_end(arena, play, caplog):
    running = play(first, give_up_after=0.5)
    stream = await arena.stream()
    await stream.welcome()
    await arena.stop()
    with pytest.raises(LinkError, match="no server answers at") as caught:
        await running.done()
    assert caught.value.code == "link.unreachable"
    assert "trying again" in caplog.text


async def test_a_silent_server_is_a_lost_link(arena, play):
    play(first)
    stream = await arena.stream()
    limits = wire.Limits(
        keepalive=wire.Keepalive(ping_after_ms=100, pong_within_ms=2_000)
    )
    await stream.welcome(limits=limits)
    ping = await stream.expect("ping")
    answered = time.monotonic()
    await stream.send(server_message(pong=wire.Pong(id=ping.id)))
    await stream.expect("ping")
    stream = await arena.stream()
    assert 2.0 < time.monotonic() - answered < PING_AFTER_S
    assert (await stream.welcome()).session_token == "session-1"


async def test_no_ping_is_sent_to_a_server_that_talks(arena, play):
    play(first)
    stream = await arena.stream()
    limits = wire.Limits(
        keepalive=wire.Keepalive(ping_after_ms=2_000, pong_within_ms=2_000)
    )
    talked = time.monotonic()
    await stream.welcome(limits=limits)
    for number in range(9):
        await asyncio.sleep(0.25)
        before, talked = talked, time.monotonic()
        await stream.send(server_message(ping=wire.Ping(id=number)))
        kind, _ = await stream.next()
        if kind == "ping":
            # Where this process stood still, the server was silent.
            assert time.monotonic() - before >= 2
            kind, _ = await stream.next()
        assert kind == "pong"


async def test_messages_are_paced_to_the_limit_of_the_server(arena, play):
    play(first)
    stream = await arena.stream()
    await stream.welcome(limits=wire.Limits(max_messages_per_second=50))
    began = time.monotonic()
    await stream.send(
        *(server_message(ping=wire.Ping(id=number)) for number in range(75))
    )
    for number in range(75):
        assert (await stream.expect("pong")).id == number
    assert time.monotonic() - began > 0.4


async def test_frames_are_cut_to_the_limit_of_the_server(arena, play):
    play(first)
    stream = await arena.stream()
    await stream.welcome(limits=wire.Limits(max_message_bytes=64))
    await stream.send(
        *(server_message(ping=wire.Ping(id=2**40 + number)) for number in range(50))
    )
    for _ in range(50):
        await stream.expect("pong")
    assert max(frame.ByteSize() for frame in stream.frames[1:]) <= 64


async def test_draining_plays_the_matches_to_their_end(arena, play):
    running = play(first, capacity=3)
    stream = await arena.stream()
    await stream.welcome()
    await stream.seated()
    running.client.drain()
    assert (await stream.find("capacity")).matches == 0
    await stream.ask()
    await stream.find("decision")
    await stream.ended()
    assert (await stream.find("goodbye")).code == "bot.stopping"
    await running.done()
    assert running.client.abandoned == 0


async def test_draining_goes_on_over_a_lost_link(arena, play):
    running = play(first)
    stream = await arena.stream()
    await stream.welcome()
    await stream.seated()
    running.client.drain()
    stream.close()
    stream = await arena.stream()
    assert (await stream.welcome()).capacity == 0
    await stream.ended()
    await stream.find("goodbye")
    await running.done()


async def test_stopping_leaves_at_once(arena, play):
    thinking, go = threading.Event(), threading.Event()

    def think(ask: Ask) -> int:
        thinking.set()
        go.wait(60)
        return 1

    running = play(think)
    stream = await arena.stream()
    await stream.welcome()
    await stream.seated()
    await stream.ask()
    await until(thinking.is_set)
    running.client.stop()
    assert (await stream.expect("goodbye")).code == "bot.stopping"
    await running.done()
    assert running.client.abandoned == 1
    go.set()


async def test_stopping_does_not_wait_for_a_server_that_is_gone(arena, play):
    told: list[tuple[object, ...]] = []
    running = play(first, give_up_after=3600, **_told(told))
    stream = await arena.stream()
    await stream.welcome()
    await arena.stop()
    await until(lambda: len(told) == 2)
    running.client.stop()
    await running.done()


async def test_a_server_that_does_not_close_the_stream_is_left_all_the_same(
    arena, play
):
    running = play(first)
    stream = await arena.stream()
    await stream.welcome()
    stream.stubborn = True
    began = time.monotonic()
    running.client.stop()
    await running.done()
    assert time.monotonic() - began > 1.5


def test_every_error_has_a_code() -> None:
    def all_of(cls: type[ArenaError]) -> list[type[ArenaError]]:
        return [cls, *(each for sub in cls.__subclasses__() for each in all_of(sub))]

    for cls in all_of(ArenaError):
        assert cls("x").code
        assert str(cls("x", code="a.b")) == "x [a.b]"


def _told(told: list[tuple[object, ...]]) -> dict[str, Any]:
    """Settings with which it is kept what happens to the link."""
    return {
        "on_connect": lambda session: told.append(
            (session.bot, session.resumed, session.server)
        ),
        "on_lost": lambda error: told.append((error.code,)),
    }


async def test_who_asks_is_told_of_each_link_and_its_loss(arena, play) -> None:
    told: list[tuple[object, ...]] = []
    running = play(first, **_told(told))
    stream = await arena.stream()
    await stream.welcome()
    stream.abort(grpc.StatusCode.UNAVAILABLE, "gone")
    stream = await arena.stream()
    await stream.welcome(resumed=False)
    await stream.goodbye("server.stopping", reconnect_after_ms=1)
    stream = await arena.stream()
    await stream.welcome()
    await stream.goodbye("session.replaced")
    await running.done()
    assert told == [
        ("tester", False, "0.0-fake"),
        ("link.lost",),
        ("tester", False, "0.0-fake"),
        ("server.stopping",),
        ("tester", True, "0.0-fake"),
    ]


async def test_a_link_that_never_was_is_not_lost(arena, play) -> None:
    told: list[tuple[object, ...]] = []
    running = play(first, **_told(told))
    stream = await arena.stream()
    await stream.refuse(grpc.StatusCode.UNAVAILABLE, "gone")
    with pytest.raises(LinkError):
        await running.done()
    assert told == []


async def test_a_loss_that_is_the_end_is_told_by_the_error_alone(arena, play) -> None:
    told: list[tuple[object, ...]] = []
    running = play(first, give_up_after=0, **_told(told))
    stream = await arena.stream()
    await stream.welcome()
    stream.abort(grpc.StatusCode.UNAVAILABLE, "gone")
    with pytest.raises(LinkError):
        await running.done()
    assert told == [("tester", False, "0.0-fake")]


async def test_leaving_is_no_loss(arena, play) -> None:
    told: list[tuple[object, ...]] = []
    running = play(first, **_told(told))
    stream = await arena.stream()
    await stream.welcome()
    running.client.stop()
    await running.done()
    assert told == [("tester", False, "0.0-fake")]
