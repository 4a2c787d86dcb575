"""The server: one address, all services."""

from __future__ import annotations

import asyncio
import datetime as dt
import os
from typing import Final, Self

import grpc
from grpc_health.v1 import (  # type: ignore[import-untyped]
    health_pb2,
    health_pb2_grpc,
)
from grpc_health.v1._async import HealthServicer  # type: ignore[import-untyped]
from grpc_reflection.v1alpha import reflection  # type: ignore[import-untyped]

from fritillary.api.v1 import (
    bot_pb2,
    catalog_pb2,
    catalog_pb2_grpc,
    match_pb2,
    match_pb2_grpc,
)
from fritillary.core.errors import ServiceError
from fritillary.service.admission import Admission
from fritillary.service.arena import Arena
from fritillary.service.audit import Audit
from fritillary.service.auth import Authenticator, Leases
from fritillary.service.bots import BotServicer
from fritillary.service.catalog import CatalogServicer
from fritillary.service.expiry import watch_expiry
from fritillary.service.listening import (
    checked_host,
    is_loopback,
    listen,
    options,
)
from fritillary.service.matches import MatchServicer
from fritillary.service.programs import Programs
from fritillary.service.resume import SessionTokens
from fritillary.service.rules_apart import Apart
from fritillary.service.tls import LiveTls, ServerTls

_SERVICES: Final = (
    bot_pb2.DESCRIPTOR.services_by_name["BotService"].full_name,
    catalog_pb2.DESCRIPTOR.services_by_name["CatalogService"].full_name,
    match_pb2.DESCRIPTOR.services_by_name["MatchService"].full_name,
)

#: Where programs dial in that the arena has started, beside a server with TLS: the
#: first of these that the machine has.
_INNER: Final = ("127.0.0.1", "[::1]")


class Server:
    """Serves an arena at one address.

    Use it as an async context manager, inside that of its arena or around it.

    With TLS there is a second address, on loopback, in plain text, where nobody is let
    in but the programs that the arena has started: they need no certificates, and
    what they say does not leave the machine.

    Args:
        arena: the matches, bots and tokens.
        address: ``HOST:PORT``; port 0 takes a free one.
        session_secret: makes session tokens; ``None`` for a fresh one, which does
            not survive a restart.
        tls: encrypts; needed beyond loopback.
        programs: whether referees may have programs started.

    Attributes:
        address: where it listens, once it does.
        audit: counts the calls that it refuses, and tells of them.
        admission: counts the calls that run, and reads their requests.
        watches: how many look on at matches.
    """

    def __init__(
        self,
        arena: Arena,
        address: str = "127.0.0.1:0",
        *,
        session_secret: bytes | None = None,
        tls: ServerTls | None = None,
        programs: Programs = Programs.LOCAL,
    ) -> None:
        self._arena = arena
        self._wanted = address
        self.address = ""
        self.audit = Audit()
        self._secret = session_secret or os.urandom(32)
        self._tls = None if tls is None else LiveTls(tls)
        self._programs = programs
        self._leases = Leases(arena.tokens)
        self.admission = Admission(arena.tokens, self._leases, arena.limits)
        self._apart = Apart(arena.registry)
        self._matches = MatchServicer(arena, self._leases, self._apart)
        self._server: grpc.aio.Server | None = None
        self._inner: grpc.aio.Server | None = None
        self._bots: BotServicer | None = None
        self._health: HealthServicer | None = None
        self._watching: list[asyncio.Task[None]] = []

    @property
    def certificate_until(self) -> dt.datetime | None:
        """The end of the certificate that is in use, UTC; ``None`` without TLS."""
        return None if self._tls is None else self._tls.about.good_until

    @property
    def watches(self) -> int:
        """How many watch matches."""
        return self._matches.watches.count

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self) -> None:
        """Listen and serve.

        Raises:
            UsageError: if the address is none.
            ServiceError: ``server.needs-tls`` beyond loopback without TLS,
                ``server.address-in-use`` if the port is taken.
        """
        host = checked_host(self._wanted, needs_loopback=self._tls is None)
        self._matches.programs = self._programs.allowed(loopback=is_loopback(host))
        arena = self._arena
        bots = BotServicer(
            arena.hub,
            arena.tokens,
            SessionTokens(self._secret),
            self._leases,
            arena.limits,
        )
        catalog = CatalogServicer(arena.registry, self._apart)
        health = HealthServicer()
        server = self._new_server()
        bots.add_to(server)
        catalog_pb2_grpc.add_CatalogServiceServicer_to_server(catalog, server)
        match_pb2_grpc.add_MatchServiceServicer_to_server(self._matches, server)
        health_pb2_grpc.add_HealthServicer_to_server(health, server)
        reflection.enable_server_reflection(
            (
                *_SERVICES,
                health_pb2.DESCRIPTOR.services_by_name["Health"].full_name,
                reflection.SERVICE_NAME,
            ),
            server,
        )
        address = inside = f"{host}:{listen(server, self._wanted, self._tls)}"
        if self._tls is not None:
            self._inner = inner = self._new_server(programs_only=True)
            bots.add_to(inner)
            catalog_pb2_grpc.add_CatalogServiceServicer_to_server(catalog, inner)
            health_pb2_grpc.add_HealthServicer_to_server(health, inner)
            inside = _listen_inside(inner)
            await inner.start()
        await server.start()
        for name in ("", *_SERVICES):
            await health.set(name, health_pb2.HealthCheckResponse.SERVING)
        self._server, self._bots, self._health = server, bots, health
        self._watching = [asyncio.create_task(self._leases.watch())]
        tls = self._tls
        if tls is not None:
            looking = (tls.watch(), watch_expiry(lambda: tls.about.good_until))
            self._watching += map(asyncio.create_task, looking)
        self.address, arena.address = address, inside

    def _new_server(self, *, programs_only: bool = False) -> grpc.aio.Server:
        arena = self._arena
        limits = arena.limits
        return grpc.aio.server(
            interceptors=(
                Authenticator(arena.tokens, self.audit, programs_only=programs_only),
                self.admission,
            ),
            options=options(limits),
        )

    async def refuse(self) -> None:
        """Let nobody new dial in, and say in health that it is over soon."""
        if self._bots is not None and self._health is not None:
            self._bots.stopping = True
            await self._health.enter_graceful_shutdown()

    async def stop(self) -> None:
        """Say goodbye and stop; matches still running lose their links."""
        server = self._server
        if server is None:
            return
        self._server = None
        self._arena.address = ""
        await self.refuse()
        await self._arena.hub.say_goodbye("server.stopping", "the server is stopping")
        await asyncio.gather(
            *(one.stop(0.5) for one in (server, self._inner) if one is not None)
        )
        await self._apart.stop()
        for task in self._watching:
            task.cancel()
        await asyncio.gather(*self._watching, return_exceptions=True)
        self.audit.tell_hidden()

    async def wait(self) -> None:
        """Wait until the server has stopped."""
        if self._server is not None:
            await self._server.wait_for_termination()


def _listen_inside(server: grpc.aio.Server) -> str:
    """Let a server listen on loopback; return its address."""
    for host in _INNER:
        try:
            return f"{host}:{listen(server, f'{host}:0', None)}"
        except ServiceError:
            if host == _INNER[-1]:
                raise
    raise AssertionError
