"""What the catalog tells of one game: in pieces, so that others run between them.

The answers depend on the request and the rules alone. So they can be made in the loop,
or in another process where rules are to run on what a stranger sends.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Iterator
from typing import Any, Final

from fritillary.api.v1 import catalog_pb2 as pb
from fritillary.core.errors import FritillaryError, ServiceError
from fritillary.plugins.discovery import Registry
from fritillary.plugins.game import Game
from fritillary.plugins.table import ActionTable, OpenTable
from fritillary.service import games, wire
from fritillary.service.pages import Filling, page_start, page_token

#: Entries of a table that are written out at a time, in some 2 ms.
_PIECE: Final = 64

#: Time that the rules may take to begin a match with options that are not their own,
#: in seconds of the processor.
CHECK_S: Final = 0.5

#: Entries of a page, if not said otherwise, and at the most.
_USUAL: Final = 1_000
_MOST: Final = 10_000


def get_game(registry: Registry, request: pb.GetGameRequest) -> pb.GetGameResponse:
    """Describe one game.

    Raises:
        UnknownGameError: if it is not installed.
        CodecError: if the options cannot be read.
        InvalidOptionsError: if options or seats are none of it.
        PluginError: if the game fails.
    """
    game = registry.game(request.game)
    schemas = games.schemas(game)
    return pb.GetGameResponse(
        info=games.game_info(game, games.name_of(registry, game)),
        options_schema=schemas.options,
        action_schema=schemas.action,
        observation_schema=schemas.observation,
        schemas_hash=schemas.hash,
        default_options=games.default_options(game),
        presets=games.presets(game),
        table=games.table_message(_table(game, request)),
    )


def check_options(registry: Registry, request: pb.GetGameRequest) -> pb.GetGameResponse:
    """Check that a match with some options holds up no other by the rules' first steps.

    Args:
        registry: the games.
        request: names game, options and seats.

    Returns:
        Nothing.

    Raises:
        ServiceError: ``limit.time`` if they take longer than `CHECK_S`.
        FritillaryError: as of `get_game`; ``options.invalid`` if it cannot be dealt.
    """
    begun_s = time.process_time()
    game = registry.game(request.game)
    table = _table(game, request)
    games.table_message(table)
    seats = request.seats if request.HasField("seats") else game.info.min_seats
    game.check_options(wire.game_options(game, request.options), seats)
    took_s = time.process_time() - begun_s
    if took_s > CHECK_S:
        msg = (
            f"the rules of {game.id} take {took_s:.1f} s to begin with these options, "
            f"and all other matches would wait; {CHECK_S:g} s at most"
        )
        raise ServiceError(msg, code="limit.time")
    return pb.GetGameResponse()


def list_actions(
    registry: Registry, request: pb.ListActionsRequest, into: pb.ListActionsResponse
) -> Iterator[None]:
    """Write a page of an action table, a piece with each step.

    The page ends after so many entries as were asked for, or as one has room for.

    Args:
        registry: the games.
        request: for a page.
        into: is complete after the last step.

    Raises:
        UsageError: ``page.token``.
        FritillaryError: ``game.no-table``; as of `get_game`.
    """
    game = registry.game(request.game)
    table = _table(game, request)
    if not isinstance(table, ActionTable):
        msg = f"{game.id} has no action table; its legal actions come with requests"
        raise FritillaryError(msg, code="game.no-table")
    into.MergeFrom(pb.ListActionsResponse(table=games.table_message(table)))
    at = page_start(request)
    end = min(at + min(request.page_size or _USUAL, _MOST), len(table))
    page = Filling(into.actions)
    while at < end:
        yield
        for entry in games.action_entries(game, table, at, min(_PIECE, end - at)):
            if not page.took(entry):
                end = at
                break
            at += 1
    if at < len(table):
        into.next_page_token = page_token(request, at)


def listed(
    registry: Registry, request: pb.ListActionsRequest
) -> pb.ListActionsResponse:
    """Return a page of an action table at once; see `list_actions`."""
    response = pb.ListActionsResponse()
    for _ in list_actions(registry, request, response):
        pass
    return response


def as_known(
    registry: Registry, request: pb.GetGameRequest | pb.ListActionsRequest
) -> bool:
    """Say whether a request names nothing but what the installed games name themselves.

    These are at most one variant, and the default options or a preset. Whatever their
    rules do with these, they do wherever the game is played. Options that are written
    out as the server does it become a preset, or none.

    Args:
        registry: the games.
        request: its options may be changed to others that mean the same.
    """
    if request.game.count("+") > 1:
        return False
    choice = request.options
    if choice.WhichOneof("choice") != "options" or not choice.options.data:
        return True
    game = registry.game(request.game)
    preset = _written(game, choice.options.encoding).get(choice.options.data)
    if preset is None:
        return False
    choice.Clear()
    if preset:
        choice.preset = preset
    return True


@functools.lru_cache(256)
def _written(game: Game[Any, Any, Any], encoding: int) -> dict[bytes, str]:
    """Return presets by their options as bytes; the defaults are the empty one."""
    known = {"": game.info.options(), **game.info.presets}
    encode = wire.coder(encoding).encode
    return {
        encode(game.codec.options_to_data(options)): preset
        for preset, options in reversed(known.items())
    }


def _table(
    game: Game[Any, Any, Any], request: pb.GetGameRequest | pb.ListActionsRequest
) -> ActionTable[Any] | OpenTable[Any]:
    seats = request.seats if request.HasField("seats") else game.info.min_seats
    game.check_seats(seats)
    return game.table(wire.game_options(game, request.options), seats)
