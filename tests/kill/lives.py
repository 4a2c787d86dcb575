"""The processes of a run: how they are started and killed, what they have told."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import select
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Self

from attrs import define, field, frozen

_ROOT: Final = Path(__file__).parents[2]

#: In seconds: how long the kernel may take to end what was killed.
_SOON_S: Final = 60.0


class Forge:
    """The process from which all others are forked."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None

    async def __aenter__(self) -> Self:
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tests.kill.driver",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            cwd=_ROOT,
            # Ctrl-C is for the harness.
            start_new_session=True,
            env={**os.environ, "GRPC_ENABLE_FORK_SUPPORT": "0"},
        )
        assert self._process.stdout is not None
        if not await self._process.stdout.readline():
            msg = "the processes of the runs cannot be started"
            raise RuntimeError(msg)
        return self

    async def __aexit__(self, *_: object) -> None:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        process.stdin.close()
        await process.wait()

    def start(self, order: dict[str, Any]) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(order).encode() + b"\n")


@define(eq=False)
class Life:
    """One process, from its start to its end.

    Args:
        tag: how it is called.
        seat: of a bot; ``None`` for the server.
        armed: the moment at which it is to stand still, and the kind of blow.

    Attributes:
        decided: by the id of each decision, what the bot saw.
        events: by the number of each event, what the bot was told.
        shown: the numbers of the events that the bot was shown, in their order.
        ids: of its decisions, in their order.
        took_seat: whether the bot has prepared for the match.
        ends: how often it was told of the end.
    """

    tag: str
    seat: int | None
    armed: tuple[str, int] | None = None
    blow: str = ""
    pid: int = 0
    killed: bool = False
    leaving: bool = False
    decided: dict[int, str] = field(factory=dict)
    events: dict[int, str] = field(factory=dict)
    shown: list[int] = field(factory=list)
    ids: list[int] = field(factory=list)
    took_seat: bool = False
    ends: int = 0
    begun: asyncio.Event = field(factory=asyncio.Event)
    gone: asyncio.Event = field(factory=asyncio.Event)
    writer: asyncio.StreamWriter | None = None

    async def kill(self) -> None:
        """Kill it as nothing can be prepared for."""
        self.killed = True
        if not self.pid or self.gone.is_set():
            return
        descriptor = os.pidfd_open(self.pid)
        try:
            os.kill(self.pid, signal.SIGKILL)
            await asyncio.to_thread(select.select, [descriptor], [], [], _SOON_S)
        finally:
            os.close(descriptor)

    def signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def go_on(self) -> None:
        """Let it go on from where it stands still."""
        if self.writer is not None and not (self.killed or self.gone.is_set()):
            self.writer.write(b"go on\n")


@frozen(kw_only=True)
class Told:
    """What the bot of a seat was told in an undisturbed run."""

    decided: dict[int, str]
    events: dict[int, str]


def differences(life: Life, told: Told) -> Iterator[str]:
    """Yield what a process was told otherwise than in the undisturbed run."""
    for number, seen in life.decided.items():
        if told.decided.get(number) != seen:
            yield f"decision {number} was asked for otherwise"
    for number, what in life.events.items():
        if told.events.get(number) != what:
            yield f"event {number} was told otherwise"
    if any(b <= a for a, b in itertools.pairwise(life.ids)):
        yield f"its decisions were {life.ids}"
    for name, numbers in (("told", list(life.events)), ("shown", life.shown)):
        if any(b != a + 1 for a, b in itertools.pairwise(numbers)):
            yield f"it was {name} the events {numbers}"
    if life.ends and life.events and max(life.events) != max(told.events):
        yield f"it was told {max(life.events)} events of {max(told.events)}"
