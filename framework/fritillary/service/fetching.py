"""Sending records: a chunk at a time, read when the one before it has gone."""

from __future__ import annotations

import asyncio
import hashlib
import os
from typing import Any, BinaryIO, Final

import grpc

from fritillary.api.v1 import match_pb2 as pb
from fritillary.core.errors import StorageError
from fritillary.service.turns import Turns

#: So many bytes are sent, and held for who does not read.
CHUNK: Final = 65_536

#: So many bytes are hashed at a time of what is not sent.
_SKIPPED: Final = 1024 * 1024


async def send(
    file: BinaryIO,
    offset: int,
    turns: Turns,
    key: str,
    context: grpc.aio.ServicerContext[Any, Any],
) -> None:
    """Send a record in chunks; the last one tells size and hash of all of it.

    Args:
        file: the record, at its start; not closed.
        offset: of the first byte that is wanted.
        turns: at reading.
        key: of the token.
        context: of the call.

    Raises:
        StorageError: if it cannot be read.
    """
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    digest = hashlib.sha256()

    def read(most: int) -> bytes:
        try:
            data = file.read(most)
        except OSError as error:
            msg = f"the record cannot be read: {error.strerror}"
            raise StorageError(msg, code="storage") from error
        if len(data) != most:
            raise StorageError("the record became shorter", code="storage")
        digest.update(data)
        return data

    at = 0
    start = min(offset, size)
    while at < start:
        most = min(_SKIPPED, start - at)
        async with turns.one(key):
            await asyncio.to_thread(read, most)
        at += most
    while True:
        most = min(CHUNK, size - at)
        async with turns.one(key):
            data = await asyncio.to_thread(read, most)
        chunk = pb.FetchRecordResponse(data=data, offset=at, view=pb.RECORD_VIEW_FULL)
        at += most
        if at == size:
            chunk.size = size
            chunk.sha256 = digest.digest()
        await context.write(chunk)
        if at == size:
            return
