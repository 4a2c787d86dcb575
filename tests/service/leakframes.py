"""Frames that follow from what a server does, and not from how busy the machine is."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from typing import Any, cast
from unittest import mock

import grpc

from fritillary.service.session import Session


class _Swift:
    """The context of an RPC to which messages are written in no time.

    What waits together leaves together; so it would depend on how long writing takes
    what that is.
    """

    def __init__(self, context: Any) -> None:
        self._context = context
        self._last: asyncio.Task[None] | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    async def write(self, frame: bytes) -> None:
        """Write a frame after those before, some time."""
        self._last = asyncio.create_task(self._write(frame, self._last))

    async def _write(self, frame: bytes, before: asyncio.Task[None] | None) -> None:
        if before is not None:
            await before
        with contextlib.suppress(grpc.aio.BaseError, asyncio.InvalidStateError):
            await self._context.write(frame)

    async def written(self) -> None:
        """Wait until all is written."""
        if self._last is not None:
            await self._last


@contextlib.contextmanager
def steady_frames() -> Iterator[None]:
    """Let it follow from what a server does alone what it puts into one frame."""
    build, run = Session.__init__, Session.run

    def built(self: Session, context: Any, *args: Any) -> None:
        build(self, cast("Any", _Swift(context)), *args)

    async def ran(self: Session) -> None:
        await run(self)
        await cast("_Swift", self._context).written()

    with (
        mock.patch.object(Session, "__init__", built),
        mock.patch.object(Session, "run", ran),
    ):
        yield
