"""A revoked token ends what runs with it, soon, and nothing else."""

from __future__ import annotations

import asyncio
from typing import Any

import grpc
import pytest
from tests.service.calls import Caller, code_of
from tests.service.rawbot import last_legal, until
from tests.service.stopwatch import Stopwatch

from fritillary.core.errors import ServiceError
from fritillary.record.terms import EndKind
from fritillary.service import auth, matches
from fritillary.service.auth import Leases
from fritillary.service.limits import Limits
from fritillary.service.tokens import Role, TokenStore
from fritillary.service.watching import Watch

#: Within about so many seconds; the machine may be busy.
SOON = 30

#: Nothing but its token ends a stream within that time.
SILENT = Limits(ping_after_ms=600_000)


async def end_of(call):
    """Return the code with which a stream ends."""
    try:
        while await call.read() is not grpc.aio.EOF:
            pass
    except grpc.aio.AioRpcError as error:
        return code_of(error)
    return "ok"


@pytest.fixture(params=["here", "another process"])
async def house(request, open_stage, tmp_path):
    """A stage, and the store in which tokens are revoked."""
    path = tmp_path / "tokens.json"
    stage = await open_stage(limits=SILENT, tokens=TokenStore(path))
    here = request.param == "here"
    return stage, stage.arena.tokens if here else TokenStore(path)


async def test_the_session_of_a_revoked_token_ends_soon(house):
    stage, store = house
    async with stage.bot("bob") as bob, stage.bot("eve") as eve:
        clock = Stopwatch()
        store.revoke("bob")
        goodbye = await bob.until("goodbye")
        await bob.until("closed")
        spent = clock.s()
        await eve.send(capacity={"matches": 3})
    assert goodbye.code == "auth.revoked-token"
    assert not goodbye.HasField("reconnect_after_ms")
    assert spent < SOON
    assert "goodbye" not in eve.kinds()


async def test_a_session_in_a_match_ends_as_soon(house):
    stage, store = house
    async with stage.bot("bob", play=None) as bob:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"])
        await bob.until("decision_request")
        clock = Stopwatch()
        store.revoke("bob")
        await bob.until("closed")
        spent = clock.s()
        await until(lambda: hosted.players[0].away)
        hosted.abort(EndKind.VOID, "test", "enough")
        await hosted.ended
    assert spent < SOON


async def test_watching_with_a_revoked_token_ends_soon(house):
    stage, store = house
    async with (
        stage.bot(play=None) as bot,
        Caller(stage, Role.SPECTATOR, "ann") as ann,
        Caller(stage, Role.REFEREE, "ref") as ref,
    ):
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"])
        request = await bot.until("decision_request")
        watched, other = (
            one.WatchMatch(match_id=hosted.id, after_event=0) for one in (ann, ref)
        )
        for call in (watched, other):
            await call.read()
        clock = Stopwatch()
        store.revoke("ann")
        code = await end_of(watched)
        spent = clock.s()
        assert len(hosted._watchers) == 1
        bot.play = last_legal
        await bot.send_all(last_legal(request))
        assert await end_of(other) == "ok"
    assert code == "auth.revoked-token"
    assert spent < SOON


class Stalled:
    """The context of an RPC whose client reads one message and no more."""

    def __init__(self, context):
        self._context = context
        self._written = False

    async def write(self, message):
        if self._written:
            await asyncio.Event().wait()
        self._written = True
        await self._context.write(message)


async def test_a_watcher_that_does_not_read_is_let_go_all_the_same(stage, monkeypatch):
    # How much a link takes while nobody reads is the choice of gRPC.
    run: Any = Watch.run
    monkeypatch.setattr(Watch, "run", lambda self, context: run(self, Stalled(context)))
    await stage.arena.play("pig", ["uniform", "uniform"], match_id="m")
    hosted = stage.arena.match("m")
    async with Caller(stage, Role.SPECTATOR, "ann") as ann:
        call = ann.WatchMatch(match_id="m", after_event=0)
        await call.read()
        assert hosted._watchers
        clock = Stopwatch()
        stage.arena.tokens.revoke("ann")
        await until(lambda: not hosted._watchers)
        spent = clock.s()
        assert spent < SOON
        assert await end_of(call) == "auth.revoked-token"


async def test_fetching_with_a_revoked_token_ends_soon(stage, monkeypatch):
    sent = asyncio.Event()

    async def slow(*_):
        sent.set()
        await asyncio.sleep(600)

    monkeypatch.setattr(matches, "send", slow)
    await stage.arena.play("pig", ["uniform", "uniform"], match_id="m")
    async with Caller(stage, Role.REFEREE, "ref") as ref:
        call = ref.FetchRecord(match_id="m")
        await sent.wait()
        stage.arena.tokens.revoke("ref")
        async with asyncio.timeout(SOON):
            assert await end_of(call) == "auth.revoked-token"


async def test_a_bot_with_a_new_token_goes_on_with_its_match(stage):
    token = stage.token("bob")
    async with stage.bot("bob", token, play=None) as bob:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"])
        await bob.until("decision_request")
        session = (await bob.until("welcome")).session_token
        stage.arena.tokens.revoke("bob")
        await bob.until("closed")
    fresh = stage.token("bob")
    async with stage.bot("bob", fresh, play=last_legal, session_token=session) as bob:
        assert (await bob.until("welcome")).resumed
        result = await hosted.ended
    assert result.finish.kind is EndKind.PLAYED


async def test_a_file_of_tokens_that_is_gone_ends_all(open_stage, tmp_path):
    path = tmp_path / "tokens.json"
    stage = await open_stage(limits=SILENT, tokens=TokenStore(path))
    async with stage.bot("bob") as bob:
        path.unlink()
        assert (await bob.until("goodbye", within=SOON)).code == "auth.revoked-token"


async def test_while_the_file_cannot_be_read_sessions_go_on(open_stage, tmp_path):
    path = tmp_path / "tokens.json"
    stage = await open_stage(limits=SILENT, tokens=TokenStore(path))
    async with stage.bot("bob", play=last_legal) as bob:
        path.write_bytes(b"{")
        await asyncio.sleep(2 * auth._LOOK_S)
        assert "goodbye" not in bob.kinds()
        result = await stage.arena.play("pig", ["remote:bob", "uniform"])
    assert result.finish.kind is EndKind.PLAYED


async def test_many_streams_are_only_looked_at_after_a_change(monkeypatch):
    tokens = TokenStore()
    token = tokens.check(tokens.create("bob", Role.BOT))
    looked = []

    def stays(one):
        looked.append(one)
        return True

    monkeypatch.setattr(tokens, "stays", stays)
    leases = Leases(tokens)
    cut = []
    with leases.held(token, lambda: cut.append(1)):
        looked.clear()
        leases.look()
        assert not looked
        tokens.create("eve", Role.BOT)
        tokens.revoke("eve")
        leases.look()
        leases.look()
        assert looked == [token]
    assert not leases._held
    assert not cut


async def test_a_call_that_fails_by_itself_raises_what_it_raised():
    tokens = TokenStore()
    token = tokens.check(tokens.create("bob", Role.BOT))
    leases = Leases(tokens)

    async def fails():
        msg = "x"
        raise ServiceError(msg, code="watch.too-slow")

    with pytest.raises(ServiceError) as caught:
        await leases.run(token, fails())
    assert caught.value.code == "watch.too-slow"


async def test_a_call_that_is_cancelled_takes_what_it_waits_for_along():
    tokens = TokenStore()
    token = tokens.check(tokens.create("bob", Role.BOT))
    leases = Leases(tokens)
    ended = []

    async def waits():
        try:
            await asyncio.sleep(600)
        finally:
            ended.append(1)

    running = asyncio.create_task(leases.run(token, waits()))
    await asyncio.sleep(0.01)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert ended
    assert not leases._held


async def test_no_match_is_made_with_a_revoked_token(stage):
    async with Caller(stage, Role.REFEREE, "ref") as ref:
        stage.arena.tokens.revoke("ref")
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await ref.CreateMatch(game="pig")
    assert code_of(caught.value) == "auth.revoked-token"
    assert not stage.arena.matches()


async def test_a_revoked_token_ends_the_session(open_stage):
    stage = await open_stage(limits=Limits(ping_after_ms=60))
    async with stage.bot() as bot:
        stage.arena.tokens.revoke("bob")
        goodbye = await bot.until("goodbye")
    assert goodbye.code == "auth.revoked-token"


async def test_a_token_file_that_was_damaged_for_a_while_changes_nothing(
    open_stage, tmp_path
):
    path = tmp_path / "tokens.json"
    stage = await open_stage(
        limits=Limits(ping_after_ms=50, pong_within_ms=500), tokens=TokenStore(path)
    )
    async with stage.bot() as bot:
        good = path.read_bytes()
        path.write_bytes(b"{")
        before = len(bot.all("ping"))
        await bot.until("ping", count=before + 3)
        path.write_bytes(good)
        await bot.until("ping", count=len(bot.all("ping")) + 2)
        TokenStore(path).revoke("bob")
        goodbye = await bot.until("goodbye")
    assert goodbye.code == "auth.revoked-token"


async def test_the_link_is_watched_on_whatever_happens(open_stage, monkeypatch):
    stage = await open_stage(limits=Limits(ping_after_ms=60))
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)
    looks = iter([OSError(), OSError()])

    def good(_):
        for error in looks:
            raise error
        return False

    async with stage.bot() as bot:
        monkeypatch.setattr(stage.arena.tokens, "good", good)
        goodbye = await bot.until("goodbye")
    assert goodbye.code == "auth.revoked-token"
