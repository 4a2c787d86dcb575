"""Writing a record, event by event, to a sink."""

from __future__ import annotations

import functools
import hashlib
import os
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol

from fritillary.codec.packing import pack_own
from fritillary.core.errors import RecordError, StorageError
from fritillary.record.chain import FIRST_LINK, MAGIC, MAX_PAYLOAD
from fritillary.record.content import Content
from fritillary.record.events import (
    Dealt,
    Ended,
    Header,
    RecordEvent,
    event_to_data,
    header_to_data,
)
from fritillary.record.regular import open_regular
from fritillary.record.signing import Signer, signed_message

if TYPE_CHECKING:
    from fritillary.record.reader import Record

_PLAYER = "player"

_sha256 = hashlib.sha256


def _pack(event: RecordEvent) -> bytes:
    """Return the payload of an event."""
    if type(event) is Ended or type(event) is Dealt:
        return _pack_usual(event)
    return pack_own(event_to_data(event))


@functools.lru_cache(256)
def _pack_usual(event: Dealt | Ended) -> bytes:
    """Return the payload of an event that many matches have alike."""
    return pack_own(event_to_data(event))


@functools.lru_cache(4096)
def _action_payload(
    seat: int,
    index: int,
    charged_ms: int,
    server_ms: int | None,
    think_ms: int | None,
    left_ms: int | None,
) -> tuple[bytes, bytes]:
    """Return the payload of a plain action, bare and after its length.

    Quick bots repeat themselves.
    """
    data: dict[str, Any] = {"type": "action-taken", "seat": seat, "index": index}
    if charged_ms:
        data["charged_ms"] = charged_ms
    if server_ms is not None:
        data["server_ms"] = server_ms
    if think_ms is not None:
        data["think_ms"] = think_ms
    if left_ms is not None:
        data["left_ms"] = left_ms
    payload = pack_own(data)
    return payload, len(payload).to_bytes(4, "big") + payload


def revealed_payload(seed: bytes, salt: bytes) -> bytes:
    """Return the payload of a `Revealed`; there is no need to check our own values."""
    return pack_own({"type": "revealed", "seed": seed.hex(), "salt": salt.hex()})


def closed_payload(link: bytes, content: bytes, signer: Signer) -> bytes:
    """Return the payload of a `Closed`.

    Args:
        link: of the event before, 32 bytes.
        content: the content hash, 32 bytes.
        signer: who closes the record.
    """
    signature = signer.sign(signed_message(link, content))
    data = {
        "type": "closed",
        "content_hash": content.hex(),
        "key": signer.public.hex(),
        "signature": signature.hex(),
    }
    return pack_own(data)


class RecordSink(Protocol):
    """Where the bytes of a record go."""

    def write(self, raw: bytes) -> None:
        """Take bytes; they are the record's when this returns."""

    def sync(self) -> None:
        """Make all bytes so far survive a power cut."""

    def close(self) -> None:
        """Take no more."""


class MemorySink:
    """Keeps the bytes in memory."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self.write = self._parts.append

    def sync(self) -> None:
        """Do nothing: memory does not survive a power cut."""

    def close(self) -> None:
        """Do nothing."""

    def getvalue(self) -> bytes:
        """Return all bytes so far; all who ask at the end share them."""
        raw = b"".join(self._parts)
        self._parts[:] = [raw]
        return raw


class FileSink:
    """Writes to a file, each event flushed to the system at once.

    Nobody but the file's owner may read it: until its end it is the host's log.

    Args:
        path: of the file.
        after: go on after so many bytes of a file that is there, of which the rest is
            dropped; ``None`` makes a new file.

    Raises:
        StorageError: if the file cannot be written, exists and should not, or should
            and does not.
    """

    def __init__(self, path: Path, *, after: int | None = None) -> None:
        self.path = path
        try:
            self._file: IO[bytes] = open(  # noqa: SIM115 - with an opener
                path, "xb" if after is None else "r+b", buffering=0, opener=open_regular
            )
            lock(self._file.fileno())
            if after is not None:
                self._file.truncate(after)
                self._file.seek(after)
        except OSError as error:
            raise StorageError(f"{path}: {error.strerror}") from error

    def write(self, raw: bytes) -> None:
        """Write all bytes."""
        try:
            written = self._file.write(raw)
            while written < len(raw):
                written += self._file.write(raw[written:])
        except OSError as error:
            raise StorageError(f"{self.path}: {error.strerror}") from error

    def sync(self) -> None:
        """Wait until the disk has it."""
        try:
            os.fsync(self._file.fileno())
            sync_folder(self.path.parent)
        except OSError as error:
            raise StorageError(f"{self.path}: {error.strerror}") from error

    def close(self) -> None:
        """Close the file."""
        try:
            self._file.close()
        except OSError as error:
            raise StorageError(f"{self.path}: {error.strerror}") from error


if sys.platform == "win32":

    def lock(_: int) -> bool:
        """Say that nobody else writes a file: here it cannot be told."""
        return True

    def in_use(_: Path) -> bool:
        """Say no: here it cannot be told whether another process writes a record.

        Who has the lock of the folder in which it lies knows that none does.
        """
        return False

else:
    import fcntl

    def lock(descriptor: int) -> bool:
        """Mark a file as being written; return whether nobody else writes it."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def in_use(path: Path) -> bool:
        """Say whether somebody writes a record, in this process or another one.

        Raises:
            OSError: if it cannot be opened, or is no regular file.
        """
        descriptor = open_regular(path)
        try:
            return not lock(descriptor)
        finally:
            os.close(descriptor)


def sync_folder(path: Path) -> None:
    """Wait until the disk has the names of the files in a folder.

    Raises:
        OSError: if it fails.
    """
    if os.name != "posix":  # pragma: no cover - Windows cannot open folders
        return
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


class RecordWriter:
    """Writes one record.

    An event that cannot be written raises and leaves the record as it was.

    Args:
        sink: where the bytes go.
        header: the first event.
        after: what stands in the sink already, beginning with that header; empty
            for a new record.

    Raises:
        CodecError: if an event holds what cannot be packed.
        RecordError: if an event is too long.
        StorageError: if the sink cannot take it.

    Attributes:
        link: the hash that ends the chain so far.
        events: how many events were written, the header included.
        broken: whether the sink has failed, perhaps in the midst of an event:
            nothing more may be written.
    """

    def __init__(
        self, sink: RecordSink, header: Header, after: Record | None = None
    ) -> None:
        self._sink = sink
        self._content = Content(header)
        self.link = FIRST_LINK
        self.events = 0
        self.broken = False
        self._closed = b""
        if after is not None:
            for event in after.events[1:]:
                self._content.add(event)
            self.link = after.links[-1]
            self.events = len(after.events)
            return
        sink.write(MAGIC)
        self._append(pack_own(header_to_data(header)))
        sink.sync()

    def _append(self, payload: bytes) -> None:
        size = len(payload)
        if size > MAX_PAYLOAD:
            msg = f"event {self.events}: {size} bytes; {MAX_PAYLOAD} at most"
            raise RecordError(msg, code="record.too-large")
        link = hashlib.sha256(self.link + payload).digest()
        try:
            self._sink.write(size.to_bytes(4, "big") + payload + link)
        except BaseException:
            self.broken = True
            raise
        self.link = link
        self.events += 1

    def dealt(self, seed: bytes) -> None:
        """Note the seed that the deal really used, for the content hash."""
        self._content.dealt(seed)

    def add(self, event: RecordEvent) -> None:
        """Write an event; it is flushed when this returns."""
        self._append(_pack(event))
        self._content.add(event)

    def add_action(
        self,
        seat: int,
        index: int,
        charged_ms: int,
        server_ms: int | None,
        left_ms: int | None,
        think_ms: int | None = None,
    ) -> None:
        """Write a plain `ActionTaken` of a player: what `add` would, but quickly."""
        # As `_append`, with less to do: such a payload is short.
        payload, framed = _action_payload(
            seat, index, charged_ms, server_ms, think_ms, left_ms
        )
        link = _sha256(self.link + payload).digest()
        try:
            self._sink.write(framed + link)
        except BaseException:
            self.broken = True
            raise
        self.link = link
        self.events += 1
        self._content.action(seat, index, _PLAYER)

    def reveal(self, seed: bytes, salt: bytes) -> None:
        """Write a `Revealed`: what `add` would, but quickly."""
        self._append(revealed_payload(seed, salt))

    def content_hash(self) -> bytes:
        """Return the content hash of what was written so far."""
        return self._closed or self._content.digest()

    def close(self, signer: Signer) -> bytes:
        """Sign and close the record; return the final hash."""
        content = self.content_hash()
        self._append(closed_payload(self.link, content, signer))
        self._closed = content
        self._sink.sync()
        self._sink.close()
        return self.link

    def hold(self) -> None:
        """Leave the record open after its end, while the deal is held back.

        `fritillary.record.reveal.reveal_record` closes it later.
        """
        self._sink.sync()
        self._sink.close()

    def abandon(self) -> None:
        """Close the sink of a record that stays unfinished."""
        self._sink.close()
