"""Writing a record, event by event, to a sink."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import IO, Any, Protocol

from fritillary.codec.packing import pack
from fritillary.core.errors import StorageError
from fritillary.record.chain import FIRST_LINK, MAGIC
from fritillary.record.content import Content
from fritillary.record.events import (
    Closed,
    Header,
    RecordEvent,
    event_to_data,
)
from fritillary.record.signing import Signer

_PLAYER = "player"


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
        """Return all bytes so far."""
        return b"".join(self._parts)


class FileSink:
    """Writes to a new file, each event flushed to the system at once.

    Raises:
        StorageError: if the file exists or cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._file: IO[bytes] = path.open("xb", buffering=0)
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
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class RecordWriter:
    """Writes one record.

    Args:
        sink: where the bytes go.
        header: the first event.

    Attributes:
        link: the hash that ends the chain so far.
        events: how many events were written, the header included.
    """

    def __init__(self, sink: RecordSink, header: Header) -> None:
        self._sink = sink
        self._content = Content(header)
        self.link = FIRST_LINK
        self.events = 0
        sink.write(MAGIC)
        self._append(pack(event_to_data(header)))
        sink.sync()

    def _append(self, payload: bytes) -> None:
        self.link = link = hashlib.sha256(self.link + payload).digest()
        self._sink.write(len(payload).to_bytes(4, "big") + payload + link)
        self.events += 1

    def dealt(self, seed: bytes) -> None:
        """Note the seed that the deal really used, for the content hash."""
        self._content.dealt(seed)

    def add(self, event: RecordEvent) -> None:
        """Write an event; it is flushed when this returns."""
        self._content.add(event)
        self._append(pack(event_to_data(event)))

    def add_action(
        self,
        seat: int,
        index: int,
        charged_ms: int,
        server_ms: int | None,
        left_ms: int | None,
    ) -> None:
        """Write a plain `ActionTaken` of a player: what `add` would, but quickly."""
        self._content.action(seat, index, _PLAYER)
        data: dict[str, Any] = {"type": "action-taken", "seat": seat, "index": index}
        if charged_ms:
            data["charged_ms"] = charged_ms
        if server_ms is not None:
            data["server_ms"] = server_ms
        if left_ms is not None:
            data["left_ms"] = left_ms
        self._append(pack(data))

    def content_hash(self) -> bytes:
        """Return the content hash of what was written so far."""
        return self._content.digest()

    def close(self, signer: Signer) -> bytes:
        """Sign and close the record; return the final hash."""
        content = self.content_hash()
        closed = Closed(
            content.hex(), signer.public.hex(), signer.sign(self.link).hex()
        )
        self._append(pack(event_to_data(closed)))
        self._sink.sync()
        self._sink.close()
        return self.link

    def abandon(self) -> None:
        """Close the sink of a record that stays unfinished."""
        self._sink.close()

