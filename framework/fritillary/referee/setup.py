"""What a match is made of, before it begins."""
# ruff: noqa: ANN401 - values of any game pass through

from __future__ import annotations

import functools
import os
import secrets
from collections.abc import Iterable
from typing import Any, Final

import attrs
from attrs import field, frozen, validators

from fritillary.core.commitment import commitment, mix_nonces
from fritillary.core.dealer import SEALED_ALGORITHM, SealedDealer
from fritillary.core.errors import UsageError
from fritillary.plugins.game import Game
from fritillary.record.events import (
    FORMAT,
    MATCH_ID,
    GameRef,
    Header,
    SeatTerms,
    VariantRef,
)
from fritillary.record.terms import ClockSettings, PlayerInfo, Terms, ceiling_ms
from fritillary.referee.player import Player


def new_match_id() -> str:
    """Return a fresh match id."""
    return f"m-{secrets.token_hex(8)}"


_UNTIMED: Final = ClockSettings()


@functools.lru_cache(64)
def _defaults(options: type) -> Any:
    """Return the default options of a game, which are frozen and can be shared."""
    return options()


def _check_id(_: Any, __: Any, value: str) -> None:
    if not MATCH_ID.match(value):
        msg = (
            f"match id {value[:70]!r} must be 1 to 64 letters, digits, dots, "
            "underscores or hyphens"
        )
        raise UsageError(msg, code="match.id")


# mypy cannot infer what a bare "tuple" converts.
def _as_players(players: Iterable[Player]) -> tuple[Player, ...]:
    return tuple(players)


def _as_clocks(clocks: Iterable[ClockSettings]) -> tuple[ClockSettings, ...]:
    return tuple(clocks)


@frozen(kw_only=True)
class MatchSetup:
    """One match, ready to be run.

    Args:
        game: the rules.
        options: of the game; ``None`` for the defaults.
        players: who plays, in seat order.
        clocks: one for each seat.
        terms: the same for all.
        match_id: letters, digits, ``.``, ``_`` and ``-``.
        seed: 32 bytes that the deal follows from.
        salt: 32 bytes that hide the seed until it is revealed.
        nonces_wanted: whether bots may mix their own bytes into the deal.
        labels: free tags, kept in the record.

    Raises:
        FritillaryError: if something is out of range.
    """

    game: Game[Any, Any, Any]
    players: tuple[Player, ...] = field(converter=_as_players)
    options: Any = None
    clocks: tuple[ClockSettings, ...] = field(converter=_as_clocks)
    terms: Terms = field()
    match_id: str = field(factory=new_match_id, validator=_check_id)
    seed: bytes = field(factory=lambda: os.urandom(32), repr=False)
    salt: bytes = field(factory=lambda: os.urandom(32), repr=False)
    nonces_wanted: bool = False
    labels: dict[str, str] = field(
        factory=dict,
        validator=validators.deep_mapping(
            validators.instance_of(str), validators.instance_of(str)
        ),
    )

    @clocks.default
    def _untimed(self) -> tuple[ClockSettings, ...]:
        return (_UNTIMED,) * len(self.players)

    @terms.default
    def _usual_terms(self) -> Terms:
        return usual_terms(self.game, self.clocks)

    def __attrs_post_init__(self) -> None:
        if self.options is None:
            object.__setattr__(self, "options", _defaults(self.game.info.options))
        self.game.check_seats(len(self.players))
        if len(self.clocks) != len(self.players):
            msg = f"{len(self.players)} seats need as many clocks"
            raise UsageError(msg, code="usage.clock")
        for name, value in (("seed", self.seed), ("salt", self.salt)):
            if len(value) != 32:
                msg = f"a {name} has 32 bytes, not {len(value)}"
                raise UsageError(msg, code=f"usage.{name}")

    @property
    def commitment(self) -> bytes:
        """The hash that binds the deal."""
        options = self.game.codec.encode_options(self.options)
        return commitment(self.match_id, options, self.seed, self.salt)

    def deal_seed(self, nonces: tuple[bytes, ...]) -> bytes:
        """Return the seed that the deal really uses."""
        return mix_nonces(self.seed, nonces)

    def dealer(self, nonces: tuple[bytes, ...]) -> SealedDealer:
        """Return the dealer of the match."""
        return SealedDealer(self.deal_seed(nonces))

    def header(self, *, framework: str, created_at_ms: int) -> Header:
        """Return the header of the record."""
        game = self.game
        options = game.codec.encode_options(self.options)
        return Header(
            format=FORMAT,
            framework=framework,
            match_id=self.match_id,
            game=game_ref(game),
            options=options.hex(),
            seats=tuple(
                _seat_terms(player.info, clock)
                for player, clock in zip(self.players, self.clocks, strict=True)
            ),
            terms=self.terms,
            algorithm=SEALED_ALGORITHM,
            commitment=commitment(self.match_id, options, self.seed, self.salt).hex(),
            created_at_ms=created_at_ms,
            labels=self.labels,
        )


@functools.lru_cache(256)
def _seat_terms(player: PlayerInfo, clock: ClockSettings) -> SeatTerms:
    return SeatTerms(player, clock)


@functools.lru_cache(64)
def game_ref(game: Game[Any, Any, Any]) -> GameRef:
    """Return how a game is named in records and on the wire."""
    return GameRef(
        game.info.id,
        game.info.rules_version,
        game.distribution,
        tuple(VariantRef(info.id, info.version) for info in game.variants),
    )


def usual_terms(
    game: Game[Any, Any, Any],
    clocks: tuple[ClockSettings, ...],
    terms: Terms | None = None,
) -> Terms:
    """Return terms whose ceiling follows from the clocks."""
    if terms is None:
        return _usual_terms(clocks, game.info.max_plies)
    return _with_ceiling(clocks, game.info.max_plies, terms)


@functools.lru_cache(256)
def _usual_terms(clocks: tuple[ClockSettings, ...], max_plies: int) -> Terms:
    return _with_ceiling(clocks, max_plies, Terms())


def _with_ceiling(
    clocks: tuple[ClockSettings, ...], max_plies: int, terms: Terms
) -> Terms:
    ceiling = ceiling_ms(list(clocks), max_plies, terms.margin_ms)
    return attrs.evolve(terms, ceiling_ms=ceiling)
