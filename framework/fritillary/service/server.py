"""The server: one address, all services."""

from __future__ import annotations

import errno
import ipaddress
import os
import socket
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
from fritillary.core.errors import ServiceError, UsageError
from fritillary.service.arena import Arena
from fritillary.service.auth import Authenticator
from fritillary.service.bots import BotServicer
from fritillary.service.catalog import CatalogServicer
from fritillary.service.matches import MatchServicer
from fritillary.service.resume import SessionTokens

_SERVICES: Final = (
    bot_pb2.DESCRIPTOR.services_by_name["BotService"].full_name,
    catalog_pb2.DESCRIPTOR.services_by_name["CatalogService"].full_name,
    match_pb2.DESCRIPTOR.services_by_name["MatchService"].full_name,
)

#: gRPC cuts a stream with a larger message off, and nobody learns why: the link is
#: lost. So it is told to take far more than the announced limit allows, which is
#: judged by us and gets its name. It bounds the memory that one stream can take.
_MOST_RECEIVED: Final = 64 * 1024 * 1024
_MESSAGE_SLACK: Final = 4
_INT32: Final = 2**31 - 1

_NO_SUCH_ADDRESS: Final = frozenset({errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT})


class Server:
    """Serves an arena at one address.

    Use it as an async context manager, inside that of its arena or around it.

    Args:
        arena: the matches, bots and tokens.
        address: ``HOST:PORT``; port 0 takes a free one.
        session_secret: makes session tokens; ``None`` for a fresh one, which does
            not survive a restart.

    Attributes:
        address: where it listens, once it does.
    """

    def __init__(
        self,
        arena: Arena,
        address: str = "127.0.0.1:0",
        *,
        session_secret: bytes | None = None,
    ) -> None:
        self._arena = arena
        self._wanted = address
        self.address = ""
        self._secret = session_secret or os.urandom(32)
        self._server: grpc.aio.Server | None = None
        self._bots: BotServicer | None = None
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
            ServiceError: ``server.needs-tls`` beyond loopback,
                ``server.address-in-use`` if the port is taken.
        """
        host = _loopback(self._wanted)
        arena = self._arena
        limits = arena.limits
        server = grpc.aio.server(
            interceptors=(Authenticator(arena.tokens),),
            options=(
                # A port in use is an error, not a port that is shared.
                ("grpc.so_reuseport", 0),
                (
                    "grpc.max_receive_message_length",
                    _most_received(limits.max_message_bytes),
                ),
                (
                    "grpc.http2.min_ping_interval_without_data_ms",
                    limits.http2_interval_ms // 2,
                ),
                ("grpc.keepalive_permit_without_calls", 1),
            ),
        )
        bots = BotServicer(arena.hub, arena.tokens, SessionTokens(self._secret), limits)
        bots.add_to(server)
        catalog_pb2_grpc.add_CatalogServiceServicer_to_server(
            CatalogServicer(arena.registry), server
        )
        match_pb2_grpc.add_MatchServiceServicer_to_server(MatchServicer(arena), server)
        health = HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(health, server)
        reflection.enable_server_reflection(
            (
                *_SERVICES,
                health_pb2.DESCRIPTOR.services_by_name["Health"].full_name,
                reflection.SERVICE_NAME,
            ),
            server,
        )
        try:
            # gRPC writes lines of its own to standard error where it fails.
            _check_free(self._wanted)
            port = server.add_insecure_port(self._wanted)
        except (OSError, RuntimeError) as error:
            msg = (
                f"cannot listen on {self._wanted}: the port is in use or the address "
                "is not of this machine; choose another one, or port 0"
            )
            raise ServiceError(msg, code="server.address-in-use") from error
        await server.start()
        for name in ("", *_SERVICES):
            await health.set(name, health_pb2.HealthCheckResponse.SERVING)
        self._server, self._bots, self._health = server, bots, health
        self.address = arena.address = f"{host}:{port}"

    async def stop(self) -> None:
        """Say goodbye and stop; matches still running lose their links."""
        server, bots, health = self._server, self._bots, self._health
        if server is None or bots is None or health is None:
            return
        self._server = None
        self._arena.address = ""
        bots.stopping = True
        await health.enter_graceful_shutdown()
        await self._arena.hub.say_goodbye("server.stopping", "the server is stopping")
        await server.stop(0.5)

    async def wait(self) -> None:
        """Wait until the server has stopped."""
        if self._server is not None:
            await self._server.wait_for_termination()


def _most_received(limit: int) -> int:
    return min(max(_MOST_RECEIVED, limit * _MESSAGE_SLACK), _INT32)


def _check_free(address: str) -> None:
    """Try whether one can listen at an address.

    Raises:
        OSError: if it is in use, or is none of this machine.
    """
    host, _, port = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    found = socket.getaddrinfo(
        host, int(port), type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )
    missing: OSError | None = None
    tried = 0
    for family, kind, protocol, _, where in found:
        try:
            with socket.socket(family, kind, protocol) as probe:
                if os.name == "posix":
                    # A port of which the last connections linger is free.
                    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(where)
                tried += 1
        except OSError as error:
            # A name may have addresses of a family that the machine does not have.
            if error.errno not in _NO_SUCH_ADDRESS:
                raise
            missing = error
    if not tried and missing is not None:
        raise missing


def _loopback(address: str) -> str:
    """Return the host of an address on loopback."""
    host, colon, port = address.rpartition(":")
    if not colon or not host or not port.isdecimal() or int(port) > 65_535:
        msg = f"address {address[:80]!r} must be of the form HOST:PORT"
        raise UsageError(msg, code="usage.address")
    bare = host.removeprefix("[").removesuffix("]")
    try:
        loopback = bare == "localhost" or ipaddress.ip_address(bare).is_loopback
    except ValueError:
        loopback = False
    if not loopback:
        msg = (
            f"address {address[:80]!r} is not on loopback; others need TLS, which "
            "this server does not have yet: listen on 127.0.0.1 and use a tunnel"
        )
        raise ServiceError(msg, code="server.needs-tls")
    return host
