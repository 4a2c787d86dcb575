"""Who may call what, and for how long: bearer tokens, read by an interceptor."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from contextvars import ContextVar
from typing import Any, Final

import grpc

from fritillary.core.errors import FritillaryError, ServiceError
from fritillary.service.audit import Audit, Call, current
from fritillary.service.errors import abort, unkept
from fritillary.service.journal import tokens_changed
from fritillary.service.tokens import Role, Token, TokenStore

#: Services that need no token.
_OPEN: Final = (
    "/grpc.health.v1.Health/",
    "/grpc.reflection.v1.ServerReflection/",
    "/grpc.reflection.v1alpha.ServerReflection/",
    "/fritillary.api.v1.CatalogService/",
)

_MATCHES: Final = "/fritillary.api.v1.MatchService/"
_EVERYONE: Final = frozenset(Role)
_ONLOOKERS: Final = frozenset({Role.REFEREE, Role.SPECTATOR})
_REFEREES: Final = frozenset({Role.REFEREE})

#: By method: who may call it. What a bot may see of its own matches is checked there.
ROLES: Final[dict[str, frozenset[Role]]] = {
    "/fritillary.api.v1.BotService/Connect": frozenset({Role.BOT}),
    f"{_MATCHES}CreateMatch": _REFEREES,
    f"{_MATCHES}PauseMatch": _REFEREES,
    f"{_MATCHES}ResumeMatch": _REFEREES,
    f"{_MATCHES}AbortMatch": _REFEREES,
    f"{_MATCHES}ListMatches": _ONLOOKERS,
    f"{_MATCHES}WatchMatch": _ONLOOKERS,
    f"{_MATCHES}GetMatch": _EVERYONE,
    f"{_MATCHES}FetchRecord": _EVERYONE,
}

#: The token of the RPC that runs; set by the interceptor.
caller: ContextVar[Token] = ContextVar("caller")


#: Seconds between looks whether a token was revoked, or has expired.
_LOOK_S: Final = 0.5


class Authenticator(grpc.aio.ServerInterceptor):
    """Lets an RPC pass if its token has a role that may call it.

    Args:
        tokens: that are known.
        audit: told of every refused call.
        programs_only: let only programs pass that the arena has started.
    """

    def __init__(
        self, tokens: TokenStore, audit: Audit, *, programs_only: bool = False
    ) -> None:
        self._tokens = tokens
        self._audit = audit
        self._programs_only = programs_only

    async def intercept_service(
        self,
        continuation: Callable[
            [grpc.HandlerCallDetails],
            Awaitable[grpc.RpcMethodHandler[Any, Any] | None],
        ],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> grpc.RpcMethodHandler[Any, Any] | None:
        """Return the handler of the RPC, or one that refuses."""
        handler = await continuation(handler_call_details)
        method = handler_call_details.method
        if handler is None or method.startswith(_OPEN):
            current.set(Call(method, None, self._audit))
            return handler or _UNKNOWN
        text = bearer(handler_call_details.invocation_metadata)
        try:
            token = self._tokens.check(text)
            self._check_role(token, ROLES.get(method, frozenset()))
        except FritillaryError as error:
            current.set(Call(method, self._tokens.find(text), self._audit))
            return _refusing(error)
        caller.set(token)
        current.set(Call(method, token, self._audit))
        return handler

    def _check_role(self, token: Token, roles: frozenset[Role]) -> None:
        if token.role not in roles:
            may = " or ".join(sorted(role.value for role in roles)) or "nobody"
            msg = f"this call is for {may}; the token is of a {token.role.value}"
            raise ServiceError(msg, code="auth.wrong-role")
        if self._programs_only and not self._tokens.is_passing(token):
            msg = "this address is for programs that the server has started"
            raise ServiceError(msg, code="auth.wrong-address")


class Leases:
    """Long calls, each of which ends soon after its token was revoked, or expired.

    Args:
        tokens: that are known.
    """

    def __init__(self, tokens: TokenStore) -> None:
        self._tokens = tokens
        self._seen = tokens.changes()
        self._known = self._known_now()
        self._held: dict[int, tuple[Token, Callable[[], None]]] = {}
        self._numbers = itertools.count()

    @contextlib.contextmanager
    def held(self, token: Token, ended: Callable[[], None]) -> Iterator[None]:
        """Note a call while it runs.

        Args:
            token: that was shown.
            ended: called when it is no longer good; must not raise.

        Raises:
            ServiceError: ``auth.revoked-token`` or ``auth.expired-token`` if it is not
                good now: of an end that was seen nobody is told again.
        """
        self._tokens.recheck(token)
        number = next(self._numbers)
        self._held[number] = (token, ended)
        try:
            yield
        finally:
            del self._held[number]

    async def run(self, token: Token, call: Coroutine[Any, Any, None]) -> None:
        """Run a call to its end, or until its token is no longer good.

        It is not begun with a token that is not good.

        Raises:
            ServiceError: ``auth.revoked-token`` or ``auth.expired-token`` if the token
                is not good, or ends first.
        """
        task = asyncio.ensure_future(call)
        cut = asyncio.Event()
        cutting = asyncio.ensure_future(cut.wait())
        try:
            with self.held(token, cut.set):
                await asyncio.wait({task, cutting}, return_when="FIRST_COMPLETED")
            if task.done():
                return task.result()
        finally:
            task.cancel()
            cutting.cancel()
            await asyncio.gather(task, cutting, return_exceptions=True)
            # An error holds the frames that it has come through, and this one it.
            del task
        raise self._tokens.ended(token)

    async def watch(self) -> None:
        """Look from time to time whether tokens are still good; never returns."""
        while True:
            await asyncio.sleep(_LOOK_S)
            self.look()

    def look(self) -> None:
        """End the calls of tokens that were revoked, or have expired."""
        changes = self._tokens.changes()
        if changes == self._seen:
            return
        self._seen = changes
        before, self._known = self._known, self._known_now()
        tokens_changed(before, self._known)
        for token, ended in list(self._held.values()):
            if not self._tokens.stays(token):
                ended()

    def _known_now(self) -> dict[str, tuple[Token, str]]:
        """Return the tokens that are kept, each with its state, by hash."""
        return {
            key: (token, self._tokens.state(token))
            for key, token in self._tokens.kept().items()
        }


def bearer(metadata: Iterable[tuple[str, str | bytes]] | None) -> str:
    """Return the token that metadata show; empty if there is none."""
    for key, value in metadata or ():
        if key == "authorization":
            text = value if isinstance(value, str) else value.decode("utf-8", "replace")
            scheme, _, token = text.strip().partition(" ")
            return token.strip() if scheme.lower() == "bearer" else ""
    return ""


def _refusing(error: FritillaryError) -> grpc.RpcMethodHandler[Any, Any]:
    """Return a handler that refuses; it reads nothing, whatever the method takes."""

    async def refuse(_: object, context: grpc.aio.ServicerContext[Any, Any]) -> None:
        await abort(context, error)

    refusing: grpc.RpcMethodHandler[Any, Any] = grpc.stream_stream_rpc_method_handler(
        unkept(refuse)
    )
    return refusing


async def _unknown(_: object, context: grpc.aio.ServicerContext[Any, Any]) -> None:
    msg = "there is no such method"
    await abort(context, ServiceError(msg, code="method.unknown"))


#: Ends calls of methods that are not there, whatever their arity: nothing is read.
_UNKNOWN: Final[grpc.RpcMethodHandler[Any, Any]] = (
    grpc.stream_stream_rpc_method_handler(unkept(_unknown))
)
