"""The processes that work for a simulator, as seen from its event loop.

Games are other people's code and take their time, so calls are worked on elsewhere:
the loop goes on answering, a call that is given up is stopped, and what does not stop
is killed and started anew.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import os
import sys
from collections.abc import Coroutine
from typing import Any, Final, Self

from fritillary.api.v1 import common_pb2
from fritillary.core import errors
from fritillary.core.errors import FritillaryError, ServiceError
from fritillary.plugins.discovery import DISABLED
from fritillary.service.simulator_limits import SimulatorLimits
from fritillary.service.simulator_worker import (
    ANSWER,
    CALL,
    GIVE_UP,
    HEAD,
    INSTALLED,
    READY,
    command,
)
from fritillary.service.spawn import minimal_environment

_log = logging.getLogger(__name__)

#: Time to load the games, in seconds; a busy machine is slow.
_START_S: Final = 120.0

#: Between two tries to start a process that does not start.
_AGAIN_S: Final = 1.0

#: Time to stop after a call was given up or has become late, in seconds. Playouts look
#: at the watch one by one; what takes longer is one that never ends.
_STOP_S: Final = 2.0


class _Process:
    """One process that works.

    Args:
        registry: see `Pool`.
        limits: on each call.
    """

    def __init__(self, registry: str, limits: SimulatorLimits) -> None:
        self._registry = registry
        self._limits = limits
        self._numbers = itertools.count(1)
        self._number = 0
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start it, and wait until it is ready.

        Raises:
            ServiceError: ``simulator.failed`` if it does not get so far.
        """
        # It finds the modules that we find, and no secrets.
        environment = minimal_environment(
            {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        )
        if DISABLED in os.environ:
            environment[DISABLED] = os.environ[DISABLED]
        self._process = await asyncio.create_subprocess_exec(
            *command(self._registry, self._limits),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=environment,
            # Ctrl-C is for us.
            start_new_session=os.name == "posix",
        )
        try:
            async with asyncio.timeout(_START_S):
                kind, _, _ = await self._next()
        except (EOFError, TimeoutError) as error:
            await self.kill()
            msg = "a process that plays out games could not be started"
            raise ServiceError(msg, code="simulator.failed") from error
        except BaseException:
            await self.kill()
            raise
        assert kind == READY  # noqa: S101 - it says nothing else first

    @property
    def gone(self) -> bool:
        """Whether it has ended."""
        return self._process is None or self._process.returncode is not None

    async def ask(self, method: str, request: bytes) -> bytes:
        """Return the answer to a call.

        Raises:
            FritillaryError: that the call leads to.
            EOFError: if the process has ended.
        """
        self._number = next(self._numbers)
        self._send(CALL, method.encode() + b"\n" + request)
        kind, _, raw = await self._next()
        if kind == ANSWER:
            return raw
        raise _error(raw)

    def give_up(self) -> None:
        """Stop working on the call."""
        self._send(GIVE_UP, b"")

    async def kill(self) -> None:
        """End it at once."""
        process = self._process
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        transport = getattr(process, "_transport", None)
        if transport is not None:
            transport.close()

    def _send(self, kind: int, raw: bytes) -> None:
        process = self._process
        # If it has ended, reading says so.
        if process is not None and process.stdin is not None:
            process.stdin.write(HEAD.pack(kind, self._number, len(raw)) + raw)

    async def _next(self) -> tuple[int, int, bytes]:
        process = self._process
        assert process is not None  # noqa: S101 - it was started
        assert process.stdout is not None  # noqa: S101 - a pipe
        kind, number, size = HEAD.unpack(await process.stdout.readexactly(HEAD.size))
        return kind, number, await process.stdout.readexactly(size)


def _error(raw: bytes) -> FritillaryError:
    """Return the error that a process tells of."""
    name, _, rest = raw.partition(b"\n")
    info = common_pb2.ErrorInfo.FromString(rest)
    kind = getattr(errors, name.decode(), FritillaryError)
    error: FritillaryError = kind(info.message, code=info.code)
    return error


class Pool:
    """Processes that work, each at one call at a time.

    Use it as an async context manager.

    Args:
        limits: on each call; they name how many processes there are.
        registry: a function that returns the games, as ``module:function``; or what
            `by_name` returns.
    """

    def __init__(self, limits: SimulatorLimits, registry: str = INSTALLED) -> None:
        self.limits = limits
        self._registry = registry
        self._all: list[_Process] = []
        self._idle: asyncio.LifoQueue[_Process] = asyncio.LifoQueue()
        self._calls = 0
        self._over = False
        self._mending: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._all = [
            _Process(self._registry, self.limits) for _ in range(self.limits.workers)
        ]
        try:
            await asyncio.gather(*(each.start() for each in self._all))
        except BaseException:
            await self._end()
            raise
        for each in self._all:
            self._idle.put_nowait(each)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._end()

    async def _end(self) -> None:
        self._over = True
        for task in self._mending:
            task.cancel()
        await asyncio.gather(*self._mending, return_exceptions=True)
        await asyncio.gather(*(each.kill() for each in self._all))

    async def run(self, method: str, request: bytes) -> bytes:
        """Return the answer to a call; a call that is cancelled is worked on no longer.

        Args:
            method: its name.
            request: as bytes.

        Raises:
            ServiceError: ``limit.calls`` if too many wait already, ``limit.time`` if
                it takes too long, ``simulator.failed`` if the process has ended.
            FritillaryError: that the call leads to.
        """
        if self._calls >= self.limits.max_calls:
            msg = f"{self._calls} calls wait or run already"
            raise ServiceError(msg, code="limit.calls", retry_after_ms=100)
        self._calls += 1
        try:
            process = await self._idle.get()
            while process.gone:
                # It has done nothing yet: somebody else has ended it.
                self._later(self._replace(process))
                process = await self._idle.get()
            return await self._run(process, method, request)
        finally:
            self._calls -= 1

    async def _run(self, process: _Process, method: str, request: bytes) -> bytes:
        asking = asyncio.ensure_future(process.ask(method, request))
        late = self.limits.max_call_ms / 1000 + _STOP_S
        try:
            await asyncio.wait({asking}, timeout=late)
        except asyncio.CancelledError:
            process.give_up()
            self._later(self._let_go(process, asking))
            raise
        if not asking.done():
            asking.cancel()
            self._later(self._replace(process))
            raise self.limits.late()
        try:
            answer = asking.result()
        except EOFError as error:
            self._later(self._replace(process))
            msg = "the process that worked on the call has ended; see its last words"
            raise ServiceError(msg, code="simulator.failed") from error
        except FritillaryError:
            self._idle.put_nowait(process)
            raise
        finally:
            # An error holds the frames that it has come through, and this one it.
            del asking
        self._idle.put_nowait(process)
        return answer

    # -- afterwards

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._mending.add(task)
        task.add_done_callback(self._mending.discard)

    async def _let_go(self, process: _Process, asking: asyncio.Task[bytes]) -> None:
        """Take a process back whose call was given up."""
        try:
            await asyncio.wait({asking}, timeout=_STOP_S)
        finally:
            asking.cancel()
        if asking.done() and not isinstance(asking.exception(), EOFError):
            self._idle.put_nowait(process)
        else:
            await self._replace(process)

    async def _replace(self, process: _Process) -> None:
        """Start a process anew."""
        await process.kill()
        while not self._over:
            try:
                await process.start()
            except (ServiceError, OSError):
                _log.exception("a process of the simulator does not start")
                await asyncio.sleep(_AGAIN_S)
            else:
                break
        self._idle.put_nowait(process)
