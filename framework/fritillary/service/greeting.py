"""What Hello tells of a bot, and the Welcome that answers it."""

from __future__ import annotations

from typing import Any, Final

import fritillary
from fritillary.api.v1 import bot_pb2 as pb
from fritillary.api.v1 import common_pb2
from fritillary.core.errors import ServiceError
from fritillary.plugins.game import Game
from fritillary.record.terms import PlayerInfo
from fritillary.service.hub import KEPT_ENDS, Link
from fritillary.service.limits import Limits
from fritillary.service.resume import SessionKey

#: The feature of a program that takes no place of another one with the same token.
YIELDS: Final = "visit.yields"

#: Features of the protocol that this server has.
FEATURES: Final[frozenset[str]] = frozenset({YIELDS})

#: Most games, and most features, that a Hello may name.
_MOST_GAMES: Final = 1_024
_MOST_FEATURES: Final = 64

#: Most bytes of a Hello without its acks, and of an Ack, whose match id has 64.
_HELLO_BYTES: Final = 64 * 1024
_ACK_BYTES: Final = 96

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


def check_size(hello: pb.Hello, limits: Limits) -> None:
    """Refuse a Hello that says more than any bot has to say.

    Args:
        hello: of the bot.
        limits: on it.

    Raises:
        ServiceError: ``hello.too-large``.
    """
    # A bot may hold both seats of a match.
    most_acks = 2 * (limits.max_matches + KEPT_ENDS)
    for what, found, most in (
        ("bytes", hello.ByteSize(), _HELLO_BYTES + most_acks * _ACK_BYTES),
        ("acks", len(hello.acks), most_acks),
        ("games", len(hello.games), _MOST_GAMES),
        ("features", len(hello.features), _MOST_FEATURES),
    ):
        if found > most:
            msg = f"Hello has {found:,} {what}; {most:,} are allowed"
            raise ServiceError(msg, code="hello.too-large")


def check_free(hello: pb.Hello, link: Link) -> None:
    """Refuse a program that yields where it would take the place of another one.

    Args:
        hello: of the bot.
        link: what is known of it.

    Raises:
        ServiceError: ``session.in-use`` if it is connected, or sits in a match.
    """
    if YIELDS not in hello.features or not (link.session or link.matches):
        return
    what = "is connected already" if link.session else "is waited for in a match"
    msg = f"bot {link.name!r} {what}; dial in with a token of its own"
    raise ServiceError(msg, code="session.in-use")


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
