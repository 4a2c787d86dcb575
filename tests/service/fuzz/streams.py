"""Attacks on the stream of a bot: garbage, lies, and the wrong order."""
# mypy: disable-error-code="arg-type,misc,unused-ignore"
# Sends what the types forbid.

from __future__ import annotations

import base64
import random
from collections.abc import Callable
from typing import Any, Final

from tests.service.fuzz import garbage
from tests.service.fuzz.attacker import Attacker, frame_of, said
from tests.service.fuzz.http2 import Http2, message, reset
from tests.service.fuzz.kinds import NOTICES, REPLACED, Field, kind
from tests.service.fuzz.server import LIMITS

from fritillary.api.v1 import bot_pb2 as pb
from fritillary.api.v1 import common_pb2
from fritillary.service.listening import most_received

#: Frames that are sent before anybody asks whether they have arrived.
_BATCH: Final = 100

_SEATED: Final = ("accept", "decline", "ready", "decision", "resign", "ack")
_OTHERS: Final = ("capacity", "ping", "pong")


# ------------------------------------------------------------------- what is sent


def seat_of(rng: random.Random, matches: list[str]) -> dict[str, Any]:
    """Return match and seat, as a liar names them."""
    where: dict[str, Any] = {}
    if rng.random() < 0.9:
        own = matches and rng.random() < 0.6
        where["match_id"] = rng.choice(matches) if own else garbage.text(rng)
    if rng.random() < 0.7:
        where["seat"] = garbage.number(rng, 32)
    return where


def body(rng: random.Random, which: str, matches: list[str]) -> Any:
    """Return a message of a kind, every field filled with something."""
    number = garbage.number(rng)
    where = seat_of(rng, matches) if which in _SEATED else {}
    match which:
        case "hello":
            return hello(rng)
        case "accept":
            return pb.Accept(**where, nonce=garbage.blob(rng, 60))
        case "decline":
            text = garbage.text(rng)
            return pb.Decline(**where, code=text, message=garbage.text(rng))
        case "ready":
            return pb.Ready(**where)
        case "decision":
            return pb.Decision(
                **where,
                decision_id=number,
                **choice(rng),
                note=garbage.text(rng),
                probabilities=[garbage.float_of(rng) for _ in range(rng.randrange(4))],
                think_ms=garbage.number(rng, 32),
            )
        case "resign":
            return pb.Resign(**where, decision_id=number)
        case "ack":
            return pb.Ack(
                **where,
                event_number=garbage.number(rng, 32),
                closed_decision_id=number,
                ended=rng.random() < 0.5,
            )
        case "capacity":
            return pb.Capacity(matches=garbage.number(rng, 32))
        case "ping":
            # Those of the attacker itself have numbers above these.
            return pb.Ping(id=number >> 5)
        case "pong":
            return pb.Pong(id=number)
    return pb.Goodbye(code=garbage.text(rng), message=garbage.text(rng))


def choice(rng: random.Random) -> dict[str, Any]:
    """Return how a decision names its action; it may name none."""
    return rng.choice(
        (
            {"index": garbage.number(rng, 32)},
            {"text": garbage.text(rng)},
            {"action": garbage.action(rng, as_json=rng.random() < 0.5)},
            {},
        )
    )


def hello(rng: random.Random) -> pb.Hello:
    """Return a Hello with something in every field."""
    return pb.Hello(
        bot=common_pb2.PlayerInfo(
            name=garbage.text(rng),
            version=garbage.text(rng),
            build=garbage.text(rng),
            author=garbage.text(rng),
        ),
        games=[
            pb.GameSupport(
                game=garbage.text(rng),
                rules_versions=[garbage.number(rng, 32)],
                variants=[garbage.text(rng)],
            )
            for _ in range(rng.randrange(4))
        ],
        features=[garbage.text(rng) for _ in range(rng.randrange(4))],
        encoding=rng.choice((0, 1, 2)),
        legal_form=rng.choice((0, 1, 2, 3, 2**31 - 1)),
        capacity=garbage.number(rng, 32),
        session_token=garbage.text(rng),
        acks=[body(rng, "ack", []) for _ in range(rng.randrange(4))],
    )


def any_message(rng: random.Random, matches: list[str], *more: str) -> pb.BotMessage:
    """Return a message that is valid by itself."""
    which = rng.choice((*_SEATED, *_OTHERS, *more))
    sent: Any = {which: body(rng, which, matches)}
    return pb.BotMessage(message_id=garbage.number(rng), **sent)


def any_frame(rng: random.Random, matches: list[str], *more: str) -> bytes:
    """Return a valid frame of one message to three."""
    count = rng.choice((1, 1, 1, 2, 3))
    return frame_of(*(any_message(rng, matches, *more) for _ in range(count)))


# ----------------------------------------------------------------- in one session


async def storm(field: Field, count: int, make: Callable[[], bytes]) -> None:
    """Send frames in sessions, a fresh one whenever one has ended."""
    for left in field.left(count):
        settings = {
            "capacity": 0,
            "encoding": field.rng.choice((1, 2)),
            "legal_form": field.rng.choice((1, 2)),
        }
        async with field.attacker(hello=settings) as bot:
            for start in range(0, left, _BATCH):
                batch = [make() for _ in range(min(_BATCH, left - start))]
                field.tally.sent += len(batch)
                await bot.send(*batch)
                if not await bot.sync() or field.tally.wrong:
                    break


_IN_SESSION: Final = (*NOTICES, *REPLACED, "limit.message-size")


@kind("random bytes", *_IN_SESSION, share=14, few=1_500)
async def random_bytes(field: Field, count: int) -> None:
    """Random bytes as frames of a session."""
    rng = field.rng
    await storm(field, count, lambda: garbage.blob(rng, rng.choice((4, 40, 400))))


@kind("cut frames", *_IN_SESSION, share=14, few=1_000)
async def cut_frames(field: Field, count: int) -> None:
    """Valid frames without their end, or with a part missing or replaced."""
    rng = field.rng
    await storm(
        field,
        count,
        lambda: rng.choice((garbage.cut, garbage.spliced))(
            rng, any_frame(rng, field.matches)
        ),
    )


@kind("flipped frames", *_IN_SESSION, share=14, few=1_000)
async def flipped_frames(field: Field, count: int) -> None:
    """Valid frames with wrong bits."""
    rng = field.rng
    await storm(
        field, count, lambda: garbage.flipped(rng, any_frame(rng, field.matches))
    )


@kind("wrong order", *_IN_SESSION, share=16, few=1_000)
async def wrong_order(field: Field, count: int) -> None:
    """Messages that are valid by themselves, where nobody waits for them."""
    rng = field.rng
    await storm(field, count, lambda: any_frame(rng, field.matches, "hello"))


@kind("farewells", *_IN_SESSION, share=0.5, few=20)
async def farewells(field: Field, count: int) -> None:
    """A Goodbye in the middle of a frame, and more after it."""
    rng = field.rng

    def make() -> bytes:
        before, after = (any_message(rng, []) for _ in range(2))
        goodbye = pb.BotMessage(goodbye=body(rng, "goodbye", []))
        return frame_of(before, goodbye, after)

    await storm(field, count, make)


@kind("many in one", *_IN_SESSION, "limit.*", share=0.02, few=6)
async def many_in_one(field: Field, count: int) -> None:
    """As many messages as fit into one frame, empty or not."""
    for _ in field.left(count):
        async with field.attacker(hello={"capacity": 0}) as bot:
            field.tally.sent += 1
            part = field.rng.choice((b"\n\x00", b"\n\x02J\x00", b"\n\x02B\x00"))
            size = field.rng.choice((20_000, 100_000, LIMITS.max_message_bytes))
            await bot.send(part * (size // len(part)))
            await bot.sync()


@kind("large frames", "limit.message-size", *REPLACED, share=0.02, few=8)
async def large_frames(field: Field, count: int) -> None:
    """Frames beyond the announced limit, and beyond what gRPC takes."""
    limit, cap = LIMITS.max_message_bytes, most_received(LIMITS.max_message_bytes)
    sizes = (limit + 1, 2 * limit, cap - 1, cap, cap + 1, 2**31 - 1, 2**32 - 1)
    for _ in field.left(count):
        size = sizes[field.tally.sent % len(sizes)]
        async with field.attacker(hello={"capacity": 0}) as bot:
            field.tally.sent += 1
            raw = b"\x00" * min(size, cap)
            await bot.http2.data(bot.stream, message(raw, announced=size))
            how = await bot.end()
            wanted = "OK" if size <= cap else "RESOURCE_EXHAUSTED"
            field.tally.expect(
                how == wanted or "http2" in how, f"a frame of {size} bytes: {how}"
            )


@kind("strange messages", "INTERNAL", *_IN_SESSION, share=0.2, few=20)
async def strange_messages(field: Field, count: int) -> None:
    """Messages of gRPC that claim to be compressed, or other than they are."""
    rng = field.rng
    for _ in field.left(count):
        async with field.attacker(hello={"capacity": 0}) as bot:
            field.tally.sent += 1
            raw = any_frame(rng, [])
            strange = message(
                raw,
                announced=rng.choice((None, len(raw) + 9, len(raw) // 2, 0)),
                packed=rng.choice((0, 1, 2, 255)),
            )
            end = rng.random() < 0.5
            await bot.http2.data(bot.stream, strange, end=end)
            if end:
                await bot.end()


# -------------------------------------------------------------------- first frames


async def first_frame(
    field: Field, http2: Http2, raw: bytes, *, token: str = ""
) -> tuple[Attacker, str]:
    """Open a stream whose first frame is some bytes; return how it ended, if so."""
    bot = Attacker(field.address, token or field.token, field.tally, connection=http2)
    await bot.open()
    await bot.send(raw)
    await http2.until(lambda: bot.over or bot.welcome)
    how = await bot.end() if bot.over else ""
    return bot, how


async def leave(field: Field, bot: Attacker) -> None:
    """Leave a session in one of several ways."""
    http2 = bot.http2
    if not bot.over:
        how = field.rng.randrange(3)
        if how == 0:
            await bot.send(said(goodbye=pb.Goodbye(code="bot.stopping")))
            await bot.end()
        elif how == 1:
            await http2.data(bot.stream, b"", end=True)
            await bot.end()
        else:
            await http2.send(reset(bot.stream))
    await bot.close()
    http2.forget(bot.stream)


@kind("no Hello", "hello.missing", "limit.message-size", *REPLACED, share=4, few=60)
async def no_hello(field: Field, count: int) -> None:
    """Another message than Hello comes first."""
    rng = field.rng
    async with Http2(field.address) as http2:
        for _ in field.left(count):
            field.tally.sent += 1
            raw = any_frame(rng, field.matches)
            bot, how = await first_frame(field, http2, raw)
            refused = "OK" if len(raw) > LIMITS.max_message_bytes else "hello.missing"
            field.tally.expect(
                how == refused or "http2" in how, f"without Hello: {how!r}"
            )
            await leave(field, bot)


@kind(
    "first garbage",
    *("hello.missing", "encoding.unknown", "hello.late"),
    *NOTICES,
    *REPLACED,
    share=4,
    few=60,
)
async def first_garbage(field: Field, count: int) -> None:
    """The first frame is a damaged Hello, or one with anything in its fields."""
    rng = field.rng
    http2 = Http2(field.address)
    await http2.open()
    for _ in field.left(count):
        field.tally.sent += 1
        raw = said(hello=hello(rng))
        raw = rng.choice((raw, garbage.flipped(rng, raw), garbage.cut(rng, raw)))
        bot = Attacker(field.address, field.token, field.tally, connection=http2)
        await bot.open()
        # What cannot be read is no Hello yet: it is told so, and may try again.
        await bot.send(raw, said(hello=pb.Hello(capacity=0)))
        await http2.until(lambda bot=bot: bot.over or bot.welcome)  # type: ignore[misc]
        await leave(field, bot)
    await http2.close()


#: How a session may end that begins with a lie.
_HELLO_ENDS: Final = frozenset(
    {
        *("", "OK", "session.other-build", "session.other-settings"),
        *("hello.too-large", "limit.message-rate"),
    }
)


@kind(
    "session tokens",
    *("session.other-build", "session.other-settings", "match.unknown"),
    *("hello.too-large", "limit.message-rate", "limit.message-size"),
    *REPLACED,
    share=4,
    few=60,
)
async def session_tokens(field: Field, count: int) -> None:
    """Session tokens of other bots and builds, cut, flipped and made up."""
    rng = field.rng
    other_name = field.names[1]
    async with Http2(field.address) as http2:
        own, _ = await first_frame(field, http2, said(hello=_hello_of("7")))
        mine = own.welcome.session_token if own.welcome else ""
        await leave(field, own)
        other, _ = await first_frame(
            field, http2, said(hello=_hello_of("7")), token=field.tokens[other_name]
        )
        theirs = other.welcome.session_token if other.welcome else ""
        await leave(field, other)
        field.tally.expect(mine and theirs, "no session token was given")
        for _ in field.left(count):
            field.tally.sent += 1
            lie = rng.choice((mine, theirs, _damaged(rng, mine), garbage.text(rng)))
            build = rng.choice(("7", "8", ""))
            bot, how = await first_frame(
                field,
                http2,
                said(
                    hello=_hello_of(
                        build,
                        lie,
                        rng.choice((0, 1, 2)),
                        rng.choice((*[1] * 17, 1_000, 2_000, 60_000)),
                    )
                ),
            )
            resumed = bot.welcome is not None and bot.welcome.resumed
            field.tally.expect(
                not resumed or (_same(lie, mine) and build == "7"),
                f"a session was resumed with {lie!r}, build {build!r}",
            )
            field.tally.expect(
                how in _HELLO_ENDS or "http2" in how,
                f"session token {lie!r}: {how}",
            )
            await leave(field, bot)


def _hello_of(
    build: str, token: str = "", encoding: int = 0, acks: int = 1
) -> pb.Hello:
    return pb.Hello(
        bot=common_pb2.PlayerInfo(build=build),
        session_token=token,
        encoding=common_pb2.Encoding.ValueType(encoding),
        capacity=0,
        acks=[pb.Ack(match_id="none", ended=True)] * acks,
    )


def _damaged(rng: random.Random, token: str) -> str:
    raw = garbage.flipped(rng, base64.urlsafe_b64decode(token or "AAAA"))
    cut = rng.randrange(len(token) + 1)
    return rng.choice(
        (base64.urlsafe_b64encode(raw).decode(), token[:cut], token + "A", token * 2)
    )


def _same(token: str, other: str) -> bool:
    """Say whether two tokens are the same bytes: base64 has room for more spellings."""
    try:
        return base64.urlsafe_b64decode(token) == base64.urlsafe_b64decode(other)
    except ValueError:
        return False
