"""What can be said about a bot and its connection, and what follows from it."""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, Literal, TypedDict

from attrs import field, frozen

from fritillary.api.v1 import bot_pb2 as wire
from fritillary.api.v1 import common_pb2 as common
from fritillary.core.commitment import MAX_NONCE_BYTES
from fritillary_client import encoding as encodings
from fritillary_client.bot import AnyBot, Bot, factory_of
from fritillary_client.endpoint import Endpoint, File, endpoint
from fritillary_client.errors import ArenaError, ConfigurationError, Declined
from fritillary_client.reading import full_id, shown
from fritillary_client.values import GameSupport, Session

_FORMS: Final = {
    "packed": wire.LEGAL_FORM_PACKED,
    "expanded": wire.LEGAL_FORM_EXPANDED,
}


class Settings(TypedDict, total=False):
    """What can be said about a bot and its connection.

    Attributes:
        address: of the server, ``HOST:PORT``; default ``FRITILLARY_ADDRESS``.
        token: of the bot; default ``FRITILLARY_TOKEN``.
        name: to show; default the name of the bot's class or program.
        version: to show.
        author: to show.
        build: what tells two builds of the bot apart; default a hash of its file.
        games: that it can play: ids (with ``+variant`` where wanted) or `GameSupport`;
            default those that the bot itself names, else any. Others are declined.
        capacity: most matches at a time; default 1.
        encoding: ``msgpack`` (default) or ``json``.
        legal: ``packed`` (default): indices, looked up in the action table, which is
            fetched once; or ``expanded``: written out in each request.
        matches: leave after so many; default: stay. With a capacity above 1 a few
            more may be played, since a seat that was offered is not refused.
        wait: keep trying for so many seconds if no server answers at the start;
            default 0.
        give_up_after: keep trying for so many seconds after a lost link; default 60.
        on_error: what to do when the bot raises or answers nonsense: ``stop``
            (default) says goodbye and raises the error; ``resign`` gives up the match
            and plays on in the others.
        nonce: at most 32 bytes that are mixed into the deal of every match that wants
            them; default: 16 random ones, others for each match.
        on_connect: called when the server has let the bot in, the first time and after
            each lost link. Like `on_lost` it is called in the event loop and must
            return at once.
        on_lost: called with the reason when a link that was there is lost and will be
            tried again.
        tls: whether to encrypt; default: unless the server is on this machine; also
            there if files for TLS are named.
        ca: file of certificates to trust, PEM; default ``FRITILLARY_CA``, else the
            usual ones.
        cert: file of a certificate to show to the server, PEM; default
            ``FRITILLARY_CERT``, else none.
        key: file of its private key, PEM; default ``FRITILLARY_KEY``.
    """

    address: str | None
    token: str | None
    name: str | None
    version: str
    author: str
    build: str | None
    games: Sequence[str | GameSupport] | None
    capacity: int
    encoding: Literal["msgpack", "json"]
    legal: Literal["packed", "expanded"]
    matches: int | None
    wait: float
    give_up_after: float
    on_error: Literal["stop", "resign"]
    nonce: bytes | None
    on_connect: Callable[[Session], object] | None
    on_lost: Callable[[ArenaError], object] | None
    tls: bool | None
    ca: File
    cert: File
    key: File


@frozen(kw_only=True)
class Setup(Endpoint):
    """Settings, checked and with the defaults filled in.

    Args:
        factory: makes a bot for one match and seat.
        info: who the bot is.
        games: that it can play.
        capacity: most matches at a time.
        matches: leave after so many; ``None``: stay.
        encoding: to ask for.
        legal_form: to ask for.
        resigns: whether a bot that fails resigns.
        wait: for the server to appear, in seconds.
        give_up_after: a lost link, in seconds.
        nonce: for every match; ``None``: drawn anew for each.
        on_connect: called with each Welcome.
        on_lost: called with each loss of the link.
    """

    factory: Callable[[], Bot]
    info: common.PlayerInfo
    games: list[wire.GameSupport]
    capacity: int
    matches: int | None
    encoding: encodings.Encoding
    legal_form: wire.LegalForm.ValueType
    resigns: bool
    wait: float
    give_up_after: float
    nonce: bytes | None = field(repr=False)
    on_connect: Callable[[Session], object] | None
    on_lost: Callable[[ArenaError], object] | None

    def consider(self, game: common.GameRef) -> None:
        """Compare a game that is offered with those that Hello has announced.

        Raises:
            Declined: if it is none of them.
        """
        if self.games and not any(_covers(each, game) for each in self.games):
            msg = shown(
                f"the bot has not announced {full_id(game)} in version "
                f"{game.rules_version} of its rules"
            )
            raise Declined(msg, code="game.not-announced")


def resolve(bot: AnyBot, settings: Settings) -> Setup:
    """Check settings and fill in the defaults.

    Raises:
        ConfigurationError: naming what is wrong, and the mend.
    """
    factory = factory_of(bot)
    server = endpoint(
        settings.get("address"),
        settings.get("token"),
        tls=settings.get("tls"),
        ca=settings.get("ca"),
        cert=settings.get("cert"),
        key=settings.get("key"),
    )
    info = common.PlayerInfo(
        name=(settings.get("name") or _name_of(bot))[:64],
        version=str(settings.get("version", ""))[:64],
        build=(settings.get("build") or _build_of(bot))[:128],
        author=settings.get("author", "")[:128],
    )
    games = settings.get("games")
    capacity, matches = settings.get("capacity", 1), settings.get("matches")
    if capacity < 1 or (matches is not None and matches < 1):
        msg = "capacity and matches must be at least 1"
        raise ConfigurationError(msg, code="usage.capacity")
    legal = settings.get("legal", "packed")
    if legal not in _FORMS:
        msg = f"no legal form {legal!r}; say {' or '.join(_FORMS)}"
        raise ConfigurationError(msg, code="usage.legal")
    on_error = settings.get("on_error", "stop")
    if on_error not in {"stop", "resign"}:
        msg = f"on_error is stop or resign, not {on_error!r}"
        raise ConfigurationError(msg, code="usage.on-error")
    nonce = settings.get("nonce")
    if nonce is not None and not (
        isinstance(nonce, bytes) and len(nonce) <= MAX_NONCE_BYTES
    ):
        msg = f"nonce must be bytes, at most {MAX_NONCE_BYTES}"
        raise ConfigurationError(msg, code="usage.nonce")
    return Setup(
        address=server.address,
        token=server.token,
        tls=server.tls,
        roots=server.roots,
        certificate=server.certificate,
        key=server.key,
        factory=factory,
        info=info,
        games=_supports(getattr(bot, "games", None) if games is None else games),
        capacity=capacity,
        matches=matches,
        encoding=encodings.named(settings.get("encoding", "msgpack")),
        legal_form=_FORMS[legal],
        resigns=on_error == "resign",
        wait=settings.get("wait", 0.0),
        give_up_after=settings.get("give_up_after", 60.0),
        nonce=nonce,
        on_connect=settings.get("on_connect"),
        on_lost=settings.get("on_lost"),
    )


def _supports(
    games: Sequence[str | GameSupport] | None,
) -> list[wire.GameSupport]:
    supports = []
    for game in games or ():
        if isinstance(game, str):
            game_id, *variants = game.split("+")
            supports.append(wire.GameSupport(game=game_id, variants=variants))
        else:
            supports.append(
                wire.GameSupport(
                    game=game.game,
                    rules_versions=game.rules_versions,
                    variants=game.variants,
                    any_variant=game.any_variant,
                )
            )
    return supports


def _covers(support: wire.GameSupport, game: common.GameRef) -> bool:
    # A game may be named with or without the distribution that it comes from.
    return (
        support.game.rpartition(":")[2] == game.id.rpartition(":")[2]
        and (not support.rules_versions or game.rules_version in support.rules_versions)
        and (
            support.any_variant
            or all(variant.id in support.variants for variant in game.variants)
        )
    )


def _program_of(bot: object) -> str:
    # An adapter, such as `TypedBot`, names what it adapts.
    bot = getattr(bot, "program", bot)
    made_of = bot if inspect.isclass(bot) or inspect.isroutine(bot) else type(bot)
    module = sys.modules.get(getattr(made_of, "__module__", "") or "")
    return getattr(module, "__file__", None) or ""


def _name_of(bot: object) -> str:
    if inspect.isroutine(bot):
        return Path(_program_of(bot)).stem or "bot"
    name: str = getattr(bot, "__name__", "") or type(bot).__name__
    return name


def _build_of(bot: object) -> str:
    """Return a hash of the file that the bot is written in, empty without one."""
    try:
        return hashlib.sha256(Path(_program_of(bot)).read_bytes()).hexdigest()[:16]
    except OSError:
        return ""
