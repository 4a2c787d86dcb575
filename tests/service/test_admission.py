"""What a call may take up: places, time, bytes; of whom, and whether they are read."""

from __future__ import annotations

import copy
import gc

import attrs
import grpc
import pytest
from grpc_health.v1 import (  # type: ignore[import-untyped]
    health_pb2,
    health_pb2_grpc,
)
from grpc_reflection.v1alpha import (  # type: ignore[import-untyped]
    reflection_pb2,
    reflection_pb2_grpc,
)
from tests.service.calls import Caller, bearer, code_of, outcome_of
from tests.service.fuzz.http2 import Http2, message
from tests.service.rawbot import until

from fritillary.api.v1 import catalog_pb2, catalog_pb2_grpc
from fritillary.core.errors import ServiceError
from fritillary.service.accounts import CALL_BYTES, Accounts, Share
from fritillary.service.admission import host_of
from fritillary.service.limits import Limits
from fritillary.service.tokens import Role

CATALOG = "/fritillary.api.v1.CatalogService"
MATCHES = "/fritillary.api.v1.MatchService"
HEALTH = "/grpc.health.v1.Health"
REFLECTION = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"

GAME = catalog_pb2.GetGameRequest(game="pig").SerializeToString()


async def ask(link, method, request=b"", token="", *, end=True):
    """Send a call; return its stream."""
    stream = await link.call(method, token)
    await link.data(stream, message(request), end=end)
    return stream


def read_in_any_time(stage, monkeypatch):
    """Have requests waited for however long they take; answers are not."""
    admission = stage.server.admission
    patient = copy.copy(admission)
    patient._limits = attrs.evolve(admission._limits, hello_ms=120_000)
    monkeypatch.setattr(admission, "_read", patient._read)


async def ends(link, method, request=b"", token=""):
    """Return how a call ends."""
    return await link.ended(await ask(link, method, request, token))


# ---------------------------------------------------------------------- large requests


@pytest.mark.parametrize(
    "method",
    [
        *(f"{CATALOG}/{one}" for one in ("ListGames", "GetGame", "ListActions")),
        *(f"{HEALTH}/{one}" for one in ("Check", "Watch")),
        REFLECTION,
    ],
    ids=lambda method: method.rpartition("/")[2],
)
async def test_what_a_stranger_sends_is_small_whatever_is_called(stage, method):
    async with Http2(stage.address) as link:
        # It is not even looked into: this is no message.
        assert await ends(link, method, b"\xff" * 4_097) == "limit.message-size"
        assert await ends(link, method, b"\xff" * 4_000_000) == "limit.message-size"
        assert await ends(link, method, b"\xff" * 4_096) == "request.malformed"


async def test_who_shows_a_token_may_send_more_and_not_everything(open_stage):
    stage = await open_stage(limits=Limits(max_message_bytes=10_000))
    token = stage.token("ann", Role.REFEREE)
    async with Http2(stage.address) as link:
        for method in (f"{CATALOG}/GetGame", f"{MATCHES}/CreateMatch"):
            wrong = b"\xff" * 10_000
            assert await ends(link, method, wrong, token) == "request.malformed"
            wrong += b"\xff"
            assert await ends(link, method, wrong, token) == "limit.message-size"


async def test_of_one_caller_few_requests_are_read_at_once(open_stage):
    stage = await open_stage(limits=Limits(hello_ms=5_000))
    ann, ben = (stage.token(name, Role.SPECTATOR) for name in ("ann", "ben"))
    method = f"{MATCHES}/ListMatches"
    async with Http2(stage.address) as link:
        # Most of a large request, and never the rest.
        half = message(b"", announced=4_000_000) + b"x" * 60_000
        for _ in range(20):
            await link.data(await link.call(method, ann), half)
        held = stage.server.admission._reading._by_key
        await until(lambda: [room.locked() for room in held.values()] == [True])
        await until(lambda: stage.server.admission.count == 20)
        async with Http2(stage.address) as other:
            assert await ends(other, method, token=ben) == "OK"
        # Those that wait have no more time than those that are read.
        await link.until(lambda: len(link.ends) == 20)
    assert set(link.ends.values()) == {"request.late"}
    async with Http2(stage.address) as link:
        assert await ends(link, method, token=ann) == "OK"


# ---------------------------------------------------------------- answers nobody reads


async def test_answers_that_are_not_read_are_bounded_for_each_token(
    open_stage, monkeypatch
):
    most = 20 * CALL_BYTES
    stage = await open_stage(limits=Limits(max_outstanding_bytes=most, hello_ms=100))
    read_in_any_time(stage, monkeypatch)
    ann, ben = (stage.token(name, Role.SPECTATOR) for name in ("ann", "ben"))
    method = f"{MATCHES}/ListMatches"
    async with Http2(stage.address, window=0) as link:
        for _ in range(60):
            await ask(link, method, token=ann)
        await link.until(lambda: len(link.ends) >= 40)
        await until(lambda: stage.server.admission.count == 0)
        assert set(link.ends.values()) == {"limit.unread"}
        assert most // 2 < stage.server.admission.unread <= most
        # Nobody else notices; they themselves go on when they have gone.
        async with Http2(stage.address) as other:
            assert await ends(other, method, token=ben) == "OK"
            assert await ends(other, method, token=ann) == "limit.unread"
    await until(lambda: stage.server.admission.unread == 0)
    async with Http2(stage.address) as link:
        assert await ends(link, method, token=ann) == "OK"


async def test_a_large_answer_counts_with_its_size(open_stage):
    stage = await open_stage(limits=Limits(max_outstanding_bytes=5 * CALL_BYTES))
    for number in range(30):
        labels = {f"{name}": "x" * 64 for name in range(16)}
        await stage.arena.play(
            "pig", ["uniform", "uniform"], match_id=f"m{number}", labels=labels
        )
    token = stage.token("ann", Role.SPECTATOR)
    async with Http2(stage.address, window=0) as link:
        for _ in range(5):
            await ask(link, f"{MATCHES}/ListMatches", token=token)
        await link.until(lambda: len(link.ends) >= 3)
        # One has room, however large it is.
        assert set(link.ends.values()) == {"limit.unread"}
        await until(lambda: stage.server.admission.unread > CALL_BYTES)


async def test_who_reads_no_answer_keeps_no_place(open_stage, monkeypatch):
    limits = Limits(hello_ms=200, max_strange_calls=2, max_strangers=2)
    stage = await open_stage(limits=limits)
    read_in_any_time(stage, monkeypatch)
    async with Http2(stage.address, window=0) as link:
        for _ in range(2):
            await ask(link, f"{CATALOG}/GetGame", GAME)
        admission = stage.server.admission
        await until(lambda: admission.unread > CALL_BYTES and not admission.count)
        async with Http2(stage.address) as other:
            assert await ends(other, f"{CATALOG}/GetGame", GAME) == "OK"
    await until(lambda: stage.server.admission.unread == 0)


async def test_a_stranger_cannot_leave_any_number_of_answers_unread(
    open_stage, monkeypatch
):
    most = 4 * CALL_BYTES
    limits = Limits(hello_ms=100, max_strange_unread_bytes=most)
    stage = await open_stage(limits=limits)
    read_in_any_time(stage, monkeypatch)
    async with Http2(stage.address, window=0) as link:
        for _ in range(5):
            unread = stage.server.admission.unread
            await ask(link, f"{CATALOG}/GetGame", GAME)
            await until(lambda: link.ends or stage.server.admission.unread > unread)  # noqa: B023
        assert set(link.ends.values()) == {"limit.unread"}
        assert stage.server.admission.unread <= most


async def test_streams_that_cannot_be_ended_are_counted(open_stage):
    limits = Limits(strange_stream_ms=2_000, max_strange_calls=1, max_strangers=1)
    stage = await open_stage(limits=limits)
    async with Http2(stage.address, window=0) as link:
        await ask(link, f"{HEALTH}/Watch")
        await until(lambda: stage.server.admission.unread == CALL_BYTES)
        assert stage.server.admission.count == 0
    await until(lambda: stage.server.admission.unread == 0)


# ------------------------------------------------------------------------------ places


async def test_who_holds_places_of_one_kind_is_in_the_way_of_no_other(open_stage):
    stage = await open_stage(limits=Limits(max_strange_calls=2, max_strangers=2))
    async with (
        Http2(stage.address) as link,
        grpc.aio.insecure_channel(stage.address) as channel,
    ):
        health = health_pb2_grpc.HealthStub(channel)
        catalog = catalog_pb2_grpc.CatalogServiceStub(channel)

        def check():
            return outcome_of(health.Check(health_pb2.HealthCheckRequest()))

        def games():
            return outcome_of(catalog.ListGames(catalog_pb2.ListGamesRequest()))

        for _ in range(2):
            watch = await ask(link, f"{HEALTH}/Watch")
            await link.begun(watch)
        assert await ends(link, f"{HEALTH}/Watch") == "limit.calls"
        assert [await check(), await games()] == ["ok", "ok"]
        # These never send their request.
        for _ in range(2):
            await link.call(f"{CATALOG}/GetGame")
        await until(lambda: stage.server.admission.count == 4)
        assert [await check(), await games()] == ["ok", "limit.calls"]
        token = stage.token("ann", Role.SPECTATOR)
        call = catalog.ListGames(catalog_pb2.ListGamesRequest(), metadata=bearer(token))
        assert await outcome_of(call) == "ok"


async def test_streams_without_a_token_end_after_a_while_and_others_do_not(
    open_stage,
):
    stage = await open_stage(limits=Limits(strange_stream_ms=4_000))
    token = stage.token("ann", Role.SPECTATOR)
    async with grpc.aio.insecure_channel(stage.address) as channel:
        health = health_pb2_grpc.HealthStub(channel)
        mine = health.Watch(health_pb2.HealthCheckRequest(), metadata=bearer(token))
        await mine.read()
        watch = health.Watch(health_pb2.HealthCheckRequest())
        assert (await watch.read()).status == health_pb2.HealthCheckResponse.SERVING
        reflection = reflection_pb2_grpc.ServerReflectionStub(channel)
        asked = reflection.ServerReflectionInfo()
        request = reflection_pb2.ServerReflectionRequest(list_services="")
        await asked.write(request)
        assert (await asked.read()).list_services_response.service
        for stream in (watch, asked):
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await stream.read()
            assert code_of(caught.value) == "limit.time"
        assert not mine.done()
        mine.cancel()
    await until(lambda: stage.server.admission.count == 0)


def test_a_network_of_ipv6_is_one_caller():
    same = [
        host_of(f"ipv6:%5B2001:db8:1:2:{rest}%5D:{port}")
        for rest, port in (("3:4:5:6", 80), ("ffff::1", 81))
    ]
    assert same == ["2001:db8:1:2::/64"] * 2
    assert host_of("ipv6:[2001:db8:1:3::1]:80") == "2001:db8:1:3::/64"
    assert host_of("ipv6:%5B::ffff:192.0.2.1%5D:80") == "192.0.2.1"
    assert host_of("ipv6:%5Bfe80::1%25eth0%5D:80") == "fe80::/64"
    assert host_of("ipv4:192.0.2.1:80") == "192.0.2.1"
    assert host_of("ipv6:nonsense:80") == "nonsense"
    assert host_of("unix:") == ""


def test_all_callers_together_have_a_bound_as_well():
    share = Share(whose="here", calls=9, unread=50_000, all_unread=100_000)
    accounts = Accounts(share)
    open_ = [accounts.opened(f"host-{number}") for number in range(5)]
    for account in open_[:2]:
        account.hold(30_000)
    with pytest.raises(ServiceError, match="too many read no") as caught:
        open_[2].hold(30_000)
    assert caught.value.code == "limit.unread"
    for account in open_:
        account.close()
    assert (accounts.count, accounts.unread) == (0, 0)


# --------------------------------------------------------------------- nothing is kept


async def test_calls_leave_no_garbage_whatever_becomes_of_them(open_stage):
    stage = await open_stage()
    async with (
        Caller(stage, Role.SPECTATOR) as ann,
        grpc.aio.insecure_channel(stage.address) as channel,
    ):
        catalog = catalog_pb2_grpc.CatalogServiceStub(channel)
        calls = (
            ann.ListMatches,
            lambda: ann.GetMatch(match_id="nothing"),
            lambda: ann.WatchMatch(match_id="nothing"),
            lambda: ann.AbortMatch(match_id="nothing"),
            lambda: catalog.GetGame(catalog_pb2.GetGameRequest()),
        )

        def kept():
            return sum(
                type(one).__name__ in {"RPCState", "_ServicerContext", "AbortError"}
                for one in gc.get_objects()
            )

        for call in calls:
            await outcome_of(call())
        gc.collect()
        before = kept()
        gc.disable()
        try:
            for call in calls * 3:
                await outcome_of(call())
            await until(lambda: kept() <= before)
        finally:
            gc.enable()
