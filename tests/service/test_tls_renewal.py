"""The server in TLS while its files are replaced: nothing has to be started again."""

from __future__ import annotations

import logging

import grpc
import pytest
from tests.service import pig
from tests.service.authority import HOUR, Authority
from tests.service.calls import bearer, outcome_of
from tests.service.rawbot import until

from fritillary.api.v1 import match_pb2, match_pb2_grpc
from fritillary.service import tls as module
from fritillary.service.arena import Arena
from fritillary.service.server import Server
from fritillary.service.tls import ServerTls
from fritillary.service.tokens import Role


@pytest.fixture(autouse=True)
def _looking_often(monkeypatch):
    monkeypatch.setattr(module, "LOOK_S", 0.05)


@pytest.fixture
def old(tmp_path):
    return Authority(tmp_path, "old")


@pytest.fixture
def new(tmp_path):
    return Authority(tmp_path, "new")


@pytest.fixture
async def arena():
    async with Arena(pig.registry()) as arena:
        yield arena


def connect(server, authority, pair=None):
    shown = (None, None)
    if pair is not None:
        shown = (pair.key.read_bytes(), pair.cert.read_bytes())
    secret = grpc.ssl_channel_credentials(authority.ca.read_bytes(), *shown)
    # Else a connection that has failed is waited for.
    options = (("grpc.use_local_subchannel_pool", 1),)
    return grpc.aio.secure_channel(server.address, secret, options=options)


async def listed(arena, channel):
    """Return what comes of listing matches: ``ok`` or a code."""
    token = arena.tokens.create("me", Role.REFEREE)
    stub = match_pb2_grpc.MatchServiceStub(channel)
    return await outcome_of(
        stub.ListMatches(match_pb2.ListMatchesRequest(), metadata=bearer(token))
    )


async def newly(arena, server, authority, pair=None):
    """Return the same on a connection of its own."""
    async with connect(server, authority, pair) as channel:
        return await listed(arena, channel)


def ends(server):
    """Return the end of the certificate that is in use, in seconds since 1970."""
    return server.certificate_until.timestamp()


def renew(authority, **more):
    """Replace the files of the server."""
    return authority.sign("server", "127.0.0.1", **more)


async def test_who_dials_in_later_sees_the_new_certificate(arena, old, new):
    pair = renew(old)
    tls = ServerTls.load(pair.cert, pair.key)
    async with Server(arena, tls=tls) as server, connect(server, old) as channel:
        assert await listed(arena, channel) == "ok"
        before = ends(server)
        renew(new, good_for=5 * HOUR)
        await until(lambda: ends(server) > before)
        assert await newly(arena, server, new) == "ok"
        assert await newly(arena, server, old) == "UNAVAILABLE"
        assert await newly(arena, server, new) == "ok"
        # Who was there before stays.
        assert await listed(arena, channel) == "ok"


@pytest.mark.parametrize("wrong", ["expired", "half", "empty", "missing"])
async def test_files_that_cannot_be_used_change_nothing(arena, old, new, caplog, wrong):
    pair = renew(old)
    tls = ServerTls.load(pair.cert, pair.key)
    async with Server(arena, tls=tls) as server:
        key = pair.key.read_bytes()
        if wrong == "expired":
            renew(new, good_for=-HOUR)
        elif wrong == "half":
            renew(new)
            pair.key.write_bytes(key)
        elif wrong == "empty":
            pair.cert.write_bytes(b"")
        else:
            pair.cert.unlink()
        await until(lambda: "the certificate in use stays" in caplog.text)
        assert await newly(arena, server, old) == "ok"
        # And when they are mended they are taken up.
        before = ends(server)
        renew(new, good_for=5 * HOUR)
        await until(lambda: ends(server) > before)
        assert await newly(arena, server, new) == "ok"
    told = [one for one in caplog.messages if "certificate in use stays" in one]
    assert len(told) == 1


async def test_authorities_of_clients_are_renewed_too(arena, old, new):
    pair = renew(old)
    members = Authority(old.ca.parent, "members")
    mine, other = members.sign("mine"), new.sign("other")
    tls = ServerTls.load(pair.cert, pair.key, members.ca)
    async with Server(arena, tls=tls) as server:
        assert await newly(arena, server, old, mine) == "ok"
        assert await newly(arena, server, old, other) == "UNAVAILABLE"
        before = ends(server)
        members.ca.write_bytes(new.ca.read_bytes())
        renew(old, good_for=5 * HOUR)
        await until(lambda: ends(server) > before)
        assert await newly(arena, server, old, other) == "ok"
        assert await newly(arena, server, old, mine) == "UNAVAILABLE"
        assert await newly(arena, server, old) == "UNAVAILABLE"


async def test_the_journal_tells_of_a_new_certificate(arena, old, caplog):
    caplog.set_level(logging.INFO, "fritillary")
    pair = renew(old)
    async with Server(arena, tls=ServerTls.load(pair.cert, pair.key)):
        renew(old, good_for=5 * HOUR)
        await until(lambda: "server certificate-renewed until=" in caplog.text)


async def test_a_certificate_that_came_from_no_file_is_not_looked_for(arena, old):
    pair = renew(old)
    found = ServerTls.load(pair.cert, pair.key)
    tls = ServerTls(chain=found.chain, key=found.key, about=found.about)
    async with Server(arena, tls=tls) as server:
        assert await newly(arena, server, old) == "ok"
