"""Taking up a match from its unfinished record: everything that happened, once more."""
# ruff: noqa: ANN401 - values of any game pass through

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from typing import Any, Final

from attrs import define

from fritillary.core.points import Over
from fritillary.plugins.checks import legal_from
from fritillary.record import events as record
from fritillary.record.reader import Record
from fritillary.record.terms import Consequence, EndKind, Fault, Source
from fritillary.record.writer import MemorySink, RecordSink
from fritillary.referee.asking import Asking
from fritillary.referee.control import Control
from fritillary.referee.decision import Decision, Look
from fritillary.referee.ending import REFEREE_FAILED
from fritillary.referee.passing import PASSING
from fritillary.referee.play import Finished, Play, ended_event, numbers_of
from fritillary.referee.player import PlayerFault
from fritillary.referee.seen import (
    Finish,
    GaveUp,
    Halted,
    MatchResult,
    Problem,
    WentOn,
)
from fritillary.referee.setup import MatchSetup

_log = logging.getLogger(__name__)

#: In seconds: longest that a bot of this process may take for a decision that it has
#: made before.
_PATIENCE_S: Final = 60.0

_UNASKED: Final = frozenset({Fault.LATE, Fault.STALLED})


@define
class Restored:
    """Where a match stands after its record.

    Args:
        turn_of: the seat that decided last.
        decision: that is to be asked for again; ``None`` if it is for the first time.
        paused: why the match stands still; ``None`` if it does not.
    """

    turn_of: int | None = None
    decision: Decision | None = None
    paused: str | None = None


class Restoring:
    """Plays the events of a record again, telling seats and spectators as before.

    Numbers of events and of decisions are functions of the record, so that whoever
    comes back finds those it knows. Bots of this process are asked again for every
    decision that they have made, so that they are where they were; what they say is
    what the record says, if they depend on what they see and on their seed alone.

    Args:
        play: the match, before its deal.
        asking: of the match.
        found: the record.
    """

    def __init__(self, play: Play, asking: Asking, found: Record) -> None:
        self._play = play
        self._asking = asking
        self._requests = asking.requests
        self._found = found
        self._numbers = numbers_of(play.table)
        self._at = Restored()
        self._attempt = 1
        self._problem: Problem | None = None
        #: Whose action is to be substituted, and from what.
        self._substitute: tuple[int, tuple[Any, ...]] | None = None
        self._dealt = False

    async def run(self) -> Restored:
        """Return where the match stands.

        Raises:
            Finished: if the match has ended, and only its end is missing.
            Exception: what the rules raise.
        """
        play = self._play
        last = self._found.events[-1]
        if isinstance(last, record.Ruling) and last.fault is Fault.REFEREE_ERROR:
            dealt = self._found.find(record.Dealt)
            if dealt is not None:
                await self._event(dealt)
            raise Finished(Finish(EndKind.VOID, REFEREE_FAILED, last.message))
        finished: Finished | None = None
        for event in self._found.events[1:]:
            try:
                await self._event(event)
            except Finished as found:
                # Seats that all refused to start are ruled on one after the other.
                finished = found
        if finished is not None:
            self._rule_on_the_rest()
            raise finished
        self._deal()
        if self._substitute is not None:
            play.substitute(*self._substitute)
        if self._attempt > 1 and self._at.turn_of is not None:
            self._at.decision = Decision(
                self._at.turn_of, self._legal(), 0.0, self._attempt, self._problem
            )
        return self._at

    async def _event(self, event: record.RecordEvent) -> None:
        play = self._play
        match event:
            case record.Dealt():
                play.mix(tuple(map(bytes.fromhex, event.nonces)), again=True)
            case record.Ruling(fault=Fault.REFUSED_TO_START):
                self._refused(event)
            case record.ActionTaken():
                await self._acted(event)
            case record.ChanceDrawn():
                self._deal()
                play.draw_chance(again=True)
            case record.Ruling():
                await self._ruled(event)
            case record.Resigned():
                await self._resigned(event)
            case record.Paused():
                self._paused(event)
            case record.Resumed():
                self._at.paused = None
                play.teller.tell(play.ply, WentOn())
            case record.Restarted():
                self._deal()
                if event.seat is not None:
                    self._begin(event.seat)
                    play.clocks[event.seat].charge(event.charged_ms)

    def _deal(self) -> None:
        """Deal, if that was not done; rulings may come before it."""
        if not self._dealt:
            self._dealt = True
            self._play.begin()
            self._asking.begin()

    def _legal(self) -> tuple[Any, ...]:
        game = self._play.game
        legal = game.legal_actions(self._play.state)
        if type(legal) is not tuple or not legal:
            legal = legal_from(game.id, legal)
        return legal

    def _begin(self, seat: int) -> None:
        """Note that a seat decides."""
        self._deal()
        if seat != self._at.turn_of:
            self._at.turn_of = seat
            self._play.clocks[seat].new_turn()

    def _next(self) -> None:
        """Note that the next decision will be another one."""
        self._attempt, self._problem = 1, None
        self._substitute = None

    async def _ask(self, seat: int) -> tuple[Any, ...]:
        """Ask again for a decision that was made; return what was legal."""
        self._begin(seat)
        play = self._play
        legal = self._legal()
        gate = play.teller.gates[seat]
        player = play.setup.players[seat]
        decision = Decision(seat, legal, 0.0, self._attempt, self._problem)
        request = self._requests.begin(
            decision, Look(gate.observation, play.state), gate.number
        )
        if not player.wants_events:
            try:
                async with asyncio.timeout(_PATIENCE_S):
                    await player.decide(request)
            except PASSING:
                raise
            except BaseException as error:  # noqa: BLE001 - it has been ruled on before
                _log.info("seat %d, asked again: %s", seat, error)
        return legal

    # ------------------------------------------------------------------- the events

    async def _acted(self, event: record.ActionTaken) -> None:
        play = self._play
        seat = event.seat
        if event.source is not Source.PLAYER:
            self._begin(seat)
            legal = self._legal()
        else:
            legal = await self._ask(seat)
        action = self._action(event, legal)
        clock = play.clocks[seat]
        if event.source is not Source.PLAYER:
            what = play.act(seat, action, event.source, again=True)
        else:
            clock.charge(event.charged_ms)
            clock.increment()
            what = play.act(seat, action, event.source, again=True)
            self._requests.close(
                "accepted", None, event.charged_ms, event.server_ms or 0
            )
        play.teller.acted(play.ply, what)
        self._next()

    def _action(self, event: record.ActionTaken, legal: tuple[Any, ...]) -> Any:
        for action in legal:
            if event.index is not None:
                if self._numbers.get(id(action)) == event.index:
                    return action
            elif self._play.game.codec.encode_action(action).hex() == event.action:
                return action
        if event.index is not None:
            action = self._play.table.at(event.index, legal)
            if action in legal:
                return action
        msg = "the record has an action that is not legal"
        raise RuntimeError(msg)

    def _refused(self, event: record.Ruling) -> None:
        seat = event.seat
        if seat is None:  # pragma: no cover - such a ruling names a seat
            raise RuntimeError
        play = self._play
        fault = _fault(event)
        play.tell_ruling(seat, fault, event.consequence)
        play.follow(seat, fault, event.consequence)

    def _rule_on_the_rest(self) -> None:
        """Rule on the seats of a match that nobody got ready for."""
        rulings = [
            event
            for event in self._found.events
            if isinstance(event, record.Ruling)
            and event.fault is Fault.REFUSED_TO_START
        ]
        play = self._play
        own = play.setup.terms.policy.rule(Fault.REFUSED_TO_START).consequence
        if not rulings or rulings[-1].consequence is own:
            return
        for seat in range(len(rulings), play.seats):
            fault = _fault(rulings[-1])
            play.write_ruling(seat, fault, Consequence.VOID)
            play.tell_ruling(seat, fault, Consequence.VOID)

    async def _ruled(self, event: record.Ruling) -> None:
        play = self._play
        seat = event.seat
        if seat is None:  # pragma: no cover - only failures of the referee
            raise RuntimeError
        self._begin(seat)
        if event.fault in _UNASKED and not play.setup.players[seat].wants_events:
            legal = self._legal()
        else:
            legal = await self._ask(seat)
        fault = _fault(event)
        problem = Problem(event.code, event.message)
        retry = event.consequence is Consequence.RETRY
        rule = play.setup.terms.policy.rule(event.fault)
        play.clocks[seat].charge(event.charged_ms)
        self._requests.close("ruled", problem, event.charged_ms, event.charged_ms)
        play.tell_ruling(
            seat, fault, event.consequence, rule.retries - event.attempt if retry else 0
        )
        self._next()
        if retry:
            self._attempt, self._problem = event.attempt + 1, problem
            return
        if event.consequence is Consequence.SUBSTITUTE:
            self._substitute = seat, legal
        play.follow(seat, fault, event.consequence)

    async def _resigned(self, event: record.Resigned) -> None:
        play = self._play
        seat = event.seat
        await self._ask(seat)
        play.clocks[seat].charge(event.charged_ms)
        self._requests.close("accepted", None, event.charged_ms, event.charged_ms)
        play.teller.tell(play.ply, GaveUp(seat))
        self._next()
        play.forfeit(seat, "seat.resigned", f"seat {seat} resigned")

    def _paused(self, event: record.Paused) -> None:
        play = self._play
        self._deal()
        seat = event.seat
        if seat is not None:
            self._begin(seat)
            gate = play.teller.gates[seat]
            decision = Decision(seat, self._legal(), 0.0, self._attempt, self._problem)
            self._requests.begin(
                decision, Look(gate.observation, play.state), gate.number
            )
            play.clocks[seat].charge(event.charged_ms)
            self._requests.withdraw(
                Problem("match.paused", event.message),
                event.charged_ms,
                event.charged_ms,
            )
        self._at.paused = event.message
        play.teller.tell(play.ply, Halted(event.message))


def tell_again(setup: MatchSetup, found: Record, result: MatchResult) -> Play:
    """Tell the seats of a match that has ended all of it once more, and its end.

    To be called in a running loop.

    Args:
        setup: of the match; all its players must want events: nobody is asked.
        found: its record.
        result: as the record has it.

    Returns:
        The match as it stood at its end; its teller tells whoever looks on.

    Raises:
        UsageError: if the policy's stand-in is not here.
        Exception: what the rules raise.
    """
    count = next(
        number
        for number, event in enumerate(found.events)
        if isinstance(event, record.Ended)
    )
    found = Record(found.events[:count], found.links[:count])
    play = Play(setup, MemorySink(), found.header, None, after=found)
    asking = Asking(play, Control(), time.monotonic)
    telling = Restoring(play, asking, found).run()
    try:
        # Where nobody is asked, nothing is waited for.
        with contextlib.suppress(StopIteration, Finished):
            telling.send(None)
    finally:
        telling.close()
        asking.close()
    play.teller.tell(play.ply, result.finish)
    play.teller.ended(setup.players, result)
    return play


def write_end(
    setup: MatchSetup, found: Record, sink: RecordSink, otherwise: Finish
) -> None:
    """Write the end of a match into its record, which then waits for its reveal.

    Args:
        setup: of the match; all its players must want events: nobody is asked.
        found: its record, which stands in the sink.
        sink: closed at the end.
        otherwise: how it ends if nothing in the record leads to an end.

    Raises:
        UsageError: if the policy's stand-in is not here.
        StorageError: if the sink cannot take it.
    """
    play = Play(setup, sink, found.header, None, after=found)
    asking = Asking(play, Control(), time.monotonic)
    playing = Restoring(play, asking, found).run()
    finish = otherwise
    try:
        with contextlib.suppress(StopIteration):
            playing.send(None)
        point = setup.game.decision_point(play.state)
        if type(point) is Over:
            finish = play.played(point.outcome)
    except Finished as finished:
        finish = finished.finish
    except Exception:
        if play.writer.broken:
            raise
        _log.exception("match %s: its end does not follow", setup.match_id)
    finally:
        playing.close()
        asking.close()
    play.writer.add(ended_event(finish))
    play.writer.hold()


def _fault(event: record.Ruling) -> PlayerFault:
    return PlayerFault(
        event.fault,
        event.message,
        code=event.code,
        offending=bytes.fromhex(event.offending),
    )
