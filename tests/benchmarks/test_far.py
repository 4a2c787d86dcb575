"""The link between machines that the benchmarks have on one."""

from __future__ import annotations

import asyncio
import time

from benchmarks.far import relay

DELAY_MS = 30


async def _shout(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(1_000):
        writer.write(data.upper())
    writer.close()


async def _asked(parts: int) -> tuple[bytes, float]:
    """Send so many parts, one after the other; return what came back, and when."""
    server = await asyncio.start_server(_shout, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    with relay(f"127.0.0.1:{port}", DELAY_MS) as address:
        host, _, port = address.rpartition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        began = time.monotonic()
        for number in range(parts):
            writer.write(f"part {number};".encode())
            await writer.drain()
            await asyncio.sleep(0)
        writer.write_eof()
        async with asyncio.timeout(60):
            answer = await reader.read()
        took = time.monotonic() - began
        writer.close()
    server.close()
    return answer, took


def test_what_is_sent_over_the_link_arrives_in_order_and_as_late_as_said():
    answer, took = asyncio.run(_asked(20))
    assert answer == b"".join(f"PART {number};".encode() for number in range(20))
    assert took >= 2 * DELAY_MS / 1000
