"""What a call may take up before, while and after it is served: time, memory, places.

gRPC itself reads the request of a call before it tells anybody of it, and waits for it
for ever; and it keeps the answer for as long as nobody reads it. So a stranger could
have any number of calls that hold megabytes, or nothing. Here requests are read by us:
not before the caller is known to be let in, not for longer than a bot may take for its
Hello, and of few calls at a time. What is too large is not looked into. Answers are
written by us, and those that wait are counted.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import ipaddress
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

import grpc
from google.protobuf.message import DecodeError

from fritillary.core.errors import FritillaryError, ServiceError
from fritillary.service.accounts import Account, Accounts, Share, calling, is_known
from fritillary.service.auth import Leases, bearer, caller
from fritillary.service.errors import abort, unkept
from fritillary.service.limits import Limits
from fritillary.service.tokens import Token, TokenStore
from fritillary.service.turns import Queues

_Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"
_Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"

#: Streams of bots, which have limits of their own.
_CONNECT: Final = "/fritillary.api.v1.BotService/Connect"

#: Whoever looks after the server must learn that it runs, whoever else calls it.
_CHECK: Final = "/grpc.health.v1.Health/Check"

#: IPv6 addresses are given to customers by so many bits, at the least.
_IPV6_BITS: Final = 64


#: Requests of one caller that are read at once. gRPC takes 4 MiB for each.
_READ_AT_ONCE: Final = 8

#: A call that takes longer than any may waits for its caller, in seconds.
_STUCK_S: Final = 60.0


class Admission(grpc.aio.ServerInterceptor):
    """Reads requests, writes answers, and counts the calls that run.

    It comes after who lets callers in: calls that are refused are not read at all.
    Whoever sends a request late may have a token no more; then nothing is done.

    Args:
        tokens: that are known.
        leases: end the streams of tokens that are no longer good, where none is needed;
            the others see to it themselves.
        limits: on the calls of one token, of one address without one, and of all
            such addresses together.
    """

    def __init__(self, tokens: TokenStore, leases: Leases, limits: Limits) -> None:
        self._tokens = tokens
        self._leases = leases
        self._limits = limits
        self._known = Accounts(
            Share(
                whose="with this token",
                calls=limits.max_calls,
                unread=limits.max_outstanding_bytes,
            )
        )
        # Who holds the places of one kind is in nobody's way but of that kind.
        self._checks, self._streams, self._strangers = (
            Accounts(
                Share(
                    whose=f"{what}from this address without a token",
                    calls=limits.max_strange_calls,
                    all_calls=limits.max_strangers,
                    unread=limits.max_strange_unread_bytes,
                    all_unread=limits.max_strangers * limits.max_strange_unread_bytes,
                    mend="; show one, or end one first",
                )
            )
            for what in ("about health ", "as streams ", "")
        )
        # What is not read stays with the caller, but for 64 KiB.
        self._reading = Queues(_READ_AT_ONCE)
        self._wrapped: dict[str, _Handler] = {}

    @property
    def count(self) -> int:
        """How many calls run."""
        return sum(accounts.count for accounts in self._all)

    @property
    def unread(self) -> int:
        """How many bytes of answers wait to be read."""
        return sum(accounts.unread for accounts in self._all)

    @property
    def _all(self) -> tuple[Accounts, ...]:
        return self._known, self._checks, self._streams, self._strangers

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
            wrapped = self._wrapped[method] = self._wrap(handler, method)
        return wrapped

    # -- counting

    def _shown(self, context: _Context) -> Token | None:
        """Return the good token that was shown, also where none was needed."""
        token = caller.get(None)
        if token is not None:
            return token
        text = bearer(context.invocation_metadata())
        found = self._tokens.find(text) if text else None
        return found if found is not None and self._tokens.good(found) else None

    def _accounts(self, token: Token | None, method: str, *, streams: bool) -> Accounts:
        if token is not None:
            return self._known
        if method == _CHECK:
            return self._checks
        return self._streams if streams else self._strangers

    # -- serving

    def _wrap(self, handler: _Handler, method: str) -> _Handler:
        streams = handler.request_streaming or handler.response_streaming
        serve_one = self._streaming(handler) if streams else self._unary(handler)
        most_s = _STUCK_S + (self._limits.strange_stream_ms / 1000 if streams else 0)

        async def serve(_: object, context: _Context) -> None:
            account: Account | None = None
            clock: asyncio.TimerHandle | None = None
            loop = asyncio.get_running_loop()
            try:
                token = self._shown(context)
                who = host_of(context.peer()) if token is None else token.hash
                calling.set(who)
                is_known.set(token is not None)
                accounts = self._accounts(token, method, streams=streams)
                account = accounts.opened(who)
                if token is None:
                    clock = loop.call_later(most_s, account.linger)
                await serve_one(context, account, token)
            except FritillaryError as error:
                await abort(context, error)
            finally:
                if clock is not None:
                    clock.cancel()
                if account is not None:
                    account.close()

        # For the client there is no difference to a call with one request or answer.
        wrapped: _Handler = grpc.stream_stream_rpc_method_handler(
            unkept(serve), None, handler.response_serializer if streams else None
        )
        return wrapped

    def _unary(self, handler: _Handler) -> Callable[..., Awaitable[None]]:
        call: Any = handler.unary_unary
        read = handler.request_deserializer or bytes
        written = handler.response_serializer or bytes

        async def serve(
            context: _Context, account: Account, token: Token | None
        ) -> None:
            request = await self._read(context, read, token)
            answer = written(await call(request, context))
            account.hold(len(answer))
            await self._write(context, answer, account)

        return serve

    def _streaming(self, handler: _Handler) -> Callable[..., Awaitable[None]]:
        call: Any = (
            handler.unary_stream or handler.stream_unary or handler.stream_stream
        )
        read = handler.request_deserializer or bytes

        async def serve(
            context: _Context, account: Account, token: Token | None
        ) -> None:
            request: Any
            if handler.request_streaming:
                request = self._each(context, read, stranger=token is None)
            else:
                request = await self._read(context, read, token)
            if token is not None:
                answering = _answered(call, request, context)
                if caller.get(None) is None:
                    await self._leases.run(token, answering)
                else:
                    await answering
                return
            watched = _Watched(context)
            await self._for_a_while(_answered(call, request, watched), watched, account)

        return serve

    async def _for_a_while(
        self, answering: Awaitable[None], watched: _Watched, account: Account
    ) -> None:
        """Serve a stream as long as a stranger may have one.

        Raises:
            ServiceError: ``limit.time`` after that.
        """
        running = asyncio.ensure_future(answering)
        try:
            most_s = self._limits.strange_stream_ms / 1000
            await asyncio.wait({running}, timeout=most_s)
            if not running.done() and watched.writes:
                # gRPC has no way to end the call.
                account.linger()
                await asyncio.wait({running})
            if running.done():
                return running.result()
        finally:
            running.cancel()
            await asyncio.wait({running})
            # An error holds the frames that it has come through, and this one it.
            del running
        msg = f"a stream without a token ends after {most_s:g} s; open another"
        raise ServiceError(msg, code="limit.time", retry_after_ms=1_000)

    async def _write(self, context: _Context, answer: bytes, account: Account) -> None:
        """Write an answer; while nobody reads it the place goes to others."""
        writing = asyncio.ensure_future(context.write(answer))
        try:
            await asyncio.wait({writing}, timeout=self._limits.hello_ms / 1000)
            # gRPC has no way to end the call.
            account.leave()
            await writing
        finally:
            writing.cancel()

    # -- reading

    async def _read(
        self, context: _Context, read: Callable[[bytes], Any], token: Token | None
    ) -> Any:  # noqa: ANN401 - of any method
        """Return the request of a call, of which the token is still good.

        Raises:
            ServiceError: ``request.late``, ``request.missing``,
                ``limit.message-size`` or ``request.malformed``;
                ``auth.revoked-token`` or ``auth.expired-token``.
        """
        loop = asyncio.get_running_loop()
        until_s = loop.time() + self._limits.hello_ms / 1000
        async with contextlib.AsyncExitStack() as stack:
            turn = self._reading.one(calling.get())
            try:
                async with asyncio.timeout_at(until_s):
                    await stack.enter_async_context(turn)
            except TimeoutError as error:
                raise self._late() from error
            reading = asyncio.ensure_future(context.read())
            # It may fail when nobody waits for it any more.
            reading.add_done_callback(_ignored)
            # A read that is cancelled takes the call with it, and nobody learns why.
            await asyncio.wait({reading}, timeout=max(0, until_s - loop.time()))
        if not reading.done():
            raise self._late()
        if token is not None:
            self._tokens.recheck(token)
        raw: Any = reading.result()
        if raw is grpc.aio.EOF:
            msg = "the call has ended without a request"
            raise ServiceError(msg, code="request.missing")
        return self._parsed(raw, read, stranger=token is None)

    def _late(self) -> ServiceError:
        msg = f"no request within {self._limits.hello_ms} ms of the call"
        return ServiceError(msg, code="request.late")

    async def _each(
        self, context: _Context, read: Callable[[bytes], Any], *, stranger: bool
    ) -> AsyncIterator[Any]:
        """Yield the requests of a stream; raises as `_read`."""
        while True:
            raw: Any = await context.read()
            if raw is grpc.aio.EOF:
                return
            yield self._parsed(raw, read, stranger=stranger)

    def _parsed(
        self, raw: bytes, read: Callable[[bytes], Any], *, stranger: bool
    ) -> Any:  # noqa: ANN401 - of any method
        limits = self._limits
        most = limits.max_strange_bytes if stranger else limits.max_message_bytes
        if len(raw) > most:
            whose = " without a token" if stranger else ""
            msg = f"a request{whose} has at most {most} bytes, not {len(raw)}"
            raise ServiceError(msg, code="limit.message-size")
        try:
            return read(raw)
        except DecodeError as error:
            msg = "the request is no message of this method"
            raise ServiceError(msg, code="request.malformed") from error


class _Watched:
    """The context of a stream, with a look at whether an answer waits to be read.

    Args:
        context: of the stream.

    Attributes:
        writes: whether one waits.
    """

    def __init__(self, context: _Context) -> None:
        self._context = context
        self.writes = False

    async def write(self, message: Any) -> None:  # noqa: ANN401 - of any method
        """Write an answer."""
        self.writes = True
        await self._context.write(message)
        self.writes = False

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - all the rest
        return getattr(self._context, name)


async def _answered(
    call: Callable[..., Any], request: object, context: _Context | _Watched
) -> None:
    """Serve a stream, whichever way its handler is written."""
    if not inspect.isasyncgenfunction(call):
        await call(request, context)
        return
    async for answer in call(request, context):
        await context.write(answer)


def _ignored(reading: asyncio.Future[Any]) -> None:
    if not reading.cancelled():
        reading.exception()


def host_of(peer: str) -> str:
    """Return whom a caller counts as that shows no token.

    Args:
        peer: as gRPC tells it, such as ``ipv4:192.0.2.1:80``.

    Returns:
        The address without its port; of IPv6 the network of one customer.
    """
    kind, _, where = peer.partition(":")
    host = unquote(where.rpartition(":")[0]).strip("[]").partition("%")[0]
    if kind != "ipv6":
        return host
    try:
        address = ipaddress.IPv6Address(host)
    except ValueError:
        return host
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((address, _IPV6_BITS), strict=False))
