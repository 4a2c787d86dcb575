from __future__ import annotations

import typing

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.record.strategies import DEALTS, ENDS, EVENTS, HEADERS, PLAY, REVEALS
from tests.record.support import SIGNER, closed, payload

from fritillary.codec.packing import pack, unpack
from fritillary.core.errors import CodecError
from fritillary.record.events import (
    ActionTaken,
    Closed,
    Dealt,
    GameRef,
    Header,
    OutcomeData,
    RecordEvent,
    Revealed,
    Ruling,
    VariantRef,
    event_from_data,
    event_to_data,
    header_to_data,
)
from fritillary.record.reader import read_record
from fritillary.record.terms import Consequence, Fault, Source
from fritillary.record.writer import MemorySink, RecordWriter


@given(EVENTS)
def test_an_event_round_trips(event):
    assert event_from_data(unpack(payload(event))) == event


@given(HEADERS)
def test_a_header_is_written_as_any_event_is(header):
    for _ in range(2):
        data = header_to_data(header)
        assert pack(data) == pack(event_to_data(header))


@given(EVENTS)
def test_an_event_is_written_without_its_defaults(event):
    data = event_to_data(event)
    assert next(iter(data)) == "type"
    for name, value in data.items():
        if name != "type":
            rest = {other: data[other] for other in data if other != name}
            try:
                other = event_from_data(rest)
            except CodecError:
                continue  # a field without a default
            assert other != event, (name, value)


@given(
    HEADERS,
    DEALTS,
    st.lists(PLAY, max_size=6),
    ENDS,
    REVEALS,
)
def test_a_record_round_trips(header, dealt, play, ended, revealed):
    events = [header, dealt, *play, ended, revealed]
    raw = closed(events)
    record = read_record(raw)
    assert list(record.events[:-1]) == events
    assert closed(record.events[:-1]) == raw
    sink = MemorySink()
    writer = RecordWriter(sink, header)
    for event in events[1:]:
        writer.add(event)
    assert sink.getvalue() == raw[: len(sink.getvalue())]
    assert writer.link == record.links[-2]
    assert writer.events == len(events)
    assert record.header == header
    assert record.find(Dealt) == dealt


def test_the_tags_of_events_are_fixed():
    tags = {"header", "dealt", "action-taken", "chance-drawn", "ruling", "resigned"}
    tags |= {"paused", "resumed", "restarted", "ended", "revealed", "closed"}
    assert len(typing.get_args(RecordEvent)) == len(tags)
    with pytest.raises(CodecError) as caught:
        event_from_data({"type": "other"})
    assert all(tag in caught.value.message for tag in tags)


def test_the_bytes_of_an_action_are_fixed():
    event = ActionTaken(1, 25, source=Source.STAND_IN, left_ms=7)
    assert unpack(payload(event)) == {
        "type": "action-taken",
        "seat": 1,
        "index": 25,
        "source": "stand-in",
        "left_ms": 7,
    }


BAD = [
    lambda: Dealt(("zz",)),
    lambda: Dealt(("AB",)),
    lambda: Dealt(("abc",)),
    lambda: Dealt(("ab cd",)),
    lambda: Dealt(("ab" * 33,)),
    lambda: ActionTaken(0, action="0"),
    lambda: Ruling(Fault.LATE, Consequence.VOID, "", "", offending="0g"),
    lambda: Revealed("00" * 31, "00" * 32),
    lambda: Revealed("00" * 32, "00" * 32 + "\n"),
    lambda: Closed("00" * 32, "00" * 32, "00" * 63),
    lambda: OutcomeData("x", (True,), (1,)),
    lambda: OutcomeData("x", (2**53,), (1,)),
    lambda: OutcomeData("x", (1,), (-(2**53),)),
]


def test_a_field_out_of_its_form_is_refused():
    for make in BAD:
        with pytest.raises(
            ValueError, match=r"must match|no integer of at most 53 bits"
        ):
            make()


def test_a_match_id_is_short_and_plain():
    with pytest.raises(CodecError, match="match_id"):
        event_from_data({**event_to_data(_header()), "match_id": "a/b"})
    with pytest.raises(CodecError, match="match_id"):
        event_from_data({**event_to_data(_header()), "match_id": "x" * 65})


def test_the_full_id_of_a_game_names_its_variants():
    variants = (VariantRef("one", 1), VariantRef("two", 2))
    assert GameRef("game", 1, "", variants).full_id == "game+one+two"


def _header() -> Header:
    from tests.record.support import record_of

    return read_record(record_of("played")).header


def test_a_closed_record_ends_with_a_signed_event():
    last = read_record(closed([_header(), *_end()])).events[-1]
    assert isinstance(last, Closed)
    assert last.key == SIGNER.public.hex()
    assert pack(event_to_data(last))


def _end():
    from tests.record.support import open_events, record_of

    return open_events(record_of("withdrawn-before-the-deal"))[1:]
