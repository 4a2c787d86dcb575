"""Reading a record: from bytes to events, with everything that needs no rules."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO, Final, TypeAlias, TypeVar

from attrs import frozen

from fritillary.codec.packing import pack, unpack
from fritillary.codec.paths import say
from fritillary.core.commitment import mix_nonces
from fritillary.core.errors import CodecError, RecordError
from fritillary.record.chain import MAX_PAYLOAD, payloads
from fritillary.record.content import Content
from fritillary.record.events import (
    FORMAT,
    ActionTaken,
    ChanceDrawn,
    Closed,
    Dealt,
    Ended,
    Header,
    Paused,
    RecordEvent,
    Resigned,
    Restarted,
    Resumed,
    Revealed,
    Ruling,
    event_from_data,
    event_to_data,
)
from fritillary.record.regular import open_regular
from fritillary.record.signing import signature_holds, signed_message

#: Largest file that is read as a record.
MAX_BYTES: Final = 64 * 1024 * 1024

#: More than the longest header takes.
_HEADER_BYTES: Final = MAX_PAYLOAD + 256

_PLAY: Final = (
    ActionTaken,
    ChanceDrawn,
    Ruling,
    Resigned,
    Paused,
    Resumed,
    Restarted,
)

_Allowed: TypeAlias = tuple[type, ...]

#: What may follow what, by class.
_FOLLOWS: Final[dict[type, _Allowed]] = {
    Header: (Dealt, Ended, Ruling),
    Dealt: (*_PLAY, Ended),
    **dict.fromkeys(_PLAY, (*_PLAY, Ended)),
    Ended: (Revealed,),
    Revealed: (Closed,),
    Closed: (),
}

E = TypeVar("E")


@frozen
class Record:
    """A record as it was read.

    Args:
        events: all of them, the header first; the position of one is its number.
        links: the chain's hash after each event.
    """

    events: tuple[RecordEvent, ...]
    links: tuple[bytes, ...]

    @property
    def header(self) -> Header:
        """The first event."""
        header = self.events[0]
        if not isinstance(header, Header):  # pragma: no cover - checked on reading
            raise TypeError
        return header

    def find(self, kind: type[E]) -> E | None:
        """Return the last event of a class, or ``None``."""
        for event in reversed(self.events):
            if isinstance(event, kind):
                return event
        return None

    @property
    def finished(self) -> bool:
        """Whether the record is closed."""
        return isinstance(self.events[-1], Closed)


def bad(number: int, reason: str, code: str = "record.invalid") -> RecordError:
    """Return the error that names an event, from 0 for the header."""
    return RecordError(f"event {number}: {reason}", code=code)


def open_file(path: Path) -> BinaryIO:
    """Open a record file.

    Raises:
        RecordError: if it cannot be opened, or is too large to be one.
    """
    try:
        file = os.fdopen(open_regular(path), "rb")
    except OSError as error:
        raise RecordError(f"{path}: {error.strerror}", code="record.file") from error
    size = os.fstat(file.fileno()).st_size
    if size > MAX_BYTES:
        file.close()
        msg = f"{path}: {size} bytes are too many for a match record"
        raise RecordError(msg, code="record.too-large")
    return file


def read_file(path: Path) -> bytes:
    """Return the bytes of a record file.

    Raises:
        RecordError: if it cannot be read, or is too large to be one.
    """
    try:
        with open_file(path) as file:
            return file.read()
    except OSError as error:
        raise RecordError(f"{path}: {error.strerror}", code="record.file") from error


def read_header(path: Path) -> Header:
    """Read the header of a record file, and no more of it than that.

    Raises:
        RecordError: if it cannot be read, or has none.
    """
    try:
        with os.fdopen(open_regular(path), "rb") as file:
            raw = file.read(_HEADER_BYTES)
    except OSError as error:
        raise RecordError(f"{path}: {error.strerror}", code="record.file") from error
    for payload, _ in payloads(raw, torn=True):
        header = _event(0, payload)
        if isinstance(header, Header):
            return header
        break
    msg = "event 0: the header is missing"
    raise RecordError(msg, code="record.torn")


def read_record(raw: bytes, *, unfinished: bool = False) -> Record:
    """Read a record, and check all that needs no rules.

    That is: the chain, the form and the order of the events, and in a closed record
    its content hash and its signature.

    Args:
        raw: the whole file.
        unfinished: accept one that is not closed, dropping a torn last event; also one
            whose deal is held back.

    Raises:
        RecordError: naming the first event that does not hold; ``record.sealed`` if
            nothing but the reveal of the deal is missing.
    """
    events: list[RecordEvent] = []
    links: list[bytes] = []
    for number, (payload, link) in enumerate(payloads(raw, torn=unfinished)):
        event = _event(number, payload)
        _check_order(number, events, event)
        events.append(event)
        links.append(link)
    if not events:
        msg = "event 0: the header is missing"
        raise RecordError(msg, code="record.torn")
    record = Record(tuple(events), tuple(links))
    if record.finished:
        _check_closing(record)
    elif not unfinished:
        if isinstance(events[-1], Ended):
            msg = (
                "the record ends before its deal is revealed: either the deal is held "
                "back, or the rest was cut off"
            )
            raise bad(len(events), msg, "record.sealed")
        raise bad(len(events), "the record ends before it is closed", "record.torn")
    return record


def _event(number: int, payload: bytes) -> RecordEvent:
    try:
        data = unpack(payload)
        if number == 0:
            _check_format(data)
        event = event_from_data(data)
        if pack(event_to_data(event)) != payload:
            raise bad(number, "its bytes are not canonical")
    except CodecError as error:
        raise bad(number, str(error)) from error
    return event


def _check_format(data: object) -> None:
    if not isinstance(data, dict) or data.get("type") != "header":
        return  # no header at all, which the order of events will say
    version = data.get("format")
    if type(version) is not int:
        msg = f"the record has format {say(version)}, which is no number"
        raise bad(0, msg, "record.format")
    if version != FORMAT:
        what = "newer" if version > FORMAT else "older"
        msg = (
            f"the record has format {version}, which is {what} than the format "
            f"{FORMAT} that this version reads"
        )
        raise bad(0, msg, "record.format")


def _check_order(number: int, events: list[RecordEvent], event: RecordEvent) -> None:
    if not events:
        allowed: _Allowed = (Header,)
        place = "first"
    else:
        before = type(events[-1])
        allowed, place = _FOLLOWS[before], f"after {before.__name__}"
        # A ruling before the deal ends the match: the referee itself failed.
        if number == 2 and before is Ruling:
            allowed = (Ended,)
    if not isinstance(event, allowed):
        raise bad(number, f"{type(event).__name__} cannot stand {place}")


def _check_closing(record: Record) -> None:
    number = len(record.events) - 1
    closed = record.events[-1]
    if not isinstance(closed, Closed):  # pragma: no cover - asked before
        raise TypeError
    message = signed_message(record.links[-2], bytes.fromhex(closed.content_hash))
    if not signature_holds(
        bytes.fromhex(closed.key), bytes.fromhex(closed.signature), message
    ):
        raise bad(number, "the signature does not hold", "record.signature")
    if content_hash(record).hex() != closed.content_hash:
        raise bad(number, "the content hash does not hold", "record.content")


def content_hash(record: Record, seed: bytes | None = None) -> bytes:
    """Return the content hash of a record.

    Args:
        record: up to its end at the least.
        seed: that was committed to, 32 bytes; ``None``: as the record reveals it.

    Raises:
        RecordError: if the seed is neither given nor revealed.
    """
    content = Content(record.header)
    if record.find(Dealt) is not None:
        content.dealt(deal_seed(record, seed))
    for event in record.events:
        content.add(event)
    return content.digest()


def deal_seed(record: Record, seed: bytes | None = None) -> bytes:
    """Return the seed that the deal really used.

    Args:
        record: up to its deal at the least.
        seed: that was committed to, 32 bytes; ``None``: as the record reveals it.

    Raises:
        RecordError: if the seed is neither given nor revealed.
    """
    if seed is None:
        revealed = record.find(Revealed)
        if revealed is None:
            msg = "the deal of this record is not revealed, so it cannot be replayed"
            raise RecordError(msg, code="record.sealed")
        seed = bytes.fromhex(revealed.seed)
    dealt = record.find(Dealt)
    nonces = () if dealt is None else dealt.nonces
    return mix_nonces(seed, [bytes.fromhex(n) for n in nonces])
