from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.clients.python.fake_arena import TOKEN, WITHIN_S, FakeArena, arena_running
from tests.ports import kept_port

from fritillary_client import Client

Program = asyncio.subprocess.Process
Start = Callable[..., Coroutine[Any, Any, Program]]


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ADDRESS", "TOKEN", "CA", "CERT", "KEY"):
        monkeypatch.delenv(f"FRITILLARY_{name}", raising=False)


@pytest.fixture
def port() -> Iterator[int]:
    """Of a server that the test stops and starts again."""
    with kept_port() as kept:
        yield kept


@pytest.fixture
async def arena() -> AsyncIterator[FakeArena]:
    async with arena_running() as running:
        yield running


class Running:
    """A client that runs beside the test."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.task = asyncio.ensure_future(client.run())

    async def done(self, within_s: float = WITHIN_S) -> None:
        """Wait for the client to end; raises what it raises."""
        await asyncio.wait_for(asyncio.shield(self.task), within_s)


@pytest.fixture
async def play(arena: FakeArena) -> AsyncIterator[Callable[..., Running]]:
    """Starts a client of the fake arena; all are ended after the test."""
    started: list[Running] = []

    def start(bot: Any, **settings: Any) -> Running:
        settings = {"address": arena.address, "token": TOKEN, **settings}
        started.append(Running(Client(bot, **settings)))
        return started[-1]

    yield start
    for running in started:
        running.client.stop()
        with contextlib.suppress(Exception):
            await running.done()
        running.task.cancel()
        await asyncio.gather(running.task, return_exceptions=True)


@pytest.fixture
async def start(arena: FakeArena) -> AsyncIterator[Start]:
    """Starts a bot as a program of its own that dials in at the fake arena."""
    started: list[Program] = []

    async def launch(
        source: str | Path, *args: str, env: dict[str, str] | None = None
    ) -> Program:
        words = [str(source)] if isinstance(source, Path) else ["-c", source]
        program = await asyncio.create_subprocess_exec(
            sys.executable,
            *words,
            *args,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={
                **os.environ,
                "FRITILLARY_ADDRESS": arena.address,
                "FRITILLARY_TOKEN": TOKEN,
                **(env or {}),
            },
        )
        started.append(program)
        return program

    yield launch
    for program in started:
        with contextlib.suppress(ProcessLookupError):
            program.kill()
        await program.communicate()
