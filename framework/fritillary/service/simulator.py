"""The simulator: the rules of games as a local service, for bots of any language."""

from __future__ import annotations

from typing import Any, Final, Self, TypeVar

import grpc
from google.protobuf.message import Message
from grpc_health.v1 import (  # type: ignore[import-untyped]
    health_pb2,
    health_pb2_grpc,
)
from grpc_health.v1._async import HealthServicer  # type: ignore[import-untyped]
from grpc_reflection.v1alpha import reflection  # type: ignore[import-untyped]

from fritillary.api.v1 import simulator_pb2 as pb
from fritillary.api.v1 import simulator_pb2_grpc
from fritillary.core.errors import ServiceError
from fritillary.service.admission import Admission
from fritillary.service.auth import Leases
from fritillary.service.errors import guarded
from fritillary.service.limits import Limits
from fritillary.service.listening import checked_host, is_loopback, listen, options
from fritillary.service.simulator_limits import SimulatorLimits
from fritillary.service.simulator_pool import Pool
from fritillary.service.simulator_worker import INSTALLED
from fritillary.service.tokens import TokenStore

_Context = grpc.aio.ServicerContext[Any, Any]
_R = TypeVar("_R", bound=Message)

_SERVICE: Final = pb.DESCRIPTOR.services_by_name["SimulatorService"].full_name

#: Calls of health and reflection that run beside those that work.
_MORE_CALLS: Final = 64

#: Time that calls have to end when the server stops, in seconds.
_GRACE_S: Final = 0.5


class SimulatorServicer(simulator_pb2_grpc.SimulatorServiceServicer):
    """Hands calls on to the processes that work.

    Args:
        pool: the processes.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def _run(self, request: Message, kind: type[_R]) -> _R:
        """Return the answer to a request.

        Raises:
            FritillaryError: that it leads to.
        """
        self._pool.limits.check_size(request.ByteSize(), "the request")
        name = kind.DESCRIPTOR.name.removesuffix("Response")
        return kind.FromString(await self._pool.run(name, request.SerializeToString()))

    @guarded
    async def OpenGame(
        self, request: pb.OpenGameRequest, context: _Context
    ) -> pb.OpenGameResponse:
        """Open a game."""
        return await self._run(request, pb.OpenGameResponse)

    @guarded
    async def SampleWorlds(
        self, request: pb.SampleWorldsRequest, context: _Context
    ) -> pb.SampleWorldsResponse:
        """Draw worlds."""
        return await self._run(request, pb.SampleWorldsResponse)

    @guarded
    async def GetPositions(
        self, request: pb.GetPositionsRequest, context: _Context
    ) -> pb.GetPositionsResponse:
        """Tell what is to be done in worlds."""
        return await self._run(request, pb.GetPositionsResponse)

    @guarded
    async def ApplyActions(
        self, request: pb.ApplyActionsRequest, context: _Context
    ) -> pb.ApplyActionsResponse:
        """Apply actions."""
        return await self._run(request, pb.ApplyActionsResponse)

    @guarded
    async def ObserveWorlds(
        self, request: pb.ObserveWorldsRequest, context: _Context
    ) -> pb.ObserveWorldsResponse:
        """Tell what a seat would see."""
        return await self._run(request, pb.ObserveWorldsResponse)

    @guarded
    async def PlayOut(
        self, request: pb.PlayOutRequest, context: _Context
    ) -> pb.PlayOutResponse:
        """Play batches of playouts."""
        return await self._run(request, pb.PlayOutResponse)


class SimulatorServer:
    """Serves a simulator at one address on loopback.

    Use it as an async context manager. It has no tokens: whoever reaches it may use it.

    Args:
        address: ``HOST:PORT``; port 0 takes a free one.
        limits: on each call.
        registry: see `Pool`.

    Attributes:
        address: where it listens, once it does.
    """

    def __init__(
        self,
        address: str = "127.0.0.1:0",
        *,
        limits: SimulatorLimits | None = None,
        registry: str = INSTALLED,
    ) -> None:
        self._wanted = address
        self.address = ""
        self._limits = limits or SimulatorLimits()
        self._pool = Pool(self._limits, registry)
        self._server: grpc.aio.Server | None = None
        self._health: HealthServicer | None = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self) -> None:
        """Listen and serve.

        Raises:
            UsageError: if the address is none.
            ServiceError: ``server.needs-loopback`` if it is not on loopback,
                ``server.address-in-use`` if the port is taken, ``simulator.failed`` if
                no process can be started.
        """
        host = checked_host(self._wanted, needs_loopback=False)
        if not is_loopback(host):
            msg = (
                f"address {self._wanted[:80]!r} is not on loopback, and a simulator "
                "has no tokens; run it where the bot runs, and listen on 127.0.0.1"
            )
            raise ServiceError(msg, code="server.needs-loopback")
        calls = self._limits.max_calls + _MORE_CALLS
        limits = Limits(
            max_message_bytes=self._limits.max_message_bytes,
            max_strange_calls=calls,
            max_strangers=calls,
            max_strange_bytes=self._limits.max_message_bytes,
            # Everybody is at the same address.
            max_strange_unread_bytes=calls * self._limits.max_message_bytes,
        )
        tokens = TokenStore()
        server = grpc.aio.server(
            interceptors=(Admission(tokens, Leases(tokens), limits),),
            options=options(limits),
        )
        health = HealthServicer()
        simulator_pb2_grpc.add_SimulatorServiceServicer_to_server(
            SimulatorServicer(self._pool), server
        )
        health_pb2_grpc.add_HealthServicer_to_server(health, server)
        reflection.enable_server_reflection(
            (
                _SERVICE,
                health_pb2.DESCRIPTOR.services_by_name["Health"].full_name,
                reflection.SERVICE_NAME,
            ),
            server,
        )
        # Before the processes are there: a port in use is told at once.
        self.address = f"{host}:{listen(server, self._wanted, None)}"
        try:
            await self._pool.__aenter__()
        except BaseException:
            await server.stop(None)
            raise
        await server.start()
        for name in ("", _SERVICE):
            await health.set(name, health_pb2.HealthCheckResponse.SERVING)
        self._server, self._health = server, health

    async def stop(self) -> None:
        """Stop; calls that still run are given up."""
        server, self._server = self._server, None
        if server is None or self._health is None:
            return
        await self._health.enter_graceful_shutdown()
        await server.stop(_GRACE_S)
        await self._pool.__aexit__()
