"""Rules that run in a process of their own, on what a stranger sends.

Nobody knows how long a game takes for options that nobody has thought of, or how much
memory. In the loop it would hold up every match. Apart, it has a time and is killed
after it; callers take turns, and between two turns the processor is free for bots.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Final

from google.protobuf.message import Message

from fritillary.api.v1 import catalog_pb2, common_pb2
from fritillary.core.errors import ServiceError, UnknownGameError
from fritillary.plugins.discovery import Registry
from fritillary.service.accounts import calling, is_known
from fritillary.service.catalog_calls import as_known
from fritillary.service.simulator_limits import SimulatorLimits
from fritillary.service.simulator_pool import Pool
from fritillary.service.simulator_worker import by_name
from fritillary.service.turns import Turns

#: On one call. How many wait is limited where calls are let in.
LIMITS: Final = SimulatorLimits(
    max_call_ms=2_000, max_calls=4_096, workers=1, memory_bytes=1024**3
)

#: Half of the time the processor is free: bots on this machine need it as well.
_REST: Final = 1.0

#: Time that a call may wait for its turn, and for its answer, in seconds.
_WAIT_S: Final = 15.0


class Apart:
    """The processes where rules run: one for those who show a token, one for strangers.

    So strangers are in nobody's way but each other's.

    Args:
        registry: the games.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._by_known = {known: RulesApart(registry) for known in (False, True)}

    async def ask(self, method: str, request: Message) -> bytes:
        """Return the answer to a request of the running call; see `RulesApart.ask`."""
        raw = request.SerializeToString()
        return await self._by_known[is_known.get()].ask(method, raw)

    async def check_options(
        self, game: str, options: common_pb2.OptionsChoice, seats: int
    ) -> None:
        """Check that a match can be begun with some options, and soon.

        Args:
            game: full id; it is installed.
            options: of the match.
            seats: how many there are.

        Raises:
            ServiceError: ``limit.time`` if the rules take too long; as of `ask`.
            FritillaryError: if the options are none.
        """
        request = catalog_pb2.GetGameRequest(game=game, options=options, seats=seats)
        if as_known(self._registry, request):
            return
        # Plugins that are no modules are only here.
        with contextlib.suppress(UnknownGameError):
            await self.ask("Catalog.CheckOptions", request)

    async def stop(self) -> None:
        """End the processes."""
        for apart in self._by_known.values():
            await apart.stop()


class RulesApart:
    """Answers requests in a process that is started when the first one comes.

    Args:
        registry: the games; those that are no modules are not found there.
        limits: on each call.
    """

    def __init__(self, registry: Registry, limits: SimulatorLimits = LIMITS) -> None:
        self._registry = registry
        self._limits = limits
        self._turns = Turns(_REST)
        self._pool: Pool | None = None
        self._starting: asyncio.Task[Pool] | None = None

    async def ask(self, method: str, request: bytes) -> bytes:
        """Return the answer to a request.

        Args:
            method: its name.
            request: as bytes.

        Raises:
            ServiceError: ``limit.time`` if it takes too long, or too many are before
                it; ``simulator.failed`` if the process has ended.
            FritillaryError: that the request leads to.
        """
        pool = await self._started()
        try:
            async with asyncio.timeout(_WAIT_S), self._turns.one(calling.get()):
                return await pool.run(method, request)
        except TimeoutError as error:
            msg = f"nobody came to answer this within {_WAIT_S:g} s; try again later"
            raise ServiceError(msg, code="limit.time", retry_after_ms=1_000) from error

    async def _started(self) -> Pool:
        if self._starting is None or (
            self._starting.done() and self._starting.exception() is not None
        ):
            self._starting = asyncio.create_task(self._start())
        # Who gives up does not stop it: others wait as well.
        return await asyncio.shield(self._starting)

    async def _start(self) -> Pool:
        return await Pool(self._limits, by_name(self._registry)).__aenter__()

    async def stop(self) -> None:
        """End the process."""
        starting, self._starting = self._starting, None
        if starting is None:
            return
        if not starting.done():
            starting.cancel()
        await asyncio.wait({starting})
        if not starting.cancelled() and starting.exception() is None:
            await starting.result().__aexit__()
