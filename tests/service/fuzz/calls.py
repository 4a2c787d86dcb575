"""Attacks on calls: of strangers, in a wrong role, and with garbage for a request."""
# mypy: disable-error-code="arg-type,list-item,misc,unused-ignore"
# Sends what the types forbid.

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Any, Final

import msgpack
from google.protobuf.message import Message
from tests.service.fuzz import garbage
from tests.service.fuzz.http2 import Http2
from tests.service.fuzz.kinds import CATALOG, MATCHES, Field, ask, kind
from tests.service.fuzz.server import LIMITS

from fritillary.api.v1 import catalog_pb2, common_pb2, match_pb2

#: Calls that are under way at a time.
_AT_ONCE: Final = 20

_CREATE: Final = f"{MATCHES}/CreateMatch"
_METHODS: Final = tuple(
    f"/{service.full_name}/{method.name}"
    for service in (
        match_pb2.DESCRIPTOR.services_by_name["MatchService"],
        catalog_pb2.DESCRIPTOR.services_by_name["CatalogService"],
    )
    for method in service.methods
)

_GAMES: Final = ("pig", "lepidoptery", "lost-cities", "butterfly-garden", "nothing")
_PLAYERS: Final = (
    *("uniform", "greedy", "human", "", "nobody", "ismcts:iterations=0", ":", "a:b"),
    *("uniform:x=1", "remote:nobody", "remote:", "remote:\x00", "uniform:", "local:x"),
)

#: Codes of requests that make no sense.
_SENSELESS: Final = (
    *("usage.*", "codec.*", "game.*", "match.*", "page.token", "record.*"),
    *("player.*", "options.*", "request.*", "plugin.*", "limit.streams", "limit.calls"),
    "limit.message-size",
)


async def many(
    field: Field, count: int, one: Callable[[], tuple[str, str, bytes]]
) -> None:
    """Make calls, some at a time; count how they end.

    Args:
        field: where.
        count: of calls.
        one: returns method, token and request of the next.
    """
    for left in field.left(count):
        async with Http2(field.address) as connection:
            for start in range(0, min(left, 1_000), _AT_ONCE):
                now = min(_AT_ONCE, left - start)
                field.tally.sent += now
                calls = [ask(connection, *one()) for _ in range(now)]
                for how in await asyncio.gather(*calls):
                    field.tally.ended(how)
                if connection.gone:
                    break


# ------------------------------------------------------------------------ strangers


@kind("strangers", "auth.*", "method.unknown", share=5, few=200)
async def strangers(field: Field, count: int) -> None:
    """Calls without a token, with a false one, in a wrong role, of no method."""
    rng = field.rng
    bots = "/fritillary.api.v1.BotService/Connect"
    guarded = [*(one for one in _METHODS if one.startswith(MATCHES)), bots]

    def one() -> tuple[str, str, bytes]:
        method = rng.choice(guarded)
        if method == bots:
            holder = rng.choice(("referee", "spectator", "revoked"))
        elif method.endswith(("GetMatch", "FetchRecord")):
            holder = "revoked"
        else:
            holder = rng.choice((field.names[0], "revoked"))
        token = rng.choice(
            (
                *("", "x", "frt_bot_", "Bearer", "a" * 3_000),
                field.tokens[holder],
                field.token[:-1],
                field.token.swapcase(),
                field.token + "A",
            )
        )
        if rng.random() < 0.1:
            method = rng.choice(
                (
                    *("/", "/a/b", f"{MATCHES}/", f"{MATCHES}/Nothing"),
                    *(f"{method}/", method.lower(), "/" * 50, f"/{'a' * 2_000}/b"),
                )
            )
        return method, token, garbage.blob(rng)

    await many(field, count, one)


# -------------------------------------------------------------------------- garbage


@kind("referees", *_SENSELESS, share=3, few=200)
async def referees(field: Field, count: int) -> None:
    """Calls of a referee with anything for a request."""
    rng = field.rng
    mallory = field.tokens["mallory"]
    methods = [one for one in _METHODS if one.startswith(MATCHES)]

    def one() -> tuple[str, str, bytes]:
        method = rng.choice(methods)
        return method, mallory, request_of(rng, method, field.matches)

    await many(field, count, one)


@kind("catalog", *_SENSELESS, share=3, few=150)
async def catalog(field: Field, count: int) -> None:
    """Calls of the open catalog with anything for a request."""
    rng = field.rng
    methods = [one for one in _METHODS if one.startswith(CATALOG)]

    def one() -> tuple[str, str, bytes]:
        method = rng.choice(methods)
        return method, "", request_of(rng, method, [])

    await many(field, count, one)


async def begin_rules_apart(field: Field) -> None:
    """Have the server start the processes in which rules run apart.

    One is for strangers and one for all others; each begins with the first request
    about options that no game names itself, and stays.
    """
    data = msgpack.packb({"target": 19})
    options = common_pb2.OptionsChoice(options=common_pb2.Payload(data=data))
    request = catalog_pb2.GetGameRequest(game="pig", options=options)
    async with Http2(field.address) as http2:
        for token in ("", field.tokens["spectator"]):
            raw = request.SerializeToString()
            how = await ask(http2, f"{CATALOG}/GetGame", token, raw)
            field.tally.expect(how == "OK", f"options are refused: {how}")


def request_of(rng: random.Random, method: str, matches: list[str]) -> bytes:
    """Return a request of a method, valid or damaged, or random bytes."""
    choice = rng.random()
    if choice < 0.1:
        return garbage.blob(rng)
    raw = _request(rng, method.rpartition("/")[2], matches).SerializeToString()
    if choice < 0.3:
        return garbage.flipped(rng, raw)
    if choice < 0.4:
        return garbage.cut(rng, raw)
    return raw


def _request(rng: random.Random, method: str, matches: list[str]) -> Message:
    text, number = garbage.text(rng), garbage.number(rng, 32)
    match_id = rng.choice((*matches[:5], text, "none"))
    game = rng.choice((*_GAMES, text, f"{rng.choice(_GAMES)}+{text}", "a:b+c+c"))
    match method:
        case "CreateMatch":
            return _create(rng, game)
        case "ListMatches":
            return match_pb2.ListMatchesRequest(
                phases=[number & 2**31 - 1] * rng.randrange(3),
                game=game,
                labels={text: text},
                page_size=number,
                page_token=_page(rng),
            )
        case "WatchMatch":
            return match_pb2.WatchMatchRequest(
                match_id=rng.choice((text, "none", "")),
                encoding=number & 2**31 - 1,
                after_event=number,
                picture=number & 2**31 - 1,
            )
        case "FetchRecord":
            return match_pb2.FetchRecordRequest(
                match_id=match_id, view=number & 2**31 - 1, offset=garbage.number(rng)
            )
        case "GetMatch":
            return match_pb2.GetMatchRequest(match_id=match_id)
        case "PauseMatch":
            return match_pb2.PauseMatchRequest(match_id=text, message=text)
        case "ResumeMatch":
            return match_pb2.ResumeMatchRequest(match_id=text)
        case "AbortMatch":
            return match_pb2.AbortMatchRequest(
                match_id=text, kind=number & 2**31 - 1, message=text
            )
        case "GetGame":
            fields: dict[str, Any] = {"game": game, "options": options(rng)}
            if rng.random() < 0.7:
                fields["seats"] = rng.choice((2, 3, number))
            return catalog_pb2.GetGameRequest(**fields)
        case "ListActions":
            return catalog_pb2.ListActionsRequest(
                game=game,
                options=options(rng),
                seats=rng.choice((2, 2, number)),
                page_size=number,
                page_token=_page(rng),
            )
    return catalog_pb2.ListGamesRequest()


def _page(rng: random.Random) -> str:
    lie = f"{garbage.number(rng)}.{rng.getrandbits(48):012x}"
    return rng.choice(("", "", lie, "-1.", "1." * 50, garbage.text(rng)))


def options(rng: random.Random) -> common_pb2.OptionsChoice:
    """Return options of a game, as somebody gives them who means ill."""
    if rng.random() < 0.2:
        return common_pb2.OptionsChoice(preset=rng.choice(("short", garbage.text(rng))))
    as_json = rng.random() < 0.5
    encoding = 2 if as_json else garbage.number(rng, 31)
    data = garbage.action(rng, as_json=as_json)
    if rng.random() < 0.02:
        # In a few hundred bytes, or in as many as gRPC takes.
        count = rng.choice((100, 10_000, 1_000_000))
        encoding = rng.choice((1, 2))
        data = garbage.long_list(count, as_json=encoding == 2)
    return common_pb2.OptionsChoice(
        options=common_pb2.Payload(encoding=encoding, data=data)
    )


def _create(rng: random.Random, game: str) -> match_pb2.CreateMatchRequest:
    """Return a request for a match; few of them make one."""
    count = rng.choice((2, 2, 2, 2, 0, 1, 3, 65, 1_000))
    seats = [
        match_pb2.SeatRequest(
            player=rng.choice((*_PLAYERS, garbage.text(rng)))
            if rng.random() < 0.5
            else "uniform",
            clock=clock(rng) if rng.random() < 0.3 else None,
        )
        for _ in range(count)
    ]
    labels = rng.choice((0, 1, 1, 17, 2_000))
    return match_pb2.CreateMatchRequest(
        game=game,
        rules_version=rng.choice((None, 1, garbage.number(rng, 32))),
        options=options(rng) if rng.random() < 0.5 else None,
        seats=seats,
        clock=clock(rng) if rng.random() < 0.5 else None,
        terms=terms(rng) if rng.random() < 0.5 else None,
        seed=rng.choice((b"", b"", bytes(32), bytes(31), bytes(5_000))),
        salt=rng.choice((b"", b"", bytes(32), bytes(33))),
        match_id=rng.choice(("", "", "", "..", "a/b", "x" * 65, garbage.text(rng))),
        labels={
            f"{n}{garbage.text(rng)[:60]}": garbage.text(rng) for n in range(labels)
        },
    )


def clock(rng: random.Random) -> common_pb2.Clock:
    """Return a clock, most often one that cannot be."""
    names = ("base_ms", "increment_ms", "move_ms", "bank_ms", "turn_ms")
    parts = {
        name: garbage.number(rng, 32)
        for name in (*names, "preparation_ms")
        if rng.random() < 0.4
    }
    return common_pb2.Clock(**parts)


def terms(rng: random.Random) -> common_pb2.MatchTerms:
    """Return terms, most often ones that cannot be."""
    return common_pb2.MatchTerms(
        policy=common_pb2.Policy(
            rules=[
                common_pb2.FaultRule(
                    fault=rng.choice((0, 1, 2, 9, 10, 2**31 - 1)),
                    retries=garbage.number(rng, 32),
                    consequence=rng.choice((0, 1, 2, 3, 4, 99)),
                )
                for _ in range(rng.randrange(4))
            ],
            stand_in=rng.choice(("", "uniform", "human", garbage.text(rng))),
            link=common_pb2.LinkBank(
                loss_ms=garbage.number(rng, 32), restarts=garbage.number(rng, 32)
            ),
        ),
        margin_ms=garbage.number(rng, 32),
        # A match that nobody ends would be left behind.
        ceiling_ms=rng.choice((0, 1, 500, 2**32 - 1)),
        offer_ms=garbage.number(rng, 10),
        ready_ms=garbage.number(rng, 10),
    )


# ------------------------------------------------------------------- too many of them


@kind("too many streams", "limit.streams", "hello.late", share=1, few=60)
async def too_many_streams(field: Field, count: int) -> None:
    """More streams of one bot than it may have open; those beyond are refused."""
    method = "/fritillary.api.v1.BotService/Connect"
    for left in field.left(count):
        async with Http2(field.address) as connection:
            now = min(left, 50)
            streams = []
            for _ in range(now):
                field.tally.sent += 1
                streams.append(await connection.call(method, field.token))
            await connection.until(
                lambda c=connection, n=now: len(c.ends) >= n - LIMITS.max_streams,
                5,  # type: ignore[misc]
            )
            for one in streams:
                field.tally.ended(connection.ends.get(one, "CANCELLED"))
            open_ones = now - len(connection.ends)
            field.tally.expect(
                open_ones <= LIMITS.max_streams, f"{open_ones} streams are open"
            )
