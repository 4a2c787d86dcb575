"""Following a match over lost links, with scripted links and with a real server."""

from __future__ import annotations

import asyncio
import itertools
import types
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from tests.service.rawbot import until

from fritillary import Registry
from fritillary.record.terms import EndKind
from fritillary.service.arena import Arena
from fritillary.service.server import Server
from fritillary.service.tokens import Role, TokenStore
from fritillary_client import (
    ArenaError,
    ConfigurationError,
    Event,
    LinkError,
    MatchResult,
    MatchStatus,
    MatchView,
    Referee,
    RefusedError,
    following,
    trying,
)
from fritillary_client.following import followed
from fritillary_client.matches import Update

LOST = LinkError("the link was lost")
END = MatchResult(kind="played")


def event(number: int) -> Event:
    return Event(number=number, ply=number, kind="action")


def view(number: int) -> MatchView:
    return MatchView(event_number=number, ply=number)


class Links:
    """What each link tells, one after the other; an error ends it."""

    def __init__(self, *links: list[Update | ArenaError]) -> None:
        self.links = list(links)
        self.asked: list[int | None] = []

    async def watch(self, after: int | None) -> AsyncGenerator[Update]:
        self.asked.append(after)
        for what in self.links.pop(0):
            if isinstance(what, ArenaError):
                raise what
            yield what


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trying, "_FIRST_WAIT_S", 0.001)
    monkeypatch.setattr(following, "_LONGEST_WAIT_S", 0.001)


async def told(links: Links, **settings: Any) -> list[Update]:
    wanted: dict[str, Any] = {"after": 0, "give_up_after": 60.0, "lost": None}
    return [update async for update in followed(links.watch, **{**wanted, **settings})]


def numbers(updates: list[Update]) -> list[int]:
    return [update.number for update in updates if isinstance(update, Event)]


async def test_after_a_lost_link_it_goes_on_with_the_next_event() -> None:
    links = Links(
        [view(0), event(1), event(2), LOST],
        [LOST],
        [view(2), event(3), LOST],
        [view(3), event(4), END],
    )
    heard: list[tuple[ArenaError, float]] = []
    updates = await told(links, lost=lambda error, wait: heard.append((error, wait)))
    assert numbers(updates) == [1, 2, 3, 4]
    assert updates[-1] == END
    assert links.asked == [0, 2, 2, 3]
    assert [error for error, _ in heard] == [LOST] * 3
    assert all(0 < wait < 0.1 for _, wait in heard)


async def test_what_is_told_again_is_not_told_twice() -> None:
    links = Links([view(2), event(1), event(2), LOST], [view(2), event(2), END])
    assert numbers(await told(links)) == [1, 2]


async def test_a_server_that_lost_its_last_events_tells_them_anew() -> None:
    links = Links(
        [view(0), event(1), event(2), event(3), LOST],
        [view(1), event(2), event(3), event(4), END],
    )
    assert numbers(await told(links)) == [1, 2, 3, 2, 3, 4]


async def test_without_the_past_a_lost_link_costs_no_event() -> None:
    links = Links([view(7), LOST], [view(9), event(8), event(9), END])
    assert numbers(await told(links, after=None)) == [8, 9]
    assert links.asked == [None, 7]


async def test_a_server_that_was_never_there_is_told_at_once() -> None:
    with pytest.raises(LinkError) as caught:
        await told(Links([LOST]))
    assert caught.value is LOST


async def test_a_refusal_is_final_unless_time_mends_it() -> None:
    mends = RefusedError("stopping", code="server.stopping", retry_after_ms=1)
    final = RefusedError("unknown", code="match.unknown")
    links = Links([view(0), mends], [mends], [view(0), event(1), final])
    with pytest.raises(RefusedError, match="unknown"):
        await told(links)
    assert links.links == []


async def test_who_reads_too_slowly_comes_back_and_does_not_call_it_a_lost_link() -> (
    None
):
    slow = RefusedError("too slow", code="watch.too-slow")
    heard: list[ArenaError] = []
    links = Links([view(0), event(1), slow], [view(1), event(2), END])
    updates = await told(links, lost=lambda error, _: heard.append(error))
    assert numbers(updates) == [1, 2]
    assert heard == []


async def test_a_stream_that_ends_before_the_match_is_a_lost_link() -> None:
    short = ArenaError("no end was told", code="match.no-result")
    running = MatchStatus(phase="running")
    over = MatchStatus(phase="ended")
    links = Links([view(0), running, short], [view(0), event(1), END])
    assert numbers(await told(links)) == [1]
    with pytest.raises(ArenaError) as caught:
        await told(Links([view(0), over, short]))
    assert caught.value is short


async def test_it_is_given_up_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = itertools.count()
    clock = types.SimpleNamespace(monotonic=lambda: next(ticks) / 8)
    monkeypatch.setattr(following, "time", clock)
    away: list[list[Update | ArenaError]] = [[LOST]] * 1000
    links = Links([view(0), LOST], *away)
    with pytest.raises(LinkError, match=r"gave up after 4 s") as caught:
        await told(links, give_up_after=4)
    assert caught.value.code == "link.lost"


# ------------------------------------------------------------------- a real server


@pytest.fixture(scope="module")
def registry() -> Registry:
    registry = Registry()
    registry.load()
    return registry


@pytest.mark.system
async def test_a_match_is_followed_over_a_server_that_stops_and_starts(
    registry: Registry, port: int
) -> None:
    address = f"127.0.0.1:{port}"
    lost = asyncio.Event()
    # The arena stays and only its server goes: the match is the same afterwards.
    async with Arena(registry, tokens=TokenStore()) as arena:
        token = arena.tokens.create("ref", Role.REFEREE)
        server = Server(arena, address)
        await server.start()
        hosted = arena.create("lepidoptery", ["remote:nobody", "uniform"])
        async with Referee(address, token) as referee:
            seen: list[Update] = []
            hear = seen.append

            async def follow() -> None:
                async for update in referee.follow(
                    hosted.id, views=True, lost=lambda *_: lost.set()
                ):
                    hear(update)

            following_ = asyncio.ensure_future(follow())
            await until(lambda: seen)
            await server.stop()
            await asyncio.wait_for(lost.wait(), 60)
            before = len(seen)
            server = Server(arena, address)
            await server.start()
            await until(lambda: len(seen) > before)
            assert isinstance(seen[before], MatchView)
            hosted.abort(EndKind.WITHDRAWN, "test", "enough")
            # Nobody took the seat, so there is not even a match.
            await asyncio.wait_for(asyncio.wait([following_]), 60)
        await server.stop()
    assert seen
    result = seen[-1]
    assert isinstance(result, MatchResult)
    assert (result.kind, result.message) == ("withdrawn", "enough")


async def test_following_needs_a_connection() -> None:
    with pytest.raises(ConfigurationError) as caught:
        await anext(Referee("127.0.0.1:1", "t").follow("m"))
    assert caught.value.code == "usage.closed"


@pytest.mark.system
async def test_a_referee_is_told_what_went_wrong_with_a_program(
    registry: Registry,
) -> None:
    async with Arena(registry, tokens=TokenStore()) as arena, Server(arena) as server:
        token = arena.tokens.create("ref", Role.REFEREE)
        watcher = arena.tokens.create("spec", Role.SPECTATOR)
        async with (
            Referee(server.address, token) as referee,
            Referee(server.address, watcher) as spectator,
        ):
            player = "exec:sh -c 'echo last words >&2; exit 3'"
            made = await referee.create_match("lepidoptery", [player, "uniform"])
            async for _ in referee.follow(made.match_id):
                pass
            problems = (await referee.get_match(made.match_id)).problems
            assert [problem.seat for problem in problems] == [0]
            assert problems[0].message.endswith("last words")
            assert (await spectator.get_match(made.match_id)).problems == ()
