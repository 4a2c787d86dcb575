"""Contract bots: programs, one per language, that do what they are told and tell it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from typing import Any, Final

from attrs import frozen
from tests.clients.languages import Language

WITHIN_S: Final = 60.0
"""How long a busy machine may take for anything that is waited for."""

#: Longest line that a bot writes, in bytes.
_LINE: Final = 2**20

#: What would get into the way of what a test says.
_PREFIX: Final = "FRITILLARY_"


@frozen
class Ended:
    """How a bot ended.

    Args:
        code: its exit code.
        error: all that it wrote to standard error.
    """

    code: int
    error: str


class ContractBot:
    """A contract bot as a process, and what it has told so far.

    Args:
        language: of the bot.
        address: where it dials in.
        token: that it shows.
        environment: more variables; those of the client that are not named are unset.
        argument: that it is given in place of a task.
        **task: what it is told to do, see the programs in ``contract/`` of the clients.

    Attributes:
        events: all that it has told, in order.
    """

    def __init__(
        self,
        language: Language,
        address: str,
        token: str,
        environment: dict[str, str] | None = None,
        *,
        argument: str | None = None,
        **task: Any,
    ) -> None:
        self.events: list[dict[str, Any]] = []
        self._command = (
            *language.contract,
            json.dumps(task) if argument is None else argument,
        )
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(_PREFIX)}
        self._environment = {
            **inherited,
            "FRITILLARY_ADDRESS": address,
            "FRITILLARY_TOKEN": token,
            **(environment or {}),
        }
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._complaining: asyncio.Task[bytes] | None = None
        self._new = asyncio.Event()

    async def start(self) -> None:
        """Start it."""
        self._process = process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=self._environment,
            # Ctrl-C is for the tests.
            start_new_session=True,
            limit=_LINE,
        )
        assert process.stdout is not None
        assert process.stderr is not None
        self._reading = asyncio.create_task(self._read(process.stdout))
        self._complaining = asyncio.create_task(process.stderr.read())

    async def _read(self, lines: asyncio.StreamReader) -> None:
        async for line in lines:
            self.events.append(json.loads(line))
            self._new.set()
        self._new.set()

    # ------------------------------------------------------------------- what it tells

    def told(self, event: str, **about: Any) -> list[dict[str, Any]]:
        """Return what it has told of a kind so far, with these values."""
        wanted = {"event": event, **about}.items()
        return [one for one in self.events if wanted <= _hashable(one).items()]

    async def until(
        self, event: str, *, count: int = 1, **about: Any
    ) -> dict[str, Any]:
        """Wait until it has told something so often; return what it told last.

        Raises:
            AssertionError: if it ends or falls silent before.
        """
        try:
            async with asyncio.timeout(WITHIN_S):
                while len(found := self.told(event, **about)) < count:
                    if self._reading is None or self._reading.done():
                        break
                    self._new.clear()
                    await self._new.wait()
        except TimeoutError:
            found = []
        found = self.told(event, **about)
        assert len(found) >= count, await self._silence(event, about)
        return found[count - 1]

    async def _silence(self, event: str, about: dict[str, Any]) -> str:
        """Say what the bot told in place of what was waited for."""
        await self.kill()
        last = "\n".join(json.dumps(one)[:200] for one in self.events[-5:])
        error = (await self.over()).error
        return f"no {event} {about}; told last:\n{last}\n{error}"

    # ------------------------------------------------------------------- how it ends

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to it."""
        assert self._process is not None
        self._process.send_signal(number)

    async def over(self) -> Ended:
        """Wait until it ends by itself."""
        assert self._process is not None
        assert self._reading is not None
        assert self._complaining is not None
        async with asyncio.timeout(WITHIN_S):
            code = await self._process.wait()
            await self._reading
            return Ended(code, (await self._complaining).decode())

    async def kill(self) -> None:
        """End it, whatever it does."""
        process = self._process
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        pipes = (self._reading, self._complaining)
        await asyncio.gather(*(pipe for pipe in pipes if pipe is not None))

    async def stopped(self) -> None:
        """Wait until it has ended as a bot does that has nothing left to play."""
        ended = await self.over()
        assert ended == Ended(0, "")
        assert self.events[-1] == {"event": "stopped"}

    async def failed(self, code: str) -> str:
        """Wait until it has ended by an error, told in one line; return that line."""
        ended = await self.over()
        line = ended.error.removesuffix("\n")
        assert "\n" not in line, ended.error
        assert line.startswith("error: "), ended.error
        assert line.endswith(f" [{code}]"), ended.error
        assert ended.code == 1
        assert not self.told("stopped")
        return line


def _hashable(told: dict[str, Any]) -> dict[str, Any]:
    """Return what has values that can stand in a set."""
    return {k: v for k, v in told.items() if not isinstance(v, dict | list)}
