"""What changes as a match is played: the truth, its record, and what all are told."""
# ruff: noqa: ANN401 - values of any game pass through

from __future__ import annotations

import functools
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fritillary.bots.protocol import Ask
from fritillary.core.dealer import SealedDealer
from fritillary.core.errors import GameError
from fritillary.core.journal import journal
from fritillary.core.outcome import Outcome
from fritillary.plugins.table import ActionTable, OpenTable
from fritillary.record import events as record
from fritillary.record.choice import MAX_OFFENDING
from fritillary.record.reader import Record
from fritillary.record.terms import (
    MAX_MS,
    Consequence,
    EndKind,
    Fault,
    Source,
)
from fritillary.record.writer import RecordSink, RecordWriter
from fritillary.referee.clock import SeatClock
from fritillary.referee.gate import general
from fritillary.referee.outcomes import settled_by_forfeit, with_forfeits
from fritillary.referee.passing import PASSING
from fritillary.referee.player import Answer, PlayerFault
from fritillary.referee.seen import Finish, Problem
from fritillary.referee.setup import MatchSetup
from fritillary.referee.standin import StandIns
from fritillary.referee.teller import Teller

_log = logging.getLogger(__name__)

#: So much of a bot's remark, or of the sentence of a ruling, is kept, in characters.
MAX_NOTE = 2_000

#: By so much the probabilities of a decision may miss the sum of 1.
_SLACK = 0.001


@functools.lru_cache(32)
def numbers_of(table: ActionTable[Any] | OpenTable[Any]) -> dict[int, int]:
    """Return the index of each table entry by its identity.

    The table is kept by the cache, and so are the identities.
    """
    return {id(action): index for index, action in enumerate(table.actions)}


class Finished(Exception):  # noqa: N818 - control flow, not an error
    """Play is over.

    Attributes:
        finish: how.
    """

    def __init__(self, finish: Finish) -> None:
        super().__init__(finish.code)
        self.finish = finish


class Play:
    """The truth of one match, changed, written down and told in this order.

    Args:
        setup: what is played, by whom, on which terms.
        sink: where the record goes.
        header: of the record.
        choose: answers for forfeited seats instead of the policy's stand-in.
        phase_changed: called with each phase that is new; must not raise.
        after: the unfinished record, in the sink already, that the match goes on from.

    Raises:
        UsageError: if the policy's stand-in cannot serve; nothing was written then.

    Attributes:
        state: the truth; ``None`` before the deal.
        ply: plies so far.
        phase: ``offered``, ``running``, ``paused``, ``closing`` or ``ended``.
        table: the action table.
        writer: writes the record.
        clocks: one for each seat.
        forfeited: seats, in the order in which they were.
        rulings: how many there were, by fault; not those before a restart.
        deal: the dealer of the match.
        nonces: one for each seat, or none.
    """

    def __init__(
        self,
        setup: MatchSetup,
        sink: RecordSink,
        header: record.Header,
        choose: Callable[[Ask], Any] | None,
        phase_changed: Callable[[str], None] = lambda _: None,
        after: Record | None = None,
    ) -> None:
        self._phase_changed = phase_changed
        self._phase = "offered"
        self.setup = setup
        self.game = setup.game
        self.seats = len(setup.players)
        self.table = setup.game.table(setup.options, self.seats)
        self._numbers = numbers_of(self.table)
        self.state: Any = None
        self.ply = 0
        self.teller = Teller(setup.game, setup.players)
        self.clocks = [SeatClock(settings) for settings in setup.clocks]
        self.forfeited: list[int] = []
        self.rulings: Counter[Fault] = Counter()
        self.deal = SealedDealer(setup.seed)
        self.nonces: tuple[bytes, ...] = ()
        self._chances = 0
        self._stand_ins = StandIns(setup, self.teller.gates, choose)
        # Last: whatever failed before has left no record.
        self.writer = RecordWriter(sink, header, after)

    @property
    def phase(self) -> str:
        """Where the match is."""
        return self._phase

    @phase.setter
    def phase(self, phase: str) -> None:
        self._phase = phase
        try:
            self._phase_changed(phase)
        except PASSING:
            raise
        except BaseException:  # noqa: BLE001 - must not raise, and harms nobody
            _log.exception("who is told of phases raised at %s", phase)

    # ------------------------------------------------------------------ the actions

    def mix(self, nonces: tuple[bytes, ...], *, again: bool = False) -> None:
        """Fix the seed of the deal.

        Args:
            nonces: one for each seat, or none.
            again: it stands in the record already.
        """
        self.nonces = nonces
        if not again:
            self.writer.add(record.Dealt(tuple(nonce.hex() for nonce in nonces)))
        seed = self.setup.deal_seed(nonces)
        self.writer.dealt(seed)
        self.deal = SealedDealer(seed)

    def begin(self) -> None:
        """Deal."""
        self.state = self.game.new(
            self.deal.stream("deal"), self.setup.options, self.seats
        )
        self.phase = "running"

    def draw_chance(self, *, again: bool = False) -> None:
        """Let chance have its part.

        Args:
            again: it stands in the record already.
        """
        game = self.game
        action = game.draw_chance(self.state, self.deal.stream("chance", self._chances))
        self._chances += 1
        public = game.observe_action(self.state, action, None) == action
        what = self.teller.before_action(self.state, None, action, Source.PLAYER)
        raw = game.codec.encode_action(action).hex() if public else None
        game.apply(self.state, action)
        self.ply += 1
        if not again:
            self.writer.add(record.ChanceDrawn(raw))
        self.teller.acted(self.ply, what)

    def act(
        self,
        seat: int,
        action: Any,
        source: Source,
        *,
        remarks: Mapping[str, Any] | None = None,
        charged_ms: int = 0,
        server_ms: int | None = None,
        again: bool = False,
    ) -> tuple[Any, ...]:
        """Apply a legal action and write it down.

        Args:
            seat: that acts.
            action: an entry of the table.
            source: whose choice it was.
            remarks: what the player said besides, as fields of the record.
            charged_ms: taken from the seat's clock.
            server_ms: that the player took.
            again: it stands in the record already.

        Returns:
            What all will see of it, for `Teller.acted`.
        """
        table = self.table
        state = self.state
        what = self.teller.before_action(state, seat, action, source)
        index = raw = None
        if isinstance(table, OpenTable):
            raw = self.game.codec.encode_action(action).hex()
        else:
            index = self._numbers.get(id(action))
            if index is None:
                index = table.index[action]
        self.game.apply(state, action)
        self.ply += 1
        clock = self.clocks[seat]
        clock.new_move()
        if again:
            return what
        left_ms = clock.allowance_ms()
        if source is Source.PLAYER and index is not None and not remarks:
            self.writer.add_action(seat, index, charged_ms, server_ms, left_ms)
            return what
        self.writer.add(
            record.ActionTaken(
                seat,
                index,
                raw,
                source,
                charged_ms,
                server_ms,
                left_ms=left_ms,
                **(remarks or {}),
            )
        )
        return what

    def substitute(self, seat: int, legal: Sequence[Any]) -> None:
        """Act for a seat that did not, by a random legal action."""
        action = self.deal.stream("substitute", self.ply).choice(legal)
        what = self.act(seat, action, Source.SUBSTITUTE)
        self.teller.acted(self.ply, what)

    def stand_in(self, seat: int, legal: Sequence[Any]) -> None:
        """Act for a forfeited seat."""
        dealer = self.deal.stream("stand-in", self.ply)
        action = self._stand_ins.action(seat, legal, self.state, dealer)
        what = self.act(seat, action, Source.STAND_IN)
        self.teller.acted(self.ply, what)

    # ------------------------------------------------------------------ the rulings

    def write_ruling(
        self,
        seat: int | None,
        fault: PlayerFault,
        consequence: Consequence,
        *,
        charged_ms: int = 0,
        attempt: int = 1,
    ) -> None:
        """Write a ruling down."""
        self.rulings[fault.fault] += 1
        journal.info(
            "match ruling match=%s seat=%s fault=%s consequence=%s",
            self.setup.match_id,
            "-" if seat is None else seat,
            fault.fault.value,
            consequence.value,
        )
        self.writer.add(
            record.Ruling(
                fault.fault,
                consequence,
                fault.code,
                problem_of(fault).message,
                seat,
                fault.offending[:MAX_OFFENDING].hex(),
                charged_ms,
                attempt,
                None if seat is None else self.clocks[seat].allowance_ms(),
            )
        )

    def tell_ruling(
        self,
        seat: int | None,
        fault: PlayerFault,
        consequence: Consequence,
        retries_left: int = 0,
    ) -> None:
        """Tell of a ruling; only the seat at fault is told the details."""
        self.teller.ruled(
            self.ply, seat, fault.fault, consequence, problem_of(fault), retries_left
        )

    def follow(self, seat: int, fault: PlayerFault, consequence: Consequence) -> None:
        """Do what follows from a ruling, unless something is to be substituted.

        Raises:
            Finished: if the match ends by it.
        """
        code = f"fault.{fault.fault.value}"
        message = f"seat {seat}: {general(fault.fault, fault.code)}"
        if consequence is Consequence.VOID:
            raise Finished(Finish(EndKind.VOID, code, message))
        if consequence is Consequence.FORFEIT:
            self.forfeit(seat, code, message)

    def forfeit(self, seat: int, code: str, message: str) -> None:
        """Take a seat out.

        Raises:
            Finished: if at most one is left.
        """
        self.forfeited.append(seat)
        if self.seats - len(self.forfeited) <= 1:
            outcome = settled_by_forfeit(self.seats, self.forfeited)
            raise Finished(Finish(EndKind.FORFEITED, code, message, outcome))

    def played(self, outcome: Outcome) -> Finish:
        """Return how a match ends that the rules have brought to its end.

        Raises:
            GameError: if the outcome is not for as many seats.
        """
        if len(outcome.scores) != self.seats:
            msg = f"an outcome of {len(outcome.scores)} scores for {self.seats} seats"
            raise GameError(msg)
        if not self.forfeited:
            return Finish(EndKind.PLAYED, outcome=outcome)
        return Finish(
            EndKind.FORFEITED,
            "match.forfeited",
            f"seats forfeited: {', '.join(map(str, self.forfeited))}",
            with_forfeits(outcome, self.forfeited),
        )


def ended_event(finish: Finish) -> record.Ended:
    """Return how a match ended as an event of its record."""
    outcome = finish.outcome
    data = None
    if outcome is not None:
        data = record.OutcomeData(outcome.reason, outcome.scores, outcome.placing)
    return record.Ended(finish.kind, finish.code, finish.message, data)


def problem_of(fault: PlayerFault) -> Problem:
    """Return what the seat at fault is told."""
    return Problem(fault.code, kept_text(fault.message))


def kept_text(text: Any) -> str:
    """Return as much of a text as is kept, without what UTF-8 has no bytes for."""
    return str(text)[:MAX_NOTE].encode("utf-8", "replace").decode()


def remarks_of(answer: Answer, legal: int) -> dict[str, Any]:
    """Return what a player said besides its choice, as fields of the record.

    It must not harm a match: what is too long is cut, what does not fit left out.

    Args:
        answer: of the player.
        legal: the number of legal actions.
    """
    remarks: dict[str, Any] = {}
    if (
        not answer.note
        and not len(answer.probabilities)
        and answer.think_ms is None
        and answer.round_trip_ms is None
    ):
        return remarks
    if answer.note and isinstance(answer.note, str):
        remarks["note"] = kept_text(answer.note)
    if len(answer.probabilities) == legal:
        millionths = _millionths(answer.probabilities)
        if millionths is not None:
            remarks["probabilities"] = millionths
    for name in ("think_ms", "round_trip_ms"):
        value = getattr(answer, name)
        if value is not None:
            remarks[name] = min(max(0, int(value)), MAX_MS)
    return remarks


def _millionths(probabilities: Sequence[float]) -> tuple[int, ...] | None:
    """Return probabilities in millionths; ``None`` if they are none."""
    try:
        numbers = [float(one) for one in probabilities]
    except (TypeError, ValueError):
        return None
    # Written so that what is not a number fails as well.
    if not all(0 <= one <= 1 for one in numbers):
        return None
    if abs(sum(numbers) - 1) > _SLACK:
        return None
    return tuple(round(one * 1_000_000) for one in numbers)
