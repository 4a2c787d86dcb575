"""The server: who may call what, where it listens, how it stops, what it shows."""

from __future__ import annotations

import asyncio
import json
import socket
from typing import Any

import grpc
import msgpack
import pytest
from grpc_health.v1 import (  # type: ignore[import-untyped]
    health_pb2,
    health_pb2_grpc,
)
from grpc_reflection.v1alpha import (  # type: ignore[import-untyped]
    reflection_pb2,
    reflection_pb2_grpc,
)
from tests.service import pig
from tests.service.calls import bearer, outcome_of
from tests.service.rawbot import RawBot, last_legal

from fritillary.api.v1 import (
    bot_pb2,
    bot_pb2_grpc,
    catalog_pb2,
    catalog_pb2_grpc,
    common_pb2,
    match_pb2,
    match_pb2_grpc,
)
from fritillary.core.errors import ServiceError, UsageError
from fritillary.record.terms import LinkBank, Policy, Terms
from fritillary.service.arena import Arena
from fritillary.service.server import Server
from fritillary.service.tokens import Role, TokenStore


def calls(channel, metadata, *, hello):
    """Return one call of every method.

    Args:
        channel: to the server.
        metadata: with a token.
        hello: whether a bot says it. gRPC may lose a refusal that comes while it is
            written, and nothing is read of who is refused.
    """
    frame = bot_pb2.ConnectRequest(messages=[bot_pb2.BotMessage(hello=bot_pb2.Hello())])
    matches = match_pb2_grpc.MatchServiceStub(channel)
    create = match_pb2.CreateMatchRequest(
        game="pig",
        seats=[match_pb2.SeatRequest(player="uniform")] * 2,
    )
    return {
        "connect": lambda: bot_pb2_grpc.BotServiceStub(channel).Connect(
            iter([frame]) if hello else None, metadata=metadata
        ),
        "create": lambda: matches.CreateMatch(create, metadata=metadata),
        "list": lambda: matches.ListMatches(
            match_pb2.ListMatchesRequest(), metadata=metadata
        ),
        "get": lambda: matches.GetMatch(
            match_pb2.GetMatchRequest(match_id="m"), metadata=metadata
        ),
        "watch": lambda: matches.WatchMatch(
            match_pb2.WatchMatchRequest(match_id="m"), metadata=metadata
        ),
        "pause": lambda: matches.PauseMatch(
            match_pb2.PauseMatchRequest(match_id="m"), metadata=metadata
        ),
        "resume": lambda: matches.ResumeMatch(
            match_pb2.ResumeMatchRequest(match_id="m"), metadata=metadata
        ),
        "abort": lambda: matches.AbortMatch(
            match_pb2.AbortMatchRequest(match_id="m"), metadata=metadata
        ),
        "fetch": lambda: matches.FetchRecord(
            match_pb2.FetchRecordRequest(match_id="m"), metadata=metadata
        ),
        "games": lambda: catalog_pb2_grpc.CatalogServiceStub(channel).ListGames(
            catalog_pb2.ListGamesRequest(), metadata=metadata
        ),
        "health": lambda: health_pb2_grpc.HealthStub(channel).Check(
            health_pb2.HealthCheckRequest(), metadata=metadata
        ),
    }


WRONG = "auth.wrong-role"
CALLS = (
    *("connect", "create", "list", "get", "watch"),
    *("pause", "resume", "abort", "fetch"),
)
ROLES = {
    "bot": {
        "connect": "ok",
        "create": WRONG,
        "list": WRONG,
        "get": "match.unknown",
        "watch": WRONG,
        "pause": WRONG,
        "resume": WRONG,
        "abort": WRONG,
        "fetch": "match.unknown",
    },
    "referee": {
        "connect": WRONG,
        "create": "ok",
        "list": "ok",
        "get": "match.unknown",
        "watch": "match.unknown",
        "pause": "match.unknown",
        "resume": "match.unknown",
        "abort": "match.unknown",
        "fetch": "match.unknown",
    },
    "spectator": {
        "connect": WRONG,
        "create": WRONG,
        "list": "ok",
        "get": "match.unknown",
        "watch": "match.unknown",
        "pause": WRONG,
        "resume": WRONG,
        "abort": WRONG,
        "fetch": "match.unknown",
    },
    "missing": dict.fromkeys(CALLS, "auth.missing-token"),
    "unknown": dict.fromkeys(CALLS, "auth.unknown-token"),
    "revoked": dict.fromkeys(CALLS, "auth.revoked-token"),
    "expired": dict.fromkeys(CALLS, "auth.expired-token"),
}


@pytest.mark.parametrize("who", ROLES)
async def test_every_call_is_open_to_its_roles_alone(open_stage, who):
    now = [1_000]
    stage = await open_stage(tokens=TokenStore(now_ms=lambda: now[0]))
    if who in {"bot", "referee", "spectator"}:
        token = stage.token("me", Role(who))
    elif who == "revoked":
        token = stage.token("me", Role.BOT)
        stage.arena.tokens.revoke("me")
    elif who == "expired":
        token = stage.arena.tokens.create("me", Role.BOT, expires_at_ms=2_000)
        now[0] = 2_000
    else:
        token = "frt_bot_unheard-of" if who == "unknown" else ""
    async with grpc.aio.insecure_channel(stage.address) as channel:
        found = {
            name: await outcome_of(call())
            for name, call in calls(
                channel, bearer(token), hello=ROLES[who]["connect"] == "ok"
            ).items()
        }
    assert found == {**ROLES[who], "games": "ok", "health": "ok"}


@pytest.mark.parametrize("text", ["Basic abc", "Bearer", "Bearer ", "frt_bot_x"])
async def test_other_kinds_of_authorization_are_no_token(stage, text):
    async with grpc.aio.insecure_channel(stage.address) as channel:
        call = match_pb2_grpc.MatchServiceStub(channel).ListMatches(
            match_pb2.ListMatchesRequest(), metadata=(("authorization", text),)
        )
        assert await outcome_of(call) == "auth.missing-token"


async def test_an_unknown_method_is_unimplemented(stage):
    async with grpc.aio.insecure_channel(stage.address) as channel:
        method: Any = channel.unary_unary("/fritillary.api.v1.MatchService/Nope")
        call = method(b"")
        assert await outcome_of(call) == "method.unknown"
        assert await call.code() is grpc.StatusCode.UNIMPLEMENTED


# --------------------------------------------------------------------- the address


async def test_a_port_in_use_is_one_clear_error(stage, capfd):
    async with Arena(pig.registry()) as arena:
        for host in ("127.0.0.1", "localhost"):
            address = f"{host}:{stage.address.rpartition(':')[2]}"
            with pytest.raises(ServiceError, match="in use") as caught:
                await Server(arena, address).start()
            assert caught.value.code == "server.address-in-use"
    # gRPC has nothing to add.
    assert capfd.readouterr().err == ""


async def test_a_port_that_another_program_uses_is_the_same_error():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        async with Arena(pig.registry()) as arena:
            with pytest.raises(ServiceError, match="in use"):
                await Server(arena, f"127.0.0.1:{other.getsockname()[1]}").start()


@pytest.mark.parametrize(
    "address", ["0.0.0.0:0", "[::]:0", "192.0.2.1:0", "example.org:1"]
)
async def test_beyond_loopback_tls_is_needed(address):
    async with Arena(pig.registry()) as arena:
        with pytest.raises(ServiceError, match="TLS") as caught:
            await Server(arena, address).start()
    assert caught.value.code == "server.needs-tls"


@pytest.mark.parametrize(
    "address", ["", "127.0.0.1", ":7", "127.0.0.1:x", "127.0.0.1:99999"]
)
async def test_an_address_has_host_and_port(address):
    async with Arena(pig.registry()) as arena:
        with pytest.raises(UsageError, match="HOST:PORT"):
            await Server(arena, address).start()


async def test_localhost_will_do():
    async with Arena(pig.registry()) as arena, Server(arena, "localhost:0") as server:
        assert server.address.startswith("localhost:")
        token = arena.tokens.create("bob", Role.BOT)
        async with RawBot(server.address, token) as bot:
            await bot.until("welcome")


# ------------------------------------------------------------------------- stopping


async def test_stopping_says_goodbye_and_is_unhealthy():
    async with Arena(pig.registry()) as arena:
        server = Server(arena)
        await server.start()
        token = arena.tokens.create("bob", Role.BOT)
        terms = Terms(policy=Policy.of(link=LinkBank(loss_ms=100)))
        async with RawBot(server.address, token) as bot:
            hosted = arena.create("pig", ["remote:bob", "uniform"], terms=terms)
            await bot.until("decision_request")
            async with grpc.aio.insecure_channel(server.address) as channel:
                watch = health_pb2_grpc.HealthStub(channel).Watch(
                    health_pb2.HealthCheckRequest()
                )
                assert (await watch.read()).status == 1
                stopping = asyncio.create_task(server.stop())
                assert (await watch.read()).status == 2
                goodbye = await bot.until("goodbye")
                await bot.until("closed")
                await stopping
            result = await hosted.ended
    assert goodbye.code == "server.stopping"
    assert goodbye.reconnect_after_ms > 0
    assert result.finish.code == "fault.disconnected"


async def test_a_closing_arena_withdraws_its_matches_and_closes_their_records(
    open_stage, tmp_path
):
    from fritillary.record.chain import payloads

    stage = await open_stage(records=tmp_path)
    async with stage.bot(play=None) as bot:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"], match_id="m")
        waiting = stage.arena.create("pig", ["remote:nobody", "uniform"], match_id="w")
        await bot.until("decision_request")
        await stage.arena.close()
        ended = await bot.until("match_ended")
    for one in (hosted, waiting):
        result = await one.ended
        assert result.finish.code == "server.stopping"
        last = [msgpack.unpackb(raw) for raw, _ in payloads(one.record())][-1]
        assert last["type"] == "closed"
    assert ended.result.kind == common_pb2.MATCH_END_KIND_WITHDRAWN
    with pytest.raises(ServiceError, match="closing"):
        stage.arena.create("pig", ["uniform", "uniform"])


# ------------------------------------------------------------ health and reflection


async def test_health_answers_for_every_service(stage):
    async with grpc.aio.insecure_channel(stage.address) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        for name in (
            "",
            "fritillary.api.v1.BotService",
            "fritillary.api.v1.MatchService",
        ):
            answer = await stub.Check(health_pb2.HealthCheckRequest(service=name))
            assert answer.status == health_pb2.HealthCheckResponse.SERVING


async def test_reflection_lists_the_services(stage):
    async with grpc.aio.insecure_channel(stage.address) as channel:
        stub = reflection_pb2_grpc.ServerReflectionStub(channel)
        request = reflection_pb2.ServerReflectionRequest(list_services="")
        names = {
            one.name
            async for answer in stub.ServerReflectionInfo(iter([request]))
            for one in answer.list_services_response.service
        }
    assert {
        "fritillary.api.v1.BotService",
        "fritillary.api.v1.CatalogService",
        "fritillary.api.v1.MatchService",
        "grpc.health.v1.Health",
    } <= names


# --------------------------------------------------------------------- the catalog


async def test_the_catalog_describes_a_game_completely(stage):
    async with grpc.aio.insecure_channel(stage.address) as channel:
        stub = catalog_pb2_grpc.CatalogServiceStub(channel)
        listed = await stub.ListGames(catalog_pb2.ListGamesRequest())
        game = await stub.GetGame(
            catalog_pb2.GetGameRequest(
                game="pig", options=common_pb2.OptionsChoice(preset="short"), seats=3
            )
        )
        async with stage.bot(play=last_legal) as bot:
            await stage.arena.play("pig", ["remote:bob", "uniform"])
            offer = await bot.until("match_offer")
    info = game.info
    assert [one.game.id for one in listed.games] == ["pig"]
    assert listed.games[0] == info
    assert (info.min_seats, info.max_seats, info.max_plies) == (2, 3, 4000)
    assert info.information == catalog_pb2.INFORMATION_PERFECT
    assert info.chance
    assert not info.HasField("constant_sum")
    assert info.reasons["target"]
    assert json.loads(game.default_options) == {"target": 20}
    assert [(p.name, json.loads(p.options)) for p in game.presets] == [
        ("short", {"target": 6})
    ]
    for schema in (game.options_schema, game.action_schema, game.observation_schema):
        assert json.loads(schema)["$schema"].endswith("2020-12/schema")
    assert game.schemas_hash == offer.schemas_hash
    assert game.table == offer.table


async def test_variants_are_listed_and_reached():
    from fritillary import Registry

    registry = Registry()
    registry.load()
    async with (
        Arena(registry) as arena,
        Server(arena) as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        stub = catalog_pb2_grpc.CatalogServiceStub(channel)
        listed = await stub.ListGames(catalog_pb2.ListGamesRequest())
        game = await stub.GetGame(
            catalog_pb2.GetGameRequest(game="lepidoptery+no-pass")
        )
    variant = next(one for one in listed.variants if one.variant.id == "no-pass")
    assert "lepidoptery" in variant.games
    assert variant.distribution == "fritillary"
    assert variant.distribution_version
    assert [one.id for one in game.info.game.variants] == ["no-pass"]


async def test_an_action_table_comes_in_pages(stage):
    async with grpc.aio.insecure_channel(stage.address) as channel:
        stub = catalog_pb2_grpc.CatalogServiceStub(channel)
        request = catalog_pb2.ListActionsRequest(game="pig", page_size=1)
        first = await stub.ListActions(request)
        request.page_token = first.next_page_token
        second = await stub.ListActions(request)
        request.seats = 3
        assert await outcome_of(stub.ListActions(request)) == "page.token"
        request.page_token = "x"
        assert await outcome_of(stub.ListActions(request)) == "page.token"
    assert [one.text for one in first.actions] == ["roll"]
    assert [one.index for one in second.actions] == [1]
    assert msgpack.unpackb(second.actions[0].msgpack) == {"type": "hold"}
    assert json.loads(second.actions[0].json) == {"type": "hold"}
    assert first.table == second.table
    assert not second.next_page_token


def json_payload(data):
    return common_pb2.Payload(encoding=common_pb2.ENCODING_JSON, data=data)


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        ({"game": "chess"}, "game.unknown"),
        ({"game": "pig+none"}, "game.unknown"),
        ({"game": ""}, "game.unknown"),
        ({"game": "pig", "seats": 9}, "options.invalid"),
        (
            {"game": "pig", "options": common_pb2.OptionsChoice(preset="x")},
            "options.invalid",
        ),
        (
            {
                "game": "pig",
                "options": common_pb2.OptionsChoice(
                    options=common_pb2.Payload(data=b"\xc1")
                ),
            },
            "codec.msgpack",
        ),
        (
            {
                "game": "pig",
                "options": common_pb2.OptionsChoice(
                    options=common_pb2.Payload(
                        encoding=common_pb2.ENCODING_JSON, data=b'{"goal":1}'
                    )
                ),
            },
            "options.invalid",
        ),
        (
            {
                "game": "pig",
                "options": common_pb2.OptionsChoice(
                    options=common_pb2.Payload(
                        encoding=common_pb2.ENCODING_JSON, data=b"[1]"
                    )
                ),
            },
            "options.invalid",
        ),
    ],
)
async def test_what_the_catalog_cannot_answer_has_a_code(stage, request_, code):
    async with grpc.aio.insecure_channel(stage.address) as channel:
        stub = catalog_pb2_grpc.CatalogServiceStub(channel)
        call = stub.GetGame(catalog_pb2.GetGameRequest(**request_))
        assert await outcome_of(call) == code
