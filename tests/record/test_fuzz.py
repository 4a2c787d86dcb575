"""Whatever is read as a record: it holds, or it raises a `RecordError`."""

from __future__ import annotations

import functools
from typing import Any

import attrs
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.record import strategies
from tests.record.support import (
    RECORDS,
    all_events,
    chained,
    change,
    closed,
    open_events,
    payload,
    record_of,
    registry,
)

from fritillary.core.errors import CodecError, RecordError
from fritillary.record.events import (
    ActionTaken,
    GameRef,
    Header,
    Ruling,
    SeatTerms,
    VariantRef,
)
from fritillary.record.reader import read_record
from fritillary.record.replay import replayed
from fritillary.record.terms import Consequence, EndKind, Fault, Source
from fritillary.referee.verify import verify

#: More than of other things: most of what is drawn fails early.
FUZZ = settings(
    max_examples=3 * settings().max_examples,
    suppress_health_check=[HealthCheck.too_slow],
)

#: Values of fields that are more likely to lead somewhere than any would be.
LIKELY = {
    "seat": st.none() | st.integers(-1, 4),
    "index": st.none() | st.integers(-1, 300),
    "action": st.none() | strategies.HEX | st.sampled_from(["80", "a1", "c0"]),
    "charged_ms": strategies.INTS,
    "server_ms": strategies.MAYBE,
    "left_ms": strategies.MAYBE,
    "attempt": st.integers(-1, 4),
    "source": st.sampled_from(Source),
    "fault": st.sampled_from(Fault),
    "consequence": st.sampled_from(Consequence),
    "kind": st.sampled_from(EndKind),
    "code": st.sampled_from(["", "fault.illegal", "referee.error", "x"]),
    "offending": strategies.RULINGS.map(lambda ruling: ruling.offending),
    "outcome": st.none() | strategies.OUTCOMES,
    "nonces": strategies.DEALTS.map(lambda dealt: dealt.nonces),
    "seed": strategies.HASHES,
    "salt": strategies.HASHES,
    "note": strategies.TEXTS,
    "algorithm": strategies.TEXTS,
    "options": strategies.HEX | st.sampled_from(["", "80", "c0", "9f"]),
    "game": st.builds(
        GameRef,
        st.sampled_from(
            ["pig", "guess", "lepidoptery", "lepidoptery+no-pass", "a+", "+", "x:pig"]
        )
        | strategies.TEXTS,
        st.integers(0, 2),
        strategies.TEXTS,
        st.lists(
            st.builds(VariantRef, st.sampled_from(["no-pass", "", "+"]), st.just(1)),
            max_size=2,
        ).map(tuple),
    ),
    "terms": strategies.TERMS,
    "seats": st.lists(
        st.builds(SeatTerms, strategies.PLAYERS, strategies.clocks()), max_size=5
    ).map(tuple),
}


@st.composite
def altered(draw):
    """Draw the events of a real record with some of them altered."""
    events = open_events(record_of(draw(st.sampled_from(sorted(RECORDS)))))
    for _ in range(draw(st.integers(1, 3))):
        number = draw(st.integers(0, len(events) - 1))
        match draw(st.sampled_from(["field"] * 4 + ["drop", "double", "swap", "new"])):
            case "field":
                names = [
                    one.name
                    for one in attrs.fields(type(events[number]))
                    if one.name in LIKELY
                ]
                if names:
                    name = draw(st.sampled_from(names))
                    value = draw(LIKELY[name])
                    events[number] = attrs.evolve(events[number], **{name: value})
            case "drop":
                if number:
                    del events[number]
            case "double":
                events.insert(number, events[number])
            case "swap":
                other = draw(st.integers(0, len(events) - 1))
                events[number], events[other] = events[other], events[number]
            case _:
                events.insert(number + 1, draw(strategies.PLAY | strategies.ENDS))
    return events


def holds_or_is_refused(raw: bytes) -> None:
    messages = []
    try:
        verify(raw, registry())
    except RecordError as error:
        messages.append(error.message)
    try:
        list(replayed(read_record(raw, unfinished=True), registry()).steps())
    except RecordError as error:
        messages.append(error.message)
    assert "\n" not in "".join(messages)


@FUZZ
@given(altered())
def test_altered_records_that_are_signed_anew(events):
    if not isinstance(events[0], Header):
        holds_or_is_refused(chained(map(payload, events)))
        return
    try:
        raw = closed(events)
    except CodecError:
        return  # nobody can write such an event
    holds_or_is_refused(raw)


@functools.cache
def headers():
    return [open_events(record_of(name))[0] for name in sorted(RECORDS)]


@FUZZ
@given(
    st.data(),
    st.lists(strategies.PLAY | strategies.DEALTS, max_size=5),
    strategies.ENDS,
    st.booleans(),
)
def test_events_drawn_at_random_under_a_real_header(data, play, ended, dealt):
    header = data.draw(st.sampled_from(headers()))
    base = open_events(record_of(data.draw(st.sampled_from(sorted(RECORDS)))))
    opening = [header, *base[1:2]] if dealt else [header]
    holds_or_is_refused(closed([*opening, *play, ended, base[-1]]))


@FUZZ
@given(st.sampled_from(sorted(RECORDS)), st.data())
def test_altered_bytes_of_payloads_that_are_chained_anew(name, data):
    payloads = [payload(event) for event in all_events(record_of(name))]
    number = data.draw(st.integers(0, len(payloads) - 1))
    position = data.draw(st.integers(0, len(payloads[number]) - 1))
    altered = bytearray(payloads[number])
    altered[position] = data.draw(st.integers(0, 255))
    payloads[number] = bytes(altered)
    holds_or_is_refused(chained(payloads))


def test_rulings_and_actions_at_the_edge_of_every_record():
    # Each field of each event set to the extremes, one after the other.
    extremes = [None, -1, 0, 1, 99, 2**53 - 1, -(2**53) + 1]
    for name in ("hidden", "chance", "stand-in", "refused", "late"):
        base: list[Any] = open_events(record_of(name))
        seen: set[tuple[type, str]] = set()
        for number, event in enumerate(base):
            if not isinstance(event, (ActionTaken, Ruling)):
                continue
            for one in attrs.fields(type(event)):
                if one.type not in ("int", "int | None", int, int | None):
                    continue
                if (type(event), one.name) in seen:
                    continue
                seen.add((type(event), one.name))
                for value in extremes:
                    if value is None and one.default is attrs.NOTHING:
                        continue
                    events = list(base)
                    change(events, number, **{one.name: value})
                    holds_or_is_refused(closed(events))
        assert seen
