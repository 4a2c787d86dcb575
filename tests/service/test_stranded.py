"""Matches that cannot be taken up after a restart: seen, ended, or taken up later."""

from __future__ import annotations

import contextlib
import errno
import logging
import os

import grpc
import pytest
from tests.service.calls import Caller, outcome_of
from tests.service.house import SEED, plays
from tests.service.rawbot import first_legal, until
from tests.service.shelf import shelf

from fritillary.api.v1 import common_pb2, match_pb2
from fritillary.core.journal import JOURNAL
from fritillary.record.events import Closed, Dealt, Ended, Header, Revealed
from fritillary.record.terms import EndKind
from fritillary.record.writer import FileSink
from fritillary.referee.verify import verify
from fritillary.service.metrics import families
from fritillary.service.tokens import Role

GAME = "pig+same"
SALT = bytes(range(100, 132))

#: What is installed at the second start, and what is told of it.
OTHERS = pytest.mark.parametrize(
    ("others", "told"),
    [
        (shelf(), "no game 'pig'"),
        (shelf("home", version=2), "installed are rules 2"),
        (shelf("home", variant=0), "no variant 'same'"),
        (shelf("home", variant=2), "installed is same 2"),
    ],
    ids=["no-game", "other-rules", "no-variant", "other-variant"],
)


async def broken_off(house, **more):
    """Kill the server in the midst of a match; return the session's token."""
    await house.stop()
    await house.start(shelf("home"))
    settings = {"match_id": "m", "seed": SEED, "salt": SALT, "labels": {"round": "1"}}
    async with house.bot(play=plays(2)) as bot:
        house.arena.create(GAME, ["remote:bob", "uniform"], **{**settings, **more})
        await bot.until("decision_request", count=3)
        async with Caller(house, Role.REFEREE, "before") as referee:
            house.before = (await referee.GetMatch(match_id="m")).match
        await house.crash()
        return bot.log[0][1].session_token


@contextlib.asynccontextmanager
async def referee_of(house):
    async with Caller(house, Role.REFEREE, "rita") as referee:
        yield referee


async def the_match(house, role=Role.REFEREE, name="rita"):
    """Return the match as somebody may see it."""
    async with Caller(house, role, name) as one:
        return (await one.GetMatch(match_id="m")).match


async def aborted(house, **more):
    """Abort the match; return what is answered."""
    async with referee_of(house) as referee:
        return (await referee.AbortMatch(match_id="m", message="gone", **more)).match


# --------------------------------------------------------------------- what is seen


@OTHERS
async def test_it_is_told_of_as_it_stood_and_why(house, others, told):
    await broken_off(house)
    await house.start(others)
    match = await the_match(house)
    async with referee_of(house) as referee:
        assert [*(await referee.ListMatches()).matches] == [match]
    assert match.phase == common_pb2.MATCH_PHASE_STRANDED
    assert told in match.stranded_reason
    assert match.players == ["remote:bob", "uniform"]
    assert match.ply >= 2
    # All else is as before.
    before = house.before
    match.phase = before.phase
    match.ClearField("stranded_reason")
    match.ply = before.ply
    assert match == before


async def test_who_is_no_referee_sees_less_and_strangers_nothing(house):
    await broken_off(house)
    await house.start(shelf())
    seen = await the_match(house, Role.SPECTATOR, "eve")
    own = await the_match(house, Role.BOT, "bob")
    for one in (seen, own):
        assert not one.players
        assert "cannot be used on this server" in one.stranded_reason
    assert seen.labels
    assert not own.labels
    async with Caller(house, Role.BOT, "mallory") as stranger:
        assert await outcome_of(stranger.GetMatch(match_id="m")) == "match.unknown"


@pytest.mark.parametrize("sealed", [False, True])
async def test_nothing_of_its_deal_or_its_record_is_handed_out(house, sealed):
    await broken_off(house, sealed=sealed)
    await house.start(shelf())
    code = "match.sealed" if sealed else "record.private"
    for role, name in (
        (Role.REFEREE, "rita"),
        (Role.SPECTATOR, "eve"),
        (Role.BOT, "bob"),
    ):
        async with Caller(house, role, name) as one:
            assert await outcome_of(one.FetchRecord(match_id="m")) == code
            raw = (await one.GetMatch(match_id="m")).SerializeToString()
            if role is not Role.BOT:
                raw += (await one.ListMatches()).SerializeToString()
        for secret in (SEED, SALT):
            assert secret not in raw
            assert secret.hex().encode() not in raw
    full = {"match_id": "m", "view": match_pb2.RECORD_VIEW_FULL}
    async with referee_of(house) as referee:
        code = "match.sealed" if sealed else "record.open"
        assert await outcome_of(referee.FetchRecord(**full)) == code


async def test_it_can_be_neither_watched_nor_paused_and_says_why(house):
    await broken_off(house)
    await house.start(shelf())
    async with referee_of(house) as referee:
        for method in ("WatchMatch", "PauseMatch", "ResumeMatch"):
            call = getattr(referee, method)(match_id="m")
            assert await outcome_of(call) == "match.phase"
        with pytest.raises(grpc.aio.AioRpcError, match="no game 'pig'"):
            await referee.PauseMatch(match_id="m")


async def test_its_id_stays_taken(house):
    await broken_off(house)
    await house.start(shelf("home", version=2))
    async with referee_of(house) as referee:
        seats = [match_pb2.SeatRequest(player="uniform")] * 2
        call = referee.CreateMatch(game="pig", match_id="m", seats=seats)
        assert await outcome_of(call) == "match.exists"


async def test_lists_have_it_at_its_place_and_by_all_that_is_asked(house):
    await broken_off(house)
    await house.start(shelf("home", variant=0))
    for match_id in ("n", "o"):
        await house.arena.play("pig", ["uniform", "uniform"], match_id=match_id)
    async with referee_of(house) as referee:

        async def ids(**wanted):
            found, token = [], ""
            while True:
                page = await referee.ListMatches(
                    page_size=1, page_token=token, **wanted
                )
                found += [match.match_id for match in page.matches]
                token = page.next_page_token
                if not token:
                    return found

        assert await ids() == ["o", "n", "m"]
        assert await ids(phases=[common_pb2.MATCH_PHASE_STRANDED]) == ["m"]
        assert await ids(phases=[common_pb2.MATCH_PHASE_ENDED]) == ["o", "n"]
        assert await ids(phases=[common_pb2.MATCH_PHASE_RUNNING]) == []
        assert await ids(game="pig+same") == ["m"]
        assert await ids(game="home:pig+same") == ["m"]
        assert await ids(game="pig") == ["o", "n"]
        assert await ids(labels={"round": "1"}) == ["m"]
        assert await ids(labels={"round": "2"}) == []
        await referee.AbortMatch(match_id="m")
        assert await ids() == ["o", "n", "m"]


async def test_it_is_counted_until_it_is_aborted(house):
    pytest.importorskip("prometheus_client")
    await broken_off(house)
    await house.start(shelf())

    def counted():
        for family in families(house.arena, house.server):
            for sample in family.samples:
                if sample.labels.get("phase") == "stranded":
                    return sample.value
        return None

    assert counted() == 1
    await aborted(house)
    assert counted() == 0


async def test_what_may_name_files_of_the_server_is_told_to_its_log_alone(
    house, caplog
):
    await broken_off(house)
    (house.records / "m.frec").rename(house.records / "m.away")
    await house.start(shelf("home"))
    assert "m.frec is missing" in caplog.text
    match = await the_match(house)
    assert match.phase == common_pb2.MATCH_PHASE_STRANDED
    assert "log of the server" in match.stranded_reason
    assert str(house.path) not in match.stranded_reason


async def test_a_program_that_may_not_be_started_is_told_of_as_such(house):
    await house.stop()
    await house.start(shelf("home"))
    async with house.bot(play=plays(0)) as bot:
        house.arena.create("pig", ["remote:bob", "python:nowhere:Nobody"], match_id="m")
        await bot.until("match_offer")
        await house.crash()
    await house.start(shelf("home"), programs=False)
    match = await the_match(house)
    assert match.phase == common_pb2.MATCH_PHASE_STRANDED
    assert "starts none" in match.stranded_reason
    assert (await aborted(house)).phase == common_pb2.MATCH_PHASE_ENDED


# ------------------------------------------------------------------- it is taken up


@OTHERS
async def test_it_goes_on_once_its_game_is_back(house, others, told):
    token = await broken_off(house)
    record = (house.records / "m.frec").read_bytes()
    await house.start(others)
    assert house.taken_up == 0
    await the_match(house)
    await house.stop()
    assert (house.records / "m.frec").read_bytes() == record
    await house.start(shelf("home"))
    assert house.taken_up == 1
    assert not house.arena.stranded
    async with house.bot(play=first_legal, session_token=token) as bot:
        ended = await bot.until("match_ended")
    assert ended.result.kind == common_pb2.MATCH_END_KIND_PLAYED
    assert ended.result.reveal.seed == SEED


# ---------------------------------------------------------------------- it is ended


@OTHERS
@pytest.mark.parametrize("kind", [EndKind.VOID, EndKind.WITHDRAWN])
async def test_a_referee_ends_it_for_good(house, others, told, kind):
    await broken_off(house)
    await house.start(others)
    wire_kind = common_pb2.MatchEndKind.Value(f"MATCH_END_KIND_{kind.name}")
    match = await aborted(house, kind=wire_kind)
    assert match.phase == common_pb2.MATCH_PHASE_ENDED
    assert (match.result.kind, match.result.code) == (wire_kind, "match.aborted")
    assert match.result.message == "gone"
    assert match.result.reveal.seed == SEED
    assert not match.stranded_reason
    assert match == await the_match(house)
    *_, ended, revealed, closed = house.record().events
    assert isinstance(ended, Ended)
    assert (ended.kind, ended.code, ended.message) == (kind, "match.aborted", "gone")
    assert isinstance(revealed, Revealed)
    assert isinstance(closed, Closed)
    raw = (house.records / "m.frec").read_bytes()
    assert verify(raw, shelf("home")).record.header.match_id == "m"
    async with Caller(house, Role.SPECTATOR, "eve") as eve:
        parts = [one.data async for one in eve.FetchRecord(match_id="m")]
        assert b"".join(parts) == raw
    async with referee_of(house) as referee:
        for method in ("AbortMatch", "PauseMatch"):
            call = getattr(referee, method)(match_id="m")
            assert await outcome_of(call) == "match.phase"
    await house.stop()
    await house.start(shelf("home"))
    assert house.taken_up == 0
    assert (await the_match(house)).result == match.result


async def test_only_referees_end_it(house):
    await broken_off(house)
    await house.start(shelf())
    for role, name in ((Role.SPECTATOR, "eve"), (Role.BOT, "bob")):
        async with Caller(house, role, name) as one:
            assert await outcome_of(one.AbortMatch(match_id="m")) == "auth.wrong-role"
    assert [*house.arena.stranded] == ["m"]


async def test_a_bot_that_waits_for_it_hears_of_its_end_and_no_more_is_kept(house):
    token = await broken_off(house)
    await house.start(shelf())
    async with house.bot(session_token=token) as bot:
        assert (await bot.until("welcome")).resumed
        await aborted(house)
        ended = await bot.until("match_ended")
        assert ended.match_id == "m"
        assert ended.result.code == "match.aborted"
        await until(lambda: not set(house.private.matches()))


@pytest.mark.parametrize("restart", [False, True])
async def test_a_bot_that_is_away_hears_of_its_end_when_it_is_back(house, restart):
    token = await broken_off(house)
    await house.start(shelf())
    await aborted(house)
    assert set(house.private.matches()) == {"m"}
    if restart:
        await house.stop()
        await house.start(shelf())
    async with house.bot(session_token=token) as bot:
        assert (await bot.until("match_ended")).result.code == "match.aborted"
        await until(lambda: not set(house.private.matches()))


async def test_a_bot_that_has_begun_anew_is_not_told_of_what_it_does_not_know(house):
    await broken_off(house)
    await house.start(shelf())
    async with house.bot() as bot:
        await aborted(house)
        await until(lambda: not set(house.private.matches()))
        assert "match_ended" not in bot.kinds()


async def test_a_deal_that_others_are_to_play_stays_closed(house):
    await broken_off(house, sealed=True)
    await house.start(shelf())
    match = await aborted(house)
    assert match.phase == common_pb2.MATCH_PHASE_ENDED
    assert not match.result.HasField("reveal")
    assert isinstance(house.record().events[-1], Ended)
    assert SEED.hex().encode() not in (house.records / "m.frec").read_bytes()
    async with referee_of(house) as referee:
        assert await outcome_of(referee.FetchRecord(match_id="m")) == "match.sealed"
    # Its seed is needed until the deal is revealed.
    assert set(house.private.matches()) == {"m"}


async def test_the_journal_tells_its_end(house, caplog):
    caplog.set_level(logging.INFO, JOURNAL)
    await broken_off(house)
    await house.start(shelf())
    await aborted(house)
    *_, line = [one for one in caplog.messages if one.startswith("match ended")]
    assert "match=m how=withdrawn code=match.aborted plies=" in line
    assert "recorded=no" not in line


async def test_on_a_full_disk_it_stays_as_it_is_and_is_ended_later(house, monkeypatch):
    await broken_off(house)
    await house.start(shelf())
    events = house.record().events

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as broken:
        broken.setattr(FileSink, "write", full)
        async with referee_of(house) as referee:
            call = referee.AbortMatch(match_id="m")
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await call
    assert "No space left" in str(caught.value.details())
    assert str(house.path) not in str(caught.value.details())
    assert (await the_match(house)).phase == common_pb2.MATCH_PHASE_STRANDED
    assert house.record().events == events
    assert (await aborted(house)).phase == common_pb2.MATCH_PHASE_ENDED


async def test_a_record_that_could_not_be_closed_is_closed_by_the_next_start(
    house, monkeypatch, caplog
):
    await broken_off(house)
    await house.start(shelf())

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as broken:
        broken.setattr("fritillary.service.restart.reveal_record", full)
        match = await aborted(house)
    assert match.phase == common_pb2.MATCH_PHASE_ENDED
    assert isinstance(house.record().events[-1], Ended)
    assert set(house.private.matches()) == {"m"}
    await house.stop()
    await house.start(shelf())
    assert isinstance(house.record().events[-1], Closed)
    assert (await the_match(house)).result.reveal.seed == SEED


# ---------------------------------------------------------- what no record can tell


def aside(house):
    """Return the names of what was moved aside, by folder."""
    folder = house.private.path / "aside"
    return {
        one.name.rpartition("-")[0]: {file.name for file in one.iterdir()}
        for one in folder.iterdir()
    }


@pytest.mark.parametrize(
    ("spoil", "why", "left"),
    [
        (lambda path: path.write_bytes(b""), "it had not begun", {"m.frec"}),
        (lambda path: path.write_bytes(b"x" * 500), "is damaged", {"m.frec"}),
        (lambda path: path.unlink(), "is missing", set()),
    ],
    ids=["no-header", "damaged", "missing"],
)
async def test_where_no_record_can_tell_its_end_all_is_moved_aside(
    house, spoil, why, left
):
    token = await broken_off(house)
    spoil(house.records / "m.frec")
    await house.start(shelf("home", variant=0))
    match = await the_match(house)
    assert match.phase == common_pb2.MATCH_PHASE_STRANDED
    assert (match.game.id, match.ply) == ("pig", 0)
    assert [seat.player.name for seat in match.seats] == ["bob", "uniform"]
    assert match.commitment == house.before.commitment
    async with house.bot(session_token=token) as bot:
        ended = await aborted(house)
        assert (await bot.until("match_ended")).result.code == "match.aborted"
    assert ended.phase == common_pb2.MATCH_PHASE_ENDED
    assert ended.result.kind == common_pb2.MATCH_END_KIND_WITHDRAWN
    assert not ended.result.HasField("reveal")
    assert why in ended.stranded_reason
    assert "private/aside/m-" in ended.stranded_reason
    assert str(house.path) not in ended.stranded_reason
    # Nothing is lost, nothing is known, and the id is free.
    assert aside(house) == {"m": {"m.order", *left}}
    assert not set(house.private.matches())
    assert not list(house.records.iterdir())
    async with referee_of(house) as referee:
        assert await outcome_of(referee.GetMatch(match_id="m")) == "match.unknown"
    await house.arena.play("pig", ["uniform", "uniform"], match_id="m")


async def test_of_a_match_that_was_dealt_to_nobody_the_record_tells_the_end(house):
    await broken_off(house)
    house.cut(1)
    (header,) = house.record().events
    assert isinstance(header, Header)
    await house.start(shelf())
    await aborted(house)
    assert house.record().find(Dealt) is None
    raw = (house.records / "m.frec").read_bytes()
    assert verify(raw, shelf("home")).record.find(Ended) is not None


async def test_a_match_that_had_come_to_another_end_is_not_given_a_new_one(house):
    await broken_off(house)
    house.private.note_unended("m")
    events = house.record().events
    await house.start(shelf())
    match = await aborted(house)
    assert "it had come to another one" in match.stranded_reason
    assert aside(house) == {"m": {"m.unended", "m.frec"}}
    (record,) = (house.private.path / "aside").glob("m-*/m.frec")
    record.rename(house.records / "m.frec")
    assert house.record().events == events


async def test_a_record_that_another_process_writes_is_left_alone(house):
    await broken_off(house)
    await house.start(shelf())
    path = house.records / "m.frec"
    sink = FileSink(path, after=path.stat().st_size)
    try:
        async with referee_of(house) as referee:
            call = referee.AbortMatch(match_id="m")
            assert await outcome_of(call) == "storage.record"
        assert [*house.arena.stranded] == ["m"]
    finally:
        sink.close()
    assert (await aborted(house)).phase == common_pb2.MATCH_PHASE_ENDED


async def test_what_was_moved_aside_is_for_its_owner_alone(house):
    await broken_off(house)
    (house.records / "m.frec").write_bytes(b"")
    await house.start(shelf())
    await aborted(house)
    (folder,) = (house.private.path / "aside").iterdir()
    assert folder.stat().st_mode & 0o077 == 0
    assert (folder / "m.order").stat().st_mode & 0o077 == 0
    # The next start has nothing to say of it.
    await house.stop()
    await house.start(shelf("home"))
    assert not house.arena.stranded
    assert house.taken_up == 0
