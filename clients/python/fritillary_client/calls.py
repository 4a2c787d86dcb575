"""Channels to a server, calls on them, and what failed calls mean."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
from collections.abc import AsyncGenerator
from typing import Final, Protocol, TypeVar

# It writes to standard error by itself; what it has to say is told in our errors.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

import grpc
import grpc.aio
from google.protobuf.message import DecodeError, Message

from fritillary.api.v1 import common_pb2 as common
from fritillary_client.endpoint import CERTIFICATE, ROOTS, Endpoint
from fritillary_client.errors import (
    ArenaError,
    LinkError,
    ProtocolError,
    RefusedError,
)
from fritillary_client.reading import shown

#: The figures of the protocol.
HTTP2_INTERVAL_MS: Final = 30_000
HTTP2_TIMEOUT_MS: Final = 10_000

#: How long a server may take from the first try to connect to its first answer.
OPEN_WITHIN_S: Final = 15.0

#: A frame of the server is no longer than this.
_MAX_RECEIVED: Final = 64 * 1024 * 1024

_ERROR_KEY: Final = "fritillary-error-bin"

#: Code of an error that gRPC has put in the place of the server's answer.
LOST_ANSWER: Final = "link.answer-lost"

#: These will not go away by trying again.
_FINAL: Final = frozenset(
    {
        grpc.StatusCode.UNAUTHENTICATED,
        grpc.StatusCode.PERMISSION_DENIED,
        grpc.StatusCode.UNIMPLEMENTED,
        grpc.StatusCode.INVALID_ARGUMENT,
        grpc.StatusCode.FAILED_PRECONDITION,
        grpc.StatusCode.NOT_FOUND,
        grpc.StatusCode.OUT_OF_RANGE,
    }
)

#: What gRPC says of a certificate that it does not trust, and of a connection that
#: the other side has closed.
_DISTRUSTED: Final = re.compile(r"CERTIFICATE_VERIFY_FAILED: ([^:]+)")
_CLOSED: Final = re.compile(r"Socket closed|Connection reset|Broken pipe")

R_co = TypeVar("R_co", bound=Message, covariant=True)


class Reads(Protocol[R_co]):
    """A class of messages."""

    def FromString(self, raw: bytes, /) -> R_co:  # noqa: N802 - protobuf decides
        """Return the message of some bytes; raises `DecodeError`."""


def open_channel(endpoint: Endpoint) -> grpc.aio.Channel:
    """Return a channel with the keepalive of the protocol."""
    options = [
        ("grpc.keepalive_time_ms", HTTP2_INTERVAL_MS),
        ("grpc.keepalive_timeout_ms", HTTP2_TIMEOUT_MS),
        # gRPC must not hold back after a failure: the client has its own back-off.
        ("grpc.use_local_subchannel_pool", 1),
        ("grpc.max_receive_message_length", _MAX_RECEIVED),
        ("grpc.max_send_message_length", -1),
        # A server that has come back is found again soon.
        ("grpc.max_reconnect_backoff_ms", 1_000),
    ]
    if endpoint.tls:
        credentials = grpc.ssl_channel_credentials(
            endpoint.roots, endpoint.key, endpoint.certificate
        )
        return grpc.aio.secure_channel(endpoint.address, credentials, options)
    return grpc.aio.insecure_channel(endpoint.address, options)


def metadata(token: str) -> tuple[tuple[str, str], ...]:
    """Return what says who calls."""
    return (("authorization", f"Bearer {token}"),)


class Caller:
    """Calls methods of a server; whatever goes wrong is an `ArenaError`.

    Args:
        channel: to the server.
        address: of the server, for errors.
        token: of who calls.
        advice: what it may be if the server closes the connection; see `Endpoint`.

    Attributes:
        met: whether the server has answered on this channel; what fails before is
            told as "no server answers".
    """

    def __init__(
        self,
        channel: grpc.aio.Channel,
        *,
        address: str,
        token: str,
        advice: str = "",
        met: bool = False,
    ) -> None:
        self.met = met
        self._channel = channel
        self._address = address
        self._advice = advice
        self._metadata = metadata(token)

    async def ask(
        self, path: str, request: Message, answer: Reads[R_co], *, within_s: float
    ) -> R_co:
        """Return the answer of a method.

        Raises:
            ArenaError: if the server cannot or will not give it, or not in time.
        """
        method: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = (
            self._channel.unary_unary(path)
        )
        try:
            raw = await method(
                request.SerializeToString(), metadata=self._metadata, timeout=within_s
            )
        except grpc.aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
                msg = f"the server at {self._address} did not answer in {within_s:g} s"
                raise LinkError(msg, code="link.unreachable") from error
            raise self._error(error) from error
        except (asyncio.InvalidStateError, grpc.aio.UsageError) as error:
            raise self._lost() from error
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            # A channel that is closed cancels its calls, and nobody this one.
            raise self._lost() from error
        return self._read(raw, answer)

    async def stream(
        self, path: str, request: Message, answer: Reads[R_co]
    ) -> AsyncGenerator[R_co]:
        """Yield the answers of a method.

        Raises:
            ArenaError: if the server cannot or will not go on.
        """
        method: grpc.aio.UnaryStreamMultiCallable[bytes, bytes] = (
            self._channel.unary_stream(path)
        )
        call = method(request.SerializeToString(), metadata=self._metadata)
        try:
            while isinstance(raw := await call.read(), bytes):
                yield self._read(raw, answer)
            code = await call.code()
            if code is not grpc.StatusCode.OK:
                raise error_of(
                    code,
                    await call.details() or "",
                    await call.trailing_metadata(),
                    self._address,
                    opened=self.met,
                    advice=self._advice,
                )
        except grpc.aio.AioRpcError as error:
            raise self._error(error) from error
        except (asyncio.InvalidStateError, grpc.aio.UsageError) as error:
            raise self._lost() from error
        finally:
            call.cancel()

    def _read(self, raw: bytes, answer: Reads[R_co]) -> R_co:
        self.met = True
        try:
            return answer.FromString(raw)
        except DecodeError as error:
            msg = f"the server at {self._address} sent an answer that cannot be read"
            raise ProtocolError(msg) from error

    def _error(self, error: grpc.aio.AioRpcError) -> ArenaError:
        return error_of(
            error.code(),
            error.details() or "",
            error.trailing_metadata(),
            self._address,
            opened=self.met,
            advice=self._advice,
        )

    def _lost(self) -> LinkError:
        return LinkError(f"the link to {self._address} was lost")


def refused(info: common.ErrorInfo) -> RefusedError:
    """Return the error that the server has told."""
    return RefusedError(
        shown(info.message) or "the server refused",
        code=info.code,
        retry_after_ms=info.retry_after_ms if info.HasField("retry_after_ms") else None,
    )


def error_of(
    code: grpc.StatusCode,
    details: str,
    trailing: grpc.aio.Metadata | None,
    address: str,
    *,
    opened: bool,
    advice: str = "",
) -> ArenaError:
    """Return the error of a failed RPC: the server's own word where it sent one.

    Args:
        code: status of the RPC.
        details: of the status.
        trailing: metadata that may hold the server's own word.
        address: of the server.
        opened: whether the server had answered before.
        advice: what it may be if the server closed the connection; see `Endpoint`.
    """
    for key, value in trailing or ():
        if key == _ERROR_KEY and isinstance(value, bytes):
            with contextlib.suppress(DecodeError):
                return refused(common.ErrorInfo.FromString(value))
    if code is grpc.StatusCode.UNAUTHENTICATED:
        return RefusedError(
            shown(details) or "the server does not know this token",
            code="auth.unknown-token",
        )
    if code is grpc.StatusCode.UNIMPLEMENTED:
        msg = f"the server at {address} is no arena of this version"
        return RefusedError(msg, code="link.no-arena")
    if code in _FINAL:
        return RefusedError(shown(details), code=f"status.{code.name.lower()}")
    if code is grpc.StatusCode.INTERNAL and not opened:
        # gRPC loses the server's answer if it comes while the first message is
        # being written; it says why at the next attempt.
        msg = f"the server at {address} closed the stream ({shown(details)})"
        return LinkError(msg, code=LOST_ANSWER)
    if code is grpc.StatusCode.UNAVAILABLE and not opened:
        return _unreachable(details, address, advice)
    msg = f"the link to {address} was lost ({code.name}: {shown(details)})"
    return LinkError(msg)


def _unreachable(details: str, address: str, advice: str) -> LinkError:
    """Return the error of a connection that was never made.

    Args:
        details: of the status, in the words of gRPC and its TLS.
        address: of the server.
        advice: what it may be if the server closed the connection.
    """
    distrusted = _DISTRUSTED.search(details)
    if distrusted is not None:
        why = shown(distrusted[1])
        msg = f"the certificate of the server at {address} is not trusted ({why})"
        if "issuer" in why or "self" in why:
            msg = f"{msg}; name its authority with ca (--ca) or {ROOTS}"
        return LinkError(msg, code="link.certificate")
    if "Hostname Verification" in details:
        host = address.rpartition(":")[0]
        msg = f"the certificate of the server at {address} is not for the name {host}"
        return LinkError(msg, code="link.certificate")
    if "WRONG_VERSION_NUMBER" in details:
        msg = (
            f"the server at {address} speaks no TLS; leave out ca, cert and key "
            f"({ROOTS}, {CERTIFICATE}), or give tls=False"
        )
        return LinkError(msg, code="link.no-tls")
    # gRPC tells the way to each address that it tried, some of it in brackets; the
    # last words are why.
    reason = shown(details.rpartition(": ")[2].rstrip("]"))
    if "parsing HTTP/2" in details:
        reason = "it does not speak gRPC; it may be an ordinary web server"
    elif _CLOSED.search(details) and advice:
        reason = f"it closed the connection; {advice}"
    msg = f"no server answers at {address} ({reason})"
    return LinkError(msg, code="link.unreachable")
