"""Bots that run as programs and dial in."""

from __future__ import annotations

import asyncio
import asyncio.subprocess
import contextlib
import os
import tempfile
from typing import IO

from tests.clients.languages import ROOT, Command

from fritillary.service.arena import Arena
from fritillary.service.tokens import Role

#: To start, connect or stop, in seconds; a busy machine is no bug.
WITHIN = 60.0


class Running:
    """A bot's process.

    Attributes:
        name: of its token.
    """

    def __init__(
        self, name: str, process: asyncio.subprocess.Process, said: IO[bytes]
    ) -> None:
        self.name = name
        self._process = process
        self._said = said

    def said(self) -> str:
        """Return what it has written."""
        self._said.seek(0)
        return self._said.read().decode(errors="replace")

    def gone(self) -> bool:
        """Say whether it has ended."""
        return self._process.returncode is not None

    async def stop(self) -> None:
        """Ask it to leave; end it if it does not."""
        if not self.gone():
            with contextlib.suppress(ProcessLookupError):
                self._process.terminate()
            try:
                await asyncio.wait_for(self._process.wait(), WITHIN)
            except TimeoutError:
                self._process.kill()
                await self._process.wait()
        self._said.close()


async def dial_in(
    arena: Arena, address: str, name: str, command: Command, *, capacity: int = 1
) -> Running:
    """Start a bot and wait until the server knows it.

    Args:
        arena: makes its token.
        address: of the server.
        name: of the token.
        command: starts it; it understands ``--capacity``.
        capacity: most matches at a time.

    Raises:
        RuntimeError: what it said, if it ended or is not there in time.
    """
    said = tempfile.TemporaryFile()  # noqa: SIM115 - closed by stop()
    environment = {
        **os.environ,
        "FRITILLARY_ADDRESS": address,
        "FRITILLARY_TOKEN": arena.tokens.create(name, Role.BOT),
    }
    process = await asyncio.create_subprocess_exec(
        *command,
        "--capacity",
        str(capacity),
        cwd=ROOT,
        env=environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=said,
        stderr=said,
    )
    running = Running(name, process, said)
    try:
        async with asyncio.timeout(WITHIN):
            while arena.hub.link(name).session is None:
                if running.gone():
                    break
                await asyncio.sleep(0.02)
            else:
                return running
    except TimeoutError:
        pass
    msg = f"{name} ({' '.join(command)}) did not connect: {running.said()}"
    await running.stop()
    raise RuntimeError(msg)
