"""What is kept for a restart, and the records beside it, whatever befalls the files."""

from __future__ import annotations

import errno
import os
import stat

import attrs
import pytest
from tests.service import pig
from tests.service.house import plays
from tests.service.rawbot import first_legal, until

from fritillary.api.v1 import bot_pb2 as pb
from fritillary.core.errors import ServiceError, StorageError
from fritillary.record.events import Closed, Ended, Restarted, Ruling
from fritillary.record.reader import read_record
from fritillary.record.reveal import reveal_record
from fritillary.record.terms import EndKind
from fritillary.record.writer import FileSink
from fritillary.referee.match import NO_RECORD
from fritillary.referee.verify import verify
from fritillary.service.private import PrivateFolder
from fritillary.service.taking_up import TakingUp


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


async def broken_off(house, count=2):
    """Play so many decisions, then kill the server; return the session's token."""
    async with house.bot(play=plays(count)) as bot:
        house.create()
        await bot.until("decision_request", count=count + 1)
        await house.crash()
        return bot.log[0][1].session_token


# ------------------------------------------------------------------ a record is missing


async def test_a_match_whose_record_is_missing_is_not_dealt_again(house, caplog):
    await broken_off(house)
    path = house.records / "m.frec"
    aside = path.rename(path.with_suffix(".aside"))
    await house.start()
    assert house.taken_up == 0
    assert "its record m.frec is missing" in caplog.text
    with pytest.raises(ServiceError, match="already"):
        house.create()
    assert not path.exists()
    await house.stop()
    # Whoever has moved it can put it back.
    aside.rename(path)
    await house.start()
    async with house.bot(play=first_legal):
        assert (await house.arena.wait("m")).finish.kind is EndKind.PLAYED


async def test_what_is_kept_of_an_order_lies_beside_its_record(house, monkeypatch):
    seen = []
    save = PrivateFolder.save

    def saved(folder, kept):
        seen.append((house.records / f"{kept.match_id}.frec").exists())
        save(folder, kept)

    monkeypatch.setattr(PrivateFolder, "save", saved)
    house.create()
    assert seen == [True]


async def test_of_a_match_that_cannot_be_kept_nothing_is_left(house, monkeypatch):
    def full(folder, kept):
        raise StorageError("full", code="storage.private")

    with monkeypatch.context() as patch:
        patch.setattr(PrivateFolder, "save", full)
        with pytest.raises(StorageError):
            house.create()
    assert not list(house.records.iterdir())
    assert not house.arena.matches()
    await house.create("uniform", "uniform").ended


async def test_a_record_of_an_order_that_was_never_kept_is_removed(house):
    await house.stop()
    (house.records).mkdir(exist_ok=True)
    (house.records / "m.frec").touch(0o600)
    await house.start()
    assert not (house.records / "m.frec").exists()
    await house.create("uniform", "uniform").ended


# ------------------------------------------------------------------------- modes, rests


async def test_nobody_else_is_let_into_what_is_kept(house):
    await broken_off(house)
    house.private.path.chmod(0o755)
    await house.start()
    assert mode(house.private.path) == 0o700


async def test_what_a_kill_left_half_written_is_removed(house):
    await broken_off(house)
    (house.private.path / "x.new").write_bytes(b"half")
    (house.private.path / "m.new").write_bytes(b"half")
    await house.start()
    assert not list(house.private.path.glob("*.new"))
    assert set(house.private.matches()) == {"m"}


async def test_what_could_not_be_kept_leaves_no_half_of_it(house, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, "no space left")

    with monkeypatch.context() as patch:
        patch.setattr("fritillary.service.private.os.fsync", full)
        with pytest.raises(StorageError, match="no space left"):
            house.create()
    assert [path.name for path in house.private.path.iterdir()] == [".lock"]


@pytest.mark.parametrize("kept", [True, False])
async def test_a_closed_record_is_opened_to_others_after_a_kill(house, kept):
    async with house.deaf_bot(play=first_legal) as bot:
        await house.create().ended
        await bot.until("match_ended")
        await house.crash()
    path = house.records / "m.frec"
    path.chmod(0o600)
    if not kept:
        house.private.forget("m")
    await house.start()
    assert mode(path) == 0o644


async def test_a_deal_that_is_held_back_is_not_opened_to_others(house):
    await house.create("uniform", "uniform", sealed=True).ended
    for forgotten in (False, True):
        await house.stop()
        if forgotten:
            house.private.forget("m")
        await house.start()
        assert mode(house.records / "m.frec") == 0o600


# ----------------------------------------------- files that are not what they should be


async def test_a_pipe_in_either_folder_keeps_no_server_from_starting(house, caplog):
    await broken_off(house)
    os.mkfifo(house.private.path / "kept.order", 0o600)
    os.mkfifo(house.private.path / "m.new", 0o600)
    os.mkfifo(house.records / "pipe.frec", 0o600)
    (house.private.path / "folder.new").mkdir()
    (house.private.path / "folder.order").mkdir()
    await house.start()
    assert house.taken_up == 1
    assert caplog.text.count("not a regular file") >= 3
    assert "folder.new is left as it is" in caplog.text
    assert not (house.private.path / "m.new").exists()
    async with house.bot(play=first_legal):
        assert (await house.arena.wait("m")).finish.kind is EndKind.PLAYED


async def test_a_record_that_became_a_pipe_is_left_as_it_is(house, caplog):
    await broken_off(house)
    path = house.records / "m.frec"
    path.unlink()
    os.mkfifo(path, 0o600)
    await house.start()
    assert house.taken_up == 0
    assert "not a regular file" in caplog.text


@pytest.mark.parametrize(
    "changed",
    [
        {"options": "zz"},
        {"options": "c1"},
        {"options": ""},
        {"players": ("remote:bob",)},
        {"players": ("no such kind:x", "uniform")},
        {"clocks": ()},
        {"game": "no-such-game"},
        {"created_at_ms": -5},
        {"labels": {"": "x" * 10_000}},
    ],
    ids=[
        "options-no-hex",
        "options-no-data",
        "no-options",
        "a-player-too-few",
        "no-such-player",
        "no-clocks",
        "no-such-game",
        "before-1970",
        "bad-labels",
    ],
)
async def test_what_is_kept_of_one_match_keeps_no_other_from_going_on(house, changed):
    house.create(match_id="n")
    await broken_off(house)
    kept = house.private.load("m")
    house.private.save(attrs.evolve(kept, **changed))
    await house.start()
    assert house.arena.match("n").id == "n"
    async with house.bot(play=first_legal):
        assert (await house.arena.wait("n")).finish.kind is EndKind.PLAYED


@pytest.mark.parametrize("raised", [ZeroDivisionError("x"), KeyError("x"), OSError()])
async def test_a_game_that_stumbles_over_a_match_leaves_it_as_it_is(
    house, monkeypatch, caplog, raised
):
    await broken_off(house)
    events = house.record().events
    codec = type(pig.registry().game("pig").codec)

    def stumble(codec, raw):
        raise raised

    with monkeypatch.context() as patch:
        patch.setattr(codec, "decode_options", stumble)
        await house.start()
        assert house.taken_up == 0
        assert "match m is left as it is" in caplog.text
        await house.stop()
    assert house.record().events == events
    await house.start()
    async with house.bot(play=first_legal):
        assert (await house.arena.wait("m")).finish.kind is EndKind.PLAYED


async def test_a_match_that_cannot_be_played_again_is_left_as_it_is(
    house, monkeypatch, caplog
):
    await broken_off(house)

    def stumble(*arguments, **more):
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr(TakingUp, "_take_up", stumble)
        await house.start()
        assert house.taken_up == 0
        assert "match m is left as it is" in caplog.text
        await house.stop()
    await house.start()
    assert house.taken_up == 1


# -------------------------------------------------------------- deals held back


async def test_the_end_of_a_sealed_match_is_told_once_with_its_hash(house):
    async with house.deaf_bot(play=first_legal) as bot:
        result = await house.create(sealed=True).ended
        await bot.until("match_ended")
        token = bot.log[0][1].session_token
        await house.crash()
    await house.start()
    assert (await house.arena.wait("m")).content_hash == result.content_hash
    async with house.bot(session_token=token) as bot:
        await bot.until("match_ended")
        await until(lambda: house.private.load("m").heard)
    await house.stop()
    await house.start()
    async with house.bot(session_token=token) as bot:
        await bot.send(ping={"id": 7})
        await bot.until("pong")
        assert not bot.all("match_ended")
    assert set(house.private.matches()) == {"m"}


async def test_a_sealed_match_that_was_revealed_since_is_forgotten(house):
    await house.create("uniform", "uniform", sealed=True).ended
    await house.stop()
    kept = house.private.load("m")
    seed, salt = bytes.fromhex(kept.seed), bytes.fromhex(kept.salt)
    reveal_record(house.records / "m.frec", seed, salt, house.signer)
    await house.start()
    assert not set(house.private.matches())
    assert (await house.arena.wait("m")).reveal.seed == seed


# ------------------------------------------------------------------- the disk is full


def fill_disk(patch, after):
    """Let there be no room from some event of the record on."""
    write = FileSink.write
    left = [after]

    def written(sink, raw):
        left[0] -= 1
        if left[0] < 0:
            # As much as there is room for.
            write(sink, raw[: len(raw) // 2])
            full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            raise StorageError(f"{sink.path}: {full.strerror}") from full
        write(sink, raw)

    patch.setattr(FileSink, "write", written)


@pytest.mark.parametrize("heard", [True, False])
async def test_a_match_that_cannot_be_recorded_ends_once(house, monkeypatch, heard):
    make = house.bot if heard else house.deaf_bot
    async with make(play=plays(1)) as bot:
        hosted = house.create()
        request = await bot.until("decision_request", count=2)
        with monkeypatch.context() as patch:
            fill_disk(patch, 0)
            await bot.send_all(first_legal(request))
            told = await bot.until("match_ended")
            await until(lambda: hosted.over)
        token = bot.log[0][1].session_token
        assert told.result.code == NO_RECORD.code
        with pytest.raises(StorageError):
            await hosted.ended
        if heard:
            await bot.send(ping={"id": 7})
            await bot.until("pong")
        await house.crash()
    await house.start()
    assert house.taken_up == 0
    assert not house.arena.matches()
    result = await house.arena.wait("m")
    assert result.finish == NO_RECORD
    record = house.record()
    assert isinstance(record.events[-1], Closed)
    assert record.find(Restarted) is None
    verify((house.records / "m.frec").read_bytes(), pig.registry())
    async with house.bot(session_token=token) as bot:
        told = await bot.until("match_ended")
        assert told.result.code == NO_RECORD.code
        await until(lambda: not set(house.private.matches()))


async def test_an_end_that_the_record_leads_to_stands(house, monkeypatch):
    """It was told though it did not fit; the next start writes it down."""

    def resign(request):
        where = {"match_id": request.match_id, "decision_id": request.decision_id}
        return pb.BotMessage(resign=pb.Resign(**where))

    async with house.deaf_bot(play=plays(1)) as bot:
        hosted = house.create()
        request = await bot.until("decision_request", count=2)
        with monkeypatch.context() as patch:
            # The resignation is written, the end is not.
            fill_disk(patch, 1)
            await bot.send_all(resign(request))
            told = await bot.until("match_ended")
            await until(lambda: hosted.over)
        await house.crash()
    assert told.result.code == "seat.resigned"
    assert house.record().find(Ended) is None
    await house.start()
    assert house.taken_up == 0
    result = await house.arena.wait("m")
    assert (result.finish.kind, result.finish.code) == (
        EndKind.FORFEITED,
        "seat.resigned",
    )
    verify((house.records / "m.frec").read_bytes(), pig.registry())


async def test_an_end_from_outside_that_did_not_fit_is_void(house, monkeypatch):
    async with house.deaf_bot(play=plays(1)) as bot:
        hosted = house.create()
        await bot.until("decision_request", count=2)
        with monkeypatch.context() as patch:
            fill_disk(patch, 0)
            hosted.abort(EndKind.WITHDRAWN, "test.off", "called off")
            told = await bot.until("match_ended")
            await until(lambda: hosted.over)
        await house.crash()
    assert told.result.code == NO_RECORD.code
    await house.start()
    assert (await house.arena.wait("m")).finish == NO_RECORD
    verify((house.records / "m.frec").read_bytes(), pig.registry())


async def test_where_only_the_closing_did_not_fit_the_end_stands(house, monkeypatch):
    async with house.deaf_bot(play=plays(1)) as bot:
        house.create()
        await bot.until("decision_request", count=2)
        with monkeypatch.context() as patch:
            # The end is written, the reveal is not.
            fill_disk(patch, 1)
            house.arena.match("m").abort(EndKind.WITHDRAWN, "test.off", "called off")
            told = await bot.until("match_ended")
        assert told.result.code == "test.off"
        await house.crash()
    await house.start()
    assert (await house.arena.wait("m")).finish.code == "test.off"
    assert isinstance(house.record().events[-1], Closed)


async def test_a_header_that_did_not_fit_leaves_nothing(house, monkeypatch):
    async with house.bot(play=first_legal, capacity=1) as bot:
        with monkeypatch.context() as patch:
            fill_disk(patch, 1)
            hosted = house.create()
            with pytest.raises(StorageError):
                await hosted.ended
        assert not bot.all("match_offer")
        assert not list(house.records.iterdir())
        assert not set(house.private.matches())
        # The bot's place is free again.
        result = await house.create(match_id="n").ended
        assert result.finish.kind is EndKind.PLAYED


async def test_a_record_that_does_not_tell_the_end_is_not_handed_out(
    house, monkeypatch, caplog
):
    from tests.service.calls import Caller, outcome_of

    from fritillary.service.tokens import Role

    async with house.bot(play=plays(1)) as bot:
        hosted = house.create()
        request = await bot.until("decision_request", count=2)
        with monkeypatch.context() as patch:
            fill_disk(patch, 0)
            await bot.send_all(first_legal(request))
            await until(lambda: hosted.over)
        async with Caller(house, Role.SPECTATOR) as spectator:
            call = spectator.FetchRecord(match_id="m")
            assert await outcome_of(call) == "record.unwritten"
            told = await call.details()
    assert told == (
        "match m is void: its record cannot be written (No space left on device)"
    )
    # It is no refusal, and the log has told why.
    assert house.server.audit.refused == {"record.unwritten": 1}
    assert not [one for one in caplog.records if one.name == "fritillary.audit"]


async def test_a_match_without_its_seed_counts_the_plies_it_had(house):
    await broken_off(house, 3)
    house.private.forget("m")
    await house.start()
    raw = (house.records / "m.frec").read_bytes()
    record = read_record(raw, unfinished=True)
    assert record.find(Ruling) is None
    assert isinstance(record.events[-1], Ended)
    assert (await house.arena.wait("m")).plies == len(record.events) - 3
