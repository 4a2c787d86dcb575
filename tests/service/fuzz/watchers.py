"""Attacks by who looks on: too many of them, and those who do not read."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from tests.service.fuzz.attacker import Attacker
from tests.service.fuzz.http2 import Http2, message, widened
from tests.service.fuzz.kinds import MATCHES, Field, kind, make_match
from tests.service.fuzz.seats import asked, decision
from tests.service.fuzz.server import LIMITS

from fritillary.api.v1 import match_pb2

#: Codes of a match that ends while its bot is leaving.
_LEFT = ("fault.*", "session.replaced")


@contextlib.asynccontextmanager
async def table(field: Field, game: str) -> AsyncIterator[tuple[Attacker, str]]:
    """Yield a bot, and the match in which it is about to be asked."""
    async with field.attacker(hello={"capacity": 250}) as bot:
        match_id = await make_match(field, game)
        request = await asked(bot, match_id)
        if request is not None:
            bot.requests[match_id] = request
        yield bot, match_id


async def watch(connection: Http2, token: str, match_id: str, picture: int) -> int:
    """Begin to watch a match; return the stream."""
    request = match_pb2.WatchMatchRequest(
        match_id=match_id,
        view_each_event=True,
        after_event=0,
        picture=match_pb2.Picture.ValueType(picture),
    )
    stream = await connection.call(f"{MATCHES}/WatchMatch", token)
    await connection.data(stream, message(request.SerializeToString()), end=True)
    return stream


@kind("too many watchers", "limit.streams", *_LEFT, share=1, few=60)
async def too_many_watchers(field: Field, count: int) -> None:
    """More watchers with one token than it may have; those beyond are refused."""
    spectator = field.tokens["spectator"]
    for _ in field.left(count):
        async with (
            table(field, "pig") as (_, match_id),
            Http2(field.address) as connection,
        ):
            beyond = LIMITS.max_watches + 12
            for _ in range(LIMITS.max_watches + beyond):
                field.tally.sent += 1
                await watch(connection, spectator, match_id, 0)
            done = await connection.until(
                lambda c=connection, n=beyond: len(c.ends) >= n  # type: ignore[misc]
            )
            field.tally.expect(done, "too many watch")
            for how in connection.ends.values():
                field.tally.ended(how)


@kind("slow watchers", "watch.too-slow", *_LEFT, share=0.1, few=8)
async def slow_watchers(field: Field, count: int) -> None:
    """Watchers of a match with large pictures who read nothing until they must."""
    mallory = field.tokens["mallory"]
    for _ in field.left(count):
        async with (
            table(field, "butterfly-garden") as (bot, match_id),
            Http2(field.address, window=0) as connection,
        ):
            streams = []
            # A match is about 1 MiB of pictures, and 8 MiB may be held back.
            for _ in range(LIMITS.max_watches - 4):
                field.tally.sent += 1
                one = await watch(connection, mallory, match_id, match_pb2.PICTURE_SVG)
                streams.append(one)
            # What a watcher has missed does not count as held back for it.
            for one in streams:
                await connection.begun(one)
            for _ in range(60):
                request = await asked(bot, match_id)
                if request is None:
                    break
                await bot.send(decision(request, index=request.legal[0]))
            if field.rng.random() < 0.5:
                continue
            for one in streams:
                await connection.send(widened(one, 2**30))
            for one in streams:
                field.tally.ended(await connection.ended(one))
            field.tally.expect(
                field.tally.codes["watch.too-slow"] or bot.over,
                "watchers that read nothing are told everything",
            )
            await asyncio.sleep(0)
