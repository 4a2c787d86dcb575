"""Programs that referees name: started only where the operator lets it be."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import grpc
import pytest
from tests.service import pig
from tests.service.authority import Authority
from tests.service.calls import bearer, code_of
from tests.service.house import PATIENT
from tests.service.rawbot import until

from fritillary.api.v1 import match_pb2, match_pb2_grpc
from fritillary.record.terms import EndKind
from fritillary.referee.lineup import STARTED
from fritillary.service.arena import Arena
from fritillary.service.programs import Programs
from fritillary.service.server import Server
from fritillary.service.tls import ServerTls
from fritillary.service.tokens import Role

PROGRAM = Path(__file__).with_name("program.py")

#: Longest wait of a test, in seconds.
LONG = 60


def named(kind, mark):
    """Return a player of a kind that leaves a mark where it is started."""
    if kind == "python":
        return "python:tests.service.program:Class"
    return f"{kind}:{sys.executable} -c 'open({str(mark)!r}, \"w\")'"


async def asked(server, player, *, secret=None):
    """Let a referee ask for a match; return the code and status of the refusal."""
    token = server._arena.tokens.create("ref", Role.REFEREE)
    request = match_pb2.CreateMatchRequest(
        game="pig",
        seats=[match_pb2.SeatRequest(player=one) for one in ("uniform", player)],
    )
    port = server.address.rpartition(":")[2]
    if secret is None:
        channel = grpc.aio.insecure_channel(f"127.0.0.1:{port}")
    else:
        channel = grpc.aio.secure_channel(f"localhost:{port}", secret)
    async with channel:
        stub = match_pb2_grpc.MatchServiceStub(channel)
        try:
            await stub.CreateMatch(request, metadata=bearer(token))
        except grpc.aio.AioRpcError as error:
            return code_of(error), error.code().name
    return "ok", "OK"


REFUSED = ("player.program", "PERMISSION_DENIED")


@pytest.mark.parametrize("kind", STARTED)
async def test_no_program_of_any_kind_is_started_where_none_may_be(tmp_path, kind):
    mark = tmp_path / "started"
    async with (
        Arena(pig.registry()) as arena,
        Server(arena, programs=Programs.NEVER) as server,
    ):
        assert await asked(server, named(kind, mark)) == REFUSED
        assert arena.matches() == []
    assert not mark.exists()


@pytest.mark.parametrize("kind", STARTED)
async def test_beyond_loopback_none_is_started_unless_that_is_said(tmp_path, kind):
    mark = tmp_path / "started"
    authority = Authority(tmp_path)
    pair = authority.sign("server", "localhost")
    tls = ServerTls.load(pair.cert, pair.key)
    secret = grpc.ssl_channel_credentials(authority.ca.read_bytes())
    async with (
        Arena(pig.registry()) as arena,
        Server(arena, "0.0.0.0:0", tls=tls) as server,
    ):
        assert await asked(server, named(kind, mark), secret=secret) == REFUSED
        assert arena.matches() == []
    assert not mark.exists()


async def test_bots_and_those_that_dial_in_play_everywhere():
    async with (
        Arena(pig.registry()) as arena,
        Server(arena, programs=Programs.NEVER) as server,
    ):
        assert await asked(server, "uniform") == ("ok", "OK")
        assert (await asked(server, "remote:bob"))[0] == "player.absent"


@pytest.mark.parametrize(
    ("programs", "loopback", "allowed"),
    [
        (Programs.NEVER, True, False),
        (Programs.NEVER, False, False),
        (Programs.LOCAL, True, True),
        (Programs.LOCAL, False, False),
        (Programs.ALWAYS, True, True),
        (Programs.ALWAYS, False, True),
    ],
)
def test_who_may_have_programs_started(programs, loopback, allowed):
    assert programs.allowed(loopback=loopback) is allowed


async def test_a_match_of_a_program_waits_for_a_start_that_lets_it(house, caplog):
    house.create("remote:bob", f"exec:{sys.executable} {PROGRAM} play", terms=PATIENT)
    await until(house.arena.hub.sessions, within=LONG)
    await house.crash()
    await house.start(programs=False)
    assert house.taken_up == 0
    [line] = [one for one in caplog.messages if "is left as it is" in one]
    assert "starts none" in line
    await house.stop()
    await house.start()
    assert house.taken_up == 1
    async with house.bot(play=lambda _: None) as bot:
        await asyncio.wait_for(bot.until("match_offer"), LONG)
        house.arena.match("m").abort(EndKind.VOID, "test.off", "called off")
        await house.arena.match("m").ended
