"""What a call may take up before it is served: time, memory, places.

gRPC itself reads the request of a call before it tells anybody of it, and waits for it
for ever. So a stranger could have any number of calls that hold megabytes, or nothing.
Here requests are read by us: not before the caller is known to be let in, not for
longer than a bot may take for its Hello, and of few calls at a time.
"""

from __future__ import annotations

import asyncio
import inspect
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias

import grpc
from google.protobuf.message import DecodeError

from fritillary.core.errors import FritillaryError, ServiceError
from fritillary.service.auth import bearer, caller
from fritillary.service.errors import abort
from fritillary.service.limits import Limits
from fritillary.service.tokens import Token, TokenStore

_Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"
_Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"

#: Streams of bots, which have limits of their own.
_CONNECT: Final = "/fritillary.api.v1.BotService/Connect"


class Admission(grpc.aio.ServerInterceptor):
    """Reads requests, and counts the calls that run.

    It comes after who lets callers in: calls that are refused are not read at all.

    Args:
        tokens: that are known.
        limits: on the calls of one token, of one address without one, and of all
            such addresses together.
    """

    def __init__(self, tokens: TokenStore, limits: Limits) -> None:
        self._tokens = tokens
        self._limits = limits
        self._open: Counter[str] = Counter()
        self._strangers = 0
        self._wrapped: dict[str, _Handler] = {}

    @property
    def count(self) -> int:
        """How many calls run."""
        return self._open.total()

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[_Handler | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> _Handler | None:
        """Return the handler of an RPC as one that is counted and reads by itself."""
        handler = await continuation(handler_call_details)
        method = handler_call_details.method
        if handler is None or method == _CONNECT:
            return handler
        wrapped = self._wrapped.get(method)
        if wrapped is None:
            wrapped = self._wrapped[method] = self._wrap(handler)
        return wrapped

    # -- counting

    def _admit(self, context: _Context) -> None:
        """Count a call until its answer has left.

        Raises:
            ServiceError: ``limit.calls`` if there are too many.
        """
        token = caller.get(None) or self._known(context)
        limits = self._limits
        if token is not None:
            key, most = token.hash, limits.max_calls
            whose = "with this token"
        else:
            key, most = _host(context.peer()), limits.max_strange_calls
            whose = "from this address; show a token, or end one first"
            if self._strangers >= limits.max_strangers:
                msg = "too many call without a token at the moment; show one"
                raise ServiceError(msg, code="limit.calls", retry_after_ms=1_000)
        if self._open[key] >= most:
            msg = f"{most} calls run {whose}"
            raise ServiceError(msg, code="limit.calls", retry_after_ms=1_000)
        self._open[key] += 1
        stranger = token is None
        self._strangers += stranger

        def done(_: Any) -> None:  # noqa: ANN401 - gRPC tells nothing of use
            self._strangers -= stranger
            self._open[key] -= 1
            if not self._open[key]:
                del self._open[key]

        context.add_done_callback(done)  # type: ignore[arg-type] # a plain function

    def _known(self, context: _Context) -> Token | None:
        """Return the good token that was shown where none was needed."""
        text = bearer(context.invocation_metadata())
        token = self._tokens.find(text) if text else None
        return token if token is not None and self._tokens.good(token) else None

    # -- reading

    def _wrap(self, handler: _Handler) -> _Handler:
        streaming = handler.request_streaming
        read = None if streaming else handler.request_deserializer or bytes
        call: Any = (
            handler.unary_unary
            or handler.unary_stream
            or handler.stream_unary
            or handler.stream_stream
        )

        async def serve(request: Any, context: _Context) -> Any:  # noqa: ANN401
            try:
                self._admit(context)
                if read is not None:
                    request = await self._read(context, read)
            except FritillaryError as error:
                await abort(context, error)
            if not inspect.isasyncgenfunction(call):
                return await call(request, context)
            async for answer in call(request, context):
                await context.write(answer)
            return None

        # For the client there is no difference to a call with one request.
        maker: Any = (
            grpc.stream_stream_rpc_method_handler
            if handler.response_streaming
            else grpc.stream_unary_rpc_method_handler
        )
        wrapped: _Handler = maker(
            serve,
            handler.request_deserializer if streaming else None,
            handler.response_serializer,
        )
        return wrapped

    async def _read(self, context: _Context, read: Callable[[bytes], Any]) -> Any:  # noqa: ANN401
        """Return the request of a call.

        Raises:
            ServiceError: ``request.late``, ``request.missing`` or
                ``request.malformed``.
        """
        reading = asyncio.ensure_future(context.read())
        # A read that is cancelled takes the call with it, and nobody learns why.
        await asyncio.wait({reading}, timeout=self._limits.hello_ms / 1000)
        if not reading.done():
            reading.add_done_callback(_ignored)
            msg = f"no request within {self._limits.hello_ms} ms of the call"
            raise ServiceError(msg, code="request.late")
        raw: Any = reading.result()
        if raw is grpc.aio.EOF:
            msg = "the call has ended without a request"
            raise ServiceError(msg, code="request.missing")
        try:
            return read(raw)
        except DecodeError as error:
            msg = "the request is no message of this method"
            raise ServiceError(msg, code="request.malformed") from error


def _ignored(reading: asyncio.Future[Any]) -> None:
    if not reading.cancelled():
        reading.exception()


def _host(peer: str) -> str:
    """Return the address of a caller, without its port."""
    return peer.rpartition(":")[0]
