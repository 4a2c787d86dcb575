"""CatalogService: games, variants, schemas, action tables."""

from __future__ import annotations

import hashlib
import re
from typing import Any, Final

import grpc
from google.protobuf.message import Message

from fritillary.api.v1 import catalog_pb2 as pb
from fritillary.api.v1 import catalog_pb2_grpc
from fritillary.core.errors import FritillaryError, UsageError
from fritillary.plugins.discovery import Registry
from fritillary.plugins.game import Game
from fritillary.plugins.table import ActionTable
from fritillary.service import games, wire
from fritillary.service.errors import guarded

_Context = grpc.aio.ServicerContext[Any, Any]

#: Positions that are numbers.
_NUMBER: Final = re.compile(r"[0-9]{1,15}")


class CatalogServicer(catalog_pb2_grpc.CatalogServiceServicer):
    """Describes the games of a registry.

    Args:
        registry: the games.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    @guarded
    async def ListGames(
        self, request: pb.ListGamesRequest, context: _Context
    ) -> pb.ListGamesResponse:
        """List the installed games and variants."""
        registry = self._registry
        response = pb.ListGamesResponse()
        for name, _ in registry.games():
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
        game = self._registry.game(request.game)
        schemas = games.schemas(game)
        return pb.GetGameResponse(
            info=games.game_info(game, request.game),
            options_schema=schemas.options,
            action_schema=schemas.action,
            observation_schema=schemas.observation,
            schemas_hash=schemas.hash,
            default_options=games.default_options(game),
            presets=games.presets(game),
            table=games.table_message(_table(game, request)),
        )

    @guarded
    async def ListActions(
        self, request: pb.ListActionsRequest, context: _Context
    ) -> pb.ListActionsResponse:
        """Return a page of an action table."""
        game = self._registry.game(request.game)
        table = _table(game, request)
        if not isinstance(table, ActionTable):
            msg = f"{game.id} has no action table; its legal actions come with requests"
            raise FritillaryError(msg, code="game.no-table")
        size = min(request.page_size or 1_000, 10_000)
        start = page_start(request)
        end = start + size
        return pb.ListActionsResponse(
            actions=games.action_entries(game, table, start, size),
            next_page_token=page_token(request, end) if end < len(table) else "",
            table=games.table_message(table),
        )


def _table(
    game: Game[Any, Any, Any], request: pb.GetGameRequest | pb.ListActionsRequest
) -> Any:  # noqa: ANN401 - of either kind
    seats = request.seats if request.HasField("seats") else game.info.min_seats
    game.check_seats(seats)
    return game.table(wire.game_options(game, request.options), seats)


def _digest(request: Message) -> str:
    """Return what tells requests apart that differ in more than their page."""
    plain = type(request).FromString(request.SerializeToString(deterministic=True))
    plain.ClearField("page_token")
    plain.ClearField("page_size")
    raw = plain.SerializeToString(deterministic=True)
    return hashlib.sha256(raw).hexdigest()[:12]


def page_token(request: Message, position: int | str) -> str:
    """Return the token of the page that begins at a position."""
    return f"{position}.{_digest(request)}"


def page_start(request: Any) -> int:  # noqa: ANN401 - any with pages
    """Return the position at which the page asked for begins, from 0.

    Raises:
        UsageError: ``page.token`` if the token is not of this question.
    """
    return int(page_position(request, _NUMBER) or "0")


def page_position(request: Any, form: re.Pattern[str]) -> str:  # noqa: ANN401 - as above
    """Return the position at which the page asked for begins; empty for the first.

    Args:
        request: with its page token.
        form: of positions.

    Raises:
        UsageError: ``page.token`` if the token is not of this question.
    """
    if not request.page_token:
        return ""
    position, _, digest = request.page_token.rpartition(".")
    if not form.fullmatch(position) or digest != _digest(request):
        msg = "this page token belongs to another question; begin with an empty one"
        raise UsageError(msg, code="page.token")
    return str(position)
