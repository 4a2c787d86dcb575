"""Closing a record whose deal was held back, once the deal may be known."""

from __future__ import annotations

import os
from pathlib import Path

from fritillary.core.commitment import commitment
from fritillary.core.errors import RecordError, StorageError
from fritillary.record.chain import frame, length_of, link_after
from fritillary.record.events import Ended, Revealed
from fritillary.record.reader import (
    Record,
    bad,
    content_hash,
    read_file,
    read_record,
)
from fritillary.record.regular import open_regular
from fritillary.record.signing import Signer
from fritillary.record.writer import closed_payload, revealed_payload


def reveal_record(
    record: Path | bytes, seed: bytes, salt: bytes, signer: Signer
) -> bytes:
    """Append the reveal of the deal and the closing event to an open record.

    What a crash left of an earlier attempt is mended.

    Args:
        record: all its bytes, or its file, which then gets the events.
        seed: that was committed to, 32 bytes.
        salt: of the commitment, 32 bytes.
        signer: closes the record.

    Returns:
        The bytes of the whole record; the last 32 are its final hash.

    Raises:
        RecordError: if the record cannot be read, has not come to its end or is closed
            already, or seed and salt do not open its commitment.
        StorageError: if the file cannot be written.
    """
    raw = record if isinstance(record, bytes) else read_file(record)
    found = read_record(raw, unfinished=True)
    number = len(found.events)
    if found.finished:
        raise bad(number - 1, "the record is closed already", "record.closed")
    last = found.events[-1]
    if not isinstance(last, (Ended, Revealed)):
        msg = "the match has not come to its end; there is nothing to reveal yet"
        raise bad(number, msg, "record.torn")
    _check_opens(found, seed, salt)
    whole = length_of(raw, number)
    link = found.links[-1]
    added = b""
    if isinstance(last, Ended):
        payload = revealed_payload(seed, salt)
        link = link_after(link, payload)
        added += frame(payload, link)
    revealed = read_record(raw[:whole] + added, unfinished=True)
    payload = closed_payload(link, content_hash(revealed), signer)
    added += frame(payload, link_after(link, payload))
    if not isinstance(record, bytes):
        _append(record, whole, added)
    return raw[:whole] + added


def _check_opens(record: Record, seed: bytes, salt: bytes) -> None:
    header = record.header
    options = bytes.fromhex(header.options)
    try:
        bound = commitment(header.match_id, options, seed, salt)
    except ValueError as error:
        raise RecordError(f"event 0: {error}", code="record.deal") from error
    if bound.hex() != header.commitment:
        msg = "seed and salt do not open the commitment of the header"
        raise RecordError(f"event 0: {msg}", code="record.deal")


def _append(path: Path, whole: int, added: bytes) -> None:
    """Write after the whole events of a file, and wait until the disk has it."""
    try:
        with open(path, "r+b", buffering=0, opener=open_regular) as file:
            file.truncate(whole)
            file.seek(whole)
            rest = memoryview(added)
            while rest:
                rest = rest[file.write(rest) :]
            os.fsync(file.fileno())
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror}") from error
