"""One match, from the offers to the closed record."""
# ruff: noqa: TID251 - seeds generators from the sealed dealer

from __future__ import annotations

import asyncio
import functools
import logging
import math
import random
import time
from collections.abc import Callable, Sequence
from typing import Any

from attrs import define

from fritillary.bots.protocol import Ask
from fritillary.core.dealer import SealedDealer
from fritillary.core.outcome import Outcome
from fritillary.core.points import Over
from fritillary.record import events as record
from fritillary.record.signing import Signer
from fritillary.record.terms import Consequence, EndKind, Fault, Source
from fritillary.record.writer import RecordSink, RecordWriter
from fritillary.referee.clock import UNTIMED, SeatClock
from fritillary.referee.control import Control, InterruptedWait
from fritillary.referee.gate import GENERAL
from fritillary.referee.outcomes import settled_by_forfeit, with_forfeits
from fritillary.referee.player import Answer, PlayerFault, answer_of, crashed
from fritillary.referee.prepare import prepare
from fritillary.referee.resolve import resolve
from fritillary.referee.seen import (
    Closure,
    Finish,
    GaveUp,
    Halted,
    MatchResult,
    Problem,
    Request,
    Reveal,
    WentOn,
)
from fritillary.referee.setup import MatchSetup
from fritillary.referee.teller import Teller

_log = logging.getLogger(__name__)

#: Inline players let others have a go after so many plies.
_PLIES_IN_A_ROW = 64

#: So much of a bot's remark is kept in the record, in characters.
MAX_NOTE = 2_000


class _Finished(Exception):  # noqa: N818 - control flow, not an error
    """Play is over."""

    def __init__(self, finish: Finish) -> None:
        super().__init__(finish.code)
        self.finish = finish


@define
class _Decision:
    """One decision of a seat, through all its attempts.

    Args:
        seat: that decides.
        legal: the legal actions.
        started: when the time began to run, by the referee's clock.
        attempt: which time of asking it is, from 1.
        problem: what was wrong with the attempt before.
    """

    seat: int
    legal: Sequence[Any]
    started: float
    attempt: int = 1
    problem: Problem | None = None


class Match:
    """Runs one match among players.

    Args:
        setup: what is played, by whom, on which terms.
        sink: where the record goes.
        signer: closes the record.
        framework: version of the software, for the record.
        now: a monotonic clock in seconds.
        created_at_ms: wall clock, for the record.
        reveal: whether the deal may be known at the end.
        stand_in: chooses for forfeited seats where play goes on; ``None`` for a
            uniformly random choice from the sealed dealer.

    Attributes:
        state: the truth; ``None`` before the deal.
        ply: plies so far.
        phase: ``offered``, ``running``, ``paused``, ``closing`` or ``ended``.
        control: what was asked of the match from outside.
        teller: tells watchers what happened.
        result: once it has ended.
    """

    def __init__(
        self,
        setup: MatchSetup,
        sink: RecordSink,
        signer: Signer,
        *,
        framework: str = "",
        now: Callable[[], float] = time.monotonic,
        created_at_ms: int = 0,
        reveal: bool = True,
        stand_in: Callable[[Ask], Any] | None = None,
    ) -> None:
        self.setup = setup
        self.game = setup.game
        self.state: Any = None
        self.ply = 0
        self.phase = "offered"
        self.control = Control()
        self.teller = Teller(setup.game, setup.players)
        self.clocks = [SeatClock(settings) for settings in setup.clocks]
        self.result: MatchResult | None = None
        self._signer = signer
        self._now = now
        self._reveal = reveal
        self._stand_in = stand_in
        self._seats = len(setup.players)
        self._table = setup.game.table(setup.options, self._seats)
        self._nonces: tuple[bytes, ...] = ()
        self._deal: SealedDealer = SealedDealer(setup.seed)
        self._chances = 0
        self._forfeited: list[int] = []
        self._decision_ids = [0] * self._seats
        self._deadline = math.inf
        self._writer = RecordWriter(
            sink, setup.header(framework=framework, created_at_ms=created_at_ms)
        )

    async def run(self) -> MatchResult:
        """Play the match to its end; return the result.

        Whatever goes wrong in the game or in the referee makes the match void; only
        cancellation and what the sink raises come out of here.
        """
        try:
            try:
                await self._prepare()
                await self._play()
            except InterruptedWait:
                finish = self._wanted_finish()
        except _Finished as finished:
            finish = finished.finish
        except asyncio.CancelledError:
            self._writer.abandon()
            raise
        except Exception:
            _log.exception("match %s: the referee failed", self.setup.match_id)
            finish = self._referee_failed()
        return self._close(finish)

    def abort(self, kind: EndKind, code: str, message: str) -> bool:
        """End the match from outside; return whether it was going on."""
        if self.phase in {"closing", "ended"}:
            return False
        self.control.end(Finish(kind, code, message))
        return True

    def pause(self, message: str) -> bool:
        """Stop the match; return whether it was running."""
        return self.phase == "running" and self.control.halt(message)

    def resume(self) -> bool:
        """Go on after a pause; return whether there was one."""
        return self.control.go_on()

    # --------------------------------------------------------------- preparation

    async def _prepare(self) -> None:
        setup = self.setup
        self._nonces, faults = await prepare(setup, self.control)
        self._writer.add(record.Dealt(tuple(nonce.hex() for nonce in self._nonces)))
        seed = setup.deal_seed(self._nonces)
        self._writer.dealt(seed)
        self._deal = SealedDealer(seed)
        nobody = len(faults) == self._seats
        for seat, fault in sorted(faults.items()):
            rule = setup.terms.policy.rule(fault.fault)
            consequence = Consequence.VOID if nobody else rule.consequence
            self._write_ruling(seat, fault, consequence)
            self._follow(seat, fault, consequence)
        self.state = self.game.new(
            self._deal.stream("deal"), setup.options, self._seats
        )
        self.phase = "running"
        self._deadline = self._now() + setup.terms.ceiling_ms / 1000

    # ----------------------------------------------------------------------- play

    async def _play(self) -> None:
        decision_point = self.game.decision_point
        legal_actions = self.game.legal_actions
        players = self.setup.players
        turn_of: int | None = None
        in_a_row = 0
        while True:
            point = decision_point(self.state)
            seat = point.seat
            if seat is None:
                if type(point) is Over:
                    raise _Finished(self._played(point.outcome))
                self._draw_chance()
                continue
            if seat != turn_of:
                turn_of = seat
                self.clocks[seat].new_turn()
            legal = legal_actions(self.state)
            if self._forfeited and seat in self._forfeited:
                self._stand_in_acts(seat, legal)
            elif players[seat].inline and not self.control.wanted:
                decision = self._ask_now(seat, legal)
                if decision is not None:
                    await self._ask(decision)
            else:
                await self._ask(_Decision(seat, legal, self._now()))
                continue
            in_a_row += 1
            if in_a_row == _PLIES_IN_A_ROW:
                in_a_row = 0
                await asyncio.sleep(0)

    def _draw_chance(self) -> None:
        dealer = self._deal.stream("chance", self._chances)
        self._chances += 1
        action = self.game.draw_chance(self.state, dealer)
        public = self.game.observe_action(self.state, action, None) == action
        what = self.teller.before_action(self.state, None, action, Source.PLAYER)
        self.game.apply(self.state, action)
        self.ply += 1
        raw = self.game.codec.encode_action(action).hex() if public else None
        self._writer.add(record.ChanceDrawn(raw))
        self.teller.acted(self.ply, what)

    def _played(self, outcome: Outcome) -> Finish:
        if not self._forfeited:
            return Finish(EndKind.PLAYED, outcome=outcome)
        return Finish(
            EndKind.FORFEITED,
            "match.forfeited",
            f"seats forfeited: {', '.join(map(str, self._forfeited))}",
            with_forfeits(outcome, self._forfeited),
        )

    # ----------------------------------------------------- a decision, in process

    def _ask_now(self, seat: int, legal: Sequence[Any]) -> _Decision | None:
        """Ask an inline player: no waiting, no request, no closing.

        Returns:
            The decision if it is to be asked again, the common way.
        """
        state = self.state
        player = self.setup.players[seat]
        clock = self.clocks[seat]
        started = self._now()
        ask = Ask(
            self.game,
            seat,
            functools.partial(self.game.observe, state, seat),
            legal,
            player.rng,
            clock.reading(),
            functools.partial(self.teller.events, seat),
        )
        try:
            decided = player.decide_now(ask)
        except Exception as error:  # noqa: BLE001 - whatever a bot raises
            answer = None
            fault: PlayerFault | None = crashed(error)
        else:
            answer = answer_of(decided)
            fault = None
        decision = _Decision(seat, legal, started)
        server_ms = self._elapsed_ms(decision)
        allowance = clock.allowance_ms()
        if allowance is not None and server_ms > allowance + self._margin_ms:
            fault = PlayerFault(Fault.LATE, GENERAL[Fault.LATE])
        elif self._now() > self._deadline:
            fault = PlayerFault(Fault.STALLED, GENERAL[Fault.STALLED])
        if fault is None and answer is not None:
            try:
                self._take(decision, answer, server_ms)
            except PlayerFault as found:
                fault = found
        if fault is None or self._fault(decision, fault, server_ms):
            return None
        return decision

    # ------------------------------------------------------ a decision, by asking

    async def _ask(self, decision: _Decision) -> None:
        """Ask until the decision is made, or ruled on."""
        seat = decision.seat
        player = self.setup.players[seat]
        while True:
            if self.control.wanted:
                await self._attend(decision)
            request = self._request(decision)
            allowance = self.clocks[seat].allowance_ms()
            limit = math.inf
            if allowance is not None:
                limit = allowance + self._margin_ms - self._elapsed_ms(decision)
            to_ceiling = (self._deadline - self._now()) * 1000
            try:
                answer = await self.control.within(
                    max(0, min(limit, to_ceiling)) / 1000, player.decide(request)
                )
                server_ms = self._elapsed_ms(decision)
                if allowance is not None and server_ms > allowance + self._margin_ms:
                    raise PlayerFault(Fault.LATE, GENERAL[Fault.LATE])
                self._take(decision, answer, server_ms)
            except InterruptedWait:
                self._close_request(decision, "withdrawn", 0)
                continue
            except TimeoutError:
                kind = Fault.LATE if limit <= to_ceiling else Fault.STALLED
                fault = PlayerFault(kind, GENERAL[kind])
            except PlayerFault as found:
                fault = found
            else:
                return
            if self._fault(decision, fault, self._elapsed_ms(decision)):
                return

    def _request(self, decision: _Decision) -> Request:
        seat = decision.seat
        self._decision_ids[seat] += 1
        gate = self.teller.gates[seat]
        return Request(
            decision_id=self._decision_ids[seat],
            seat=seat,
            event_number=gate.number,
            ply=self.ply,
            observe=functools.partial(gate.observation, self.state),
            legal=decision.legal,
            reading=functools.partial(self._reading, decision),
            events=functools.partial(self.teller.events, seat),
            attempt=decision.attempt,
            problem=decision.problem,
        )

    def _reading(self, decision: _Decision) -> dict[str, int]:
        return self.clocks[decision.seat].parts(self._elapsed_ms(decision))

    async def _attend(self, decision: _Decision) -> None:
        """Pause or end the match, as was asked from outside."""
        if self.control.finish is None:
            seat = decision.seat
            message = self.control.halted or ""
            charged = self._charge(decision, self._elapsed_ms(decision))
            self.phase = "paused"
            self._writer.add(record.Paused(message, seat, charged))
            self.teller.tell(self.ply, Halted(message))
            began = self._now()
            await self.control.until_go_on()
            self._deadline += self._now() - began
            self.phase = "running"
            if self.control.finish is None:
                self._writer.add(record.Resumed())
                self.teller.tell(self.ply, WentOn())
            decision.started = self._now()
        if self.control.finish is not None:
            raise _Finished(self._wanted_finish())

    def _wanted_finish(self) -> Finish:
        finish = self.control.finish
        if finish is None:  # pragma: no cover - offers are interrupted to end only
            return Finish(EndKind.WITHDRAWN, "match.withdrawn", "called off")
        return finish

    # ------------------------------------------------- taking and ruling decisions

    @property
    def _margin_ms(self) -> int:
        return self.setup.terms.margin_ms

    def _elapsed_ms(self, decision: _Decision) -> int:
        return int((self._now() - decision.started) * 1000 + 1e-6)

    def _charge(self, decision: _Decision, spent_ms: int) -> int:
        """Charge the seat for its time; return what was charged."""
        clock = self.clocks[decision.seat]
        allowance = clock.allowance_ms()
        charged = spent_ms if allowance is None else min(spent_ms, allowance)
        clock.charge(charged)
        return charged

    def _take(self, decision: _Decision, answer: Answer, server_ms: int) -> None:
        """Apply a decision that came in time.

        Raises:
            PlayerFault: if it is malformed or illegal; nothing has changed then.
        """
        seat = decision.seat
        if answer.resign:
            charged = self._charge(decision, server_ms)
            self._writer.add(record.Resigned(seat, charged))
            self._close_request(decision, "accepted", server_ms, charged=charged)
            self.teller.tell(self.ply, GaveUp(seat))
            self._forfeit(seat, "seat.resigned", f"seat {seat} resigned")
            return
        action = resolve(
            self.game,
            answer,
            self._table,
            decision.legal,
            self.teller.gates[seat],
            self.state,
        )
        charged = self._charge(decision, server_ms)
        self.clocks[seat].increment()
        seen = self._apply(seat, action, Source.PLAYER, answer, charged, server_ms)
        self._close_request(decision, "accepted", server_ms, charged=charged)
        self.teller.acted(self.ply, seen)

    def _apply(
        self,
        seat: int,
        action: Any,
        source: Source,
        answer: Answer | None = None,
        charged_ms: int = 0,
        server_ms: int | None = None,
    ) -> tuple[Any, ...]:
        """Apply a legal action and write it down; return what all will see of it."""
        state = self.state
        seen = self.teller.before_action(state, seat, action, source)
        self.game.apply(state, action)
        self.ply += 1
        left_ms = self.clocks[seat].allowance_ms()
        index = self._table.index[action] if self._table.listed else None  # type: ignore[union-attr]
        if index is not None and (answer is None or _plain(answer)):
            if source is Source.PLAYER:
                self._writer.add_action(seat, index, charged_ms, server_ms, left_ms)
                return seen
        self._writer.add(
            record.ActionTaken(
                seat,
                index,
                None if index is not None else self._encode(action),
                source,
                charged_ms,
                server_ms,
                None if answer is None else answer.think_ms,
                None if answer is None else answer.round_trip_ms,
                left_ms,
                "" if answer is None else str(answer.note)[:MAX_NOTE],
                () if answer is None else _millionths(answer.probabilities),
            )
        )
        return seen

    def _encode(self, action: Any) -> str:
        return self.game.codec.encode_action(action).hex()

    def _fault(self, decision: _Decision, fault: PlayerFault, spent_ms: int) -> bool:
        """Rule on a fault; return whether the decision is settled by it."""
        seat = decision.seat
        rule = self.setup.terms.policy.rule(fault.fault)
        problem = Problem(fault.code, fault.message)
        if decision.attempt <= rule.retries:
            left = rule.retries - decision.attempt
            self._write_ruling(
                seat, fault, Consequence.RETRY, attempt=decision.attempt
            )
            self._close_request(decision, "ruled", spent_ms, problem=problem)
            self.teller.ruled(
                self.ply, seat, fault.fault, Consequence.RETRY, problem, left
            )
            decision.attempt += 1
            decision.problem = problem
            return False
        charged = self._charge(decision, spent_ms)
        self._write_ruling(
            seat,
            fault,
            rule.consequence,
            charged=charged,
            attempt=decision.attempt,
        )
        self._close_request(
            decision, "ruled", spent_ms, problem=problem, charged=charged
        )
        self._follow(seat, fault, rule.consequence)
        if rule.consequence is Consequence.SUBSTITUTE:
            dealer = self._deal.stream("substitute", self.ply)
            action = dealer.choice(decision.legal)
            self.teller.acted(
                self.ply, self._apply(seat, action, Source.SUBSTITUTE)
            )
        return True

    def _write_ruling(
        self,
        seat: int | None,
        fault: PlayerFault,
        consequence: Consequence,
        *,
        charged: int = 0,
        attempt: int = 1,
    ) -> None:
        self._writer.add(
            record.Ruling(
                fault.fault,
                consequence,
                fault.code,
                fault.message[:MAX_NOTE],
                seat,
                fault.offending.hex(),
                charged,
                attempt,
                None if seat is None else self.clocks[seat].allowance_ms(),
            )
        )

    def _follow(self, seat: int, fault: PlayerFault, consequence: Consequence) -> None:
        """Tell of a ruling, and do what follows from it."""
        problem = Problem(fault.code, fault.message)
        self.teller.ruled(self.ply, seat, fault.fault, consequence, problem)
        code = f"fault.{fault.fault.value}"
        message = f"seat {seat}: {GENERAL[fault.fault]}"
        if consequence is Consequence.VOID:
            raise _Finished(Finish(EndKind.VOID, code, message))
        if consequence is Consequence.FORFEIT:
            self._forfeit(seat, code, message)

    def _forfeit(self, seat: int, code: str, message: str) -> None:
        """Take a seat out; end the match if at most one is left."""
        self._forfeited.append(seat)
        if self._seats - len(self._forfeited) <= 1:
            outcome = settled_by_forfeit(self._seats, self._forfeited)
            raise _Finished(Finish(EndKind.FORFEITED, code, message, outcome))

    def _stand_in_acts(self, seat: int, legal: Sequence[Any]) -> None:
        dealer = self._deal.stream("stand-in", self.ply)
        action = dealer.choice(legal)
        if self._stand_in is not None:
            observe = functools.partial(self.teller.gates[seat].observation, self.state)
            rng = random.Random(dealer.below(2**53))
            ask = Ask(self.game, seat, observe, legal, rng, UNTIMED)
            action = answer_of(self._stand_in(ask)).action
        self.teller.acted(self.ply, self._apply(seat, action, Source.STAND_IN))

    def _close_request(
        self,
        decision: _Decision,
        how: str,
        server_ms: int,
        *,
        problem: Problem | None = None,
        charged: int = 0,
    ) -> None:
        player = self.setup.players[decision.seat]
        if not player.wants_events:
            return
        withdrawn = how == "withdrawn"
        gate = self.teller.gates[decision.seat]
        player.closed(
            Closure(
                decision_id=self._decision_ids[decision.seat],
                how=how,
                event_number=None if withdrawn else gate.number + 1,
                problem=problem,
                charged_ms=charged,
                server_ms=server_ms,
                clock=self.clocks[decision.seat].parts(),
            )
        )

    # ------------------------------------------------------------------- the end

    def _referee_failed(self) -> Finish:
        message = GENERAL[Fault.REFEREE_ERROR]
        fault = PlayerFault(Fault.REFEREE_ERROR, message, code="referee.error")
        self._write_ruling(None, fault, Consequence.VOID)
        problem = Problem(fault.code, message)
        self.teller.ruled(
            self.ply, None, Fault.REFEREE_ERROR, Consequence.VOID, problem
        )
        return Finish(EndKind.VOID, fault.code, message)

    def _close(self, finish: Finish) -> MatchResult:
        self.phase = "closing"
        outcome = finish.outcome
        self._writer.add(
            record.Ended(
                finish.kind,
                finish.code,
                finish.message,
                None
                if outcome is None
                else record.OutcomeData(
                    outcome.reason, outcome.scores, outcome.placing
                ),
            )
        )
        self.teller.tell(self.ply, finish)
        setup = self.setup
        reveal = None
        if self._reveal:
            reveal = Reveal(seed=setup.seed, salt=setup.salt, nonces=self._nonces)
            self._writer.add(record.Revealed(setup.seed.hex(), setup.salt.hex()))
        self.result = result = MatchResult(
            match_id=setup.match_id,
            finish=finish,
            plies=self.ply,
            content_hash=self._writer.content_hash(),
            final_hash=self._writer.close(self._signer),
            reveal=reveal,
        )
        self.phase = "ended"
        self.teller.ended(setup.players, result)
        return result


def _plain(answer: Answer) -> bool:
    return not (
        answer.note
        or answer.probabilities
        or answer.think_ms is not None
        or answer.round_trip_ms is not None
    )


def _millionths(probabilities: Sequence[float]) -> tuple[int, ...]:
    return tuple(round(p * 1_000_000) for p in probabilities)
