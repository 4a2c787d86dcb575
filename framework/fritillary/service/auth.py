"""Who may call what: a server interceptor that reads the bearer token."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any, Final

import grpc

from fritillary.core.errors import FritillaryError, ServiceError
from fritillary.service.errors import abort
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


class Authenticator(grpc.aio.ServerInterceptor):
    """Lets an RPC pass if its token has a role that may call it.

    Args:
        tokens: that are known.
    """

    def __init__(self, tokens: TokenStore) -> None:
        self._tokens = tokens

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
            return handler
        try:
            token = self._tokens.check(_bearer(handler_call_details))
            roles = ROLES.get(method, frozenset())
            if token.role not in roles:
                may = " or ".join(sorted(role.value for role in roles)) or "nobody"
                msg = f"this call is for {may}; the token is of a {token.role.value}"
                raise ServiceError(msg, code="auth.wrong-role")
        except FritillaryError as error:
            return _refusing(handler, error)
        caller.set(token)
        return handler


def _bearer(details: grpc.HandlerCallDetails) -> str:
    for key, value in details.invocation_metadata:
        if key == "authorization":
            text = value if isinstance(value, str) else value.decode("utf-8", "replace")
            scheme, _, token = text.strip().partition(" ")
            return token.strip() if scheme.lower() == "bearer" else ""
    return ""


def _refusing(
    handler: grpc.RpcMethodHandler[Any, Any], error: FritillaryError
) -> grpc.RpcMethodHandler[Any, Any]:
    """Return a handler of the same arity that refuses.

    gRPC calls a method by its arity; a handler of another one breaks the stream.
    """

    async def refuse(_: object, context: grpc.aio.ServicerContext[Any, Any]) -> None:
        await abort(context, error)

    maker: Any
    if handler.request_streaming and handler.response_streaming:
        maker = grpc.stream_stream_rpc_method_handler
    elif handler.request_streaming:
        maker = grpc.stream_unary_rpc_method_handler
    elif handler.response_streaming:
        maker = grpc.unary_stream_rpc_method_handler
    else:
        maker = grpc.unary_unary_rpc_method_handler
    refusing: grpc.RpcMethodHandler[Any, Any] = maker(
        refuse, handler.request_deserializer, handler.response_serializer
    )
    return refusing
