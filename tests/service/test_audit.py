"""Refused calls: a line for each in the log, but never more than the disk can take."""

from __future__ import annotations

import logging
import re

import grpc
import pytest
from tests.service.calls import Caller, bearer, outcome_of
from tests.service.rawbot import RawBot, until

from fritillary.api.v1 import bot_pb2 as pb
from fritillary.api.v1 import catalog_pb2, catalog_pb2_grpc, match_pb2, match_pb2_grpc
from fritillary.service import metering
from fritillary.service.audit import Audit
from fritillary.service.limits import Limits
from fritillary.service.tokens import Role, TokenStore

MATCHES = "/fritillary.api.v1.MatchService"
CONNECT = "/fritillary.api.v1.BotService/Connect"

PEER = "ipv4:192.0.2.7:5512"


def lines(caplog):
    """Return what the audit has said."""
    return [
        one.getMessage() for one in caplog.records if one.name == "fritillary.audit"
    ]


def fields(line):
    """Return the words of a line by name."""
    assert line.startswith("refused ")
    return dict(word.split("=", 1) for word in line.split()[1:])


@pytest.fixture
def clock():
    return [0.0]


@pytest.fixture
def one(clock):
    return Audit(lambda: clock[0])


# ------------------------------------------------------------------ at a real server


async def asked(stage, text, method="ListMatches"):
    """Return what comes of a call with such a token."""
    async with grpc.aio.insecure_channel(stage.address) as channel:
        stub = match_pb2_grpc.MatchServiceStub(channel)
        request = getattr(match_pb2, f"{method}Request")()
        return await outcome_of(getattr(stub, method)(request, metadata=bearer(text)))


@pytest.mark.parametrize(
    ("which", "code"),
    [
        ("none", "auth.missing-token"),
        ("unknown", "auth.unknown-token"),
        ("revoked", "auth.revoked-token"),
        ("bot", "auth.wrong-role"),
    ],
)
async def test_a_refused_call_is_one_line_that_tells_who_and_why(
    stage, caplog, which, code
):
    good = stage.token("bob", Role.BOT)
    token = stage.arena.tokens.check(good)
    if which == "revoked":
        stage.arena.tokens.revoke("bob")
    text = {"none": "", "unknown": "frt_bot_secret-text"}.get(which, good)
    assert await asked(stage, text) == code
    [line] = lines(caplog)
    found = fields(line)
    assert found.pop("method") == f"{MATCHES}/ListMatches"
    assert found.pop("code") == code
    assert re.fullmatch(r"127\.0\.0\.1:\d+", found.pop("peer"))
    known = {"token": f"bob/{token.id}", "role": "bot"}
    assert found == (known if text == good else {"token": "-"})
    assert [one.levelno for one in caplog.records] == [logging.WARNING]
    for secret in (good, "secret-text"):
        assert secret not in caplog.text


async def test_what_passes_is_not_told(stage, caplog):
    async with Caller(stage, Role.REFEREE) as referee, stage.bot() as bot:
        await referee.ListMatches()
        await bot.until("welcome")
    assert not lines(caplog)
    assert not stage.server.audit.refused


@pytest.mark.parametrize("method", ["unary_unary", "stream_stream", "unary_stream"])
async def test_a_method_that_is_not_there_is_told_whatever_its_name(
    stage, caplog, method
):
    path = "/x/\x1b[31m=\N{SNOWMAN} code=none\nrefused " + "y" * 500
    async with grpc.aio.insecure_channel(stage.address) as channel:
        call = getattr(channel, method)("/fritillary.api.v1.MatchService/Nope")
        assert await outcome_of(call(b"" if method[0] == "u" else None)) == (
            "method.unknown"
        )
    [line] = lines(caplog)
    assert fields(line)["method"] == f"{MATCHES}/Nope"
    # gRPC refuses to send such a name; other clients may not.
    stage.server.audit.refuse(path, "method.unknown", PEER, None)
    line = lines(caplog)[-1]
    assert line.isprintable()
    assert line.isascii()
    assert len(line) < 500
    assert fields(line)["code"] == "method.unknown"


async def test_refusals_within_the_services_are_told_too(stage, caplog):
    await stage.arena.play("pig", ["uniform", "uniform"], match_id="m")
    token = stage.token("bob")
    async with grpc.aio.insecure_channel(stage.address) as channel:
        stub = match_pb2_grpc.MatchServiceStub(channel)
        request = match_pb2.FetchRecordRequest(match_id="m")
        await outcome_of(stub.FetchRecord(request, metadata=bearer(token)))
        catalog = catalog_pb2_grpc.CatalogServiceStub(channel)
        await outcome_of(catalog.GetGame(catalog_pb2.GetGameRequest(game="chess")))
    told = [fields(line) for line in lines(caplog)]
    assert [(one["code"], one["token"].partition("/")[0]) for one in told] == [
        ("match.unknown", "bob"),
        ("game.unknown", "-"),
    ]


async def test_a_bot_that_does_not_begin_as_it_should_is_told(stage, caplog):
    bot = RawBot(stage.address, stage.token("bob"))
    bot.listen()
    await bot.send(ping=pb.Ping(id=1))
    await bot.until("closed")
    await bot.close()
    [line] = lines(caplog)
    assert fields(line)["code"] == "hello.missing"
    assert fields(line)["method"] == CONNECT
    assert fields(line)["token"].startswith("bob/")


async def test_a_bot_that_exceeds_a_limit_is_told_once(open_stage, caplog):
    stage = await open_stage(limits=Limits(max_messages_per_second=10))
    async with stage.bot("bob") as bot:
        await bot.send_all(*[pb.BotMessage(ping=pb.Ping(id=1))] * 100)
        await bot.until("closed")
    [line] = lines(caplog)
    assert fields(line)["code"] == "limit.message-rate"


async def test_a_session_that_is_cut_off_by_a_revocation_is_told_once(stage, caplog):
    async with stage.bot("bob") as bot:
        stage.arena.tokens.revoke("bob")
        await bot.until("closed")
    [line] = lines(caplog)
    assert fields(line)["code"] == "auth.revoked-token"
    assert fields(line)["token"].startswith("bob/")


async def test_a_failure_of_the_server_is_counted(stage, caplog, monkeypatch):
    def fails():
        raise ZeroDivisionError

    monkeypatch.setattr(stage.arena, "matches", fails)
    async with Caller(stage, Role.REFEREE) as referee:
        assert await outcome_of(referee.ListMatches()) == "internal"
    assert stage.server.audit.refused == {"internal": 1}


# --------------------------------------------------------------------------- a flood


async def test_a_flood_from_one_address_leaves_room_for_others(one, clock, caplog):
    for _ in range(5_000):
        one.refuse("/m", "auth.unknown-token", PEER, None)
    assert len(lines(caplog)) == 20
    one.refuse("/m", "auth.missing-token", "ipv6:[2001:db8::1]:80", None)
    assert fields(lines(caplog)[-1])["peer"] == "[2001:db8::1]:80"
    assert one.refused == {"auth.unknown-token": 5_000, "auth.missing-token": 1}
    assert one.hidden == 4_980
    one.tell_hidden()
    assert lines(caplog)[-1] == "refused 4980 more calls: auth.unknown-token 4980"
    one.tell_hidden()
    assert lines(caplog)[-1].startswith("refused 4980")


async def test_a_flood_from_everywhere_is_a_few_megabytes_a_day_at_most(
    one, clock, caplog
):
    day = 24 * 3600
    for second in range(0, day, 2):
        clock[0] = second
        for number in range(4):
            host = f"ipv4:198.51.{second % 256}.{number}:{second % 60_000}"
            one.refuse(f"/{'x' * 200}", "auth.unknown-token", host, None)
        if second % 60 == 0:
            one.tell_hidden()
    one.tell_hidden()
    written = sum(len(line) + 40 for line in lines(caplog))
    assert sum(one.refused.values()) == day * 2
    assert written < 6_000_000
    # Nothing grows with those who call.
    assert len(one._meter) <= 1024


async def test_what_was_hidden_is_told_by_itself(one, caplog, monkeypatch):
    monkeypatch.setattr(metering, "TELL_S", 0.05)
    for _ in range(25):
        one.refuse("/m", "auth.missing-token", PEER, None)
    await until(lambda: lines(caplog)[-1].startswith("refused 5 more"))


async def test_after_a_while_there_are_lines_again(one, clock, caplog):
    for _ in range(30):
        one.refuse("/m", "auth.missing-token", PEER, None)
    clock[0] = 25
    before = len(lines(caplog))
    for _ in range(30):
        one.refuse("/m", "auth.missing-token", PEER, None)
    assert len(lines(caplog)) == before + 2
    one.tell_hidden()


async def test_codes_are_counted_apart_as_long_as_they_are_few(one):
    for number in range(1_000):
        one.refuse("/m", f"code.{number}", PEER, None)
    one.tell_hidden()
    assert len(one.refused) == 201
    assert one.refused["other"] == 800


@pytest.mark.parametrize(
    ("peer", "shown"),
    [
        ("ipv4:192.0.2.7:5512", "192.0.2.7:5512"),
        ("ipv6:%5B2001:db8::1%5D:80", "[2001:db8::1]:80"),
        ("ipv6:[::1]:80", "[::1]:80"),
        ("unix:/run/arena socket", "unix:/run/arena%20socket"),
        ("", "-"),
    ],
)
async def test_addresses_are_shown_as_people_write_them(one, caplog, peer, shown):
    one.refuse("/m", "auth.missing-token", peer, None)
    assert fields(lines(caplog)[0])["peer"] == shown


def test_a_token_is_named_without_its_text(caplog):
    tokens = TokenStore()
    text = tokens.create("bob", Role.BOT)
    token = tokens.check(text)
    Audit().refuse("/m", "auth.wrong-role", PEER, token)
    assert f"token=bob/{token.id} role=bot" in lines(caplog)[0]
    assert text not in caplog.text
    assert token.hash not in caplog.text
