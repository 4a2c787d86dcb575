"""Messages as they stand on the wire, but for ids and times.

A message is taken apart by the rules of protobuf alone, field by field in the order
of its bytes, so that nothing is lost which a parsed message would not show: order,
presence, fields that no receiver knows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from fritillary.api.v1 import bot_pb2

#: What differs between any two matches: ids of sessions, times, clocks, and the hash
#: over the record, which holds times.
EVER = frozenset(
    {
        "Welcome.session_token",
        "Ping.id",
        "MatchStatus.waiting_left_ms",
        "DecisionTime.charged_ms",
        "DecisionTime.server_ms",
        "DecisionTime.round_trip_ms",
        "ClockReading.left_ms",
        "ClockReading.base_left_ms",
        "ClockReading.move_left_ms",
        "ClockReading.turn_left_ms",
        "ClockReading.bank_left_ms",
        "ClockReading.link_left_ms",
        "Match.created_at_ms",
        "Match.started_at_ms",
        "Match.ended_at_ms",
        "MatchResult.final_hash",
    }
)

#: What follows from the seed of the deal, which no seat knows before the reveal.
OF_THE_SEED = frozenset(
    {
        "Commitment.hash",
        "MatchOffer.bot_seed",
        "Reveal.seed",
        "Reveal.salt",
    }
)

#: What others have mixed into the deal.
OF_THE_NONCES = frozenset({"Reveal.nonces"})

#: Of these even the length does not count.
_OF_ANY_LENGTH = OF_THE_NONCES

#: A message in its normal form: names and values of fields.
Form = tuple[tuple[str, Any], ...]


def entries(frame: bytes) -> Iterator[bytes]:
    """Yield the messages of a frame, however they were put into frames.

    Args:
        frame: a ConnectResponse.
    """
    for number, kind, value in _fields(frame):
        assert (number, kind) == (1, 2)
        yield value


def form(raw: bytes, of: Descriptor, masks: frozenset[str]) -> Form:
    """Return a message in its normal form.

    Args:
        raw: the message.
        of: its type.
        masks: fields whose values do not count. What remains of them is whether they
            are there, as far as zero is told from absent, and the length of most bytes.
    """
    out: list[tuple[str, Any]] = []
    for number, kind, value in _fields(raw):
        field = of.fields_by_number.get(number)
        if field is None:
            out.append((f"unknown {number}", value))
        elif f"{of.name}.{field.name}" in masks:
            if f"{of.name}.{field.name}" in _OF_ANY_LENGTH:
                out.append((field.name, "*"))
            elif kind == 2:
                out.append((field.name, f"{len(value)} bytes"))
            elif field.has_presence:
                out.append((field.name, "*"))
        elif field.message_type is not None:
            out.append((field.name, form(value, field.message_type, masks)))
        elif field.type == FieldDescriptor.TYPE_STRING:
            out.append((field.name, value.decode()))
        else:
            out.append((field.name, value))
    return tuple(out)


def to_a_bot(raw: bytes, masks: frozenset[str]) -> Form:
    """Return an entry of a stream in its normal form."""
    return form(raw, bot_pb2.ServerMessage.DESCRIPTOR, masks)


def _fields(raw: bytes) -> Iterator[tuple[int, int, Any]]:
    """Yield number, wire type and value of each field."""
    at = 0
    while at < len(raw):
        tag, at = _varint(raw, at)
        number, kind = tag >> 3, tag & 7
        if kind == 0:
            value, at = _varint(raw, at)
            yield number, kind, value
            continue
        size = {1: 8, 5: 4}.get(kind)
        if size is None:
            assert kind == 2
            size, at = _varint(raw, at)
        assert at + size <= len(raw)
        yield number, kind, raw[at : at + size]
        at += size


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = raw[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return value, at
        shift += 7
