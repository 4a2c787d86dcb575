"""Lets bots written for play in process dial in: typed values in place of plain data.

Needs the games that are to be played: it imports the framework, where the rest of the
client does not.
"""
# ruff: noqa: TID251 - gives each bot a generator of its own seed

from __future__ import annotations

import inspect
import random
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias, cast

import attrs
from attrs import frozen

from fritillary.bots import protocol
from fritillary.core.errors import FritillaryError
from fritillary.core.outcome import Outcome as GameOutcome
from fritillary.plugins.discovery import Registry
from fritillary.plugins.game import Game
from fritillary.plugins.table import ActionTable, OpenTable
from fritillary_client.ask import Ask
from fritillary_client.bot import Bot
from fritillary_client.encoding import Data
from fritillary_client.errors import BotError, Declined, ProtocolError
from fritillary_client.values import (
    RESIGN,
    Answer,
    Decision,
    Event,
    GameSupport,
    MatchInfo,
    Outcome,
)

AnyGame: TypeAlias = Game[Data, Data, Data]
_Table: TypeAlias = ActionTable[Data] | OpenTable[Data]

#: Makes a bot for one match; a factory with one parameter is given the game.
Factory: TypeAlias = Callable[[], protocol.Bot] | Callable[[AnyGame], protocol.Bot]


@frozen
class TypedEvent:
    """What happened, in the shape that bots in process see.

    Args:
        number: in the seat's own sequence, from 1.
        ply: plies up to and including this event.
        body: the event; its ``action`` is an action of the game.
    """

    number: int
    ply: int
    body: Event


class TypedBot:
    """Makes bots for the client from bots for play in process; give it to ``run``.

    ``ask.observation`` and ``ask.legal`` are then values of the game's own classes,
    the actions interned. An offer is declined with ``game.other-table`` unless rules
    version, variants and action table are those of the game at hand, and with the
    code of the error if the game, its options or the bot are not known here.

    Args:
        games: the games at hand: a registry, or a function from the full id of a game,
            with its variants, to the game.
        factory: makes a bot for one match, from nothing or from the game.
        only: ids of the games that are offered; default: all of the registry.
    """

    def __init__(
        self,
        games: Registry | Callable[[str], AnyGame],
        factory: Factory,
        *,
        only: Sequence[str] | None = None,
    ) -> None:
        self._find = games.game if isinstance(games, Registry) else games
        self._factory = factory
        self._wants_game = _takes_game(factory)
        self._digests: dict[int, tuple[_Table, bytes]] = {}
        #: What the server may offer; see `Bot.games`.
        self.games: Sequence[str | GameSupport] | None = None
        if isinstance(games, Registry):
            self.games = _supports(games, only)
        elif only is not None:
            self.games = tuple(GameSupport(game, any_variant=True) for game in only)
        self.__name__ = getattr(factory, "__name__", "bot")
        #: What is adapted: tells two builds of the bot apart.
        self.program = factory

    def __call__(self) -> Bot:
        """Return a bot for one match."""
        return _TypedSeat(self)

    def sit(self, info: MatchInfo) -> tuple[AnyGame, Data, _Table, protocol.Bot]:
        """Return game, options, table and bot for a match.

        Raises:
            Declined: if the match is not of a game at hand, or the game has no such
                bot.
        """
        try:
            game = self._find(info.full_id)
            options = game.codec.options_from_data(info.options)
            game.check_seats(info.seats)
            table = game.table(options, info.seats)
        except FritillaryError as error:
            raise _declined(error) from error
        versions = (info.rules_version, *info.variants)
        ours = (
            game.info.rules_version,
            *((each.id, each.version) for each in game.variants),
        )
        if versions != ours:
            msg = f"{info.full_id}: rules and variants {versions}; here are {ours}"
            raise Declined(msg, code="game.other-table")
        if table.listed != (info.table_size is not None) or (
            table.listed and self._digest(table) != info.table_hash
        ):
            msg = f"{info.full_id}: the action table is not the one that is known here"
            raise Declined(msg, code="game.other-table")
        try:
            if self._wants_game:
                bot = cast("Callable[[AnyGame], protocol.Bot]", self._factory)(game)
            else:
                bot = cast("Callable[[], protocol.Bot]", self._factory)()
        except FritillaryError as error:
            # The game is here, but has no such bot.
            raise _declined(error) from error
        return game, options, table, bot

    def _digest(self, table: _Table) -> bytes:
        # The table is kept beside its digest, so that its id is not used again.
        kept = self._digests.get(id(table))
        if kept is None:
            kept = self._digests[id(table)] = table, table.digest()
        return kept[1]


class _TypedSeat(Bot):
    """One bot in one match."""

    needs_table = False

    def __init__(self, made_by: TypedBot) -> None:
        self._made_by = made_by
        self._game: AnyGame
        self._options: Data
        self._table: _Table
        self._bot: protocol.Bot
        #: One for the whole match, as in process.
        self._rng: random.Random

    def offered(self, info: MatchInfo) -> None:
        """Make the bot."""
        self._game, self._options, self._table, self._bot = self._made_by.sit(info)
        self.light = bool(
            getattr(self._bot, "light", False)
        ) and not inspect.iscoroutinefunction(self._bot.decide)

    def start(self, info: MatchInfo) -> Awaitable[None] | None:
        """Let the bot prepare itself."""
        self._rng = random.Random(info.seed)
        return self._bot.start(
            protocol.MatchStart(
                info.match_id,
                self._game,
                self._options,
                info.seat,
                info.seats,
                info.seed,
            )
        )

    def decide(self, ask: Ask) -> Answer | Awaitable[Answer]:
        """Ask the bot."""
        legal = self._legal(ask)
        decided = self._bot.decide(
            protocol.Ask(
                self._game,
                ask.seat,
                lambda: self._observation(ask),
                legal,
                self._rng,
                _clock(ask),
                lambda: [self._event(event) for event in ask.events],
            )
        )
        if inspect.isawaitable(decided):
            return self._wait(ask, legal, decided)
        return self._answer(ask, legal, decided)

    def end(self, outcome: Outcome) -> Awaitable[None] | None:
        """Tell the bot the outcome."""
        if not outcome.counts:
            return self._bot.end(None)
        return self._bot.end(
            GameOutcome(outcome.reason, outcome.scores, outcome.placing)
        )

    async def _wait(
        self, ask: Ask, legal: Sequence[Data], decided: Awaitable[Data]
    ) -> Answer:
        return self._answer(ask, legal, await decided)

    def _observation(self, ask: Ask) -> Data:
        try:
            return self._game.codec.observation_from_data(
                ask.observation, self._options
            )
        except FritillaryError as error:
            raise ProtocolError(error.message, code=error.code) from error

    def _legal(self, ask: Ask) -> tuple[Data, ...]:
        table = self._table
        try:
            if table.listed:
                actions = table.actions
                return tuple(actions[index] for index in ask.legal.indices)
            return tuple(table.structure(each.action) for each in ask.legal)
        except (FritillaryError, IndexError) as error:
            msg = f"the server sent legal actions that are none: {error}"
            raise ProtocolError(msg) from error

    def _event(self, event: Event) -> TypedEvent:
        if event.action is not None:
            try:
                action = self._game.codec.action_from_data(event.action)
            except FritillaryError as error:
                raise ProtocolError(error.message, code=error.code) from error
            if isinstance(self._table, ActionTable) and action in self._table.index:
                action = self._table.actions[self._table.index[action]]
            event = attrs.evolve(event, action=action)
        return TypedEvent(event.number, event.ply, event)

    def _answer(self, ask: Ask, legal: Sequence[Data], decided: Data) -> Answer:
        if isinstance(decided, protocol.Resign):
            return RESIGN
        if not isinstance(decided, protocol.Decision):
            return self._index(ask, legal, decided)
        return Decision(
            self._index(ask, legal, decided.action),
            decided.note,
            decided.probabilities,
        )

    def _index(self, ask: Ask, legal: Sequence[Data], action: Data) -> int:
        if isinstance(self._table, ActionTable):
            try:
                return self._table.index[action]
            except (KeyError, TypeError):
                pass
        elif action in legal:
            return ask.legal.indices[legal.index(action)]
        msg = f"decide() returned {action!r:.80}, which is no action of the game"
        raise BotError(msg, code="bot.answer")


def _clock(ask: Ask) -> protocol.Clock:
    """Return what is left now; a thread may have had to wait for its turn."""
    left, base = ask.clock.left_ms, ask.clock.base_left_ms
    now = ask.time_left_ms()
    if left is None or now is None:
        return protocol.Clock(left, base)
    waited = left - int(now)
    return protocol.Clock(
        max(left - waited, 0), None if base is None else max(base - waited, 0)
    )


def _declined(error: FritillaryError) -> Declined:
    return Declined(error.message, code=error.code)


def _takes_game(factory: Factory) -> bool:
    try:
        parameters = inspect.signature(factory).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(
        parameter.default is parameter.empty
        and parameter.kind
        in {parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD}
        for parameter in parameters
    )


def _supports(
    registry: Registry, only: Sequence[str] | None
) -> tuple[GameSupport, ...]:
    variants = registry.variants()
    return tuple(
        GameSupport(
            name,
            (info.rules_version,),
            tuple(variant for variant, about in variants if info.id in about.games),
        )
        for name, info in registry.games()
        if only is None or name in only
    )


__all__ = ["Factory", "TypedBot", "TypedEvent"]
