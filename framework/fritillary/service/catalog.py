"""CatalogService: games, variants, schemas, action tables."""

from __future__ import annotations

import contextlib
from typing import Any, TypeVar

import grpc
from google.protobuf.message import Message

from fritillary.api.v1 import catalog_pb2 as pb
from fritillary.api.v1 import catalog_pb2_grpc
from fritillary.core.errors import UnknownGameError
from fritillary.plugins.discovery import Registry
from fritillary.service import games
from fritillary.service.accounts import calling
from fritillary.service.catalog_calls import as_known, get_game, list_actions
from fritillary.service.errors import guarded
from fritillary.service.rules_apart import Apart
from fritillary.service.turns import Queues, Turns

_Context = grpc.aio.ServicerContext[Any, Any]
_R = TypeVar("_R", bound=Message)


class CatalogServicer(catalog_pb2_grpc.CatalogServiceServicer):
    """Describes the games of a registry.

    Anybody may ask, so nothing is done at once that takes long: callers take turns,
    and rules run apart on options that are not the game's own.

    Args:
        registry: the games.
        apart: where rules run.
    """

    def __init__(self, registry: Registry, apart: Apart) -> None:
        self._registry = registry
        self._apart = apart
        self._turns = Turns()
        self._lists = Queues()

    @guarded
    async def ListGames(
        self, request: pb.ListGamesRequest, context: _Context
    ) -> pb.ListGamesResponse:
        """List the installed games and variants."""
        registry = self._registry
        response = pb.ListGamesResponse()
        for name, _ in registry.games():
            async with self._turns.one(calling.get()):
                response.games.append(games.game_info(registry.game(name), name))
        for name, info in registry.variants():
            distribution = registry.variant_plugin(name).distribution
            response.variants.append(
                pb.VariantInfo(
                    variant=games.variant_ref(info),
                    title=info.title,
                    summary=info.summary,
                    games=info.games,
                    distribution=distribution,
                    distribution_version=games.distribution_version(distribution),
                )
            )
        return response

    @guarded
    async def GetGame(
        self, request: pb.GetGameRequest, context: _Context
    ) -> pb.GetGameResponse:
        """Describe one game."""
        async with self._turns.one(calling.get()):
            if as_known(self._registry, request):
                return get_game(self._registry, request)
        try:
            return await self._asked(request, pb.GetGameResponse)
        except UnknownGameError:
            # Plugins that are no modules are only here.
            return get_game(self._registry, request)

    @guarded
    async def ListActions(
        self, request: pb.ListActionsRequest, context: _Context
    ) -> pb.ListActionsResponse:
        """Return a page of an action table."""
        response = pb.ListActionsResponse()
        async with self._turns.one(calling.get()):
            known = as_known(self._registry, request)
        if not known:
            # As above.
            with contextlib.suppress(UnknownGameError):
                return await self._asked(request, pb.ListActionsResponse)
        async with self._lists.one(calling.get()):
            pieces = list_actions(self._registry, request, response)
            more = True
            while more:
                async with self._turns.one(calling.get()):
                    more = next(pieces, self) is not self
        return response

    async def _asked(self, request: Message, kind: type[_R]) -> _R:
        """Return what the rules answer that run apart."""
        method = f"Catalog.{kind.DESCRIPTOR.name.removesuffix('Response')}"
        return kind.FromString(await self._apart.ask(method, request))
