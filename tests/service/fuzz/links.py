"""Attacks on connections: too many, half open, slow, and not HTTP/2 at all."""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
import struct
from typing import Final

from tests.service.fuzz import garbage, http2
from tests.service.fuzz.attacker import CONNECT, Attacker, said
from tests.service.fuzz.http2 import Http2, frame, headers, message, reset
from tests.service.fuzz.kinds import MATCHES, NOTICES, REPLACED, Field, ask, kind
from tests.service.fuzz.server import LIMITS
from tests.service.fuzz.streams import any_frame

from fritillary.api.v1 import bot_pb2 as pb
from fritillary.api.v1 import match_pb2

#: Connections that are open at a time.
_AT_ONCE: Final = 40

#: Longer than a server waits for what does not come, in seconds.
_PATIENCE: Final = LIMITS.hello_ms / 1000 + 60


async def raw_connection(
    field: Field,
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect."""
    host, _, port = field.address.rpartition(":")
    return await asyncio.open_connection(host, int(port))


async def in_groups(field: Field, count: int, attack: object) -> None:
    """Make attacks, some at a time, until enough frames were sent."""
    for left in field.left(count):
        many = min(_AT_ONCE, left)
        await asyncio.gather(*(attack() for _ in range(many)))  # type: ignore[operator]


# --------------------------------------------------------------------- connecting


@kind("connects", share=2.5, few=300)
async def connects(field: Field, count: int) -> None:
    """Connections that are cut at once, or after a few words."""
    rng = field.rng

    async def attack() -> None:
        field.tally.sent += 1
        _, writer = await raw_connection(field)
        words = (
            b"",
            http2.PREFACE,
            http2.PREFACE + http2.settings({}),
            http2.PREFACE + http2.settings({}) + headers(1, CONNECT, field.token),
        )
        writer.write(rng.choice(words))
        if rng.random() < 0.5:
            with contextlib.suppress(OSError):
                await writer.drain()
        if rng.random() < 0.5:
            # Leaves with a reset instead of a farewell.
            linger = struct.pack("ii", 1, 0)
            taken = writer.get_extra_info("socket")
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        writer.transport.abort()

    await in_groups(field, count, attack)


@kind("no HTTP/2", share=0.25, few=40)
async def no_http2(field: Field, count: int) -> None:
    """HTTP/1, TLS, noise, the beginning of a preface, nothing: all are cut off."""
    rng = field.rng
    openings = (
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(40),
        b"SSH-2.0-x\r\n",
        http2.PREFACE[:11],
        http2.PREFACE + b"\xff" * 9,
        b"",
    )

    async def attack() -> None:
        field.tally.sent += 1
        reader, writer = await raw_connection(field)
        try:
            writer.write(rng.choice((*openings, garbage.blob(rng, 2_000))))
            async with asyncio.timeout(_PATIENCE):
                while await reader.read(65_536):
                    pass
            field.tally.ended("cut")
        except TimeoutError:
            field.tally.expect(False, "a connection that says nothing is kept")
        except OSError:
            field.tally.ended("cut")
        finally:
            writer.transport.abort()

    await in_groups(field, count, attack)


@kind(
    "broken HTTP/2",
    # gRPC ends the streams of a connection that it cuts in its own words.
    *("INTERNAL", "UNAVAILABLE", "hello.*", "auth.*"),
    *NOTICES,
    *REPLACED,
    share=2,
    few=150,
)
async def broken_http2(field: Field, count: int) -> None:
    """Frames of HTTP/2 that nobody sends: the connection is cut, or nothing happens."""
    rng = field.rng
    for _ in field.left(count):
        async with Http2(field.address) as connection:
            for _ in range(rng.randint(5, 40)):
                raw = b"".join(broken(rng, field.token) for _ in range(3))
                field.tally.sent += 3
                if not await connection.send(raw, within=2):
                    break
            if not connection.gone:
                # Lets the server say what it thinks of it.
                await connection.until(lambda c=connection: c.gone, 0.02)  # type: ignore[misc]
            for stream in list(connection.ends):
                field.tally.ended(connection.ends[stream])
            if connection.gone:
                field.tally.ended(connection.gone)


def broken(rng: random.Random, token: str) -> bytes:
    """Return a frame of HTTP/2 that is wrong in some way."""
    stream = rng.choice((0, 1, 2, 3, 5, 7, 2**31 - 1, 2**31))
    choice = rng.randrange(12)
    match choice:
        case 0:
            kind_, flags = rng.randrange(256), rng.randrange(256)
            return frame(kind_, flags, stream, garbage.blob(rng, 60))
        case 1:
            number, value = rng.randrange(12), garbage.number(rng, 32)
            return http2.settings({number: value})
        case 2:
            more = rng.choice((0, 1, 2**31 - 1, 2**32 - 1))
            return http2.widened(stream, more)
        case 3:
            return frame(http2.HEADERS, rng.choice((0, 4, 5)), 1, garbage.blob(rng, 99))
        case 4:
            return headers(stream, CONNECT, token)
        case 5:
            big = [(b"x-%d" % n, b"y" * 4_000) for n in range(rng.choice((1, 3)))]
            return headers(stream | 1, CONNECT, token, more=big)
        case 6:
            return frame(http2.CONTINUATION, 0, stream, garbage.blob(rng, 30)) * 5
        case 7:
            return frame(http2.DATA, rng.randrange(16), stream, message(b"x"))
        case 8:
            return reset(stream, rng.randrange(20))
        case 9:
            return frame(http2.PING, 0, rng.choice((0, 0, 1)), bytes(8)) * 3
        case 10:
            # Grows in memory when it is unpacked, or would.
            bomb = b"\x3f\xe1\xff\x03" + b"\x40\x01a\x7f\x80\x1e" + b"b" * 3_967
            return frame(http2.HEADERS, 4, stream | 1, bomb + b"\xbe" * 3_000)
    return frame(http2.PUSH_PROMISE, 4, stream, bytes(4) + http2.literal(b"a", b"b"))


@kind("rapid resets", share=4, few=400)
async def rapid_resets(field: Field, count: int) -> None:
    """Calls that are taken back as soon as they were made."""
    async with contextlib.AsyncExitStack() as stack:
        connection: Http2 | None = None
        for left in field.left(count):
            if connection is None or connection.gone:
                await stack.aclose()
                connection = await stack.enter_async_context(Http2(field.address))
            raw = b""
            for _ in range(min(left, 50)):
                stream = connection.stream()
                raw += headers(stream, CONNECT, field.token) + reset(stream)
                field.tally.sent += 1
            await connection.send(raw)
            await asyncio.sleep(0.005)


# ---------------------------------------------------------------------- half open


@kind("half open", "hello.late", "request.late", *REPLACED, share=0.12, few=12)
async def half_open(field: Field, count: int) -> None:
    """Streams of which nothing comes, or half a message: all end by themselves."""
    rng = field.rng
    for left in field.left(count):
        async with Http2(field.address) as connection:
            streams = []
            for number in range(min(left, 4 * LIMITS.max_streams)):
                field.tally.sent += 1
                if number % 2:
                    token, method = field.tokens["mallory"], f"{MATCHES}/GetMatch"
                else:
                    name = field.names[number // 2 % 2]
                    token, method = field.tokens[name], CONNECT
                stream = await connection.call(method, token)
                raw = message(said(hello=pb.Hello()))
                part = rng.choice((b"", raw[:3], raw[:-1], message(b"", announced=9)))
                await connection.data(stream, part)
                if rng.random() < 0.2:
                    await connection.send(reset(stream))
                else:
                    streams.append(stream)
            for stream in streams:
                how = await connection.ended(stream, _PATIENCE)
                field.tally.ended(how)


@kind("slow writers", "hello.late", *NOTICES, *REPLACED, share=1, few=60)
async def slow_writers(field: Field, count: int) -> None:
    """Frames that come byte by byte, some of which never come to their end."""
    rng = field.rng
    for _ in field.left(count):
        async with field.attacker() as bot:
            raw = message(said(hello=pb.Hello(capacity=0)))
            raw += message(any_frame(rng, []))
            for byte in raw[: rng.randint(len(raw) // 2, len(raw))]:
                field.tally.sent += 1
                if not await bot.http2.data(bot.stream, bytes((byte,))):
                    break
                if rng.random() < 0.05:
                    await asyncio.sleep(0)
            if bot.welcome is None and rng.random() < 0.02:
                field.tally.expect(await bot.end(_PATIENCE) != "open", "no Hello")


# ---------------------------------------------------------------------- slow readers


@kind(
    "slow readers",
    *("limit.outstanding-bytes", "limit.message-rate", "link.silent"),
    *NOTICES,
    *REPLACED,
    share=0.05,
    few=8,
)
async def slow_readers(field: Field, count: int) -> None:
    """Bots that ask and ask, and read nothing of what they are told."""
    rng = field.rng
    # A message without content is answered by some hundred bytes.
    asked = b"\n\x00" * 8_000
    for _ in field.left(count):
        deaf = rng.random() < 0.5
        connection = Http2(field.address, window=rng.choice((0, 1, 1_000)))
        await connection.open()
        bot = Attacker(field.address, field.token, field.tally, connection=connection)
        await bot.open()
        await bot.send(said(hello=pb.Hello(capacity=0)))
        if deaf:
            connection.pause()
        for _ in range(4):
            field.tally.sent += 1
            await connection.data(bot.stream, message(asked), within=1)
            await asyncio.sleep(0.05)
        if not deaf:
            # Reads at last, and hears why it was sent away.
            await connection.send(http2.widened(bot.stream, 2**30))
            # If it has read all in time: for its silence, since it answers no Pings.
            field.tally.expect(
                await bot.end() != "open", "a bot that does not read stays"
            )
        await connection.close()


async def listed(field: Field) -> list[str]:
    """Return ids of matches at the server, newest first."""
    found: list[str] = []

    def hears(raw: bytes) -> None:
        response = match_pb2.ListMatchesResponse.FromString(raw)
        found.extend(one.match_id for one in response.matches)

    async with Http2(field.address) as connection:
        await ask(
            connection,
            f"{MATCHES}/ListMatches",
            field.tokens["mallory"],
            b"",
            hears=hears,
        )
    return found


@kind("unread refusals", share=0.2, few=200)
async def unread_refusals(field: Field, count: int) -> None:
    """Calls of strangers who do not read that they are refused."""
    for left in field.left(count):
        async with Http2(field.address) as connection:
            await asyncio.sleep(0.02)
            connection.pause()
            for _ in range(min(left, 2_000) // 50 or 1):
                raw = b"".join(
                    headers(connection.stream(), CONNECT, "frt_bot_unknown")
                    for _ in range(50)
                )
                field.tally.sent += 50
                if not await connection.send(raw, within=0.5):
                    break
            await asyncio.sleep(0.02)
