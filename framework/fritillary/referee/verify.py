"""Verifying a record: everything that the referee did, done again."""

from __future__ import annotations

import contextlib

from attrs import frozen

from fritillary.core.commitment import commitment
from fritillary.core.errors import InvalidActionError
from fritillary.core.points import Act, Over
from fritillary.core.text import line
from fritillary.plugins.discovery import Registry
from fritillary.record.choice import action_of, can_judge, was_cut
from fritillary.record.events import (
    ActionTaken,
    ChanceDrawn,
    Closed,
    Dealt,
    Ended,
    Paused,
    RecordEvent,
    Resigned,
    Restarted,
    Resumed,
    Revealed,
    Ruling,
)
from fritillary.record.reader import Record, bad, read_record
from fritillary.record.replay import Replay, failed, replayed
from fritillary.record.terms import (
    RETRYABLE,
    Consequence,
    EndKind,
    Fault,
    Source,
)
from fritillary.referee.clock import SeatClock
from fritillary.referee.ending import (
    REFEREE_FAILED,
    MustEnd,
    by_the_rules,
    check_end,
    check_from_outside,
)
from fritillary.referee.examine import examine
from fritillary.referee.outcomes import settled_by_forfeit
from fritillary.referee.standin import UNIFORM


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
    and the outcome. What cannot be checked is listed in ``docs/record.md``.

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
    if key is not None and closed.key != key.strip().lower():
        number = len(record.events) - 1
        msg = f"it is signed by the key {closed.key}, not by {line(key.strip(), 64)}"
        raise bad(number, msg, "record.other-key")
    replay = replayed(record, registry)
    _check_commitment(record)
    _Checker(replay).run()
    return Verified(
        record,
        replay.game.id,
        replay.ply,
        ended,
        closed.content_hash,
        record.links[-1].hex(),
        closed.key,
    )


def _check_commitment(record: Record) -> None:
    header = record.header
    number = len(record.events) - 2
    revealed = record.events[number]
    if not isinstance(revealed, Revealed):  # pragma: no cover - a replay needs it
        raise TypeError
    bound = commitment(
        header.match_id,
        bytes.fromhex(header.options),
        bytes.fromhex(revealed.seed),
        bytes.fromhex(revealed.salt),
    )
    if bound.hex() != header.commitment:
        msg = (
            "seed and salt do not open the commitment of the header to its match id "
            "and options"
        )
        raise bad(number, msg, "record.deal")


class _Checker:
    """Follows one replay, keeping the books that the referee kept."""

    def __init__(self, replay: Replay) -> None:
        self.replay = replay
        self.game = replay.game
        header = replay.record.header
        self.policy = header.terms.policy
        self.margin_ms = header.terms.margin_ms
        self.clocks = [SeatClock(seat.clock) for seat in header.seats]
        self.forfeited: list[int] = []
        #: Seats that did not get ready; ``None`` once play has begun.
        self.refused: list[int] | None = []
        self.nobody_ready = _nobody_ready(replay.record)
        self.turn_of: int | None = None
        #: How the match must end, from the event on that ended it.
        self.finish: MustEnd | None = None
        #: The seat whose action is substituted next.
        self.substitute: int | None = None
        self.attempt = 1
        self.paused = False

    def run(self) -> None:
        """Check every event.

        Raises:
            RecordError: naming the first that does not hold.
        """
        for number, event in enumerate(self.replay.record.events):
            try:
                self._event(number, event)
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                raise failed(number, error) from error

    def _event(self, number: int, event: RecordEvent) -> None:
        match event:
            case Dealt():
                if len(event.nonces) not in {0, self.replay.seats}:
                    raise bad(number, "one nonce per seat, or none")
            case Ended():
                self._ended(number, event)
            case Ruling(fault=Fault.REFEREE_ERROR):
                self._referee_error(number, event)
            case Ruling(fault=Fault.REFUSED_TO_START):
                self._refused_to_start(number, event)
            case ActionTaken() | ChanceDrawn() | Ruling() | Resigned():
                self._check_going_on(number)
                self._in_play(number, event)
            case Paused() | Resumed():
                self._check_going_on(number, paused=isinstance(event, Resumed))
                self._pause(number, event)
            case Restarted():
                self._restarted(number, event)
            case _:
                pass  # was checked when the record was read

    def _check_going_on(self, number: int, *, paused: bool = False) -> None:
        if self.finish is not None:
            raise bad(number, "the match had ended before")
        if paused and not self.paused:
            raise bad(number, "it goes on without a pause")
        if self.paused and not paused:
            raise bad(number, "something happens during a pause")
        self.refused = None

    # -------------------------------------------------------------------- in play

    def _in_play(
        self, number: int, event: ActionTaken | ChanceDrawn | Ruling | Resigned
    ) -> None:
        if self.substitute is not None and not isinstance(event, ActionTaken):
            raise bad(number, "the substituted action is missing")
        max_plies = self.game.info.max_plies
        match event:
            case ActionTaken() | ChanceDrawn() if self.replay.ply >= max_plies:
                raise bad(number, f"a match has at most {max_plies} plies")
            case ActionTaken():
                self._action(number, event)
            case ChanceDrawn():
                self.replay.apply(self.replay.chance(number, event))
            case Ruling():
                self._ruling(number, event)
            case Resigned():  # pragma: no branch - nothing else is left
                self._begin(number, event.seat)
                self._charge(number, event.seat, event.charged_ms)
                self._forfeit(event.seat, "seat.resigned")

    def _pause(self, number: int, event: Paused | Resumed) -> None:
        if self.substitute is not None:
            raise bad(number, "the substituted action is missing")
        self.paused = isinstance(event, Paused)
        if not isinstance(event, Paused):
            return
        if event.seat is not None:
            self._begin(number, event.seat)
            self._charge(number, event.seat, event.charged_ms)
        elif event.charged_ms:
            raise bad(number, "nobody was asked, yet time was charged", "record.clock")
        elif type(self.replay.point()) is Over:
            raise bad(number, "the match was over before")

    def _restarted(self, number: int, event: Restarted) -> None:
        if self.finish is not None:
            raise bad(number, "the match had ended before")
        if self.substitute is not None:
            raise bad(number, "the substituted action is missing")
        self.refused = None
        if event.seat is not None and not self.paused:
            self._begin(number, event.seat)
            self._charge(number, event.seat, event.charged_ms)
        elif event.seat is not None or event.charged_ms:
            raise bad(number, "nobody was asked, yet time was charged", "record.clock")
        elif not self.paused and type(self.replay.point()) is Over:
            raise bad(number, "the match was over before")

    def _begin(self, number: int, seat: int | None, *, stand_in: bool = False) -> None:
        """Check that the seat is to decide, by itself or through its stand-in."""
        point = self.replay.point()
        if type(point) is not Act or point.seat != seat:
            raise bad(number, f"it is not the turn of seat {seat}")
        if (seat in self.forfeited) is not stand_in:
            why = "only a forfeited seat has a stand-in"
            raise bad(number, why if stand_in else f"seat {seat} was forfeited before")
        if seat != self.turn_of:
            self.turn_of = seat
            self.clocks[point.seat].new_turn()

    def _charge(self, number: int, seat: int, charged_ms: int) -> None:
        allowance = self.clocks[seat].allowance_ms()
        if charged_ms < 0 or (allowance is not None and charged_ms > allowance):
            limit = "" if allowance is None else f" of {allowance} ms"
            msg = f"seat {seat} is charged {charged_ms} ms{limit}"
            raise bad(number, msg, "record.clock")
        self.clocks[seat].charge(charged_ms)

    def _check_left(self, number: int, seat: int, left_ms: int | None) -> None:
        expected = self.clocks[seat].allowance_ms()
        if left_ms != expected:
            msg = f"seat {seat} has {_ms(expected)} left, not {_ms(left_ms)}"
            raise bad(number, msg, "record.clock")

    def _action(self, number: int, event: ActionTaken) -> None:
        replay = self.replay
        seat = event.seat
        action = replay.action(number, event)
        source = event.source
        if source is not Source.SUBSTITUTE and self.substitute is not None:
            raise bad(number, "the substituted action is missing")
        self._begin(number, seat, stand_in=source is Source.STAND_IN)
        clock = self.clocks[seat]
        if source is Source.PLAYER:
            self._check_time(number, event)
            clock.charge(event.charged_ms)
            clock.increment()
        else:
            self._check_chosen(number, event, action)
            clock.new_move()
        self._check_left(number, seat, event.left_ms)
        self.substitute = None
        self.attempt = 1
        replay.apply(action)

    def _check_time(self, number: int, event: ActionTaken) -> None:
        allowance = self.clocks[event.seat].allowance_ms()
        server_ms = event.server_ms
        if server_ms is None or server_ms < 0:
            msg = "the time that the decision took is missing"
            raise bad(number, msg, "record.clock")
        if allowance is not None and server_ms > allowance + self.margin_ms:
            msg = f"seat {event.seat} took {server_ms} ms of {allowance} ms"
            raise bad(number, msg, "record.clock")
        expected = server_ms if allowance is None else min(server_ms, allowance)
        if event.charged_ms != expected:
            msg = f"seat {event.seat} is charged {event.charged_ms} ms, not {expected}"
            raise bad(number, msg, "record.clock")

    def _check_chosen(self, number: int, event: ActionTaken, action: object) -> None:
        """Check an action that was chosen for the seat."""
        replay = self.replay
        if event.source is Source.SUBSTITUTE and self.substitute != event.seat:
            raise bad(number, "nothing was to be substituted")
        told = (event.server_ms, event.think_ms, event.round_trip_ms)
        if told != (None, None, None) or event.charged_ms:
            raise bad(number, "nobody was asked, yet time was taken", "record.clock")
        if event.note or event.probabilities:
            raise bad(number, "nobody was asked, yet there are remarks")
        stand_in = event.source is Source.STAND_IN
        if stand_in and self.policy.stand_in != UNIFORM:
            return  # another bot's choice, which the deal does not give
        legal = self.game.legal(replay.state)
        dealer = replay.dealer.stream(event.source.value, replay.ply)
        if dealer.choice(legal) != action:
            raise bad(number, "the deal gives another action for the seat")

    # -------------------------------------------------------------------- rulings

    def _referee_error(self, number: int, event: Ruling) -> None:
        """Check a failure of the referee, which may come at any time."""
        if self.finish is not None and self.finish.code == REFEREE_FAILED:
            raise bad(number, "the match had ended before")
        if event.code != REFEREE_FAILED:
            msg = f"a failure of the referee has the code {REFEREE_FAILED!r}"
            raise bad(number, msg, "record.ruling")
        blames = event.seat is not None or event.charged_ms or event.offending
        if blames or event.left_ms is not None or event.attempt != 1:
            raise bad(number, "no seat is to blame for a failure of the referee")
        self._check_consequence(number, event, Consequence.VOID)
        self.finish = MustEnd(EndKind.VOID, REFEREE_FAILED)
        self.refused = self.substitute = None

    def _refused_to_start(self, number: int, event: Ruling) -> None:
        seat = event.seat
        if seat is None or not 0 <= seat < self.replay.seats:
            raise bad(number, "the ruling names no seat of the match")
        if self.refused is None or number < 2:
            raise bad(number, "a seat refuses to start, but not before play")
        if self.finish is not None and not self.nobody_ready:
            raise bad(number, "the match had ended before")
        if self.refused and seat <= self.refused[-1]:
            raise bad(number, "seats are ruled on once each, in their order")
        if event.charged_ms or event.attempt != 1:
            raise bad(number, "no clock runs before play", "record.clock")
        consequence = self.policy.rule(event.fault).consequence
        if self.nobody_ready:
            consequence = Consequence.VOID
        self._check_consequence(number, event, consequence)
        self._check_left(number, seat, event.left_ms)
        self.refused.append(seat)
        self._follow(seat, event.fault, consequence)

    def _ruling(self, number: int, event: Ruling) -> None:
        seat = event.seat
        if seat is None:
            raise bad(number, "the ruling names no seat of the match")
        self._begin(number, seat)
        if event.attempt != self.attempt:
            msg = f"this was attempt {self.attempt}, not {event.attempt}"
            raise bad(number, msg, "record.ruling")
        self._judge(number, seat, event)
        rule = self.policy.rule(event.fault)
        again = event.attempt <= rule.retries
        consequence = Consequence.RETRY if again else rule.consequence
        self._check_consequence(number, event, consequence)
        self._charge(number, seat, event.charged_ms)
        self._check_left(number, seat, event.left_ms)
        self._follow(seat, event.fault, consequence)

    @staticmethod
    def _check_consequence(number: int, event: Ruling, expected: Consequence) -> None:
        if event.consequence is not expected:
            msg = (
                f"the policy says {expected.value} after {event.fault.value}, "
                f"not {event.consequence.value}"
            )
            raise bad(number, msg, "record.ruling")

    def _judge(self, number: int, seat: int, event: Ruling) -> None:
        """Judge a fault again, as far as the record tells."""
        legal = self.game.legal(self.replay.state)
        examine(self.game, self.replay.table, self.replay.state, seat, legal)
        if event.fault is Fault.LATE:
            if event.charged_ms != self.clocks[seat].allowance_ms():
                raise bad(number, "the clock had not run out", "record.clock")
            return
        if event.fault not in RETRYABLE:
            return
        raw = bytes.fromhex(event.offending)
        if not can_judge(raw):
            # Actions of a table are short; only others can have been cut.
            cut = was_cut(raw) and not self.replay.table.listed
            if event.fault is Fault.ILLEGAL and not cut:
                raise bad(number, "the illegal choice is missing", "record.ruling")
            return
        found: Fault | None = Fault.MALFORMED
        with contextlib.suppress(InvalidActionError):
            action = action_of(raw, self.replay.table, legal)
            found = None if action in legal else Fault.ILLEGAL
        if found is not event.fault:
            what = "legal" if found is None else found.value
            msg = f"the choice was {what}, not {event.fault.value}"
            raise bad(number, msg, "record.ruling")

    def _follow(self, seat: int, fault: Fault, consequence: Consequence) -> None:
        code = f"fault.{fault.value}"
        match consequence:
            case Consequence.RETRY:
                self.attempt += 1
            case Consequence.VOID:
                self.finish = MustEnd(EndKind.VOID, code)
            case Consequence.FORFEIT:
                self._forfeit(seat, code)
            case Consequence.SUBSTITUTE:  # pragma: no branch - nothing else is left
                self.substitute = seat

    def _forfeit(self, seat: int, code: str) -> None:
        self.attempt = 1
        self.forfeited.append(seat)
        if self.replay.seats - len(self.forfeited) <= 1:
            outcome = settled_by_forfeit(self.replay.seats, self.forfeited)
            self.finish = MustEnd(EndKind.FORFEITED, code, outcome)

    # -------------------------------------------------------------------- the end

    def _ended(self, number: int, event: Ended) -> None:
        if self.substitute is not None:
            raise bad(number, "the substituted action is missing")
        wanted = self.finish or by_the_rules(self.replay, self.forfeited)
        if wanted is None:
            check_from_outside(number, event, self.replay)
        else:
            check_end(number, event, wanted)


def _nobody_ready(record: Record) -> bool:
    """Whether all seats refused to start, by the rulings after the deal."""
    seats = set()
    for event in record.events[2:]:  # pragma: no branch - the last is no ruling
        if not isinstance(event, Ruling) or event.fault is not Fault.REFUSED_TO_START:
            break
        seats.add(event.seat)
    return seats == set(range(len(record.header.seats)))


def _ms(value: int | None) -> str:
    return "no limit" if value is None else f"{value} ms"
