"""Orders of matches: what they say, and how what was asked for becomes one."""

from __future__ import annotations

import contextlib
import functools
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import attrs
from attrs import field, frozen

from fritillary.core.errors import PluginError, ServiceError, UsageError
from fritillary.core.text import clip
from fritillary.plugins.discovery import Registry
from fritillary.plugins.game import Game
from fritillary.record.terms import ClockSettings, PlayerInfo, Terms
from fritillary.referee.lineup import (
    COMMANDS,
    STARTED,
    PlayerSpec,
    named,
    parse_player,
)
from fritillary.referee.player import Player
from fritillary.referee.setup import MatchSetup, new_match_id, usual_terms
from fritillary.service.games import name_of

UNTIMED: Final = ClockSettings()

_MAX_LABELS: Final = 16
_MAX_LABEL: Final = 64

#: Between the folders of a path, wherever it is from.
_SEPARATOR: Final = re.compile(r"[\\/]")


def shown(spec: PlayerSpec) -> str:
    """Return how a player is named to everybody, as in the record.

    Of a command that is the program's name: its arguments may hold secrets, and
    folders tell about the host.
    """
    if spec.kind in COMMANDS:
        return f"{spec.kind}:{_SEPARATOR.split(spec.name)[-1]}"
    return spec.text


def named_of(spec: PlayerSpec) -> PlayerInfo:
    """Return who takes a seat, as far as its name tells."""
    return named(_SEPARATOR.split(spec.name)[-1], shown(spec))


@frozen(kw_only=True, eq=False)
class Order:
    """A match as it was asked for, checked and filled in.

    Args:
        match_id: of the match.
        game_name: the full id under which the game is reached here.
        game: the rules.
        options: of the game.
        specs: the players, taken apart.
        clocks: one for each seat.
        terms: the same for all.
        seed: of the deal.
        salt: of the commitment.
        seed_given: whether seed or salt came from outside; ``None``: not known.
        nonces_wanted: whether bots may mix their own bytes into the deal.
        labels: free tags.
        sealed: the deal is still to be played by others.
    """

    match_id: str
    game_name: str
    game: Game[Any, Any, Any]
    options: Any
    specs: tuple[PlayerSpec, ...]
    clocks: tuple[ClockSettings, ...]
    terms: Terms
    seed: bytes = field(repr=False)
    salt: bytes = field(repr=False)
    seed_given: bool | None = False
    nonces_wanted: bool = False
    labels: dict[str, str] = field(factory=dict)
    sealed: bool = False

    def setup(self, players: tuple[Player, ...]) -> MatchSetup:
        """Return what the referee needs."""
        settings: dict[str, Any] = {"players": players, "clocks": self.clocks}
        return MatchSetup(
            game=self.game,
            options=self.options,
            terms=self.terms,
            match_id=self.match_id,
            seed=self.seed,
            salt=self.salt,
            nonces_wanted=self.nonces_wanted,
            labels=self.labels,
            **settings,
        )


def refuse_programs(specs: Iterable[PlayerSpec]) -> None:
    """Refuse players that would have to be started.

    Raises:
        ServiceError: ``player.program``.
    """
    for spec in specs:
        if spec.kind in STARTED:
            msg = (
                f"player {clip(spec.text, 80)!r} is a program, and this server "
                "starts none for matches of referees ('fritillary serve --programs' "
                "says which it does); let it dial in and name it remote:NAME"
            )
            raise ServiceError(msg, code="player.program")


#: Players are named again and again.
spec_of: Final = functools.lru_cache(1024)(parse_player)


@functools.lru_cache(64)
def _named_options(game: Game[Any, Any, Any], preset: str) -> Any:  # noqa: ANN401
    """Return options, which are frozen and can be shared."""
    return game.options(None, preset)


@functools.lru_cache(64)
def check_deal(game: Game[Any, Any, Any], options: Any, seats: int) -> None:  # noqa: ANN401
    """Refuse options with which so many seats cannot be dealt.

    A game that fails in another way is the referee's affair.
    """
    with contextlib.suppress(PluginError):
        game.check_options(options, seats)


def options_of(game: Game[Any, Any, Any], options: object, preset: str) -> Any:  # noqa: ANN401
    """Return options of data over a preset, or of a value.

    Raises:
        FritillaryError: if they are none of the game.
    """
    if isinstance(options, game.info.options):
        return options
    if options is None:
        return _named_options(game, preset)
    if isinstance(options, Mapping):
        return game.options(options, preset)
    msg = f"{game.id}: options are a mapping or {game.info.options.__name__} values"
    raise UsageError(msg, code="usage.options")


def clocks_of(
    clocks: ClockSettings | Sequence[ClockSettings] | None, seats: int
) -> tuple[ClockSettings, ...]:
    """Return one clock for each seat.

    Raises:
        UsageError: if there are not as many.
    """
    if clocks is None:
        return (UNTIMED,) * seats
    if isinstance(clocks, ClockSettings):
        return (clocks,) * seats
    if len(clocks) != seats:
        msg = f"{seats} seats need as many clocks, not {len(clocks)}"
        raise UsageError(msg, code="usage.clock")
    return tuple(clocks)


def bytes32(what: str, given: bytes | None) -> bytes:
    """Return the 32 bytes that were given, or fresh ones.

    Raises:
        UsageError: if there are not as many.
    """
    if given is None:
        return os.urandom(32)
    if len(given) != 32:
        msg = f"a {what} has 32 bytes, not {len(given)}"
        raise UsageError(msg, code=f"usage.{what}")
    return bytes(given)


def labels_of(labels: Mapping[str, str]) -> dict[str, str]:
    """Return labels that are not too many, nor too long.

    Raises:
        UsageError: if they are.
    """
    if len(labels) > _MAX_LABELS or any(
        not name or len(name) > _MAX_LABEL or len(value) > _MAX_LABEL
        for name, value in labels.items()
    ):
        msg = f"at most {_MAX_LABELS} labels of at most {_MAX_LABEL} characters"
        raise UsageError(msg, code="usage.labels")
    return dict(labels)


def order_of(
    registry: Registry,
    game: str | Game[Any, Any, Any],
    players: Sequence[str],
    *,
    options: Mapping[str, Any] | object | None = None,
    preset: str = "",
    clocks: ClockSettings | Sequence[ClockSettings] | None = None,
    terms: Terms | None = None,
    ceiling_ms: int | None = None,
    match_id: str = "",
    seed: bytes | None = None,
    salt: bytes | None = None,
    nonces_wanted: bool | None = None,
    labels: Mapping[str, str] | None = None,
    sealed: bool = False,
) -> Order:
    """Return what was asked for as an order; for the arguments see `Arena.create`.

    Raises:
        FritillaryError: if something about it makes no sense.
    """
    rules = registry.game(game) if isinstance(game, str) else game
    match_id = match_id or new_match_id()
    specs = tuple(map(spec_of, players))
    rules.check_seats(len(specs))
    chosen = options_of(rules, options, preset)
    check_deal(rules, chosen, len(specs))
    all_clocks = clocks_of(clocks, len(specs))
    if ceiling_ms is None:
        full = usual_terms(rules, all_clocks, terms)
    else:
        full = attrs.evolve(terms or Terms(), ceiling_ms=ceiling_ms)
    dials_in = any(spec.kind in {"remote", *STARTED} for spec in specs)
    if nonces_wanted is None:
        nonces_wanted = seed is None and dials_in
    return Order(
        match_id=match_id,
        game_name=name_of(registry, rules, game if isinstance(game, str) else ""),
        game=rules,
        options=chosen,
        specs=specs,
        clocks=all_clocks,
        terms=full,
        seed=bytes32("seed", seed),
        salt=bytes32("salt", salt),
        seed_given=seed is not None or salt is not None,
        nonces_wanted=nonces_wanted,
        labels=labels_of(labels or {}),
        sealed=sealed,
    )
