"""Errors on the wire: a gRPC status, and an ErrorInfo beside it."""

from __future__ import annotations

import logging
import os
from collections.abc import Awaitable, Callable
from typing import Any, Final, NoReturn, TypeVar

import grpc

from fritillary.api.v1 import common_pb2 as pb
from fritillary.core.errors import (
    CodecError,
    FritillaryError,
    GameError,
    RecordError,
    ServiceError,
    StorageError,
    UnknownGameError,
    UsageError,
)
from fritillary.service.audit import current

_log = logging.getLogger(__name__)

#: Trailing metadata that carries the ErrorInfo of a failed RPC.
ERROR_KEY: Final = "fritillary-error-bin"

#: Longest message of a status, in bytes. gRPC writes three characters for each that is
#: not ASCII, and the message stands in the ErrorInfo once more. Clients take 8 KiB in
#: all; of more they hear nothing but that it was too much.
_MOST_TOLD: Final = 1_500

_S = grpc.StatusCode

#: Status by code; else by the class of the error.
_BY_CODE: Final[dict[str, grpc.StatusCode]] = {
    "auth.expired-token": _S.UNAUTHENTICATED,
    "auth.missing-token": _S.UNAUTHENTICATED,
    "auth.unavailable": _S.UNAVAILABLE,
    "auth.unknown-token": _S.UNAUTHENTICATED,
    "auth.revoked-token": _S.UNAUTHENTICATED,
    "auth.wrong-address": _S.PERMISSION_DENIED,
    "auth.wrong-role": _S.PERMISSION_DENIED,
    "encoding.unknown": _S.INVALID_ARGUMENT,
    "game.no-table": _S.FAILED_PRECONDITION,
    "game.no-worlds": _S.FAILED_PRECONDITION,
    "game.other-version": _S.FAILED_PRECONDITION,
    "hello.late": _S.DEADLINE_EXCEEDED,
    "hello.missing": _S.INVALID_ARGUMENT,
    "hello.too-large": _S.INVALID_ARGUMENT,
    "limit.calls": _S.RESOURCE_EXHAUSTED,
    "limit.message-rate": _S.RESOURCE_EXHAUSTED,
    "limit.message-size": _S.RESOURCE_EXHAUSTED,
    "limit.playouts": _S.RESOURCE_EXHAUSTED,
    "limit.streams": _S.RESOURCE_EXHAUSTED,
    "limit.time": _S.RESOURCE_EXHAUSTED,
    "limit.unread": _S.RESOURCE_EXHAUSTED,
    "limit.worlds": _S.RESOURCE_EXHAUSTED,
    "match.exists": _S.ALREADY_EXISTS,
    "match.phase": _S.FAILED_PRECONDITION,
    "match.sealed": _S.PERMISSION_DENIED,
    "match.unknown": _S.NOT_FOUND,
    "method.unknown": _S.UNIMPLEMENTED,
    "page.token": _S.INVALID_ARGUMENT,
    "player.absent": _S.FAILED_PRECONDITION,
    "player.program": _S.PERMISSION_DENIED,
    "record.open": _S.FAILED_PRECONDITION,
    "record.unwritten": _S.INTERNAL,
    "record.private": _S.PERMISSION_DENIED,
    "record.view": _S.UNIMPLEMENTED,
    "request.late": _S.DEADLINE_EXCEEDED,
    "request.malformed": _S.INVALID_ARGUMENT,
    "request.missing": _S.INVALID_ARGUMENT,
    "server.full": _S.RESOURCE_EXHAUSTED,
    "server.stopping": _S.UNAVAILABLE,
    "session.in-use": _S.FAILED_PRECONDITION,
    "session.other-build": _S.FAILED_PRECONDITION,
    "session.other-settings": _S.FAILED_PRECONDITION,
    "simulator.failed": _S.INTERNAL,
    "storage": _S.INTERNAL,
    "watch.too-slow": _S.RESOURCE_EXHAUSTED,
}


def error_info(
    code: str, message: str, retry_after_ms: int | None = None
) -> pb.ErrorInfo:
    """Return an ErrorInfo."""
    return pb.ErrorInfo(code=code, message=message, retry_after_ms=retry_after_ms)


def status_of(error: FritillaryError) -> grpc.StatusCode:
    """Return the gRPC status that fits an error."""
    status = _BY_CODE.get(error.code)
    if status is not None:
        return status
    if isinstance(error, UnknownGameError):
        return _S.NOT_FOUND
    if isinstance(error, UsageError | GameError | CodecError):
        return _S.INVALID_ARGUMENT
    if isinstance(error, StorageError):
        return _S.INTERNAL
    return _S.FAILED_PRECONDITION


def _fitting(message: str) -> str:
    raw = message.encode("utf-8", "replace")
    if len(raw) <= _MOST_TOLD:
        return message
    return raw[: _MOST_TOLD - 3].decode("utf-8", "ignore") + "..."


def _told(error: FritillaryError) -> str:
    """Return what is told of an error to who is not on this machine.

    What went wrong with files of the server is for its log: that names them.
    """
    if not isinstance(error, StorageError | RecordError):
        return _fitting(without_folders(error))
    _log.error("%s", error.message)
    why = error.__cause__
    reason = ""
    if isinstance(why, OSError) and why.errno is not None:
        reason = f" ({os.strerror(why.errno)})"
    return f"the server cannot use files of its own{reason}; its log says which"


def without_folders(error: FritillaryError) -> str:
    """Return the message of an error in which files are named without their folders.

    Rules may fail because of a file, and say which.
    """
    message = error.message
    cause: BaseException | None = error
    while cause is not None:
        for name in ("filename", "filename2", "path"):
            path = getattr(cause, name, None)
            if isinstance(path, str) and os.sep in path:
                message = message.replace(path, path.rpartition(os.sep)[2])
        cause = cause.__cause__
    return message


async def abort(
    context: grpc.aio.ServicerContext[Any, Any], error: FritillaryError
) -> NoReturn:
    """End an RPC with an error."""
    call = current.get()
    if call is not None:
        call.refused(context, error.code)
    retry = error.retry_after_ms if isinstance(error, ServiceError) else None
    message = _told(error)
    info = error_info(error.code, message, retry)
    await context.abort(
        status_of(error), message, ((ERROR_KEY, info.SerializeToString()),)
    )


_Serve = Callable[[Any, "grpc.aio.ServicerContext[Any, Any]"], Awaitable[None]]


def unkept(serve: _Serve) -> _Serve:
    """Make a handler of streams leave nothing behind where it ends with an error.

    gRPC keeps the error that `abort` raises with the call, and the call is in the
    frames that the error has come through: a cycle, with the request and all that was
    read from it. Told to gRPC it is without them: after a handler that returns, gRPC
    raises it again by itself.
    """

    async def wrapper(
        request: object, context: grpc.aio.ServicerContext[Any, Any]
    ) -> None:
        try:
            await serve(request, context)
        except grpc.aio.AbortError as error:
            error.__traceback__ = error.__context__ = error.__cause__ = None

    return wrapper


Q = TypeVar("Q")
R = TypeVar("R")
_Method = Callable[[Any, Q, "grpc.aio.ServicerContext[Any, Any]"], Awaitable[R]]


def guarded(method: _Method[Q, R]) -> _Method[Q, R]:
    """Make a servicer method report our errors, and hide all others."""

    async def wrapper(
        self: object, request: Q, context: grpc.aio.ServicerContext[Any, Any]
    ) -> R:
        try:
            return await method(self, request, context)
        except FritillaryError as error:
            await abort(context, error)
        except (grpc.aio.AbortError, grpc.aio.BaseError):
            raise
        except Exception:
            _log.exception("an RPC failed")
            call = current.get()
            if call is not None:
                call.refused(context, "internal")
            message = "the server failed; its log says why"
            info = error_info("internal", message)
            await context.abort(
                _S.INTERNAL, message, ((ERROR_KEY, info.SerializeToString()),)
            )
            raise

    wrapper.__name__ = method.__name__
    wrapper.__doc__ = method.__doc__
    return wrapper
