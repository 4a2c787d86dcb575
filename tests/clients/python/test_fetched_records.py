"""A record that comes in chunks is put together, or refused where they do not fit."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import grpc
import pytest

from fritillary.api.v1 import match_pb2 as wire
from fritillary.api.v1 import match_pb2_grpc
from fritillary_client import ProtocolError, Referee

pytestmark = pytest.mark.system

RAW = b"0123456789"
SUM = hashlib.sha256(RAW).digest()
END = {"size": 10, "sha256": SUM}


@pytest.fixture
async def fetch() -> AsyncIterator[Callable[..., Any]]:
    """Fetches a record from a server that sends given chunks."""
    chunks: list[wire.FetchRecordResponse] = []

    class Servicer(match_pb2_grpc.MatchServiceServicer):
        async def FetchRecord(self, request: Any, context: Any) -> None:  # type: ignore[override]
            for chunk in chunks:
                await context.write(chunk)

    server = grpc.aio.server()
    match_pb2_grpc.add_MatchServiceServicer_to_server(Servicer(), server)  # type: ignore[abstract]
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()

    async def fetched(*sent: dict[str, Any]) -> bytes:
        chunks[:] = [wire.FetchRecordResponse(**fields) for fields in sent]
        async with Referee(f"127.0.0.1:{port}", "t") as referee:
            return await referee.fetch_record("m")

    yield fetched
    await server.stop(None)


async def test_chunks_are_put_together(fetch) -> None:
    assert await fetch({"data": RAW[:4]}, {"data": RAW[4:], "offset": 4, **END}) == RAW


@pytest.mark.parametrize(
    "chunks",
    [
        [],
        [{"data": RAW}],
        [{"data": RAW, "size": 9, "sha256": SUM}],
        [{"data": RAW, "size": 10, "sha256": b"x" * 32}],
        [{"data": RAW[:4]}, {"data": RAW[5:], "offset": 5, **END}],
        [{"data": RAW[:4]}, {"data": RAW[4:], "offset": 0, **END}],
    ],
)
async def test_a_record_that_arrives_damaged_is_refused(fetch, chunks) -> None:
    with pytest.raises(ProtocolError) as caught:
        await fetch(*chunks)
    assert caught.value.code == "record.damaged"
