"""The journal of a server: a line for what bots, matches and tokens do."""

from __future__ import annotations

import asyncio
import datetime as dt
import inspect
import json
import logging
import re
from pathlib import Path

import pytest
from tests.service.calls import Caller
from tests.service.house import plays
from tests.service.rawbot import RawBot, decide, first_legal, last_legal, until

from fritillary.api.v1 import bot_pb2 as pb
from fritillary.api.v1 import common_pb2, match_pb2
from fritillary.core.journal import JOURNAL
from fritillary.record.terms import (
    Consequence,
    EndKind,
    Fault,
    FaultRule,
    LinkBank,
    Policy,
    Terms,
)
from fritillary.referee import play
from fritillary.service import journal
from fritillary.service.auth import Leases
from fritillary.service.expiry import watch_expiry
from fritillary.service.tokens import Role, TokenStore

SEED = bytes(range(32))
BOTS = ["remote:bob", "uniform"]


@pytest.fixture
def heard(caplog):
    """Turns the journal on; returns what returns its lines of a kind."""
    caplog.set_level(logging.INFO, JOURNAL)

    def lines(*begin):
        told = [
            one.getMessage() for one in caplog.records if one.name.startswith(JOURNAL)
        ]
        return [line for line in told if line.startswith(begin)] if begin else told

    yield lines
    kinds = {" ".join(line.split()[:2]) for line in lines()}
    assert kinds <= documented()


def documented():
    """Return the kinds of lines that the page for operators explains."""
    page = (Path(__file__).parents[2] / "docs" / "operate.md").read_text("utf-8")
    table = page.partition("## The log\n")[2].partition("\n## ")[0]
    rows = [row.split("|")[1] for row in table.splitlines() if row.startswith("| `")]
    return {kind for row in rows for kind in re.findall(r"`([a-z]+ [a-z-]+)`", row)}


def test_every_line_that_is_documented_is_told_somewhere():
    kinds = documented()
    assert len(kinds) > 15
    source = "".join(inspect.getsource(module) for module in (journal, play))
    for kind in kinds:
        _, _, what = kind.partition(" ")
        assert re.search(rf'["\- ]{what.partition("-")[2] or what}[" ]', source), kind


def fields(line, *what):
    """Return the words of a line by name; it must begin with these."""
    words = line.split(" ")
    assert words[: len(what)] == list(what), line
    return dict(word.split("=", 1) for word in words[len(what) :])


async def the(heard, *what, count=1):
    """Return the words of the last of so many lines of a kind, when it is there."""
    begin = " ".join(what)
    await until(lambda: len(heard(begin)) >= count)
    found = heard(begin)
    assert len(found) == count
    return fields(found[-1], *what)


def ruled(seat=0, **words):
    """Return what a line about a ruling says."""
    return {"match": "m", "seat": str(seat), **words}


# ------------------------------------------------------------------------------- bots


async def test_a_bot_is_told_when_it_comes_resumes_and_goes(stage, heard):
    text = stage.token("bob")
    known = f"bob/{stage.arena.tokens.check(text).id}"
    info = common_pb2.PlayerInfo(name="Bob the Bot", version="1", build="x y")
    async with RawBot(stage.address, text, bot=info, capacity=3) as bot:
        token = bot.log[0][1].session_token
    came = await the(heard, "bot", "connected")
    assert came.pop("peer").startswith("127.0.0.1:")
    assert came == {
        "bot": known,
        "program": "Bob%20the%20Bot",
        "version": "1",
        "build": "x%20y",
        "capacity": "3",
    }
    lost = await the(heard, "bot", "lost")
    assert lost == {"bot": known, "reason": "cut", "matches": "0"}
    async with RawBot(stage.address, text, bot=info, session_token=token) as bot:
        assert (await the(heard, "bot", "resumed"))["bot"] == known
        await bot.send(goodbye=pb.Goodbye(code="bot.stopping"))
        lost = await the(heard, "bot", "lost", count=2)
    assert lost["reason"] == "bot.stopping"
    assert text not in str(heard())
    assert token not in str(heard())


async def test_a_bot_whose_place_is_taken_is_told_with_what_it_left(stage, heard):
    token = stage.token()
    async with RawBot(stage.address, token, play=None) as first:
        stage.arena.create("pig", BOTS)
        await first.until("decision_request")
        async with RawBot(stage.address, token, play=None) as second:
            await second.until("decision_request")
            lost = await the(heard, "bot", "lost")
            # Its seat was never without a bot.
            assert not heard("bot awaited", "bot back")
    assert (lost["reason"], lost["matches"]) == ("session.replaced", "1")
    assert len(heard("bot connected")) == 2


async def test_a_bot_that_was_revoked_says_so(stage, heard):
    async with stage.bot("bob") as bot:
        stage.arena.tokens.revoke("bob")
        await bot.until("closed")
    assert (await the(heard, "bot", "lost"))["reason"] == "auth.revoked-token"


async def test_a_seat_that_waits_for_its_bot_is_told_and_its_return(stage, heard):
    text = stage.token()
    async with RawBot(stage.address, text, play=plays(1)) as bot:
        stage.arena.create("pig", BOTS, match_id="m", seed=SEED)
        await bot.until("decision_request", count=2)
        token = bot.log[0][1].session_token
    waits = await the(heard, "bot", "awaited")
    assert 0 < int(waits.pop("left_ms")) <= 30_000
    assert waits == {"bot": "bob", "match": "m", "seat": "0"}
    async with RawBot(stage.address, text, play=first_legal, session_token=token):
        back = await the(heard, "bot", "back")
        assert 0 < int(back.pop("left_ms")) <= 120_000
        assert back == waits
        await stage.arena.wait("m")


async def test_a_bot_that_is_not_back_is_ruled_on_and_not_told_to_be_back(stage, heard):
    terms = Terms(policy=Policy.of(link=LinkBank(loss_ms=50, total_ms=50)))
    async with stage.bot(play=plays(1)) as bot:
        stage.arena.create("pig", BOTS, match_id="m", seed=SEED, terms=terms)
        await bot.until("decision_request", count=2)
    ruling = await the(heard, "match", "ruling")
    assert ruling == ruled(fault="disconnected", consequence="forfeit")
    ended = await the(heard, "match", "ended")
    assert ended["how"] == "forfeited"
    assert ended["code"] == "fault.disconnected"
    assert not heard("bot back")


# ---------------------------------------------------------------------------- matches


async def test_a_match_is_told_from_when_it_is_made_to_its_end(stage, heard):
    async with (
        stage.bot(play=last_legal) as bot,
        Caller(stage, Role.REFEREE) as referee,
    ):
        await referee.CreateMatch(
            game="pig",
            match_id="m",
            seed=SEED,
            seats=[match_pb2.SeatRequest(player=player) for player in BOTS],
            labels={"secret": "label"},
        )
        result = await stage.arena.wait("m")
        await bot.until("match_ended")
    made, started, ended = heard("match ")
    made = fields(made, "match", "made")
    assert made.pop("by").partition("/")[0] == "referee"
    assert made == {"match": "m", "game": "pig", "players": "remote:bob,uniform"}
    assert fields(started, "match", "started") == {"match": "m"}
    outcome = result.finish.outcome
    assert fields(ended, "match", "ended") == {
        "match": "m",
        "how": "played",
        "code": "-",
        "plies": str(result.plies),
        "reason": outcome.reason,
        "scores": ",".join(map(str, outcome.scores)),
        "places": ",".join(map(str, outcome.placing)),
    }
    assert "label" not in str(heard())


async def test_pauses_rulings_and_an_end_by_the_referee_are_told(stage, heard):
    rule = FaultRule(Fault.MALFORMED, Consequence.FORFEIT, 1)
    async with stage.bot(play=None) as bot:
        hosted = stage.arena.create(
            "pig", BOTS, match_id="m", terms=Terms(policy=Policy.of(rule))
        )
        await bot.send_all(decide(await bot.until("decision_request"), text="dance"))
        retry = await the(heard, "match", "ruling")
        assert retry == ruled(fault="malformed", consequence="retry")
        hosted.pause("coffee break")
        paused = await the(heard, "match", "paused")
        assert paused == {"match": "m", "message": "coffee%20break"}
        hosted.resume()
        assert await the(heard, "match", "resumed") == {"match": "m"}
        hosted.abort(EndKind.VOID, "match.aborted", "it rains")
        ended = await the(heard, "match", "ended")
    assert ended == {
        "match": "m",
        "how": "void",
        "code": "match.aborted",
        "plies": str(hosted.ply),
    }


async def test_a_match_nobody_comes_for_never_starts(stage, heard):
    terms = Terms(offer_ms=50)
    await stage.arena.play("pig", BOTS, match_id="m", terms=terms)
    kinds = [" ".join(line.split()[:2]) for line in heard("match ")]
    assert kinds[0] == "match made"
    assert kinds[-1] == "match ended"
    assert "match started" not in kinds
    assert "match ruling" in kinds


async def test_a_match_that_could_not_be_played_has_failed(stage, heard, monkeypatch):
    async def fails(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr(stage.arena._seats, "take", fails)
    stage.arena.create("pig", ["uniform", "uniform"], match_id="m")
    ended = await the(heard, "match", "ended")
    assert ended == {"match": "m", "how": "failed", "code": "internal"}


async def test_a_program_is_told_without_its_arguments(stage, heard):
    stage.arena.create("pig", ["exec:/opt/x/bot --key secret", "uniform"], match_id="m")
    made = await the(heard, "match", "made")
    assert made["players"] == "exec:bot,uniform"
    await stage.arena.wait("m")
    assert "secret" not in str(heard())
    assert "/opt" not in str(heard())


async def test_a_match_that_goes_on_after_a_restart_is_told(house, heard):
    async with house.bot(play=plays(2)) as bot:
        house.create()
        await bot.until("decision_request", count=3)
        await house.stop()
        kept = await the(heard, "match", "kept")
        assert kept["match"] == "m"
        assert int(kept["ply"]) > 0
        # When the server stops nobody waits.
        lost = await the(heard, "bot", "lost")
        assert lost["reason"] == "server.stopping"
        assert not heard("bot awaited")
    await house.start()
    taken = await the(heard, "match", "taken-up")
    assert taken == {
        "match": "m",
        "game": "pig",
        "players": "remote:bob,uniform",
        "was": "dealt",
        "awaits": "bob",
    }
    async with house.bot(play=first_legal) as bot:
        await the(heard, "bot", "back")
        await house.arena.wait("m")
        await bot.until("match_ended")
    assert (await the(heard, "match", "ended"))["how"] == "played"
    assert len(heard("match started")) == 1


async def test_nothing_hidden_is_told(stage, heard):
    async with stage.bot(play=None) as bot:
        salt = b"s" * 32
        stage.arena.create("pig", BOTS, match_id="m", seed=SEED, salt=salt)
        for count in range(1, 4):
            request = await bot.until("decision_request", count=count)
            decision = pb.Decision(
                match_id="m",
                decision_id=request.decision_id,
                index=request.legal[-1],
                note="a remark",
            )
            await bot.send(decision=decision)
        await bot.until("decision_closed", count=3)
        token = bot.log[0][1].session_token
    told = str(heard())
    for hidden in (SEED.hex(), salt.hex(), "remark", "hold", token):
        assert hidden not in told


async def test_what_strangers_choose_is_one_word_of_bounded_length(stage, heard):
    name = "\x1b[31m bot=x\n\N{SNOWMAN}" * 100
    info = common_pb2.PlayerInfo(name=name, version=name, build="b" * 500)
    async with stage.bot(bot=info):
        [line] = heard("bot connected")
    assert line.isascii()
    assert line.isprintable()
    assert len(line) < 2_500
    assert fields(line, "bot", "connected")["bot"].startswith("bob/")


async def test_without_a_listener_no_line_is_put_together(stage, caplog, monkeypatch):
    monkeypatch.setattr("fritillary.service.journal.word", None)
    async with stage.bot(play=last_legal) as bot:
        result = await stage.arena.play("pig", BOTS)
        await bot.until("match_ended")
    assert result.finish.kind is EndKind.PLAYED
    assert not [one for one in caplog.records if one.name.startswith(JOURNAL)]


# ------------------------------------------------------------- tokens, the certificate


async def test_tokens_made_and_revoked_by_another_process_are_told(
    open_stage, tmp_path, heard
):
    path = tmp_path / "tokens.json"
    TokenStore(path).create("old", Role.BOT)
    await open_stage(tokens=TokenStore(path))
    others = TokenStore(path)
    text = others.create("bob", Role.SPECTATOR)
    added = await the(heard, "token", "added")
    known = f"bob/{others.check(text).id}"
    assert added == {"token": known, "role": "spectator"}
    others.revoke("bob")
    revoked = await the(heard, "token", "revoked")
    assert revoked == {"token": known, "role": "spectator"}
    path.unlink()
    removed = await the(heard, "token", "removed")
    assert removed["token"].startswith("old/")
    assert text not in str(heard())


async def test_a_token_that_expires_is_told_once(open_stage, tmp_path, heard):
    now = [1_000]
    store = TokenStore(tmp_path / "tokens.json", now_ms=lambda: now[0])
    await open_stage(tokens=store)
    text = store.create("bob", Role.BOT, expires_at_ms=2_000)
    known = f"bob/{store.check(text).id}"
    await the(heard, "token", "added")
    now[0] = 2_000
    expired = await the(heard, "token", "expired")
    assert expired == {"token": known, "role": "bot"}
    store.create("eve", Role.BOT)
    await the(heard, "token", "added", count=2)
    assert len(heard("token")) == 3


class Tokens:
    """A file of tokens, whoever looks at it, and the clock of both."""

    def __init__(self, path):
        self.path = path
        self.now = 1_000
        self.store = TokenStore(path, now_ms=lambda: self.now)
        self.leases = Leases(self.store)

    def by_hand(self, **fields):
        """Change the only token in the file."""
        data = json.loads(self.path.read_text("ascii"))
        data["tokens"][0] |= fields
        self.path.write_text(json.dumps(data), encoding="ascii")


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        (["made"], ["added"]),
        (["made", "revoked"], ["added", "revoked"]),
        (["made", "late"], ["added", "expired"]),
        (["made", "late", "revoked"], ["added", "expired", "revoked"]),
        (["made", "late", "revoked", "early"], ["added", "expired", "revoked"]),
        (["made", "revoked", "late", "early"], ["added", "revoked"]),
        (["made", "late", "early"], ["added", "expired"]),
        (["made", "late", "early", "late"], ["added", "expired", "expired"]),
        (["made", "late", "early", "revoked"], ["added", "expired", "revoked"]),
        (["made and revoked"], ["added", "revoked"]),
        (["made", "removed"], ["added", "removed"]),
        (["made", "late", "removed"], ["added", "expired", "removed"]),
        (["made", "revoked", "removed"], ["added", "revoked"]),
        (["made", "revoked", "given back"], ["added", "revoked", "added"]),
        (["made", "late", "prolonged"], ["added", "expired", "added"]),
        (["made", "prolonged", "late"], ["added"]),
        (["made", "removed", "made"], ["added", "removed", "added"]),
    ],
    ids=lambda some: "-".join(some).replace(" ", "_"),
)
def test_whatever_happens_to_a_token_is_told_and_nothing_else(
    tmp_path, heard, steps, told
):
    one = Tokens(tmp_path / "tokens.json")
    does = {
        "made": lambda: one.store.create("bob", Role.BOT, expires_at_ms=2_000),
        "revoked": lambda: one.store.revoke("bob"),
        "late": lambda: setattr(one, "now", 2_000),
        "early": lambda: setattr(one, "now", 1_500),
        "removed": one.path.unlink,
        "given back": lambda: one.by_hand(revoked_at_ms=None),
        "prolonged": lambda: one.by_hand(expires_at_ms=3_000_000),
    }
    for step in steps:
        for part in step.split(" and "):
            does[part]()
        one.leases.look()
        one.leases.look()
    assert [line.split()[1] for line in heard("token")] == told
    assert {line.split()[2][:10] for line in heard()} == {"token=bob/"}


@pytest.mark.parametrize(
    ("days", "what"),
    [(13.5, "certificate-ending"), (0.1, "certificate-ending"), (-3, None), (15, "")],
    ids=["soon", "today", "over", "later"],
)
async def test_a_certificate_is_warned_of_while_there_is_time(heard, days, what):
    now = dt.datetime(2027, 3, 1, 12, tzinfo=dt.UTC)
    until_then = now + dt.timedelta(days=days)
    watching = asyncio.create_task(watch_expiry(lambda: until_then, lambda: now))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    watching.cancel()
    found = heard("server ")
    if what == "":
        assert not found
        return
    [line] = found
    told = fields(line, "server", what or "certificate-over")
    assert told["until"] == f"{until_then:%Y-%m-%dT%H:%MZ}"
    assert int(told["days"]) == int(days // 1)


async def test_the_end_of_a_certificate_is_told_when_it_comes(heard, monkeypatch):
    now = [dt.datetime(2027, 3, 1, 12, tzinfo=dt.UTC)]
    end = now[0] + dt.timedelta(hours=1)
    waits = []

    async def sleep(seconds):
        waits.append(seconds)
        now[0] += dt.timedelta(seconds=seconds)
        if len(waits) == 3:
            raise asyncio.CancelledError

    monkeypatch.setattr("fritillary.service.expiry.asyncio.sleep", sleep)
    with pytest.raises(asyncio.CancelledError):
        await watch_expiry(lambda: end, lambda: now[0])
    assert [line.split()[1] for line in heard("server ")] == [
        "certificate-ending",
        "certificate-over",
        "certificate-over",
    ]
    assert waits == [3_601, 24 * 3_600, 24 * 3_600]
