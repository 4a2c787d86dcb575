"""Asking a seat for a decision: until it is made, or ruled on."""
# ruff: noqa: ANN401 - values of any game pass through

from __future__ import annotations

import math
from collections.abc import Callable, Coroutine
from typing import Any

from fritillary.bots.protocol import Ask
from fritillary.record import events as record
from fritillary.record.terms import Consequence, Fault, Source
from fritillary.referee.clock import UNTIMED
from fritillary.referee.control import Control, InterruptedWait, Wait
from fritillary.referee.decision import EARLY, Decision, Look
from fritillary.referee.examine import examine
from fritillary.referee.gate import GENERAL
from fritillary.referee.play import (
    Finished,
    Play,
    numbers_of,
    problem_of,
    remarks_of,
)
from fritillary.referee.player import (
    Answer,
    MayBeLost,
    PlayerFault,
    answer_of,
    crashed,
)
from fritillary.referee.requests import Requests
from fritillary.referee.resolve import resolve
from fritillary.referee.seen import (
    Finish,
    GaveUp,
    Halted,
    Problem,
    WentOn,
)

#: In seconds: what is less is no whole millisecond.
_TICK = 0.0009


class Asking:
    """Asks the seats of one match.

    Args:
        play: the match.
        control: what was asked of it from outside.
        now: a monotonic clock in seconds.

    Attributes:
        deadline: when the ceiling is reached, by that clock.
        requests: what the seats are asked.
    """

    def __init__(self, play: Play, control: Control, now: Callable[[], float]) -> None:
        self.deadline = math.inf
        self.requests = Requests(play, now)
        self._play = play
        self._control = control
        self._now = now
        self._players = play.setup.players
        self._margin_ms = play.setup.terms.margin_ms
        self._wait: Wait | None = None
        self._decision: Decision | None = None
        # What the inline way needs, looked up once.
        self._numbers = numbers_of(play.table)
        self._actions = play.table.actions if play.table.listed else ()
        self._game = play.game
        self._apply = play.game.apply
        self._add_action = play.writer.add_action
        self._acted_openly = play.teller.acted_openly
        self._masks = play.teller.masks
        self._inline: list[tuple[Any, ...]] = []

    def begin(self) -> None:
        """Prepare to ask, and set the ceiling; the match has been dealt."""
        play = self._play
        self.begin_time()
        self._wait = Wait(self._control)
        self._inline = [
            (
                player,
                player.rng,
                clock,
                Look(gate.observation, play.state),
                events,
            )
            if player.inline
            else ()
            for player, clock, gate, events in zip(
                self._players,
                play.clocks,
                play.teller.gates,
                play.teller.events_of,
                strict=True,
            )
        ]

    def begin_time(self) -> None:
        """Let the time up to the ceiling begin, now."""
        self.deadline = self._now() + self._play.setup.terms.ceiling_ms / 1000

    # ----------------------------------------------------- a decision, in process

    def ask_now(self, seat: int, legal: tuple[Any, ...]) -> Decision | None:
        """Ask an inline player: no waiting, no request, no closing.

        Returns:
            The decision if it is to be asked again, the common way.

        Raises:
            Finished: if the match ends by it.
        """
        play = self._play
        player, rng, clock, look, events = self._inline[seat]
        timed = clock.timed
        now = self._now
        ask = Ask(
            self._game,
            seat,
            look,
            legal,
            rng,
            clock.reading() if timed else UNTIMED,
            events,
        )
        fault = None
        decided = None
        started = now()
        try:
            decided = player.decide_now(ask)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - a bot harms nobody else
            fault = crashed(error)
        ended = now()
        spent = ended - started
        server_ms = 0 if spent < _TICK else int(spent * 1000 + EARLY)
        if look.error is not None:
            raise look.error
        if timed or ended >= self.deadline:
            fault = self._overdue(clock.allowance_ms(), server_ms, ended) or fault
        if fault is None:
            # An entry of the table that is among the legal ones: nothing to resolve.
            which = id(decided)
            index = self._numbers.get(which)
            if index is not None and which in map(id, legal) and not self._masks:
                self._act_plainly(seat, index, decided, server_ms)
                self._acted_openly(play.ply, seat, decided)
                return None
        decision = Decision(seat, legal, started)
        if fault is None:
            fault = self._take(decision, answer_of(decided), server_ms)
        if fault is None or self._rule(decision, fault, server_ms):
            return None
        return decision

    def _act_plainly(
        self,
        seat: int,
        index: int,
        action: Any,
        server_ms: int,
        think_ms: int | None = None,
    ) -> int:
        """Apply an action that is an entry of the table, and write it down.

        Args:
            seat: that acts.
            index: in the table.
            action: that entry; it is legal.
            server_ms: that the seat took.
            think_ms: as its bot reports it.

        Returns:
            What the seat was charged.
        """
        play = self._play
        clock = play.clocks[seat]
        charged = server_ms
        left = None
        if clock.timed:
            charged = min(server_ms, clock.allowance_ms() or 0)
            clock.charge(charged)
            clock.increment()
            left = clock.allowance_ms()
        self._apply(play.state, action)
        play.ply += 1
        self._add_action(seat, index, charged, server_ms, left, think_ms)
        return charged

    # ------------------------------------------------------ a decision, by asking

    def ask(self, seat: int, legal: tuple[Any, ...]) -> Coroutine[Any, Any, None]:
        """Ask a player, wait for the answer, and ask again where the policy says so.

        To be awaited at once.

        Raises:
            Finished: if the match ends by it.
        """
        return self.ask_again(Decision(seat, legal, self._now()))

    async def ask_again(self, decision: Decision) -> None:
        """Ask until the decision is made, or ruled on.

        Raises:
            Finished: if the match ends by it.
        """
        play = self._play
        control = self._control
        seat = decision.seat
        player = self._players[seat]
        gate = play.teller.gates[seat]
        clock = play.clocks[seat]
        wait = self._wait or Wait(control)
        self._decision = decision
        while True:
            if control.wanted:
                await self.attend(decision)
            look = Look(gate.observation, play.state)
            allowance = clock.allowance_ms()
            request = self.requests.begin(decision, look, gate.number)
            limit = math.inf
            if allowance is not None:
                limit = allowance + self._margin_ms - decision.elapsed_ms(self._now())
            to_ceiling = (self.deadline - self._now()) * 1000
            fault: PlayerFault | None = None
            answer: Answer | None = None
            try:
                answer = await wait.within(
                    max(0, min(limit, to_ceiling)) / 1000, player.decide(request)
                )
            except InterruptedWait:
                continue
            except TimeoutError:
                fault = _ran_out(Fault.LATE if limit <= to_ceiling else Fault.STALLED)
                if isinstance(player, MayBeLost):
                    fault = player.lost() or fault
            except PlayerFault as found:
                fault = found
            now = self._now()
            server_ms = int((now - decision.started) * 1000 + EARLY)
            # Whatever became of the answer: the game failed first.
            if look.error is not None:
                raise look.error
            if fault is None:
                fault = self._overdue(allowance, server_ms, now)
            if fault is None and answer is not None:
                fault = self._take(decision, answer, server_ms)
            if fault is None or self._rule(decision, fault, server_ms):
                return

    @property
    def open_ms(self) -> tuple[int, int] | None:
        """Seat and time so far of the decision that is asked for; ``None`` if none."""
        request = self.requests.open
        if request is None or self._decision is None:
            return None
        return request.seat, self._decision.elapsed_ms(self._now())

    def close(self) -> None:
        """Take back what is left of the match in the loop."""
        if self._wait is not None:
            self._wait.close()

    # ------------------------------------------------------------ from the outside

    async def attend(self, decision: Decision | None = None) -> None:
        """Pause or end the match, as was asked from outside.

        Args:
            decision: that is open meanwhile, if any.

        Raises:
            Finished: if the match is to end.
        """
        control = self._control
        play = self._play
        if control.finish is None and control.halted is not None:
            message = control.halted
            seat = None
            charged = server_ms = 0
            if decision is not None and self.requests.open is not None:
                # Between two requests nobody is asked: the next one has the number.
                seat = decision.seat
                server_ms = decision.elapsed_ms(self._now())
                charged = self._charge(decision, server_ms)
            play.phase = "paused"
            play.writer.add(record.Paused(message, seat, charged))
            self.requests.withdraw(Problem("match.paused", message), charged, server_ms)
            play.teller.tell(play.ply, Halted(message))
            await self.stay_paused(decision)
        if control.finish is not None:
            self.requests.withdraw(_why(control.finish))
            raise Finished(control.finish)

    async def stay_paused(self, decision: Decision | None = None) -> None:
        """Wait until the match, which is paused, goes on, or is to end.

        Args:
            decision: that is open meanwhile, if any.
        """
        play = self._play
        began = self._now()
        await self._control.until_go_on()
        self.deadline += self._now() - began
        play.phase = "running"
        if self._control.finish is None:
            play.writer.add(record.Resumed())
            play.teller.tell(play.ply, WentOn())
        if decision is not None:
            decision.started = self._now()

    # ---------------------------------------------------------------- the decision

    def _overdue(
        self, allowance: int | None, server_ms: int, now: float
    ) -> PlayerFault | None:
        """Return the fault of an answer that came too late."""
        if allowance is not None and server_ms > allowance + self._margin_ms:
            return _ran_out(Fault.LATE)
        if now >= self.deadline:
            return _ran_out(Fault.STALLED)
        return None

    def _charge(self, decision: Decision, spent_ms: int) -> int:
        """Charge the seat for time since ``started``; return what was charged.

        The margin is never charged: the clock cannot fall below nothing.
        """
        clock = self._play.clocks[decision.seat]
        allowance = clock.allowance_ms()
        charged = spent_ms if allowance is None else min(spent_ms, allowance)
        clock.charge(charged)
        decision.started = self._now()
        return charged

    def _take(
        self, decision: Decision, answer: Answer, server_ms: int
    ) -> PlayerFault | None:
        """Apply a decision that came in time.

        Returns:
            The fault that it is, if any; nothing has changed then.

        Raises:
            Finished: if the match ends by it.
        """
        play = self._play
        seat = decision.seat
        if answer.resign:
            charged = self._charge(decision, server_ms)
            play.writer.add(record.Resigned(seat, charged))
            self.requests.close("accepted", None, charged, server_ms)
            play.teller.tell(play.ply, GaveUp(seat))
            play.forfeit(seat, "seat.resigned", f"seat {seat} resigned")
            return None
        legal = decision.legal
        if (
            answer.brief
            and not self._masks
            and type(index := answer.index) is int
            and 0 <= index < len(self._actions)
            and id(action := self._actions[index]) in map(id, legal)
        ):
            charged = self._act_plainly(seat, index, action, server_ms, answer.think_ms)
            self.requests.close("accepted", None, charged, server_ms)
            self._acted_openly(play.ply, seat, action)
            return None
        try:
            action = resolve(
                play.game,
                answer,
                play.table,
                legal,
                play.teller.gates[seat],
                play.state,
            )
        except PlayerFault as fault:
            return fault
        charged = self._charge(decision, server_ms)
        play.clocks[seat].increment()
        what = play.act(
            seat,
            action,
            Source.PLAYER,
            remarks=remarks_of(answer, len(legal)),
            charged_ms=charged,
            server_ms=server_ms,
        )
        self.requests.close("accepted", None, charged, server_ms)
        play.teller.acted(play.ply, what)
        return None

    def _rule(self, decision: Decision, fault: PlayerFault, spent_ms: int) -> bool:
        """Rule on a fault.

        Returns:
            Whether the decision is settled by it; else it is to be asked again.

        Raises:
            Finished: if the match ends by it.
            PlayerFault: if it is the referee's own.
            PluginError: if the game is to blame, and not the seat.
        """
        if fault.fault is Fault.REFEREE_ERROR:
            raise fault
        # It has come through frames that hold it.
        fault.bare()
        play = self._play
        seat = decision.seat
        # Whatever the seat did, it may have been misled.
        examine(play.game, play.table, play.state, seat, decision.legal)
        rule = play.setup.terms.policy.rule(fault.fault)
        retry = decision.attempt <= rule.retries
        consequence = Consequence.RETRY if retry else rule.consequence
        problem = problem_of(fault)
        if fault.fault is Fault.LATE:
            # A timer may wake a little early; late is who has nothing left.
            spent_ms = max(spent_ms, play.clocks[seat].allowance_ms() or 0)
        charged = self._charge(decision, spent_ms)
        play.write_ruling(
            seat, fault, consequence, charged_ms=charged, attempt=decision.attempt
        )
        self.requests.close("ruled", problem, charged, spent_ms)
        play.tell_ruling(
            seat, fault, consequence, rule.retries - decision.attempt if retry else 0
        )
        if retry:
            decision.attempt += 1
            decision.problem = problem
            return False
        play.follow(seat, fault, consequence)
        if consequence is Consequence.SUBSTITUTE:
            play.substitute(seat, decision.legal)
        elif fault.fault is Fault.STALLED:
            # Those who play on have stalled nothing: the ceiling begins anew.
            self.begin_time()
        return True


def _ran_out(kind: Fault) -> PlayerFault:
    return PlayerFault(kind, GENERAL[kind])


def _why(finish: Finish) -> Problem:
    return Problem(finish.code, finish.message)
