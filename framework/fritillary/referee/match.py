"""One match, from the offers to the closed record."""
# ruff: noqa: ANN401 - values of any game pass through

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from fritillary.bots.protocol import Ask
from fritillary.core.errors import GameError, UsageError
from fritillary.core.outcome import Outcome
from fritillary.core.points import Over
from fritillary.plugins.checks import legal_from
from fritillary.record import events as record
from fritillary.record.reader import Record
from fritillary.record.signing import Signer
from fritillary.record.terms import Consequence, EndKind, Fault
from fritillary.record.writer import RecordSink
from fritillary.referee.asking import Asking
from fritillary.referee.clock import SeatClock
from fritillary.referee.control import Control, InterruptedWait, Wait
from fritillary.referee.gate import GENERAL
from fritillary.referee.passing import PASSING
from fritillary.referee.play import MAX_NOTE, Finished, Play, ended_event
from fritillary.referee.player import MayReturn, PlayerFault
from fritillary.referee.prepare import offer_of, prepare
from fritillary.referee.restore import Restoring
from fritillary.referee.seen import Finish, MatchResult, Problem, Reveal
from fritillary.referee.setup import MatchSetup
from fritillary.referee.teller import Teller

__all__ = ["MAX_NOTE", "NO_RECORD", "Match"]

_log = logging.getLogger(__name__)

#: Players that do not wait let others have a go after so many plies.
_PLIES_IN_A_ROW = 64

#: Longest wait for players to come back after a restart; they bound it themselves.
_BACK_S = 24 * 3600.0

#: The end of a match whose record cannot be written any more, unless it leads to one.
NO_RECORD: Final = Finish(
    EndKind.VOID, "referee.record", "the record cannot be written; the match is void"
)


class Match:
    """Runs one match among players.

    Args:
        setup: what is played, by whom, on which terms.
        sink: where the record goes.
        signer: closes the record.
        framework: version of the software, for the record.
        now: a monotonic clock in seconds.
        created_at_ms: wall clock, for the record.
        reveal: whether the deal may be known at the end; if not, the record stays open
            after it, for `fritillary.record.reveal.reveal_record` to close.
        stand_in: chooses for forfeited seats where play goes on; ``None`` for the
            bot that the policy names.
        phase_changed: called with each phase that is new; must not raise.
        after: the unfinished record, in the sink already, of a match that is taken up
            after a restart; its header then counts, and not the two settings above.
        used: seat and time of the decision that was open when the server stopped, in
            milliseconds; ``None`` if that is not known.

    Raises:
        UsageError: if there is no such stand-in, or the setup is not that of ``after``.

    Attributes:
        setup: what is played.
        game: the rules.
        control: what was asked of the match from outside.
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
        phase_changed: Callable[[str], None] = lambda _: None,
        after: Record | None = None,
        used: tuple[int, int] | None = None,
    ) -> None:
        self.setup = setup
        self.game = setup.game
        self.control = Control()
        self.result: MatchResult | None = None
        self._signer = signer
        self._reveal = reveal
        self._told: Finish | None = None
        #: The end that the record leads to, whether or not it can be written.
        self._follows: Finish | None = None
        self._after = after
        self._used = used
        self._turn_of: int | None = None
        if after is None:
            self._header = setup.header(
                framework=framework, created_at_ms=created_at_ms
            )
        else:
            self._header = after.header
            if setup.commitment.hex() != after.header.commitment:
                msg = "seed, salt and options are not those that the record commits to"
                raise UsageError(msg, code="usage.seed")
        self._play = Play(setup, sink, self._header, stand_in, phase_changed, after)
        self._writer = self._play.writer
        self._now = now
        self._asking = Asking(self._play, self.control, now)

    @property
    def state(self) -> Any:
        """The truth; ``None`` before the deal."""
        return self._play.state

    @property
    def ply(self) -> int:
        """Plies so far."""
        return self._play.ply

    @property
    def phase(self) -> str:
        """One of ``offered``, ``running``, ``paused``, ``closing`` or ``ended``."""
        return self._play.phase

    @property
    def events(self) -> int:
        """Events of the record so far, the header included."""
        return self._writer.events

    @property
    def open_ms(self) -> tuple[int, int] | None:
        """Seat and time so far of the decision that a player is asked for.

        In milliseconds; ``None`` if none is open. What a stop of the server keeps.
        """
        return self._asking.open_ms

    @property
    def teller(self) -> Teller:
        """Tells watchers what happened."""
        return self._play.teller

    @property
    def clocks(self) -> list[SeatClock]:
        """The clock of each seat."""
        return self._play.clocks

    @property
    def rulings(self) -> Mapping[Fault, int]:
        """How many rulings there were, by fault; not those before a restart."""
        return self._play.rulings

    async def run(self) -> MatchResult:
        """Play the match to its end; return the result.

        Whatever goes wrong in the game or in the referee makes the match void. Only
        cancellation, which says nothing to anybody, and what the sink raises come out
        of here; in the latter case the record stays unfinished, and the seats hear of
        the end that it leads to, or that the match is void.
        """
        try:
            return self._close(await self._finish())
        except BaseException as error:
            self._give_up(error)
            raise
        finally:
            self._asking.close()

    def abort(
        self,
        kind: EndKind,
        code: str,
        message: str,
        outcome: Outcome | None = None,
    ) -> bool:
        """End the match from outside.

        Args:
            kind: void, withdrawn or adjudicated.
            code: why.
            message: why, for people.
            outcome: of an adjudicated match.

        Returns:
            Whether the match was going on.
        """
        if self.phase in {"closing", "ended"}:
            return False
        self.control.end(Finish(kind, code, message, outcome))
        return True

    def pause(self, message: str) -> bool:
        """Stop the match; return whether it was running."""
        return self.phase in {"running", "paused"} and self.control.halt(message)

    def resume(self) -> bool:
        """Go on after a pause; return whether there was one."""
        return self.control.go_on()

    # ----------------------------------------------------------------------- inside

    async def _finish(self) -> Finish:
        """Play; return how it ended."""
        try:
            if self._after is None or len(self._after.events) == 1:
                await self._prepare()
            else:
                await self._take_up(self._after)
            return await self._until_over()
        except Finished as finished:
            return finished.finish
        except InterruptedWait:
            # Offers are interrupted for one purpose only.
            return self.control.finish or NO_RECORD
        except PASSING as error:
            task = asyncio.current_task()
            ended = isinstance(error, asyncio.CancelledError)
            if not ended or task is None or task.cancelling():
                raise
            # Nobody cancelled the match: something inside it was.
            _log.exception("match %s: the referee failed", self.setup.match_id)
            return self._referee_failed()
        except BaseException:
            if self._writer.broken:
                raise
            _log.exception("match %s: the referee failed", self.setup.match_id)
            return self._referee_failed()

    async def _prepare(self) -> None:
        play = self._play
        nonces, faults = await prepare(self.setup, self.control, self._header)
        play.mix(nonces)
        nobody = len(faults) == play.seats
        rule = self.setup.terms.policy.rule(Fault.REFUSED_TO_START)
        consequence = Consequence.VOID if nobody else rule.consequence
        for seat, fault in sorted(faults.items()):
            play.write_ruling(seat, fault, consequence)
            play.tell_ruling(seat, fault, consequence)
            # With nobody there, all are ruled on before the match is void.
            if not nobody or len(faults) == seat + 1:
                play.follow(seat, fault, consequence)
        play.begin()
        self._asking.begin()

    async def _take_up(self, found: Record) -> None:
        """Go on after a restart of the server.

        Raises:
            Finished: if only the end of the match is missing.
        """
        play, asking, control = self._play, self._asking, self.control
        for seat, player in enumerate(self.setup.players):
            if player.wants_events:
                continue
            await player.accept(offer_of(self.setup, self._header, seat))
            try:
                await player.ready()
            except PlayerFault as fault:
                # It was ruled on before, if it was.
                _log.info("match %s, seat %d: %s", self.setup.match_id, seat, fault)
        at = await Restoring(play, asking, found).run()
        self._turn_of = at.turn_of
        self._note_restart()
        if at.paused is not None:
            play.phase = "paused"
            control.halt(at.paused)
            await asking.stay_paused()
        await self._until_back()
        asking.begin_time()
        if at.decision is not None:
            at.decision.started = self._now()
            await asking.ask_again(at.decision)

    def _note_restart(self) -> None:
        """Write the restart down, and what the open decision had taken before."""
        play = self._play
        point = self.game.decision_point(play.state)
        if type(point) is Over:
            return
        seat, charged = None, 0
        if self._used is not None and self._used[0] == point.seat:
            seat, charged = self._used
            clock = play.clocks[seat]
            if seat != self._turn_of:
                self._turn_of = seat
                clock.new_turn()
            allowance = clock.allowance_ms()
            if allowance is not None:
                charged = min(charged, allowance)
            clock.charge(charged)
        play.writer.add(record.Restarted(seat, charged))

    async def _until_back(self) -> None:
        """Wait for those who dial in: while the server was away, no clock ran."""
        away = [
            player
            for seat, player in enumerate(self.setup.players)
            if isinstance(player, MayReturn) and seat not in self._play.forfeited
        ]
        if not away:
            return

        async def all_there() -> None:
            await asyncio.gather(*(player.back() for player in away))

        with contextlib.closing(Wait(self.control)) as wait:
            while True:
                try:
                    await wait.within(_BACK_S, all_there())
                except InterruptedWait:
                    await self._asking.attend()
                else:
                    return

    async def _until_over(self) -> Finish:
        play = self._play
        asking = self._asking
        control = self.control
        state = play.state
        decision_point = self.game.decision_point
        legal_actions = self.game.legal_actions
        max_plies = self.game.info.max_plies
        clocks = play.clocks
        forfeited = play.forfeited
        inline = [player.inline for player in self.setup.players]
        turn_of = self._turn_of
        in_a_row = 0
        while True:
            point = decision_point(state)
            seat = point.seat
            if seat is None and type(point) is Over:
                return play.played(point.outcome)
            if control.wanted:
                await asking.attend()
                continue
            if play.ply >= max_plies:
                msg = f"{self.game.id}: a match of more than {max_plies} plies"
                raise GameError(msg)
            in_a_row += 1
            if in_a_row == _PLIES_IN_A_ROW:
                in_a_row = 0
                await asyncio.sleep(0)
                continue
            if seat is None:
                play.draw_chance()
                continue
            if seat != turn_of:
                turn_of = seat
                clocks[seat].new_turn()
            legal = legal_actions(state)
            if type(legal) is not tuple or not legal:
                legal = legal_from(self.game.id, legal)
            if seat in forfeited:
                play.stand_in(seat, legal)
            elif inline[seat]:
                decision = asking.ask_now(seat, legal)
                if decision is not None:
                    await asking.ask_again(decision)
            else:
                await asking.ask(seat, legal)

    # ------------------------------------------------------------------- the end

    def _referee_failed(self) -> Finish:
        message = GENERAL[Fault.REFEREE_ERROR]
        fault = PlayerFault(Fault.REFEREE_ERROR, message, code="referee.error")
        self._play.write_ruling(None, fault, Consequence.VOID)
        self._asking.requests.withdraw(Problem(fault.code, message))
        self._play.tell_ruling(None, fault, Consequence.VOID)
        return Finish(EndKind.VOID, fault.code, message)

    def _close(self, finish: Finish) -> MatchResult:
        play = self._play
        play.phase = "closing"
        if finish is not self.control.finish:
            self._follows = finish
        self._writer.add(ended_event(finish))
        self._told = finish
        play.teller.tell(play.ply, finish)
        content_hash = self._writer.content_hash()
        if not self._reveal:
            self._writer.hold()
            return self._ended(finish, content_hash)
        seed, salt = self.setup.seed, self.setup.salt
        self._writer.reveal(seed, salt)
        final_hash = self._writer.close(self._signer)
        reveal = Reveal(seed=seed, salt=salt, nonces=play.nonces)
        return self._ended(finish, content_hash, final_hash, reveal)

    def _ended(
        self,
        finish: Finish,
        content_hash: bytes = b"",
        final_hash: bytes = b"",
        reveal: Reveal | None = None,
    ) -> MatchResult:
        play = self._play
        self.result = result = MatchResult(
            match_id=self.setup.match_id,
            finish=finish,
            plies=play.ply,
            content_hash=content_hash,
            final_hash=final_hash,
            reveal=reveal,
        )
        play.phase = "ended"
        play.teller.ended(self.setup.players, result)
        return result

    def _give_up(self, error: BaseException) -> None:
        """Leave the record unfinished."""
        play = self._play
        try:
            self._writer.abandon()
        except PASSING:
            raise
        except BaseException:  # noqa: BLE001 - what matters was raised before
            _log.exception("match %s: the sink does not close", self.setup.match_id)
        if isinstance(error, PASSING):
            play.phase = "ended"
            return
        finish = self._told or self._follows or NO_RECORD
        self._asking.requests.withdraw(Problem(finish.code, finish.message))
        if self._told is None:
            play.teller.tell(play.ply, finish)
        self._ended(finish)
