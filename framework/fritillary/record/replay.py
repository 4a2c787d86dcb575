"""Replaying a record through the rules, event by event."""
# ruff: noqa: ANN401 - values of any game

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attrs import frozen

from fritillary.codec.packing import unpack
from fritillary.core.dealer import SEALED_ALGORITHM, SealedDealer
from fritillary.core.errors import (
    AmbiguousGameError,
    FritillaryError,
    PluginError,
    RecordError,
)
from fritillary.core.memory import lacks_memory
from fritillary.core.points import Act, Chance, DecisionPoint
from fritillary.core.text import line, sentence, show
from fritillary.plugins.discovery import Registry
from fritillary.plugins.game import Game
from fritillary.record.events import (
    ActionTaken,
    ChanceDrawn,
    Dealt,
    GameRef,
    RecordEvent,
)
from fritillary.record.reader import Record, bad, deal_seed


def game_of(record: Record, registry: Registry) -> Game[Any, Any, Any]:
    """Return the installed game that a record was played with.

    Raises:
        RecordError: if it is not installed, or in another version.
    """
    ref = record.header.game
    try:
        game = _installed(ref, registry)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        msg = f"{sentence(error)}; it was played with {_described(ref)}"
        raise bad(0, msg, "record.game") from error
    if game.info.rules_version != ref.rules_version:
        msg = (
            f"it was played under rules {ref.rules_version} of {game.info.id}; "
            f"installed are rules {game.info.rules_version}"
        )
        raise bad(0, msg, "record.rules-version")
    names = [variant.id for variant in ref.variants]
    if (game.info.id, [info.id for info in game.variants]) != (ref.id, names):
        msg = f"the game is {game.id}, not {ref.full_id[:60]!r}"
        raise bad(0, msg, "record.game")
    for info, variant in zip(game.variants, ref.variants, strict=True):
        if info.version != variant.version:
            msg = (
                f"it was played with variant {variant.id} {variant.version}; "
                f"installed is {info.id} {info.version}"
            )
            raise bad(0, msg, "record.rules-version")
    return game


def _installed(ref: GameRef, registry: Registry) -> Game[Any, Any, Any]:
    try:
        return registry.game(ref.full_id)
    except AmbiguousGameError:
        if not ref.distribution:
            raise
        return registry.game(f"{ref.distribution}:{ref.full_id}")


def _described(ref: GameRef) -> str:
    """Return which game that was, for whoever has to install it."""
    parts = [f"{ref.id} rules {ref.rules_version}"]
    parts += (f"variant {one.id} {one.version}" for one in ref.variants)
    if ref.distribution:
        parts.append(f"of the distribution {ref.distribution}")
    return line(", ".join(parts), 160)


@frozen
class Step:
    """One event of a replay.

    Args:
        number: of the event in the record.
        event: itself.
        ply: plies up to and including it.
        action: that was applied by it, if any.
    """

    number: int
    event: RecordEvent
    ply: int
    action: Any = None


class Replay:
    """Plays a record again.

    Rules are a plugin's, and a record may lead them where they never were: use
    :meth:`steps`, or `failed` around the other methods, to get every error as a
    `RecordError`.

    Args:
        record: with its deal revealed.
        game: the rules that it was played with.

    Raises:
        RecordError: if the deal is sealed or of an unknown algorithm, or the options
            are not of the game.

    Attributes:
        state: the truth after the last step; ``None`` if nothing was dealt.
        options: of the match.
        dealer: of the match, whose named streams everything random comes from.
        ply: so far.
    """

    def __init__(self, record: Record, game: Game[Any, Any, Any]) -> None:
        self.record = record
        self.game = game
        header = record.header
        if header.algorithm != SEALED_ALGORITHM:
            msg = f"the deal's algorithm {header.algorithm[:60]!r} is not known"
            raise bad(0, msg, "record.algorithm")
        self.dealer = SealedDealer(deal_seed(record))
        self.seats = len(header.seats)
        self.ply = 0
        self._chances = 0
        try:
            raw = bytes.fromhex(header.options)
            self.options = game.codec.decode_options(raw)
            game.check_seats(self.seats)
            self.table = game.table(self.options, self.seats)
            canonical = game.codec.encode_options(self.options) == raw
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise failed(0, error) from error
        if not canonical:
            raise bad(0, "the bytes of the options are not canonical")
        self.state: Any = None
        self._undealt = bad(1, "nothing was dealt")
        if record.find(Dealt) is not None:
            try:
                self.state = game.new(
                    self.dealer.stream("deal"), self.options, self.seats
                )
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                # No lie as long as nothing is played: the referee failed here too.
                self._undealt = failed(1, error)
                if self._undealt.code == "record.limit":
                    raise self._undealt from error

    def steps(self) -> Iterator[Step]:
        """Apply event after event; yield each after it was applied.

        Raises:
            RecordError: naming the first event that the rules do not allow.
        """
        for number, event in enumerate(self.record.events):
            try:
                action = self._step(number, event)
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                raise failed(number, error) from error
            yield Step(number, event, self.ply, action)

    def _step(self, number: int, event: RecordEvent) -> Any:
        if isinstance(event, ActionTaken):
            action = self.action(number, event)
        elif isinstance(event, ChanceDrawn):
            action = self.chance(number, event)
        else:
            return None
        self.apply(action)
        return action

    def point(self) -> DecisionPoint:
        """Return who is to act.

        Raises:
            RecordError: if nothing was dealt.
        """
        if self.state is None:
            raise self._undealt
        return self.game.decision_point(self.state)

    def action(self, number: int, event: ActionTaken) -> Any:
        """Return the legal action of an event.

        Raises:
            RecordError: if the seat is not to act, or the action is not legal.
        """
        game = self.game
        point = self.point()
        if type(point) is not Act:
            raise bad(number, "a seat acts where no seat is to act")
        if point.seat != event.seat:
            raise bad(number, f"seat {event.seat} acts; it is seat {point.seat}'s turn")
        legal = game.legal(self.state)
        listed = self.table.listed
        if (event.index is None) is listed or (event.action is None) is not listed:
            raise bad(number, "the action stands in the wrong form")
        try:
            if event.index is not None:
                action = self.table.at(event.index, legal)
            else:
                raw = bytes.fromhex(event.action or "")
                action = self.table.structure(unpack(raw))
                if game.codec.encode_action(action) != raw:
                    raise bad(number, "the bytes of the action are not canonical")
        except FritillaryError as error:
            raise failed(number, error) from error
        if action not in legal:
            text = game.notation(action)
            raise bad(number, f"{show(text)} is not legal for seat {event.seat}")
        return action

    def chance(self, number: int, event: ChanceDrawn) -> Any:
        """Return the chance action of an event, drawn again from the deal.

        Raises:
            RecordError: if chance is not to act, or the deal gives another outcome.
        """
        game = self.game
        if type(self.point()) is not Chance:
            raise bad(number, "chance acts where it has no part")
        action = game.draw_chance(
            self.state, self.dealer.stream("chance", self._chances)
        )
        self._chances += 1
        public = game.observe_action(self.state, action, None) == action
        if public is (event.action is None):
            seen = "everyone may see it" if public else "it is hidden"
            raise bad(number, f"the chance outcome stands in the wrong form: {seen}")
        if public and event.action != game.codec.encode_action(action).hex():
            raise bad(number, "the deal gives another chance outcome")
        return action

    def apply(self, action: Any) -> None:
        """Apply an action."""
        self.game.apply(self.state, action)
        self.ply += 1


def failed(number: int, error: BaseException) -> RecordError:
    """Return the error of an event that the rules did not take."""
    if isinstance(error, RecordError):
        return error
    if lacks_memory(error):
        msg = "the rules take more memory than they may have"
        return bad(number, msg, "record.limit")
    if isinstance(error, PluginError):
        return bad(number, f"the rules fail: {error.message}", "record.rules")
    if isinstance(error, FritillaryError):
        return bad(number, error.message)
    msg = f"the rules fail with {type(error).__name__}: {sentence(error)}"
    return bad(number, msg, "record.rules")


def replayed(record: Record, registry: Registry) -> Replay:
    """Return the replay of a record, at its start.

    Raises:
        RecordError: if it cannot be replayed here.
    """
    return Replay(record, game_of(record, registry))
