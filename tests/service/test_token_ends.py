"""A token that ends while a call waits: nothing is done or begun with it any more."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
from tests.service.calls import Caller, bearer, code_of, outcome_of
from tests.service.rawbot import first_legal, until
from tests.service.shelf import shelf

from fritillary.api.v1 import bot_pb2, catalog_pb2
from fritillary.api.v1 import match_pb2 as pb
from fritillary.core.errors import ServiceError
from fritillary.service import auth
from fritillary.service.arena import Arena
from fritillary.service.auth import ROLES, Authenticator, Leases
from fritillary.service.listing import Listing
from fritillary.service.rules_apart import Apart
from fritillary.service.tokens import Role, TokenStore

#: 2027-03-01 12:00:00 UTC.
NOON = 1_803_902_400_000
HOUR = 3_600_000

MATCHES = "/fritillary.api.v1.MatchService"
CONNECT = "/fritillary.api.v1.BotService/Connect"
HEALTH = "/grpc.health.v1.Health"
REFLECTION = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"

#: By method: a request that is in order, of match m that runs, p that is paused, or z
#: that has ended.
REQUESTS: dict[str, Any] = {
    f"{MATCHES}/CreateMatch": pb.CreateMatchRequest(
        game="pig", match_id="new", seats=[pb.SeatRequest(player="uniform")] * 2
    ),
    f"{MATCHES}/PauseMatch": pb.PauseMatchRequest(match_id="m"),
    f"{MATCHES}/ResumeMatch": pb.ResumeMatchRequest(match_id="p"),
    f"{MATCHES}/AbortMatch": pb.AbortMatchRequest(match_id="m"),
    f"{MATCHES}/ListMatches": pb.ListMatchesRequest(),
    f"{MATCHES}/WatchMatch": pb.WatchMatchRequest(match_id="m"),
    f"{MATCHES}/GetMatch": pb.GetMatchRequest(match_id="z"),
    f"{MATCHES}/FetchRecord": pb.FetchRecordRequest(match_id="z"),
    CONNECT: bot_pb2.ConnectRequest(
        messages=[bot_pb2.BotMessage(hello=bot_pb2.Hello(capacity=1))]
    ),
}

#: Where a call of a method waits before it does something.
WAITS: dict[str, tuple[type, str]] = {
    f"{MATCHES}/CreateMatch": (Apart, "check_options"),
    f"{MATCHES}/ListMatches": (Listing, "page"),
}

#: Every call of every role that may make it.
CALLS = [
    pytest.param(method, role, id=f"{method.rpartition('/')[2]}-{role.value}")
    for method in ROLES
    for role in Role
    if role in ROLES[method]
]

#: Calls that need no token, and may show one.
OPEN_CALLS: dict[str, Any] = {
    "/fritillary.api.v1.CatalogService/GetGame": catalog_pb2.GetGameRequest(game="pig"),
    f"{HEALTH}/Check": None,
    f"{HEALTH}/Watch": None,
}


def raw_of(request: Any) -> bytes:
    return b"" if request is None else bytes(request.SerializeToString())


class Bench:
    """A server with matches, and a token that is to end.

    Attributes:
        arena: of the server.
        server: where the calls go.
        now: milliseconds of the wall clock of the tokens.
        path: of their file.
    """

    def __init__(self, path: Any) -> None:
        self.path = path
        self.now = NOON
        self.store = TokenStore(path, now_ms=lambda: self.now)
        self.arena: Any = None
        self.server: Any = None

    def token(self, role: Role) -> str:
        """Return a token of somebody who sat in the match that has ended."""
        return self.store.create("bob", role, expires_at_ms=NOON + HOUR)

    def end(self, how: str) -> str:
        """End the token; return the code with which it is refused from then on."""
        if how == "expired":
            self.now += HOUR
            return "auth.expired-token"
        if how == "revoked":
            self.store.revoke("bob")
        elif how == "revoked elsewhere":
            TokenStore(self.path).revoke("bob")
        else:
            self.path.unlink()
        return "auth.revoked-token"

    @contextlib.asynccontextmanager
    async def call(self, method: str, text: str) -> AsyncIterator[Any]:
        """Open a call without its request, and wait until the server has it."""
        async with grpc.aio.insecure_channel(self.server.address) as channel:
            before = self.open
            call: Any = channel.stream_stream(method)(metadata=bearer(text))
            # Nothing is sent before something is to be read.
            await call.wait_for_connection()
            await until(lambda: self.open > before)
            yield call

    @property
    def open(self) -> int:
        """How many calls the server has."""
        return int(self.server.admission.count + self.server._bots._open.count)

    def state(self) -> Any:
        """Return what calls may change, and what they begin."""
        arena, server = self.arena, self.server
        return (
            sorted(arena.running.matches),
            [arena.match(one).phase for one in "mpz"],
            server.watches,
            server._matches._fetches.count,
            [session.hello for session in arena.hub.sessions()],
        )


async def answers(call: Any) -> tuple[list[bytes], str]:
    """Return all answers to a call, and the code of its end."""
    found: list[bytes] = []
    try:
        async with asyncio.timeout(60):
            while (answer := await call.read()) is not grpc.aio.EOF:
                found.append(answer)
    except grpc.aio.AioRpcError as error:
        return found, code_of(error)
    return found, "ok"


@pytest.fixture
async def bench(tmp_path, open_stage, monkeypatch):
    """A bench on which nobody looks at tokens but the calls themselves."""
    monkeypatch.setattr(auth, "_LOOK_S", 3_600)
    bench = Bench(tmp_path / "tokens.json")
    text = bench.store.create("eve", Role.BOT)
    seat = bench.store.create("bob", Role.BOT)
    stage = await open_stage(records=tmp_path / "records", tokens=bench.store)
    bench.arena, bench.server = stage.arena, stage.server
    async with stage.bot("bob", seat, play=first_legal):
        await stage.arena.play("pig", ["remote:bob", "uniform"], match_id="z")
    bench.store.revoke("bob")
    async with stage.bot("eve", text, play=None) as eve:
        await eve.send(capacity={"matches": 2})
        for match_id in "mp":
            stage.arena.create("pig", ["remote:eve", "uniform"], match_id=match_id)
        await eve.until("decision_request", count=2)
        stage.arena.match("p").pause("")
        await until(lambda: stage.arena.match("p").phase == "paused")
        await until(lambda: bench.open == 1)
        yield bench


def test_every_call_that_needs_a_token_is_in_the_table():
    assert REQUESTS.keys() == ROLES.keys()


@pytest.mark.parametrize(("method", "role"), CALLS)
async def test_every_call_is_served_while_its_token_is_good(bench, method, role):
    async with bench.call(method, bench.token(role)) as call:
        await call.write(raw_of(REQUESTS[method]))
        assert await call.read() is not grpc.aio.EOF


@pytest.mark.parametrize("how", ["revoked", "revoked elsewhere", "removed", "expired"])
@pytest.mark.parametrize(("method", "role"), CALLS)
async def test_a_request_that_comes_after_the_end_of_its_token_is_refused(
    bench, method, role, how
):
    async with bench.call(method, bench.token(role)) as call:
        before = bench.state()
        code = bench.end(how)
        await call.write(raw_of(REQUESTS[method]))
        found, ended = await answers(call)
        assert ended == code
        if method == CONNECT:
            (only,) = found
            (message,) = bot_pb2.ConnectResponse.FromString(only).messages
            assert message.refusal.error.code == code
            before = (*before[:-1], [one for one in before[-1] if one is not None])
        else:
            assert not found
        await until(lambda: bench.open == 1)
    assert bench.state() == before
    assert len(bench.server._leases._held) == 1


@pytest.mark.parametrize("how", ["revoked", "expired"])
@pytest.mark.parametrize(
    ("method", "role"), [one for one in CALLS if one.values[0] != CONNECT]
)
async def test_a_call_that_has_waited_beyond_the_end_of_its_token_does_nothing(
    bench, monkeypatch, method, role, how
):
    kind, name = WAITS.get(method, (Arena, "find"))
    real = getattr(kind, name)
    waits, goes_on = asyncio.Event(), asyncio.Event()

    async def waiting(*args: Any) -> Any:
        found = await real(*args)
        waits.set()
        await goes_on.wait()
        return found

    monkeypatch.setattr(kind, name, waiting)
    async with bench.call(method, bench.token(role)) as call:
        before = bench.state()
        await call.write(raw_of(REQUESTS[method]))
        async with asyncio.timeout(60):
            await waits.wait()
        code = bench.end(how)
        goes_on.set()
        assert await answers(call) == ([], code)
    assert bench.state() == before


async def test_a_list_that_waits_for_its_turn_is_not_begun(bench, monkeypatch):
    begun: list[int] = []

    def matches() -> list[Any]:
        begun.append(1)
        return []

    monkeypatch.setattr(bench.arena, "matches", matches)
    turns = bench.server._matches._listing
    async with bench.call(f"{MATCHES}/ListMatches", bench.token(Role.SPECTATOR)) as one:
        async with turns.one("others"):
            await one.write(b"")
            await until(lambda: turns._waiting)
            code = bench.end("revoked")
        assert await answers(one) == ([], code)
    assert not begun


async def test_stranded_matches_that_wait_to_be_aborted_stay_as_they_are(
    house, monkeypatch
):
    async with house.bot(play=None) as bot:
        await bot.send(capacity={"matches": 2})
        for match_id in "mn":
            house.create(match_id=match_id)
        await bot.until("decision_request", count=2)
        await house.crash()
    await house.start(shelf())
    real = house.arena.abort_stranded
    begun: list[str] = []
    goes_on = asyncio.Event()

    async def slow(match_id: str, *args: Any) -> Any:
        begun.append(match_id)
        await goes_on.wait()
        return await real(match_id, *args)

    monkeypatch.setattr(house.arena, "abort_stranded", slow)
    async with Caller(house, Role.REFEREE, "rita") as rita:
        first = asyncio.ensure_future(outcome_of(rita.AbortMatch(match_id="m")))
        await until(lambda: begun)
        second = asyncio.ensure_future(outcome_of(rita.AbortMatch(match_id="n")))
        queue = house.server._matches._aborting._by_key
        await until(lambda: [one for one in queue.values() if one._waiters])
        house.tokens.revoke("rita")
        goes_on.set()
        async with asyncio.timeout(60):
            # What was begun in time is done, and answered.
            assert await first == "ok"
            assert await second == "auth.revoked-token"
    assert begun == ["m"]
    assert list(house.arena.stranded) == ["n"]


async def test_no_session_begins_with_a_token_that_ends_as_its_call_begins(
    bench, monkeypatch
):
    text = bench.store.create("mia", Role.BOT)
    real: Any = Authenticator.intercept_service

    async def checked(*args: Any) -> Any:
        handler = await real(*args)
        bench.store.revoke("mia")
        return handler

    monkeypatch.setattr(Authenticator, "intercept_service", checked)
    known = dict(bench.arena.hub._links)
    async with grpc.aio.insecure_channel(bench.server.address) as channel:
        call: Any = channel.stream_stream(CONNECT)(metadata=bearer(text))
        assert await answers(call) == ([], "auth.revoked-token")
    assert bench.arena.hub._links == known


@pytest.mark.parametrize("method", OPEN_CALLS)
async def test_a_call_that_needs_no_token_does_nothing_with_one_that_has_ended(
    bench, method
):
    async with bench.call(method, bench.token(Role.SPECTATOR)) as call:
        code = bench.end("revoked")
        await call.write(raw_of(OPEN_CALLS[method]))
        assert await answers(call) == ([], code)


@pytest.mark.parametrize("how", ["revoked", "expired"])
@pytest.mark.parametrize(
    ("method", "request_"),
    [(f"{HEALTH}/Watch", b""), (REFLECTION, b"\x3a\x00")],
    ids=["health", "reflection"],
)
async def test_a_stream_that_needs_no_token_ends_with_the_one_that_it_shows(
    bench, method, request_, how
):
    async with bench.call(method, bench.token(Role.SPECTATOR)) as call:
        await call.write(request_)
        await call.read()
        code = bench.end(how)
        bench.server._leases.look()
        assert await answers(call) == ([], code)


# ---------------------------------------------------------------------------- a lease


@pytest.fixture
def clock():
    """Milliseconds of a wall clock."""
    return [NOON]


@pytest.fixture
def store(clock):
    return TokenStore(now_ms=lambda: clock[0])


@pytest.mark.parametrize("seen", [True, False], ids=["seen", "not seen"])
@pytest.mark.parametrize("how", ["revoked", "expired"])
async def test_a_lease_of_a_token_that_has_ended_does_not_begin(
    store, clock, how, seen
):
    token = store.check(store.create("eve", Role.BOT, expires_at_ms=NOON + HOUR))
    leases = Leases(store)
    begun = []

    async def call():
        begun.append(1)

    if how == "revoked":
        store.revoke("eve")
    else:
        clock[0] += HOUR
    if seen:
        leases.look()
    with pytest.raises(ServiceError) as caught:
        await leases.run(token, call())
    assert caught.value.code == f"auth.{how}-token"
    with pytest.raises(ServiceError), leases.held(token, lambda: begun.append(2)):
        begun.append(3)
    assert not begun
    assert not leases._held


def test_a_lease_that_begins_while_the_clock_is_set_back_ends_when_it_is_right(
    store, clock
):
    token = store.check(store.create("eve", Role.BOT, expires_at_ms=NOON + HOUR))
    leases = Leases(store)
    ended = []
    clock[0] += 2 * HOUR
    leases.look()
    clock[0] -= 2 * HOUR
    with leases.held(token, lambda: ended.append(1)):
        clock[0] += 2 * HOUR
        leases.look()
    assert ended == [1]
