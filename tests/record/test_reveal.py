"""A record of a deal that is held back stays open until the deal may be known."""

from __future__ import annotations

import os
import stat

import pytest
from tests.record.support import (
    RECORDS,
    SALT,
    SEED,
    SIGNER,
    all_events,
    open_events,
    play,
    record_of,
    registry,
    uniform,
)

from fritillary.core.errors import RecordError, StorageError
from fritillary.record.events import Closed, Ended, Revealed
from fritillary.record.reader import read_record
from fritillary.record.reveal import reveal_record
from fritillary.record.signing import Signer
from fritillary.record.terms import EndKind
from fritillary.record.writer import FileSink, MemorySink, RecordWriter
from fritillary.referee.verify import verify

SEALED = play("pig", uniform, uniform, reveal=False)
OPEN = play("pig", uniform, uniform)


def refused(raw, seed=SEED, salt=SALT):
    with pytest.raises(RecordError) as caught:
        reveal_record(raw, seed, salt, SIGNER)
    return caught.value


def test_a_sealed_record_stays_open_after_its_end():
    record = read_record(SEALED, unfinished=True)
    assert isinstance(record.events[-1], Ended)
    assert not record.finished
    assert OPEN.startswith(SEALED)
    with pytest.raises(RecordError, match="held back") as caught:
        read_record(SEALED)
    assert caught.value.code == "record.sealed"


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_that_is_revealed_later_is_the_one_of_an_open_deal(name):
    raw = record_of(name)
    *_, revealed, closed = all_events(raw)
    assert isinstance(revealed, Revealed)
    assert isinstance(closed, Closed)
    ended = len(raw) - sum(len(frame) for frame in _frames(raw)[-2:])
    assert reveal_record(raw[:ended], SEED, SALT, SIGNER) == raw


def _frames(raw):
    """Return the last two frames of a record."""
    frames = []
    position = raw.index(b"\n") + 1
    while position < len(raw):
        end = position + 4 + int.from_bytes(raw[position : position + 4], "big") + 32
        frames.append(raw[position:end])
        position = end
    return frames


def test_it_verifies_then():
    whole = reveal_record(SEALED, SEED, SALT, SIGNER)
    found = verify(whole, registry(), key=SIGNER.public.hex())
    assert found.ended.kind is EndKind.PLAYED
    assert found.final_hash == whole[-32:].hex()
    other = Signer.generate()
    verify(reveal_record(SEALED, SEED, SALT, other), registry(), key=other.public.hex())


def test_a_file_is_closed_in_place(tmp_path):
    path = tmp_path / "match.frec"
    path.write_bytes(SEALED)
    assert reveal_record(path, SEED, SALT, SIGNER) == OPEN
    assert path.read_bytes() == OPEN


def test_what_a_crash_left_is_mended_at_every_cut(tmp_path):
    path = tmp_path / "match.frec"
    for length in range(len(SEALED), len(OPEN)):
        assert reveal_record(OPEN[:length], SEED, SALT, SIGNER) == OPEN
    path.write_bytes(OPEN[:-5])
    reveal_record(path, SEED, SALT, SIGNER)
    assert path.read_bytes() == OPEN


@pytest.mark.parametrize(
    ("seed", "salt"), [(SALT, SALT), (SEED, SEED), (b"", b""), (SEED + b"x", SALT)]
)
def test_another_seed_or_salt_is_refused_and_nothing_written(tmp_path, seed, salt):
    path = tmp_path / "match.frec"
    path.write_bytes(SEALED)
    assert refused(path, seed, salt).code == "record.deal"
    assert path.read_bytes() == SEALED


def test_a_record_is_closed_once():
    error = refused(OPEN)
    assert error.code == "record.closed"
    assert f"event {len(all_events(OPEN)) - 1}: " in error.message


def test_a_match_that_goes_on_is_not_revealed():
    assert "has not come to its end" in refused(SEALED[:-40]).message
    assert refused(b"nonsense").code == "record.magic"


def test_a_file_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    path = tmp_path / "match.frec"
    path.write_bytes(SEALED)

    def fail(_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("fritillary.record.reveal.os.fsync", fail)
    with pytest.raises(StorageError, match=r"match\.frec: Input/output error"):
        reveal_record(path, SEED, SALT, SIGNER)


def test_the_writer_holds_a_record_open():
    synced = []

    class Sink(MemorySink):
        def sync(self):
            synced.append("synced")

        def close(self):
            synced.append("closed")

    header, *events = open_events(OPEN)
    sink = Sink()
    writer = RecordWriter(sink, header)
    for event in events[:-1]:
        writer.add(event)
    synced.clear()
    writer.hold()
    assert synced == ["synced", "closed"]
    assert sink.getvalue() == SEALED


def test_a_file_is_for_its_owner_alone(tmp_path):
    before = os.umask(0)
    try:
        sink = FileSink(tmp_path / "match.frec")
    finally:
        os.umask(before)
    assert stat.S_IMODE(sink.path.stat().st_mode) == 0o600
    sink.close()
