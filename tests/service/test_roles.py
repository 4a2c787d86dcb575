"""Who may call what, of every method that the server has, and for which match."""

from __future__ import annotations

import asyncio
from typing import Any

import grpc
import pytest
from google.protobuf import descriptor_pool
from grpc_reflection.v1alpha import (  # type: ignore[import-untyped]
    reflection_pb2,
    reflection_pb2_grpc,
)
from tests.service.calls import Caller, bearer, outcome_of
from tests.service.rawbot import first_legal, last_legal, until

from fritillary.api.v1 import bot_pb2 as pb
from fritillary.api.v1 import common_pb2, match_pb2
from fritillary.record.terms import EndKind
from fritillary.service.auth import ROLES
from fritillary.service.tokens import Role

#: These answer without a token.
OPEN = {
    "/fritillary.api.v1.CatalogService/ListGames",
    "/fritillary.api.v1.CatalogService/GetGame",
    "/fritillary.api.v1.CatalogService/ListActions",
    "/grpc.health.v1.Health/Check",
    "/grpc.health.v1.Health/List",
    "/grpc.health.v1.Health/Watch",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
}

#: Codes with which a token is refused.
AUTH = {
    "auth.missing-token",
    "auth.unknown-token",
    "auth.revoked-token",
    "auth.expired-token",
    "auth.wrong-role",
}


async def all_methods(channel):
    """Return all methods of a server, as its reflection tells."""
    stub = reflection_pb2_grpc.ServerReflectionStub(channel)
    request = reflection_pb2.ServerReflectionRequest(list_services="")
    pool = descriptor_pool.Default()
    return {
        f"/{service.name}/{method.name}": method
        async for answer in stub.ServerReflectionInfo(iter([request]))
        for service in answer.list_services_response.service
        for method in pool.FindServiceByName(service.name).methods
    }


async def answered(channel, path, method, metadata, *, let_in):
    """Call a method with an empty request; return ``ok`` or the code.

    On a stream nothing is sent by who is not let in: gRPC may lose a refusal that comes
    meanwhile.
    """
    arity = "_".join(
        "stream" if streams else "unary"
        for streams in (method.client_streaming, method.server_streaming)
    )
    call = getattr(channel, arity)(path)
    request: Any = b""
    if method.client_streaming:
        request = iter([b""]) if let_in else None
    async with asyncio.timeout(60):
        return await outcome_of(call(request, metadata=metadata))


async def test_without_a_token_nothing_answers_but_what_is_open(stage):
    async with grpc.aio.insecure_channel(stage.address) as channel:
        methods = await all_methods(channel)
        found = {
            path: await answered(channel, path, method, (), let_in=path in OPEN)
            for path, method in methods.items()
        }
    refused = {path for path, code in found.items() if code == "auth.missing-token"}
    assert refused == methods.keys() - OPEN
    assert {found[path] for path in OPEN} <= {"ok", "game.unknown", "UNIMPLEMENTED"}
    assert found["/grpc.health.v1.Health/Check"] == "ok"
    assert found["/fritillary.api.v1.CatalogService/ListGames"] == "ok"


async def test_every_method_that_is_not_open_names_its_roles(stage):
    async with grpc.aio.insecure_channel(stage.address) as channel:
        methods = await all_methods(channel)
    assert methods.keys() - OPEN == ROLES.keys()


@pytest.mark.parametrize("role", list(Role), ids=lambda role: role.value)
async def test_every_method_is_for_the_roles_that_it_names(stage, role):
    metadata = bearer(stage.token("me", role))
    async with grpc.aio.insecure_channel(stage.address) as channel:
        methods = await all_methods(channel)
        found = {
            path: await answered(
                channel,
                path,
                method,
                metadata,
                let_in=path in OPEN or role in ROLES[path],
            )
            for path, method in methods.items()
        }
    wrong = {path for path, code in found.items() if code in AUTH}
    assert wrong == {path for path, roles in ROLES.items() if role not in roles}
    assert {found[path] for path in wrong} <= {"auth.wrong-role"}


# ------------------------------------------------------- what a bot's token cannot do


async def test_a_bot_can_do_nothing_to_a_match_that_it_plays_but_play(stage):
    async with stage.bot("bob", play=None) as bot:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"])
        request = await bot.until("decision_request")
        async with Caller(stage, Role.BOT, "bob") as bob:
            found = {
                "watch": await outcome_of(bob.WatchMatch(match_id=hosted.id)),
                "pause": await outcome_of(bob.PauseMatch(match_id=hosted.id)),
                "resume": await outcome_of(bob.ResumeMatch(match_id=hosted.id)),
                "abort": await outcome_of(bob.AbortMatch(match_id=hosted.id)),
                "list": await outcome_of(bob.ListMatches()),
                "create": await outcome_of(
                    bob.CreateMatch(
                        game="pig",
                        seats=[match_pb2.SeatRequest(player="uniform")] * 2,
                    )
                ),
                "fetch": await outcome_of(bob.FetchRecord(match_id=hosted.id)),
                "get": await outcome_of(bob.GetMatch(match_id=hosted.id)),
            }
            assert hosted.phase == "running"
            bot.play = last_legal
            await bot.send_all(last_legal(request))
            result = await hosted.ended
            after = {
                "watch": await outcome_of(bob.WatchMatch(match_id=hosted.id)),
                "fetch": await outcome_of(bob.FetchRecord(match_id=hosted.id)),
            }
    wrong = ("watch", "pause", "resume", "abort", "list", "create")
    assert found == {
        **dict.fromkeys(wrong, "auth.wrong-role"),
        "fetch": "record.private",
        "get": "ok",
    }
    assert after == {"watch": "auth.wrong-role", "fetch": "ok"}
    assert result.finish.kind is EndKind.PLAYED
    assert [one.id for one in stage.arena.matches()] == [hosted.id]


async def test_a_bot_learns_nothing_of_matches_of_others(stage):
    await stage.arena.play("pig", ["uniform", "uniform"], match_id="m")
    async with Caller(stage, Role.BOT, "eve") as eve:
        for view in (
            match_pb2.RECORD_VIEW_UNSPECIFIED,
            match_pb2.RECORD_VIEW_FULL,
            match_pb2.RECORD_VIEW_SPECTATOR,
        ):
            call = eve.FetchRecord(match_id="m", view=view)
            assert await outcome_of(call) == "match.unknown"
        assert await outcome_of(eve.GetMatch(match_id="m")) == "match.unknown"
        assert await outcome_of(eve.GetMatch(match_id="none")) == "match.unknown"


def about(match_id, seat, decision_id=1):
    """Return one message of each kind that is about a seat."""
    where = {"match_id": match_id} | ({} if seat is None else {"seat": seat})
    return {
        "accept": pb.BotMessage(accept=pb.Accept(**where)),
        "decline": pb.BotMessage(decline=pb.Decline(**where)),
        "ready": pb.BotMessage(ready=pb.Ready(**where)),
        "decision": pb.BotMessage(
            decision=pb.Decision(**where, decision_id=decision_id, index=0)
        ),
        "resign": pb.BotMessage(resign=pb.Resign(**where, decision_id=decision_id)),
    }


@pytest.mark.parametrize("seat", [None, 0, 1])
async def test_a_bot_cannot_speak_for_a_match_that_it_does_not_play(stage, seat):
    async with stage.bot("bob", play=None) as bob, stage.bot("eve") as eve:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"])
        request = await bob.until("decision_request")
        messages = about(hosted.id, seat, request.decision_id)
        await eve.send_all(*messages.values())
        await eve.until("error", count=len(messages))
        codes = [one.error.code for one in eve.all("error")]
        assert codes == ["match.unknown"] * len(messages)
        assert hosted.ply == 0
        assert hosted.phase == "running"
        assert "decision_closed" not in bob.kinds()
        bob.play = last_legal
        await bob.send_all(last_legal(request))
        result = await hosted.ended
    assert result.finish.kind is EndKind.PLAYED
    assert not hosted.match.rulings


async def test_a_bot_cannot_answer_for_the_other_seat_of_its_match(stage):
    async with (
        stage.bot("bob", play=None) as bob,
        stage.bot("eve", play=first_legal) as eve,
    ):
        hosted = stage.arena.create("pig", ["remote:bob", "remote:eve"])
        request = await bob.until("decision_request")
        messages = about(hosted.id, 0, request.decision_id)
        await eve.send_all(*messages.values())
        await eve.until("error", count=len(messages))
        codes = [one.error.code for one in eve.all("error")]
        assert codes == ["seat.wrong"] * len(messages)
        assert hosted.ply == 0
        # An answer of its own to a question that was put to the other is none either.
        await eve.send_all(about(hosted.id, 1, request.decision_id)["decision"])
        await eve.until("error", count=len(messages) + 1)
        assert eve.all("error")[-1].error.code.startswith("decision.")
        assert hosted.ply == 0
        assert hosted.phase == "running"
        bob.play = eve.play = last_legal
        await bob.send_all(last_legal(request))
        result = await hosted.ended
    assert result.finish.kind is EndKind.PLAYED
    assert not hosted.match.rulings


async def test_the_name_that_a_bot_gives_itself_is_no_name_of_its_token(stage):
    async with stage.bot("eve", bot=common_pb2.PlayerInfo(name="bob")) as eve:
        welcome = await eve.until("welcome")
        assert welcome.bot_name == "eve"
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"])
        await asyncio.sleep(0.2)
        assert hosted.phase == "offered"
        assert "match_offer" not in eve.kinds()
        hosted.abort(EndKind.VOID, "test", "enough")
        await hosted.ended


async def test_a_session_token_of_another_bot_opens_nothing(stage):
    async with stage.bot("bob", play=None) as bob:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"])
        await bob.until("decision_request")
        session = (await bob.until("welcome")).session_token
        eve = stage.bot("eve")
        eve.listen()
        await eve.send(hello=pb.Hello(session_token=session))
        await eve.until("refusal", "welcome")
        assert not [one for one in eve.all("welcome") if one.resumed]
        assert "decision_request" not in eve.kinds()
        await eve.close()
        await until(lambda: len(stage.arena.hub.sessions()) == 1)
        assert "goodbye" not in bob.kinds()
        hosted.abort(EndKind.VOID, "test", "enough")
        await hosted.ended
