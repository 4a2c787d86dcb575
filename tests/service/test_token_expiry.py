"""A token that has expired: it is refused, and what runs with it ends."""

from __future__ import annotations

import json

import grpc
import pytest
from tests.service.calls import Caller, bearer, code_of, outcome_of
from tests.service.house import House
from tests.service.rawbot import first_legal, last_legal, until

from fritillary.api.v1 import bot_pb2_grpc, match_pb2, match_pb2_grpc
from fritillary.core.errors import ServiceError, StorageError, UsageError
from fritillary.record.terms import EndKind
from fritillary.service.auth import Leases
from fritillary.service.tokens import Role, TokenStore

#: 2027-03-01 12:00:00 UTC.
NOON = 1_803_902_400_000
HOUR = 3_600_000


class Clock:
    """The wall clock of a store, set by hand."""

    def __init__(self, ms=NOON):
        self.ms = ms

    def __call__(self):
        return self.ms


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "tokens.json"


@pytest.fixture
def store(path, clock):
    return TokenStore(path, now_ms=clock)


def refusal(store, text):
    """Return the error with which a text is refused."""
    with pytest.raises(ServiceError) as caught:
        store.check(text)
    return caught.value


# ------------------------------------------------------------------------- the store


def test_a_token_is_good_until_the_very_moment_and_not_after_it(store, clock, path):
    text = store.create("bob", Role.BOT, expires_at_ms=NOON + HOUR)
    token = store.check(text)
    assert token.expires_at_ms == NOON + HOUR
    clock.ms = NOON + HOUR - 1
    assert store.check(text) == token
    assert store.good(token)
    clock.ms += 1
    for one in (store, TokenStore(path, now_ms=clock)):
        assert not one.good(token)
        assert not one.stays(token)
        error = refusal(one, text)
        assert error.code == "auth.expired-token"
        assert "expired on 2027-03-01 13:00:00 UTC" in error.message
        assert "fritillary token create" in error.message


def test_who_only_guesses_learns_nothing_of_a_token_that_has_expired(store, clock):
    text = store.create("bob", Role.BOT, expires_at_ms=NOON + 1)
    token = store.check(text)
    before = refusal(store, "frt_bot_guess")
    clock.ms += HOUR
    for guess in ("frt_bot_guess", text[:-1], text + "x", "bob", token.id, token.hash):
        error = refusal(store, guess)
        assert (error.code, error.message) == (before.code, before.message)
    assert token.name not in refusal(store, text).message
    assert token.id not in refusal(store, text).message


def test_a_revoked_token_stays_a_revoked_one_when_it_has_expired(store, clock):
    text = store.create("bob", Role.BOT, expires_at_ms=NOON + HOUR)
    store.revoke("bob")
    clock.ms += 2 * HOUR
    assert refusal(store, text).code == "auth.revoked-token"


def test_an_expired_token_that_was_revoked_is_not_brought_back_by_the_clock(
    store, clock
):
    text = store.create("bob", Role.BOT, expires_at_ms=NOON + HOUR)
    other = store.create("eve", Role.BOT, expires_at_ms=NOON + HOUR)
    clock.ms += 2 * HOUR
    assert [token.name for token in store.revoke("bob")] == ["bob"]
    clock.ms = NOON
    assert refusal(store, text).code == "auth.revoked-token"
    assert store.check(other).name == "eve"


def test_an_expired_token_makes_room_for_another_of_its_name(store, clock):
    first = store.create("bob", Role.BOT, again=False, expires_at_ms=NOON + HOUR)
    with pytest.raises(UsageError, match="until 2027-03-01 13:00:00 UTC") as caught:
        store.create("bob", Role.BOT, again=False)
    assert caught.value.code == "usage.token-exists"
    clock.ms += HOUR
    second = store.create("bob", Role.BOT, again=False)
    assert refusal(store, first).code == "auth.expired-token"
    assert store.check(second).expires_at_ms is None
    assert [store.state(token) for token in store.list()] == ["expired", "good"]


def test_each_token_of_a_name_expires_as_was_said_when_it_was_made(store, clock):
    texts = [
        store.create("bob", Role.BOT, expires_at_ms=at)
        for at in (NOON + HOUR, None, NOON + 2 * HOUR)
    ]
    clock.ms = NOON + HOUR
    assert refusal(store, texts[0]).code == "auth.expired-token"
    assert [store.check(text).name for text in texts[1:]] == ["bob", "bob"]
    assert len(store.good_of("bob")) == 2


@pytest.mark.parametrize("ago", [0, 1, HOUR])
def test_no_token_is_made_that_has_expired_already(store, path, ago):
    with pytest.raises(UsageError, match="is over") as caught:
        store.create("bob", Role.BOT, expires_at_ms=NOON - ago)
    assert caught.value.code == "usage.expires"
    assert not path.exists()


def test_a_file_from_before_tokens_expired_is_read_and_written_as_it_was(
    store, path, clock
):
    row = {
        "name": "bob",
        "role": "bot",
        "hash": "0" * 64,
        "created_at_ms": 1,
        "revoked_at_ms": None,
    }
    path.write_text(json.dumps({"format": 1, "tokens": [row]}), encoding="ascii")
    [token] = store.list()
    assert token.expires_at_ms is None
    assert store.state(token) == "good"
    store.create("eve", Role.BOT)
    store.create("mia", Role.BOT, expires_at_ms=NOON + 1)
    rows = json.loads(path.read_text("ascii"))["tokens"]
    assert rows[0] == row
    assert rows[1].keys() == row.keys()
    assert rows[2]["expires_at_ms"] == NOON + 1


@pytest.mark.parametrize("value", ["soon", -1, 1.5, 2**53])
def test_an_expiry_that_is_none_makes_the_file_unreadable(path, value):
    row = {"name": "bob", "role": "bot", "hash": "0" * 64, "created_at_ms": 1}
    rows = [{**row, "expires_at_ms": value}]
    path.write_text(json.dumps({"format": 1, "tokens": rows}), encoding="ascii")
    with pytest.raises(StorageError, match="no token file"):
        TokenStore(path)


def test_a_token_that_expires_counts_as_one_change(store, clock):
    for name, at in (("a", HOUR), ("b", 2 * HOUR), ("c", 2 * HOUR)):
        store.create(name, Role.BOT, expires_at_ms=NOON + at)
    changes = store.changes()
    for ms, more in ((HOUR - 1, 0), (HOUR, 1), (2 * HOUR - 1, 1), (2 * HOUR, 2)):
        clock.ms = NOON + ms
        assert store.changes() == changes + more
        assert store.changes() == changes + more


def test_after_the_clock_was_set_back_a_token_expires_again(store, clock):
    store.create("bob", Role.BOT, expires_at_ms=NOON + HOUR)
    clock.ms += 2 * HOUR
    store.changes()
    clock.ms = NOON
    changes = store.changes()
    clock.ms += HOUR
    assert store.changes() > changes


@pytest.mark.parametrize("kept", [True, False])
def test_what_is_held_is_looked_at_once_a_token_has_expired(path, clock, kept):
    store = TokenStore(path if kept else None, now_ms=clock)
    leases = Leases(store)
    ended = []
    texts = {
        "bob": store.create("bob", Role.BOT, expires_at_ms=NOON + HOUR),
        "eve": store.create("eve", Role.BOT, expires_at_ms=NOON + 2 * HOUR),
    }
    with (
        leases.held(store.check(texts["bob"]), lambda: ended.append("bob")),
        leases.held(store.check(texts["eve"]), lambda: ended.append("eve")),
    ):
        leases.look()
        assert not ended
        clock.ms += HOUR
        leases.look()
        leases.look()
    assert ended == ["bob"]


# ---------------------------------------------------------------------- at a server


async def dialled(address, text):
    """Dial in as a bot; return the code with which the server refuses."""
    async with grpc.aio.insecure_channel(address) as channel:
        stub = bot_pb2_grpc.BotServiceStub(channel)
        return await outcome_of(stub.Connect(metadata=bearer(text)))


async def to_its_end(call):
    """Read a stream until it ends."""
    while await call.read() is not grpc.aio.EOF:
        pass


async def test_a_session_ends_when_its_token_expires(open_stage, store, clock):
    stage = await open_stage(tokens=store)
    text = store.create("bob", Role.BOT, expires_at_ms=NOON + HOUR)
    async with stage.bot("bob", text) as bob, stage.bot("eve") as eve:
        clock.ms += HOUR
        goodbye = await bob.until("goodbye")
        await bob.until("closed")
        await eve.send(capacity={"matches": 3})
        assert "goodbye" not in eve.kinds()
    assert goodbye.code == "auth.expired-token"
    assert "2027-03-01 13:00:00 UTC" in goodbye.message
    assert not goodbye.HasField("reconnect_after_ms")
    assert await dialled(stage.address, text) == "auth.expired-token"


async def test_watching_ends_when_the_token_expires(open_stage, store, clock):
    stage = await open_stage(tokens=store)
    text = store.create("ann", Role.SPECTATOR, expires_at_ms=NOON + HOUR)
    async with (
        stage.bot(play=None) as bot,
        grpc.aio.insecure_channel(stage.address) as channel,
    ):
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"])
        await bot.until("decision_request")
        call = match_pb2_grpc.MatchServiceStub(channel).WatchMatch(
            match_pb2.WatchMatchRequest(match_id=hosted.id), metadata=bearer(text)
        )
        await call.read()
        clock.ms += HOUR
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await to_its_end(call)
        assert code_of(caught.value) == "auth.expired-token"
        assert "2027-03-01 13:00:00 UTC" in str(caught.value.details())
        await until(lambda: not hosted._watchers)
        hosted.abort(EndKind.VOID, "test", "enough")
        await hosted.ended


async def test_a_bot_goes_on_with_its_match_with_a_new_token(open_stage, store, clock):
    stage = await open_stage(tokens=store)
    text = store.create("bob", Role.BOT, expires_at_ms=NOON + HOUR)
    async with stage.bot("bob", text, play=None) as bob:
        hosted = stage.arena.create("pig", ["remote:bob", "uniform"])
        await bob.until("decision_request")
        session = (await bob.until("welcome")).session_token
        clock.ms += HOUR
        await bob.until("closed")
    text = store.create("bob", Role.BOT, again=False)
    async with stage.bot("bob", text, play=last_legal, session_token=session) as bob:
        assert (await bob.until("welcome")).resumed
        result = await hosted.ended
    assert result.finish.kind is EndKind.PLAYED


async def test_a_token_that_expires_while_the_server_is_down_does_not_come_back(
    tmp_path, store, path, clock
):
    house = House(tmp_path / "house")
    house.tokens = store
    house.text = store.create("bob", Role.BOT, expires_at_ms=NOON + HOUR)
    await house.start()
    async with house.bot(play=None) as bot:
        house.create()
        await bot.until("decision_request")
        session = (await bot.until("welcome")).session_token
        await house.stop()
    clock.ms += 2 * HOUR
    house.tokens = TokenStore(path, now_ms=clock)
    await house.start()
    assert await dialled(house.address, house.text) == "auth.expired-token"
    house.text = house.tokens.create("bob", Role.BOT, again=False)
    async with house.bot(play=first_legal, session_token=session) as bot:
        assert (await bot.until("welcome")).resumed
        result = await house.arena.wait("m")
    await house.stop()
    assert result.finish.kind is EndKind.PLAYED


async def test_after_a_restart_a_session_ends_at_the_same_time(
    tmp_path, store, path, clock
):
    house = House(tmp_path / "house")
    house.tokens = store
    house.text = store.create("bob", Role.BOT, expires_at_ms=NOON + HOUR)
    await house.start()
    await house.stop()
    house.tokens = TokenStore(path, now_ms=clock)
    await house.start()
    async with house.bot() as bot:
        clock.ms += HOUR
        assert (await bot.until("goodbye")).code == "auth.expired-token"
    await house.stop()


async def test_a_referee_whose_token_has_expired_makes_no_match(
    open_stage, store, clock
):
    stage = await open_stage(tokens=store)
    async with Caller(stage, Role.REFEREE, "ref") as ref:
        text = store.create("late", Role.REFEREE, expires_at_ms=NOON + 1)
        ref.metadata = bearer(text)
        clock.ms += 1
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await ref.CreateMatch(game="pig")
    assert code_of(caught.value) == "auth.expired-token"
    assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED
    assert not stage.arena.matches()
