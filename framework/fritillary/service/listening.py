"""Listening: addresses, and how gRPC is set for whoever serves."""

from __future__ import annotations

import errno
import ipaddress
import os
import socket
from typing import Any, Final

import grpc

from fritillary.core.address import host_and_port
from fritillary.core.errors import ServiceError
from fritillary.service.limits import Limits
from fritillary.service.process import open_files
from fritillary.service.tls import LiveTls

#: gRPC cuts a stream with a larger message off, and nobody learns why: the link is
#: lost. So it is told to take more than the announced limit allows, which is judged by
#: us and gets its name. It bounds the memory that one stream can take before anybody
#: has seen its message. It holds for calls as well, since a server has one such limit;
#: how large their requests may be is looked at before they are parsed.
_LEAST_RECEIVED: Final = 4 * 1024 * 1024
_MESSAGE_SLACK: Final = 16
_INT32: Final = 2**31 - 1

#: Streams on one connection: many bots of one program share one.
_CONCURRENT: Final = 1024

#: So many calls may wait for this process to take them up.
_PENDING: Final = 8192

_NO_SUCH_ADDRESS: Final = frozenset({errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT})


def options(limits: Limits) -> tuple[tuple[str, Any], ...]:
    """Return the options of gRPC for a server with some limits."""
    return (
        # A port in use is an error, not a port that is shared.
        ("grpc.so_reuseport", 0),
        (
            "grpc.max_receive_message_length",
            most_received(limits.max_message_bytes),
        ),
        (
            "grpc.http2.min_ping_interval_without_data_ms",
            limits.http2_interval_ms // 2,
        ),
        ("grpc.keepalive_permit_without_calls", 1),
        (
            "grpc.max_allowed_incoming_connections",
            # Where no file can be opened, no record can be written.
            min(limits.max_connections, open_files() * 3 // 4),
        ),
        ("grpc.server_handshake_timeout_ms", limits.hello_ms),
        ("grpc.max_connection_idle_ms", limits.idle_ms),
        # Else answers pile up for who makes calls and reads nothing.
        ("grpc.max_concurrent_streams", _CONCURRENT),
        # Else a stream that nobody reads may come to hold megabytes.
        ("grpc.http2.bdp_probe", 0),
        # Else gRPC refuses some of those that dial in at once.
        ("grpc.server.max_pending_requests", _PENDING),
        ("grpc.server.max_pending_requests_hard_limit", 2 * _PENDING),
    )


def most_received(limit: int) -> int:
    """Return how large a message gRPC takes where a limit is announced, in bytes."""
    return min(max(_LEAST_RECEIVED, limit * _MESSAGE_SLACK), _INT32)


def listen(server: grpc.aio.Server, address: str, tls: LiveTls | None) -> int:
    """Let a server listen; return its port.

    Raises:
        ServiceError: ``server.address-in-use`` if it cannot, ``server.tls`` if gRPC
            does not take the certificate.
    """
    try:
        # gRPC writes lines of its own to standard error where it fails.
        _check_free(address)
        if tls is None:
            return server.add_insecure_port(address)
        try:
            return server.add_secure_port(address, tls.credentials())
        except RuntimeError as error:
            msg = f"cannot listen on {address} with this certificate and key"
            raise ServiceError(msg, code="server.tls") from error
    except (OSError, RuntimeError) as error:
        msg = (
            f"cannot listen on {address}: the port is in use or the address "
            "is not of this machine; choose another one, or port 0"
        )
        raise ServiceError(msg, code="server.address-in-use") from error


def _check_free(address: str) -> None:
    """Try whether one can listen at an address.

    Raises:
        OSError: if it is in use, or is none of this machine.
    """
    host, port = host_and_port(address)
    found = socket.getaddrinfo(
        host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
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


def checked_host(address: str, *, needs_loopback: bool) -> str:
    """Return the host of an address.

    Raises:
        UsageError: ``usage.address`` if it is none.
        ServiceError: ``server.needs-tls`` if it must be on loopback and is not.
    """
    host, _ = host_and_port(address)
    if needs_loopback and not is_loopback(host):
        msg = (
            f"address {address[:80]!r} is not on loopback; others need TLS: give the "
            "server a certificate and its key, or listen on 127.0.0.1"
        )
        raise ServiceError(msg, code="server.needs-tls")
    return host


def is_loopback(host: str) -> bool:
    """Say whether a host, IPv6 in brackets or not, cannot be reached from others."""
    bare = host.removeprefix("[").removesuffix("]")
    try:
        return bare == "localhost" or ipaddress.ip_address(bare).is_loopback
    except ValueError:
        return False
