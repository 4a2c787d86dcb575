"""Replaying a record through the rules, event by event."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attrs import frozen

from fritillary.codec.packing import unpack
from fritillary.core.dealer import SealedDealer
from fritillary.core.errors import FritillaryError
from fritillary.core.points import Act, Chance
from fritillary.plugins.discovery import Registry
from fritillary.plugins.game import Game
from fritillary.record.events import ActionTaken, ChanceDrawn, Dealt, RecordEvent
from fritillary.record.reader import Record, bad, deal_seed


def game_of(record: Record, registry: Registry) -> Game[Any, Any, Any]:
    """Return the installed game that a record was played with.

    Raises:
        RecordError: if it is not installed, or in another version.
    """
    ref = record.header.game
    try:
        game = registry.game(ref.full_id)
    except FritillaryError as error:
        raise bad(0, str(error), "record.game") from error
    if game.info.rules_version != ref.rules_version:
        msg = (
            f"it was played under rules {ref.rules_version} of {ref.id}; installed "
            f"are rules {game.info.rules_version}"
        )
        raise bad(0, msg, "record.rules-version")
    for info, variant in zip(game.variants, ref.variants, strict=True):
        if (info.id, info.version) != (variant.id, variant.version):
            msg = (
                f"it was played with variant {variant.id} {variant.version}; "
                f"installed is {info.id} {info.version}"
            )
            raise bad(0, msg, "record.rules-version")
    return game


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

    Args:
        record: with its deal revealed.
        game: the rules that it was played with.

    Raises:
        RecordError: if the deal is sealed, or the options are not of the game.

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
        self.seats = len(header.seats)
        try:
            self.options = game.codec.decode_options(bytes.fromhex(header.options))
            game.check_seats(self.seats)
        except FritillaryError as error:
            raise bad(0, str(error)) from error
        self.table = game.table(self.options, self.seats)
        self.dealer = SealedDealer(deal_seed(record))
        self.ply = 0
        self._chances = 0
        self.state: Any = None
        dealt = record.find(Dealt)
        if dealt is not None:
            try:
                self.state = game.new(
                    self.dealer.stream("deal"), self.options, self.seats
                )
            except FritillaryError as error:
                raise bad(1, str(error)) from error

    def steps(self) -> Iterator[Step]:
        """Apply event after event; yield each after it was applied.

        Raises:
            RecordError: naming the first event that the rules do not allow.
        """
        for number, event in enumerate(self.record.events):
            action = None
            if isinstance(event, ActionTaken):
                action = self.action(number, event)
                self.apply(action)
            elif isinstance(event, ChanceDrawn):
                action = self.chance(number, event)
                self.apply(action)
            yield Step(number, event, self.ply, action)

    def action(self, number: int, event: ActionTaken) -> Any:
        """Return the legal action of an event.

        Raises:
            RecordError: if the seat is not to act, or the action is not legal.
        """
        game = self.game
        point = game.decision_point(self.state)
        if type(point) is not Act:
            raise bad(number, "a seat acts where no seat is to act")
        if point.seat != event.seat:
            raise bad(number, f"seat {event.seat} acts; it is seat {point.seat}'s turn")
        legal = game.legal_actions(self.state)
        try:
            if event.index is not None:
                action = self.table.at(event.index, legal)
            else:
                action = self.table.structure(unpack(bytes.fromhex(event.action or "")))
        except FritillaryError as error:
            raise bad(number, str(error)) from error
        if (event.index is not None) != self.table.listed:
            raise bad(number, "the action stands in the wrong form")
        if action not in legal:
            text = game.format_action(action)
            raise bad(number, f"{text!r} is not legal for seat {event.seat}")
        return action

    def chance(self, number: int, event: ChanceDrawn) -> Any:
        """Return the chance action of an event, drawn again from the deal.

        Raises:
            RecordError: if chance is not to act, or the deal gives another outcome.
        """
        game = self.game
        if type(game.decision_point(self.state)) is not Chance:
            raise bad(number, "chance acts where it has no part")
        action = game.draw_chance(
            self.state, self.dealer.stream("chance", self._chances)
        )
        self._chances += 1
        public = game.observe_action(self.state, action, None) == action
        expected = game.codec.encode_action(action).hex() if public else None
        if event.action != expected:
            raise bad(number, "the deal gives another chance outcome")
        return action

    def apply(self, action: Any) -> None:
        """Apply an action."""
        self.game.apply(self.state, action)
        self.ply += 1


def replayed(record: Record, registry: Registry) -> Replay:
    """Return the replay of a record, at its start.

    Raises:
        RecordError: if it cannot be replayed here.
    """
    return Replay(record, game_of(record, registry))
