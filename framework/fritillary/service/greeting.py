"""What Hello tells of a bot, and the Welcome that answers it."""

from __future__ import annotations

from typing import Any, Final

import fritillary
from fritillary.api.v1 import bot_pb2 as pb
from fritillary.api.v1 import common_pb2
from fritillary.core.errors import ServiceError
from fritillary.plugins.game import Game
from fritillary.record.terms import PlayerInfo
from fritillary.service.limits import Limits
from fritillary.service.resume import SessionKey

#: Features of the protocol that this server has.
FEATURES: Final[frozenset[str]] = frozenset()

_ENCODINGS: Final = (common_pb2.ENCODING_MSGPACK, common_pb2.ENCODING_JSON)


def key_of(hello: pb.Hello, name: str) -> SessionKey:
    """Return what a session is bound to.

    Args:
        hello: of the bot.
        name: that its token was issued for.

    Raises:
        ServiceError: ``encoding.unknown``.
    """
    encoding = hello.encoding or common_pb2.ENCODING_MSGPACK
    if encoding not in _ENCODINGS:
        msg = f"encoding {encoding} is not known; use MSGPACK or JSON"
        raise ServiceError(msg, code="encoding.unknown")
    return SessionKey(
        name,
        hello.bot.build[:128],
        int(encoding),
        hello.legal_form == pb.LEGAL_FORM_EXPANDED,
        tuple(sorted(FEATURES.intersection(hello.features))),
    )


def info_of(hello: pb.Hello, name: str) -> PlayerInfo:
    """Return who the bot says it is."""
    bot = hello.bot
    return PlayerInfo(bot.name or name, bot.version, bot.build, bot.author)


def capacity_of(hello: pb.Hello, limits: Limits) -> int:
    """Return how many matches the bot takes at a time."""
    wanted = hello.capacity if hello.HasField("capacity") else 1
    return min(wanted, limits.max_matches)


def welcome(
    key: SessionKey, session_token: str, limits: Limits, *, capacity: int, resumed: bool
) -> pb.Welcome:
    """Return the answer to Hello."""
    return pb.Welcome(
        session_token=session_token,
        resumed=resumed,
        bot_name=key.bot,
        features=key.features,
        encoding=common_pb2.Encoding.ValueType(key.encoding),
        legal_form=(pb.LEGAL_FORM_EXPANDED if key.expanded else pb.LEGAL_FORM_PACKED),
        capacity=capacity,
        limits=limits.to_proto(),
        server_version=fritillary.__version__,
    )


def plays(hello: pb.Hello, game: Game[Any, Any, Any]) -> bool:
    """Say whether the bot said that it can play a game."""
    if not hello.games:
        return True
    variants = {info.id for info in game.variants}
    return any(
        support.game.rpartition(":")[2] == game.info.id
        and (
            not support.rules_versions
            or game.info.rules_version in support.rules_versions
        )
        and (support.any_variant or variants <= set(support.variants))
        for support in hello.games
    )
