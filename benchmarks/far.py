"""One bot in many matches, against the same bot in one, over a link that takes time.

On one machine a message arrives at once, and what many matches gain on one stream is
what they save the processor. Between machines each waits for the link as well. Here the
link is a relay in a process of its own, which hands on what it gets some milliseconds
later, in both directions; however much is under way, nothing waits for anything else.
"""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import Iterator

from benchmarks.loop import run
from benchmarks.over_grpc import Counts, beside, bot, serving, stop
from benchmarks.pairs import Ratio

_CHUNK_BYTES = 256 * 1024


async def _relay(port: int, delay_ms: float) -> None:
    """Hand on what comes to a free port, so much later; until killed."""
    loop = asyncio.get_running_loop()
    delay_s = delay_ms / 1000

    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(_CHUNK_BYTES):
            loop.call_later(delay_s, writer.write, data)
        await asyncio.sleep(delay_s)
        writer.write_eof()

    async def accept(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        there_reader, there_writer = await asyncio.open_connection("127.0.0.1", port)
        with contextlib.suppress(OSError):  # cut at one end, and so at the other
            await asyncio.gather(copy(reader, there_writer), copy(there_reader, writer))
        there_writer.close()
        writer.close()

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


@contextlib.contextmanager
def relay(address: str, delay_ms: float) -> Iterator[str]:
    """Yield an address from which a server is so far away.

    Args:
        address: HOST:PORT of the server, on this machine.
        delay_ms: one way.
    """
    port = address.rpartition(":")[2]
    command = [sys.executable, "-m", "benchmarks.far", port, str(delay_ms)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            if process.stdout is None:
                raise RuntimeError
            yield f"127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.kill()


async def _measure(matches: int, delay_ms: float, rounds: int, seconds: float) -> Ratio:
    with (
        serving(1, matches) as many_at,
        serving(1) as one_at,
        relay(many_at.address, delay_ms) as far_many,
        relay(one_at.address, delay_ms) as far_one,
    ):
        many, one = Counts(), Counts()
        tasks = [
            asyncio.create_task(bot(far_many, many_at.keys[0], many, matches)),
            asyncio.create_task(bot(far_one, one_at.keys[0], one)),
        ]
        ratio = await beside(many, one, rounds, seconds)
        await stop(tasks)
        return ratio


def compare(matches: int, *, delay_ms: float, rounds: int, seconds: float) -> Ratio:
    """Compare one bot in many matches on one stream with the same bot in one.

    Args:
        matches: of the one bot.
        delay_ms: that the link takes, one way.
        rounds: samples.
        seconds: of one.
    """
    return run(_measure(matches, delay_ms, rounds, seconds))


if __name__ == "__main__":
    run(_relay(int(sys.argv[1]), float(sys.argv[2])))
