"""Calling the services, and reading their errors."""

from __future__ import annotations

from typing import Any

import grpc

from fritillary.api.v1 import common_pb2, match_pb2, match_pb2_grpc


def bearer(token):
    return (("authorization", f"Bearer {token}"),) if token else ()


async def outcome_of(call: Any) -> str:
    """Return ``ok`` or the code of a call's error, of whatever arity it is."""
    try:
        if hasattr(call, "__aiter__"):
            async for _ in call:
                break
        else:
            await call
    except grpc.aio.AioRpcError as error:
        return code_of(error)
    return "ok"


def code_of(error: grpc.aio.AioRpcError) -> str:
    """Return our code of an error, or its status if it has none."""
    for key, value in error.trailing_metadata():
        if key == "fritillary-error-bin" and isinstance(value, bytes):
            return common_pb2.ErrorInfo.FromString(value).code
    return error.code().name


class Caller:
    """The stub of one role."""

    def __init__(self, stage, role, name=None):
        # Without it a stream that nobody reads comes to take megabytes.
        options = (("grpc.http2.bdp_probe", 0),)
        self.channel = grpc.aio.insecure_channel(stage.address, options=options)
        self.stub = match_pb2_grpc.MatchServiceStub(self.channel)
        self.metadata = bearer(stage.token(name or role.value, role))

    def __getattr__(self, method):
        kind = {"ListMatches": "ListMatchesRequest"}.get(method, f"{method}Request")
        request_class = getattr(match_pb2, kind)

        def call(**fields):
            return getattr(self.stub, method)(
                request_class(**fields), metadata=self.metadata
            )

        return call

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        await self.channel.close()
