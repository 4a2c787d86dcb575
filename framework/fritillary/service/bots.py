"""BotService: where bots dial in."""

from __future__ import annotations

from typing import Any

import grpc

from fritillary.core.errors import ServiceError
from fritillary.service.auth import Leases, caller
from fritillary.service.errors import abort, unkept
from fritillary.service.hub import Hub
from fritillary.service.limits import Limits, OpenStreams
from fritillary.service.resume import SessionTokens
from fritillary.service.session import Session
from fritillary.service.tokens import TokenStore

_SERVICE = "fritillary.api.v1.BotService"


class BotServicer:
    """Opens a session for each stream.

    Args:
        hub: where the bots are.
        tokens: that are known.
        session_tokens: makes and reads session tokens.
        leases: end the streams of tokens that are no longer good.
        limits: on one bot.
    """

    def __init__(
        self,
        hub: Hub,
        tokens: TokenStore,
        session_tokens: SessionTokens,
        leases: Leases,
        limits: Limits,
    ) -> None:
        self._hub = hub
        self._tokens = tokens
        self._session_tokens = session_tokens
        self._leases = leases
        self._limits = limits
        self._open = OpenStreams(limits.max_streams, "streams")
        self.stopping = False

    async def Connect(
        self, _: object, context: grpc.aio.ServicerContext[Any, Any]
    ) -> None:
        """Serve the stream of one bot."""
        if self.stopping:
            msg = "the server is stopping"
            await abort(
                context,
                ServiceError(msg, code="server.stopping", retry_after_ms=1_000),
            )
        token = caller.get()
        try:
            # A session makes its bot known.
            self._tokens.recheck(token)
            with self._open.one(token):
                session = Session(
                    context,
                    token,
                    self._hub,
                    self._tokens,
                    self._session_tokens,
                    self._limits,
                )
                with self._leases.held(token, session.token_ended):
                    await session.run()
        except ServiceError as error:
            await abort(context, error)

    def add_to(self, server: grpc.aio.Server) -> None:
        """Register the service.

        Frames pass as bytes: the session reads them itself, so that garbage is
        answered, and writes frames from parts that were serialised before.
        """
        handler: grpc.RpcMethodHandler[Any, Any] = (
            grpc.stream_stream_rpc_method_handler(unkept(self.Connect))
        )
        server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler(_SERVICE, {"Connect": handler}),)
        )
