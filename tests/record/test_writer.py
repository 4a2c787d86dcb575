from __future__ import annotations

import errno
import runpy
import sys

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.record.strategies import INTS, MAYBE, MS
from tests.record.support import (
    RECORDS,
    SEED,
    SIGNER,
    Scripted,
    all_events,
    change,
    content_of,
    find,
    open_events,
    play,
    record_of,
    registry,
    uniform,
)

from fritillary.core.errors import CodecError, RecordError, StorageError
from fritillary.record import writer
from fritillary.record.chain import MAX_PAYLOAD
from fritillary.record.events import (
    ActionTaken,
    ChanceDrawn,
    Dealt,
    Ended,
    GameRef,
    Paused,
    Resigned,
    Restarted,
    Revealed,
    Ruling,
    VariantRef,
)
from fritillary.record.reader import read_record
from fritillary.record.signing import Signer
from fritillary.record.terms import (
    ClockSettings,
    Consequence,
    EndKind,
    Fault,
    PlayerInfo,
    Source,
    Terms,
)
from fritillary.record.writer import FileSink, MemorySink, RecordWriter
from fritillary.referee.verify import verify

HEADER = read_record(record_of("played")).header


@given(
    st.integers(0, 200),
    st.integers(0, 10**6),
    MS,
    st.none() | MS,
    MAYBE,
    st.none() | MS,
)
def test_the_quick_way_writes_the_same_bytes(seat, index, charged, server, left, think):
    sinks = MemorySink(), MemorySink()
    quick, plain = (RecordWriter(sink, HEADER) for sink in sinks)
    quick.add_action(seat, index, charged, server, left, think)
    plain.add(
        ActionTaken(
            seat,
            index,
            charged_ms=charged,
            server_ms=server,
            think_ms=think,
            left_ms=left,
        )
    )
    assert sinks[0].getvalue() == sinks[1].getvalue()
    assert quick.content_hash() == plain.content_hash()
    assert quick.link == plain.link


@given(st.binary(min_size=32, max_size=32), st.binary(min_size=32, max_size=32))
def test_the_quick_way_to_reveal_writes_the_same_bytes(seed, salt):
    sinks = MemorySink(), MemorySink()
    quick, plain = (RecordWriter(sink, HEADER) for sink in sinks)
    quick.reveal(seed, salt)
    plain.add(Revealed(seed.hex(), salt.hex()))
    assert sinks[0].getvalue() == sinks[1].getvalue()
    assert quick.content_hash() == plain.content_hash()


@given(INTS)
def test_a_reader_reads_what_the_quick_way_wrote(index):
    sink = MemorySink()
    writer = RecordWriter(sink, HEADER)
    writer.add(Dealt())
    writer.add_action(0, index, 0, None, None)
    record = read_record(sink.getvalue(), unfinished=True)
    assert record.events[2] == ActionTaken(0, index)


def test_the_same_match_gives_the_same_record():
    for name in ("played", "stand-in", "hidden"):
        assert RECORDS[name]() == record_of(name)


# ---------------------------------------------------------------------- what goes wrong


def test_an_event_that_cannot_be_written_leaves_no_trace():
    sink = MemorySink()
    writer = RecordWriter(sink, HEADER)
    writer.add(Dealt())
    before = sink.getvalue(), writer.content_hash(), writer.link, writer.events
    with pytest.raises(CodecError):
        writer.add(Resigned(2**70))
    with pytest.raises(CodecError):
        writer.add(Ruling(Fault.LATE, Consequence.VOID, "\ud800", ""))
    with pytest.raises(CodecError):
        writer.add_action(0, 2**70, 0, None, None)
    with pytest.raises(RecordError, match=r"event 2: .* bytes; 1048576 at most"):
        writer.add(ChanceDrawn("ab" * MAX_PAYLOAD))
    assert before == (
        sink.getvalue(),
        writer.content_hash(),
        writer.link,
        writer.events,
    )
    assert not writer.broken


def test_a_header_that_nobody_could_read_is_not_written():
    sink = MemorySink()
    with pytest.raises(ValueError, match=r"created_at_ms: .* is no integer"):
        attrs.evolve(HEADER, created_at_ms=2**60)
    with pytest.raises(CodecError, match="surrogate"):
        RecordWriter(sink, attrs.evolve(HEADER, labels={"x": "\ud800"}))
    with pytest.raises(RecordError, match="at most"):
        RecordWriter(sink, attrs.evolve(HEADER, labels={"x": "y" * 2_000_000}))


@pytest.mark.parametrize(
    "add",
    [
        lambda writer: writer.add(Dealt()),
        lambda writer: writer.add_action(0, 1, 0, None, None),
    ],
    ids=["an event", "an action"],
)
def test_a_sink_that_fails_breaks_the_record(add):
    sink = MemorySink()
    writer = RecordWriter(sink, HEADER)
    before = writer.link, writer.events, writer.content_hash()

    def full(raw):
        msg = "the disk is full"
        raise StorageError(msg)

    sink.write = full
    with pytest.raises(StorageError, match="full"):
        add(writer)
    assert writer.broken
    assert (writer.link, writer.events, writer.content_hash()) == before


def test_a_file_is_new_and_holds_every_event_at_once(tmp_path):
    path = tmp_path / "match.frec"
    sink = FileSink(path)
    writer = RecordWriter(sink, HEADER)
    writer.add(Dealt())
    assert read_record(path.read_bytes(), unfinished=True).events[1] == Dealt()
    with pytest.raises(StorageError, match="File exists"):
        FileSink(path)
    writer.abandon()
    assert len(read_record(path.read_bytes(), unfinished=True).events) == 2


def test_a_file_and_the_memory_get_the_same_bytes(tmp_path):
    events = open_events(record_of("ruled"))
    path = tmp_path / "match.frec"
    for sink in (FileSink(path), MemorySink()):
        writer = RecordWriter(sink, HEADER)
        for event in events[1:]:
            writer.add(event)
        writer.dealt(SEED)
        final = writer.close(SIGNER)
        raw = path.read_bytes() if isinstance(sink, FileSink) else sink.getvalue()
        record = read_record(raw)
        assert record.links[-1] == final
        assert record.finished


def test_a_file_that_takes_only_parts_gets_all_of_them(tmp_path, monkeypatch):
    path = tmp_path / "match.frec"
    sink = FileSink(path)

    class Slow:
        def __init__(self, file):
            self.file = file

        def write(self, raw):
            return self.file.write(raw[:3])

        def fileno(self):
            return self.file.fileno()

        def close(self):
            self.file.close()

    monkeypatch.setattr(sink, "_file", Slow(sink._file))
    RecordWriter(sink, HEADER).abandon()
    assert read_record(path.read_bytes(), unfinished=True).header == HEADER


def test_where_no_file_can_be_locked_none_counts_as_in_use(tmp_path, monkeypatch):
    path = tmp_path / "m.frec"
    held = FileSink(path)
    assert writer.in_use(path)
    # As it is loaded on Windows, where matches would else never be taken up again.
    monkeypatch.setattr(sys, "platform", "win32")
    assert not runpy.run_path(writer.__file__)["in_use"](path)
    held.close()


def test_a_file_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    path = tmp_path / "match.frec"
    sink = FileSink(path)
    sink.close()

    class Failing:
        def fail(self, *_):
            raise OSError(errno.EIO, "Input/output error")

        write = fileno = close = fail

    monkeypatch.setattr(sink, "_file", Failing())
    for use in (lambda: sink.write(b"x"), sink.sync, sink.close):
        with pytest.raises(StorageError) as caught:
            use()
        assert caught.value.message == f"{path}: Input/output error"


# -------------------------------------------------------------------- the content hash

EVERYTHING = ("ruled", "chance", "hidden", "stand-in", "paused", "adjudicated")


@pytest.mark.parametrize("name", EVERYTHING)
def test_the_content_hash_is_that_of_the_closing_event(name):
    events = all_events(record_of(name))
    assert content_of(events).hex() == events[-1].content_hash
    found = verify(record_of(name), registry())
    assert found.content_hash == events[-1].content_hash


@pytest.mark.parametrize("name", EVERYTHING)
def test_times_ids_names_labels_and_remarks_leave_the_content_hash_as_it_is(name):
    events = open_events(record_of(name))
    before = content_of(events)
    seat = attrs.evolve(
        events[0].seats[0], player=PlayerInfo("x", "y"), clock=ClockSettings(base_ms=1)
    )
    change(
        events,
        0,
        framework="9.9",
        match_id="m-other",
        seats=(seat, *events[0].seats[1:]),
        terms=Terms(margin_ms=1),
        created_at_ms=5,
        labels={"a": "b"},
        game=attrs.evolve(events[0].game, distribution="other"),
        commitment="00" * 32,
    )
    for number, event in enumerate(events):
        match event:
            case ActionTaken():
                change(
                    events,
                    number,
                    charged_ms=99,
                    server_ms=98,
                    think_ms=97,
                    round_trip_ms=96,
                    left_ms=95,
                    note="other",
                    probabilities=(1, 2),
                )
            case Ruling():
                change(events, number, charged_ms=9, left_ms=9, message="other")
            case Resigned():
                change(events, number, charged_ms=9)
            case Paused():
                change(events, number, charged_ms=9, message="other")
            case Restarted():
                change(events, number, charged_ms=9)
            case Ended():
                change(events, number, message="other")
            case Revealed():
                change(events, number, salt="00" * 32)
    assert content_of(events) == before


def _outcome(**fields):
    def happens(events):
        number = find(events, Ended)
        change(events, number, outcome=attrs.evolve(events[number].outcome, **fields))

    return happens


def _to(cls, **fields):
    return lambda events: change(events, find(events, cls), **fields)


def _without(cls):
    return lambda events: events.pop(find(events, cls))


def _header(**fields):
    return lambda events: change(events, 0, **fields)


HAPPENS = {
    "other options": ("played", _header(options="80")),
    "another game": ("played", _header(game=GameRef("other", 1))),
    "other rules": ("played", _header(game=GameRef("lepidoptery", 2))),
    "a variant": (
        "played",
        _header(game=GameRef("lepidoptery", 1, "", (VariantRef("v", 1),))),
    ),
    "fewer seats": ("played", _header(seats=())),
    "another seed": ("played", _to(Revealed, seed="00" * 32)),
    "another nonce": ("hidden", _to(Dealt, nonces=("", "", "01"))),
    "another index": ("played", _to(ActionTaken, index=7_000)),
    "another action": ("hidden", _to(ActionTaken, action="80")),
    "another seat": ("played", _to(ActionTaken, seat=7)),
    "another source": ("played", _to(ActionTaken, source=Source.SUBSTITUTE)),
    "no action": ("played", _without(ActionTaken)),
    "another chance outcome": ("chance", _to(ChanceDrawn, action="80")),
    "no chance": ("hidden", _without(ChanceDrawn)),
    "no ruling": ("ruled", _without(Ruling)),
    "a ruling on another seat": ("ruled", _to(Ruling, seat=0)),
    "a ruling on another fault": ("ruled", _to(Ruling, fault=Fault.LATE)),
    "another code": ("ruled", _to(Ruling, code="other")),
    "another choice": ("ruled", _to(Ruling, offending="00")),
    "another consequence": ("ruled", _to(Ruling, consequence=Consequence.VOID)),
    "no resignation": ("resigned", _without(Resigned)),
    "another resignation": ("resigned", _to(Resigned, seat=0)),
    "another end": ("withdrawn", _to(Ended, code="other")),
    "another kind of end": ("withdrawn", _to(Ended, kind=EndKind.VOID)),
    "no outcome": ("played", _to(Ended, outcome=None)),
    "another reason": ("played", _outcome(reason="other")),
    "other scores": ("played", _outcome(scores=(9, 9))),
    "another placing": ("played", _outcome(placing=(9, 9))),
}


@pytest.mark.parametrize("what", HAPPENS)
def test_whatever_happened_otherwise_changes_the_content_hash(what):
    name, happens = HAPPENS[what]
    events = open_events(record_of(name))
    before = content_of(events)
    happens(events)
    assert content_of(events) != before


def test_two_runs_of_a_match_have_one_content_hash():
    def run(**rest):
        players = [
            Scripted(uniform, name=f"player {seat}", takes_ms=rest.get("ms", 7))
            for seat in range(2)
        ]
        setup = {"match_id": rest.get("id", "m-one"), "labels": rest.get("labels", {})}
        raw = play(
            "pig",
            players=players,
            clock=rest.get("clock", ""),
            setup=setup,
            signer=rest.get("signer", SIGNER),
            created_at_ms=rest.get("at", 0),
        )
        return verify(raw, registry())

    one = run()
    other = run(
        ms=40,
        id="m-two",
        labels={"event": "cup"},
        clock="9s",
        signer=Signer.generate(),
        at=12_345,
    )
    assert one.content_hash == other.content_hash
    assert one.final_hash != other.final_hash
