"""Verifying a record: everything that the referee did, done again."""

from __future__ import annotations

from typing import Any

from attrs import frozen

from fritillary.core.commitment import commitment
from fritillary.core.dealer import SEALED_ALGORITHM
from fritillary.core.errors import InvalidActionError, RecordError
from fritillary.core.outcome import Outcome
from fritillary.core.points import Act, Over
from fritillary.plugins.discovery import Registry
from fritillary.record.choice import action_of, can_judge
from fritillary.record.events import (
    ActionTaken,
    ChanceDrawn,
    Closed,
    Dealt,
    Ended,
    Paused,
    RecordEvent,
    Resigned,
    Resumed,
    Revealed,
    Ruling,
)
from fritillary.record.reader import Record, bad, read_record
from fritillary.record.replay import Replay, replayed
from fritillary.record.terms import Consequence, EndKind, Fault, Source
from fritillary.referee.clock import SeatClock
from fritillary.referee.outcomes import settled_by_forfeit, with_forfeits

#: Codes with which a match may end from outside, without a ruling.
_FROM_OUTSIDE = (EndKind.ADJUDICATED, EndKind.VOID, EndKind.WITHDRAWN)


@frozen
class Verified:
    """A record that holds.

    Args:
        record: itself.
        game_id: with variants.
        plies: that were replayed.
        ended: how the match ended.
        content_hash: of what happened, hex.
        final_hash: that closes the record, hex.
        key: public key of who signed it, hex.
    """

    record: Record
    game_id: str
    plies: int
    ended: Ended
    content_hash: str
    final_hash: str
    key: str


def verify(raw: bytes, registry: Registry, *, key: str | None = None) -> Verified:
    """Verify a finished record.

    Checks the chain, the form, the signature, the commitment, the deal, every chance
    outcome, the legality of every action, every ruling and substitution, the clocks,
    and the outcome.

    Args:
        raw: the whole file.
        registry: where the game is found.
        key: hex of the public key that must have signed it; ``None`` for any.

    Raises:
        RecordError: naming the first event that does not hold.
    """
    record = read_record(raw)
    closed = record.events[-1]
    ended = record.find(Ended)
    if not isinstance(closed, Closed) or ended is None:  # pragma: no cover
        raise TypeError
    if key is not None and closed.key != key.lower():
        number = len(record.events) - 1
        msg = f"it is signed by the key {closed.key}, not by {key}"
        raise bad(number, msg, "record.other-key")
    replay = replayed(record, registry)
    _check_deal(record)
    checker = _Checker(replay)
    checker.run()
    return Verified(
        record,
        replay.game.id,
        replay.ply,
        ended,
        closed.content_hash,
        record.links[-1].hex(),
        closed.key,
    )


def _check_deal(record: Record) -> None:
    header = record.header
    if header.algorithm != SEALED_ALGORITHM:
        msg = f"the deal's algorithm {header.algorithm!r} is not known"
        raise bad(0, msg, "record.algorithm")
    number = len(record.events) - 2
    revealed = record.events[number]
    if not isinstance(revealed, Revealed):  # pragma: no cover - replayed() needs it
        raise TypeError
    bound = commitment(
        header.match_id,
        bytes.fromhex(header.options),
        bytes.fromhex(revealed.seed),
        bytes.fromhex(revealed.salt),
    )
    if bound.hex() != header.commitment:
        raise bad(number, "seed and salt do not open the commitment", "record.deal")


class _Checker:
    """Follows one replay, keeping the books that the referee kept."""

    def __init__(self, replay: Replay) -> None:
        self.replay = replay
        header = replay.record.header
        self.policy = header.terms.policy
        self.margin_ms = header.terms.margin_ms
        self.clocks = [SeatClock(seat.clock) for seat in header.seats]
        self.forfeited: list[int] = []
        self.turn_of: int | None = None
        #: The ruling, resignation or void that must be followed by the end.
        self.finished: str | None = None
        self.substitute: int | None = None
        self.attempt = 1
        self.paused = False
        self.last: RecordEvent = header

    def run(self) -> None:
        replay = self.replay
        for number, event in enumerate(replay.record.events):
            if self.finished and not isinstance(event, (Ended, Revealed, Closed)):
                # Seats that never got ready are ruled on one after the other.
                if not (isinstance(event, Ruling) and isinstance(self.last, Ruling)):
                    raise bad(number, "the match had ended before")
            if self.substitute is not None and not isinstance(event, ActionTaken):
                raise bad(number, "the substituted action is missing")
            if self.paused and not isinstance(event, (Resumed, Ended)):
                raise bad(number, "something happens during a pause")
            self._event(number, event)
            self.last = event

    def _event(self, number: int, event: RecordEvent) -> None:
        match event:
            case Dealt():
                if len(event.nonces) not in (0, self.replay.seats):
                    raise bad(number, "one nonce per seat, or none")
            case ActionTaken():
                self._action(number, event)
            case ChanceDrawn():
                self._begin(number, None)
                self.replay.apply(self.replay.chance(number, event))
            case Ruling():
                self._ruling(number, event)
            case Resigned():
                self._begin(number, event.seat)
                self._charge(number, event.seat, event.charged_ms)
                self._forfeit(event.seat, "seat.resigned")
            case Paused():
                self.paused = True
                if event.seat is not None:
                    self._begin(number, event.seat)
                    self._charge(number, event.seat, event.charged_ms)
            case Resumed():
                if not self.paused:
                    raise bad(number, "it goes on without a pause")
                self.paused = False
            case Ended():
                self._ended(number, event)
            case _:
                pass

    # -------------------------------------------------------------------- in play

    def _begin(self, number: int, seat: int | None) -> Act | None:
        """Check that it is the seat's turn (``None``: that of chance)."""
        point = self.replay.game.decision_point(self.replay.state)
        if seat is None:
            return None
        if type(point) is not Act or point.seat != seat:
            raise bad(number, f"it is not the turn of seat {seat}")
        if seat != self.turn_of:
            self.turn_of = seat
            self.clocks[seat].new_turn()
        return point

    def _charge(self, number: int, seat: int, charged_ms: int) -> None:
        allowance = self.clocks[seat].allowance_ms()
        if charged_ms < 0 or (allowance is not None and charged_ms > allowance):
            msg = f"seat {seat} is charged {charged_ms} ms of {allowance} ms"
            raise bad(number, msg, "record.clock")
        self.clocks[seat].charge(charged_ms)

    def _check_left(self, number: int, seat: int, left_ms: int | None) -> None:
        expected = self.clocks[seat].allowance_ms()
        if left_ms != expected:
            msg = f"seat {seat} has {expected} ms left, not {left_ms}"
            raise bad(number, msg, "record.clock")

    def _action(self, number: int, event: ActionTaken) -> None:
        replay = self.replay
        seat = event.seat
        action = replay.action(number, event)
        self._begin(number, seat)
        legal = replay.game.legal_actions(replay.state)
        chosen: Any = action
        if event.source is Source.SUBSTITUTE:
            if self.substitute != seat:
                raise bad(number, "nothing was to be substituted")
            chosen = replay.dealer.stream("substitute", replay.ply).choice(legal)
        elif self.substitute is not None:
            raise bad(number, "the substituted action is missing")
        if (event.source is Source.STAND_IN) != (seat in self.forfeited):
            raise bad(number, "only a forfeited seat has a stand-in")
        if event.source is Source.STAND_IN and self.policy.stand_in == "uniform":
            chosen = replay.dealer.stream("stand-in", replay.ply).choice(legal)
        if chosen != action:
            raise bad(number, "the deal gives another action for the seat")
        if event.source is Source.PLAYER:
            self._in_time(number, event)
            self._charge(number, seat, event.charged_ms)
            self.clocks[seat].increment()
        elif event.charged_ms:
            raise bad(number, "nobody was asked, yet time was charged")
        self._check_left(number, seat, event.left_ms)
        self.substitute = None
        self.attempt = 1
        replay.apply(action)

    def _in_time(self, number: int, event: ActionTaken) -> None:
        allowance = self.clocks[event.seat].allowance_ms()
        server_ms = event.server_ms or 0
        if allowance is not None and server_ms > allowance + self.margin_ms:
            msg = f"seat {event.seat} took {server_ms} ms of {allowance} ms"
            raise bad(number, msg, "record.clock")
        expected = server_ms if allowance is None else min(server_ms, allowance)
        if event.server_ms is not None and event.charged_ms != expected:
            msg = f"seat {event.seat} is charged {event.charged_ms} ms, not {expected}"
            raise bad(number, msg, "record.clock")

    # -------------------------------------------------------------------- rulings

    def _ruling(self, number: int, event: Ruling) -> None:
        seat = event.seat
        if event.fault is Fault.REFEREE_ERROR:
            self.finished = event.code
            return
        if seat is None or not 0 <= seat < self.replay.seats:
            raise bad(number, "the ruling names no seat")
        rule = self.policy.rule(event.fault)
        consequence = rule.consequence
        if event.fault is Fault.REFUSED_TO_START:
            if not isinstance(self.last, (Dealt, Ruling)) or self.replay.ply:
                raise bad(number, "a seat refuses to start in the midst of play")
            if self._nobody_ready(number):
                consequence = Consequence.VOID
        else:
            self._begin(number, seat)
            self._judge(number, event)
            if event.attempt != self.attempt:
                raise bad(number, f"this was attempt {self.attempt}")
            if event.attempt <= rule.retries:
                consequence = Consequence.RETRY
        if event.consequence is not consequence:
            msg = (
                f"the policy says {consequence.value} after {event.fault.value}, "
                f"not {event.consequence.value}"
            )
            raise bad(number, msg, "record.ruling")
        self._charge(number, seat, event.charged_ms)
        self._check_left(number, seat, event.left_ms)
        match consequence:
            case Consequence.RETRY:
                self.attempt += 1
            case Consequence.VOID:
                self.finished = f"fault.{event.fault.value}"
            case Consequence.FORFEIT:
                self.attempt = 1
                self._forfeit(seat, f"fault.{event.fault.value}")
            case Consequence.SUBSTITUTE:
                self.substitute = seat

    def _nobody_ready(self, number: int) -> bool:
        """Whether rulings on all seats follow each other from the deal on."""
        events = self.replay.record.events
        first = number
        while first and isinstance(events[first - 1], Ruling):
            first -= 1
        refused = set()
        for event in events[first:]:
            if (
                not isinstance(event, Ruling)
                or event.fault is not Fault.REFUSED_TO_START
            ):
                break
            refused.add(event.seat)
        # A void ruling ends the match at once, before the other seats' are written.
        last = events[number]
        return len(refused) == self.replay.seats or (
            isinstance(last, Ruling)
            and last.consequence is Consequence.VOID
            and self.policy.rule(Fault.REFUSED_TO_START).consequence
            is not Consequence.VOID
        )

    def _judge(self, number: int, event: Ruling) -> None:
        """Judge a refused choice again."""
        if event.fault not in (Fault.ILLEGAL, Fault.MALFORMED):
            allowance = self.clocks[event.seat or 0].allowance_ms()
            if event.fault is Fault.LATE and event.charged_ms != allowance:
                raise bad(number, "the clock had not run out", "record.clock")
            return
        raw = bytes.fromhex(event.offending)
        if not can_judge(raw):
            if event.fault is Fault.ILLEGAL:
                raise bad(number, "the illegal choice is missing", "record.ruling")
            return
        legal = self.replay.game.legal_actions(self.replay.state)
        try:
            action = action_of(raw, self.replay.table, legal)
        except InvalidActionError:
            found = Fault.MALFORMED
        else:
            found = None if action in legal else Fault.ILLEGAL
        if found is not event.fault:
            what = "legal" if found is None else found.value
            raise bad(number, f"the choice was {what}", "record.ruling")

    def _forfeit(self, seat: int, code: str) -> None:
        if seat not in self.forfeited:
            self.forfeited.append(seat)
        if self.replay.seats - len(self.forfeited) <= 1:
            self.finished = code

    # -------------------------------------------------------------------- the end

    def _ended(self, number: int, event: Ended) -> None:
        expected, kind = self._expected(event)
        if event.kind is not kind:
            msg = f"the match was {kind.value}, not {event.kind.value}"
            raise bad(number, msg, "record.outcome")
        found = event.outcome
        stands = (
            None
            if found is None
            else (found.reason, tuple(found.scores), tuple(found.placing))
        )
        if expected is not None:
            wanted = (expected.reason, expected.scores, expected.placing)
            if stands != wanted:
                msg = f"the outcome is {wanted}, not {stands}"
                raise bad(number, msg, "record.outcome")
        elif event.kind is not EndKind.ADJUDICATED and stands is not None:
            raise bad(number, "a match that does not count has no outcome")

    def _expected(self, event: Ended) -> tuple[Outcome | None, EndKind]:
        """Return the outcome and the kind of end that must stand in the record."""
        replay = self.replay
        if self.finished is not None:
            if replay.seats - len(self.forfeited) <= 1 and isinstance(
                self.last, (Ruling, Resigned)
            ):
                if (
                    isinstance(self.last, Ruling)
                    and self.last.consequence is Consequence.VOID
                ):
                    return None, EndKind.VOID
                outcome = settled_by_forfeit(replay.seats, self.forfeited)
                return outcome, EndKind.FORFEITED
            return None, EndKind.VOID
        if event.kind in _FROM_OUTSIDE:
            return None, event.kind
        point = (
            None if replay.state is None else replay.game.decision_point(replay.state)
        )
        if type(point) is not Over:
            raise RecordError(
                "the record says that the match was over, but it was not",
                code="record.outcome",
            )
        if self.forfeited:
            return with_forfeits(point.outcome, self.forfeited), EndKind.FORFEITED
        return point.outcome, EndKind.PLAYED
