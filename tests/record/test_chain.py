"""Whatever is altered in a finished record is refused, and the first event named."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.record.support import (
    SIGNER,
    all_events,
    chained,
    closed,
    open_events,
    payload,
    record_of,
    registry,
)

from fritillary.codec.packing import pack
from fritillary.core.errors import RecordError
from fritillary.record.chain import MAGIC, MAX_PAYLOAD, payloads
from fritillary.record.events import Closed, Ended
from fritillary.record.reader import MAX_BYTES, read_file, read_record
from fritillary.record.signing import Signer
from fritillary.referee.verify import verify

RAW = record_of("resigned")
EVENTS = all_events(RAW)

#: Where each frame begins, and the end.
STARTS = [
    len(MAGIC),
    *itertools.accumulate(
        (36 + len(payload) for payload, _ in payloads(RAW)), initial=len(MAGIC)
    ),
][1:]

FRAMES = [RAW[start:end] for start, end in itertools.pairwise(STARTS)]


def number_of(error: RecordError) -> int:
    return int(error.message.removeprefix("event ").split(":")[0])


def refused(raw: bytes) -> RecordError:
    with pytest.raises(RecordError) as caught:
        verify(raw, registry())
    assert "\n" not in caught.value.message
    return caught.value


def test_the_record_itself_holds():
    assert b"".join([MAGIC, *FRAMES]) == RAW
    assert verify(RAW, registry()).record.events == EVENTS


@pytest.mark.parametrize(
    "change",
    [lambda byte: byte ^ 1, lambda byte: byte ^ 0x80, lambda byte: byte ^ 0xFF],
    ids=["lowest bit", "highest bit", "all bits"],
)
def test_any_byte_that_is_altered_is_found_where_it_is(change):
    for position, byte in enumerate(RAW):
        altered = bytearray(RAW)
        altered[position] = change(byte)
        error = refused(bytes(altered))
        if position < len(MAGIC):
            assert error.code == "record.magic"
            continue
        event = sum(start <= position for start in STARTS) - 1
        assert number_of(error) == event, (position, error)


def test_any_byte_set_to_any_value_is_found():
    rng = random.Random(1)
    for position, byte in enumerate(RAW):
        altered = bytearray(RAW)
        altered[position] = rng.choice([n for n in range(256) if n != byte])
        refused(bytes(altered))


def test_a_record_cut_anywhere_is_refused_at_the_event_that_is_missing():
    for length in range(len(RAW)):
        error = refused(RAW[:length])
        if length < len(MAGIC):
            assert error.code == "record.magic"
            continue
        # Nobody can tell a record that was cut there from one of a sealed deal.
        sealed = length == STARTS[len(EVENTS) - 2]
        assert error.code == ("record.sealed" if sealed else "record.torn")
        assert number_of(error) == sum(start <= length for start in STARTS) - 1


def test_a_byte_put_in_anywhere_is_found():
    for position in range(len(RAW) + 1):
        error = refused(RAW[:position] + b"\x00" + RAW[position:])
        if position >= len(MAGIC):
            event = sum(start <= position for start in STARTS) - 1
            assert number_of(error) == event


def test_a_byte_taken_out_anywhere_is_found():
    for position in range(len(RAW)):
        error = refused(RAW[:position] + RAW[position + 1 :])
        if position >= len(MAGIC):
            assert number_of(error) == sum(start <= position for start in STARTS) - 1


def test_frames_that_are_swapped_dropped_or_doubled_are_found():
    for first, second in itertools.combinations(range(len(FRAMES)), 2):
        frames = list(FRAMES)
        frames[first], frames[second] = frames[second], frames[first]
        assert number_of(refused(b"".join([MAGIC, *frames]))) == first
    for number in range(len(FRAMES)):
        frames = list(FRAMES)
        del frames[number]
        # A record without its last event is one that was never closed.
        assert number_of(refused(b"".join([MAGIC, *frames]))) == number
        frames = [*FRAMES[: number + 1], *FRAMES[number:]]
        assert number_of(refused(b"".join([MAGIC, *frames]))) == number + 1


def test_a_frame_of_another_record_does_not_fit():
    other = record_of("void")
    frames = [*FRAMES]
    frames[1] = other[STARTS[1] : STARTS[2]]
    assert number_of(refused(b"".join([MAGIC, *frames]))) == 1


# ------------------------------------------------------------------------ the signature


def test_an_altered_record_that_is_chained_anew_fails_its_signature():
    events = open_events(RAW)
    events[-2] = Ended(events[-2].kind, events[-2].code, "another sentence")
    error = refused(chained(map(payload, [*events, EVENTS[-1]])))
    assert error.code == "record.signature"
    assert number_of(error) == len(EVENTS) - 1


def test_no_part_of_the_closing_event_can_be_altered():
    last = EVENTS[-1]
    assert isinstance(last, Closed)
    other = Signer.generate().public.hex()
    for altered in (
        Closed("00" * 32, last.key, last.signature),
        Closed(last.content_hash, other, last.signature),
        Closed(last.content_hash, "00" * 32, last.signature),
        Closed(last.content_hash, last.key, "00" * 64),
    ):
        error = refused(chained(map(payload, [*EVENTS[:-1], altered])))
        assert error.code == "record.signature"


def test_a_record_is_not_closed_before_its_deal_is_revealed():
    events = open_events(RAW)
    del events[-1]
    with pytest.raises(RecordError, match="Closed cannot stand after Ended"):
        read_record(closed(events, content=bytes(32)))


def test_a_wrong_content_hash_is_found_though_it_is_signed():
    error = refused(closed(open_events(RAW), content=bytes(32)))
    assert error.code == "record.content"
    assert number_of(error) == len(EVENTS) - 1


def test_another_key_is_found_by_who_knows_the_right_one():
    forged = closed(open_events(RAW), Signer.generate())
    key = SIGNER.public.hex()
    verify(forged, registry())
    verify(RAW, registry(), key=key)
    verify(RAW, registry(), key=f" {key.upper()}\n")
    for given_key in (key, "nonsense", ""):
        raw = forged if given_key == key else RAW
        with pytest.raises(RecordError, match="it is signed by the key") as caught:
            verify(raw, registry(), key=given_key)
        assert caught.value.code == "record.other-key"
        assert number_of(caught.value) == len(EVENTS) - 1


# --------------------------------------------------------------------------- torn files


def test_a_torn_last_event_is_dropped_at_every_cut():
    for length in range(len(MAGIC), len(RAW)):
        whole = sum(start <= length for start in STARTS) - 1
        if not whole:
            with pytest.raises(RecordError, match="event 0: the header is missing"):
                read_record(RAW[:length], unfinished=True)
            continue
        record = read_record(RAW[:length], unfinished=True)
        assert record.events == EVENTS[:whole]
        assert len(record.links) == whole
        assert not record.finished


def test_a_closed_record_may_be_read_as_an_unfinished_one():
    assert read_record(RAW, unfinished=True).finished


def test_a_last_event_that_was_written_wrongly_counts_as_torn():
    raw = RAW[: STARTS[4] - 1] + bytes([RAW[STARTS[4] - 1] ^ 1])
    assert read_record(raw, unfinished=True).events == EVENTS[:3]


def test_an_altered_event_in_the_midst_is_no_torn_one():
    altered = bytearray(RAW)
    altered[STARTS[2] + 6] ^= 1
    with pytest.raises(RecordError, match="event 2: the hash chain breaks"):
        read_record(bytes(altered), unfinished=True)


def test_a_length_that_no_event_has_is_no_torn_event():
    altered = bytearray(RAW)
    altered[STARTS[2]] = 0xFF
    with pytest.raises(RecordError, match="event 2: its length is wrong"):
        read_record(bytes(altered), unfinished=True)


# ------------------------------------------------------------------------ foreign bytes


@given(st.binary(max_size=200))
def test_foreign_bytes_are_refused(raw):
    for unfinished in (False, True):
        for prefix in (b"", MAGIC):
            with pytest.raises(RecordError):
                read_record(prefix + raw, unfinished=unfinished)


@given(st.lists(st.binary(max_size=40), min_size=1, max_size=3))
def test_foreign_payloads_are_refused_though_the_chain_holds(payloads):
    with pytest.raises(RecordError, match="event 0: "):
        read_record(chained(payloads), unfinished=True)


_PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=8) | st.integers(0, 3), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    st.integers(0, len(EVENTS) - 1),
    st.sampled_from(["seat", "nonces", "fault", "format", "game", "seed", "x", "type"]),
    _PLAIN,
)
def test_a_field_of_another_kind_is_refused(number, name, value):
    import msgpack

    payloads = [payload(event) for event in EVENTS]
    data = msgpack.unpackb(payloads[number])
    data[name] = value
    altered = msgpack.packb(data)
    if altered == payloads[number]:
        return
    payloads[number] = altered
    with pytest.raises(RecordError) as caught:
        read_record(chained(payloads))
    assert caught.value.message.startswith("event ")


def test_events_in_an_order_that_cannot_be_are_refused():
    # Every pair of events, and every event at the beginning.
    header, dealt, *_ = EVENTS
    for event in EVENTS[1:]:
        with pytest.raises(RecordError, match=r"event 0: .* cannot stand first"):
            read_record(chained([payload(event)]), unfinished=True)
    for one, two in itertools.product(EVENTS[1:], repeat=2):
        raw = chained(map(payload, [header, dealt, one, two]))
        names = type(one).__name__, type(two).__name__
        ends = names[0] in {"Ended", "Revealed", "Closed"}
        opens = {"Header", "Dealt", "Revealed", "Closed"}
        if ends or not opens.isdisjoint(names):
            if names == ("Ended", "Revealed"):
                read_record(raw, unfinished=True)
                continue
            with pytest.raises(RecordError, match=r"cannot stand after|signature"):
                read_record(raw, unfinished=True)
        else:
            read_record(raw, unfinished=True)


def test_bytes_that_are_not_canonical_are_refused():
    data = {"seat": 0, "type": "resigned"}
    raw = chained([payload(EVENTS[0]), payload(EVENTS[1]), pack(data)])
    with pytest.raises(RecordError, match="event 2: its bytes are not canonical"):
        read_record(raw, unfinished=True)
    data = {"type": "resigned", "seat": 0, "charged_ms": 0}
    raw = chained([payload(EVENTS[0]), payload(EVENTS[1]), pack(data)])
    with pytest.raises(RecordError, match="event 2: its bytes are not canonical"):
        read_record(raw, unfinished=True)


# ------------------------------------------------------------------------------ formats


@pytest.mark.parametrize(
    ("version", "words"),
    [
        (0, "has format 0, which is older than the format 1 that this version reads"),
        (2, "has format 2, which is newer than the format 1 that this version reads"),
        ("1", "has format '1', which is no number"),
        (True, "has format true, which is no number"),
        (None, "has format null, which is no number"),
    ],
)
def test_other_formats_are_refused_with_the_reason(version, words):
    # What else such a header holds is not even looked at.
    raw = chained([pack({"type": "header", "format": version, "new": [1]})])
    with pytest.raises(RecordError, match=f"event 0: the record {words}") as caught:
        read_record(raw)
    assert caught.value.code == "record.format"


def test_a_header_without_a_format_is_refused():
    with pytest.raises(RecordError, match="format null") as caught:
        read_record(chained([pack({"type": "header"})]))
    assert caught.value.code == "record.format"


# -------------------------------------------------------------------------------- files


def test_files_are_read_and_those_that_cannot_be_are_named(tmp_path):
    path = tmp_path / "match.frec"
    path.write_bytes(RAW)
    assert read_file(path) == RAW
    with pytest.raises(RecordError, match=r"missing\.frec: No such file"):
        read_file(tmp_path / "missing.frec")
    with pytest.raises(RecordError, match="not a regular file"):
        read_file(tmp_path)
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(RecordError, match="too many for a match record"):
        read_file(path)


def test_no_event_is_longer_than_the_limit():
    raw = chained([payload(EVENTS[0]), b"x" * (MAX_PAYLOAD + 1)])
    with pytest.raises(RecordError, match="event 1: its length is wrong"):
        read_record(raw)
