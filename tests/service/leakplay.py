"""Plays one line in one world, and keeps all that the viewer is sent.

What the viewer does is the same in both worlds. What the others do that the viewer
cannot see differs as much as it can: what they hold and play face down, their illegal
actions, notes and probabilities, what they say of their thinking, why they decline.
"""

from __future__ import annotations

from typing import Any

from tests.service.leaklog import listening
from tests.service.leakscripts import Script
from tests.service.leakstage import LARGEST, LeakStage
from tests.service.leaktable import MOVE_MS, RETRIES, Heard, Table
from tests.service.tape import until
from tests.service.worlds import Pair, Rules, Turn

from fritillary.api.v1 import bot_pb2 as pb
from fritillary.record.terms import EndKind, Fault
from fritillary.service.tokens import Role


class Playing(Table):
    """One match of one world; see `Table`."""

    def __init__(
        self, stage: LeakStage, rules: Rules, pair: Pair, which: int, script: Script
    ) -> None:
        super().__init__(stage, rules, pair, which, script)
        self._talked: set[bool] = set()
        self._tried: set[bool] = set()

    # ------------------------------------------------------------------ the whole match

    async def run(self) -> Heard:
        """Play the match; return what the viewer heard, and the journal told."""
        with listening() as self.heard.lines:
            return await self._run()

    async def _run(self) -> Heard:
        try:
            await self.connect()
            self.create()
            await self._seat()
            if self.script.ending != "decline":
                for number, turn in enumerate(self.pair.turns):
                    await self._turn(number, turn)
                await self._end()
            await self.hosted.ended
            await self._afterwards()
        finally:
            for tape in (*self.tapes, *self.bots.values()):
                await tape.close()
        self.heard.streams = [tape.raw for tape in self.tapes]
        self.heard.watches = [(watch.raw, watch.error) for watch in self.watches]
        return self.heard

    # -------------------------------------------------------------------------- offers

    async def _seat(self) -> None:
        for bot in self.bots.values():
            await bot.last("match_offer")
        if self.viewer is None:
            await self.watch(after_event=0, view_each_event=True, picture=1)
            await self.watch(Role.REFEREE, view_each_event=True)
        await self._ask_about()
        others = [seat for seat in self.seats if seat != self.viewer]
        if self.script.ending == "decline":
            await self._decline(others)
            return
        for seat in others:
            await self._take(seat)
        if self.viewer is not None:
            await self._take(self.viewer)
        if self.pair.absent is not None:
            await until(lambda: self.hosted.over or self._anyone_is_asked())

    async def _ask_about(self) -> None:
        """Call whatever the viewer may call about a match that goes on."""
        roles = [Role.SPECTATOR]
        if self.viewer is None:
            roles.append(Role.REFEREE)
        for role in roles:
            await self.call("GetMatch", role)
            for view in (0, 1, 2):
                await self.call("FetchRecord", role, view=view)
            if self.viewer is None:
                await self.call("ListMatches", role)

    async def _decline(self, others: list[int]) -> None:
        for seat in (*others[1:], *(() if self.viewer is None else (self.viewer,))):
            await self._take(seat)
        await self._refuse(others[0])

    async def _refuse(self, seat: int) -> None:
        word = str(self.secret.below(1000))
        decline = pb.Decline(code=f"cards.{word}", message=f"I hold {word}")
        decline.match_id = self.match_id
        await self.bots[seat].send(decline=decline)

    async def _take(self, seat: int) -> None:
        bot = self.bots[seat]
        if seat == self.pair.absent:
            await self._refuse(seat)
            await bot.sync()
            await self.sync()
            return
        await self._accept(seat)
        await bot.sync()
        await self.sync()
        if seat == self.viewer and self.script.number % 2:
            await self.lose_and_resume(seat)
            # Not ready yet: the offer comes again.
        await self.bots[seat].send(ready=pb.Ready(**self.where(seat)))
        await until(lambda: self.hosted.players[seat].is_ready)
        if all(one.is_ready for one in self.hosted.players.values()):
            await until(lambda: self.hosted.phase not in {"offered", "preparing"})
        await self.sync()

    async def _accept(self, seat: int) -> None:
        """Accept an offer, and try to do so with other nonces as well."""
        bot = self.bots[seat]
        nonce = self.world.nonces[seat] if self.world.nonces else b""
        mine = seat == self.viewer
        others: tuple[bytes, ...] = ()
        if self.script.shared == "seed":
            dealer = self.common if mine else self.secret
            count = 2 if mine else dealer.below(4)
            others = tuple(bytes(33 + dealer.below(9)) for _ in range(count))
        for one in (*others, nonce, *others[:1], nonce[::-1]):
            await bot.send(accept=pb.Accept(**self.where(seat), nonce=one))

    # --------------------------------------------------------------------------- turns

    async def _turn(self, number: int, turn: Turn) -> None:
        seat = turn.seat
        if turn.by == "stand-in" and not turn.fails:
            # It has followed at once.
            return
        await self.bots[seat].request()
        await self.sync()
        step = number + self.script.number
        if seat == self.viewer:
            await self._small_talk(asked=True)
            await self._own_faults(seat, step)
            await self._own_link(seat, step)
        else:
            if self.viewer is not None:
                await self._small_talk(asked=False)
            await self._others_turn(seat, step)
        if self.script.stops and number % 2 == 0:
            await self.restart(seat, anew=number % 4 == 2)
        if step % 4 == 1 or (seat == self.viewer and self.script.number == 1):
            await self.pause(seat)
            await self.go_on()
            await self.bots[seat].request()
            await self.sync()
        if step % 3 == 1:
            await self._ask_about()
        away = self.viewer not in {None, seat} and step % 3 == 2 and self.may_lose
        if away and self.viewer is not None:
            await self.lose(self.viewer)
        before = self.hosted.ply
        await self._decide(turn, step)
        if away and self.viewer is not None:
            await until(lambda: self._moved_on(before))
            # Whoever begins anew is not told what it missed.
            if self.hosted.over or step % 2 or turn.by != "player":
                await self.resume(self.viewer)
            else:
                await self.begin_anew(self.viewer)

    def _moved_on(self, before: int) -> bool:
        return self.hosted.over or (
            self.hosted.ply > before and self._anyone_is_asked()
        )

    def _anyone_is_asked(self) -> bool:
        return any(one.open_decision_id for one in self.hosted.players.values())

    async def _decide(self, turn: Turn, step: int) -> None:
        seat = turn.seat
        bot = self.bots[seat]
        request = await bot.request()
        if turn.fails:
            await self._fail(seat, self.script.fails, step)
            return
        if turn.by == "substitute":
            await self._fail(seat, self.script.substitutes, step)
            return
        action = turn.actions[self.which]
        await bot.send(decision=self._decision(seat, request, action, step))
        bot.closed_id = request.decision_id

    def _decision(
        self, seat: int, request: pb.DecisionRequest, action: Any, step: int
    ) -> pb.Decision:
        dealer = self.common if seat == self.viewer else self.secret
        weights = [1 + dealer.below(9) for _ in request.legal]
        decision = pb.Decision(
            **self.where(seat, decision_id=request.decision_id),
            note=f"I hold {dealer.below(1 << 30)}",
            probabilities=[weight / sum(weights) for weight in weights],
            think_ms=dealer.below(1000),
        )
        self.choose(seat, decision, action, step)
        return decision

    # -- what is of no use

    async def _small_talk(self, *, asked: bool) -> None:
        """Let the viewer say what changes nothing."""
        # In one script of each encoding, and with restarts, that is enough.
        talks = self.script.number in {1, 2, 10, 11}
        if not talks or asked in self._talked or self.viewer is None:
            return
        self._talked.add(asked)
        seat, bot = self.viewer, self.viewer_bot
        other = (seat + 1) % len(self.seats)
        ids = [bot.closed_id, bot.closed_id + 7]
        if not asked:
            ids.append(bot.closed_id + 1)
        for decision_id in ids:
            where = self.where(seat, decision_id=decision_id)
            await bot.send(decision=pb.Decision(**where, index=0))
            await bot.send(resign=pb.Resign(**where))
        where = self.where(other, decision_id=1)
        await bot.send(decision=pb.Decision(**where, index=0))
        await bot.send(decision=pb.Decision(match_id="nowhere", index=0))
        await bot.send(decline=pb.Decline(**self.where(seat), code="no"))
        await bot.send(accept=pb.Accept(**self.where(seat), nonce=bytes(33)))
        await bot.send(hello=pb.Hello())
        await bot.send()
        await bot.sync()

    # -- faults

    def _illegal(self, dealer: Any) -> Any:
        """Return an action that is not legal now; ``None`` if all are."""
        assert self.hosted.match is not None
        legal = {*self.stage.game.legal_actions(self.hosted.match.state)}
        fitting = [action for action in self.actions if action not in legal]
        return dealer.choice(fitting) if fitting else None

    async def _wrong(
        self, seat: int, dealer: Any, step: int, *, readable: bool
    ) -> None:
        """Let a seat answer its request wrongly."""
        bot = self.bots[seat]
        request = await bot.request()
        where = self.where(seat, decision_id=request.decision_id)
        decision = pb.Decision(**where, note=f"{dealer.below(1000)}")
        if readable:
            action = self._illegal(dealer)
            if action is None:
                return
            self.choose(seat, decision, action, step)
        elif step % 2:
            decision.text = f"nonsense {dealer.below(1000)}"
        else:
            decision.action = bytes([0xC1]) * (1 + dealer.below(9))
        await bot.send(decision=decision)
        await bot.last(
            "decision_closed", lambda one: one.decision_id == request.decision_id
        )

    def _in_full(self, *, own: bool) -> bool:
        """Say whether this is the first turn of its kind, in a match to try all."""
        first = own not in self._tried
        self._tried.add(own)
        return first and self.script.number in {1, 3}

    async def _own_faults(self, seat: int, step: int) -> None:
        full = self._in_full(own=True)
        if full or step % 2 == 0:
            await self._wrong(seat, self.common, step, readable=True)
        if full or step % 3 == 0:
            await self._wrong(seat, self.common, step, readable=False)

    async def _others_turn(self, seat: int, step: int) -> None:
        full = self._in_full(own=False)
        if full or step % 2 == 1:
            await self._wrong(seat, self.secret, step, readable=True)
        if full or step % 3 == 2:
            await self._wrong(seat, self.secret, step, readable=False)
        await self.bots[seat].request()
        await self.sync()
        if full or step % 2 == 0:
            await self.lose_and_resume(seat)

    # -- the link

    async def _own_link(self, seat: int, step: int) -> None:
        if not self.may_lose:
            return
        match step % 5:
            case 0:
                await self.lose_and_resume(seat)
            case 1:
                await self.replace(seat)
            case 2:
                await self.lose(seat)
                await self.begin_anew(seat)
            case 3:
                await self.lose_and_resume(seat, acked=True)
        await self.bots[seat].request()

    # -------------------------------------------------------------- to be ruled on

    async def _fail(self, seat: int, how: str, step: int) -> None:
        """Let a seat whose request is open do what a ruling follows.

        Args:
            seat: that is asked.
            how: as a `Script` names it.
            step: of the match.
        """
        bot = self.bots[seat]
        dealer = self.common if seat == self.viewer else self.secret
        request = await bot.request()
        if how == "resign":
            where = self.where(seat, decision_id=request.decision_id)
            await bot.send(resign=pb.Resign(**where))
        elif how in {"illegal", "malformed"}:
            for _ in range(request.attempt, 2 + RETRIES):
                await self._wrong(seat, dealer, step, readable=how == "illegal")
        elif how == "late":
            await self._be_late(seat, dealer, step)
        elif how == "lost":
            await self.lose(seat)
            await until(lambda: self._rulings(Fault.DISCONNECTED))
        else:
            assert how == "flood"
            text = "x" * (LARGEST + dealer.below(1000))
            await bot.send(decision=pb.Decision(**self.where(seat), note=text))
            await bot.left()

    def _rulings(self, fault: Fault) -> int:
        return 0 if self.hosted.match is None else self.hosted.match.rulings[fault]

    async def _be_late(self, seat: int, dealer: Any, step: int) -> None:
        """Let the clock of a seat run out, and decide after that."""
        assert self.hosted.match is not None
        bot = self.bots[seat]
        await self.pause(seat)
        # Nobody waits so long.
        self.hosted.match.clocks[seat].charge(MOVE_MS - 1 - dealer.below(9))
        await self.go_on()
        request = await bot.request()
        await bot.last(
            "decision_closed", lambda one: one.decision_id == request.decision_id
        )
        for _ in range(2 if seat == self.viewer else dealer.below(4)):
            action = dealer.choice(self.actions)
            await bot.send(decision=self._decision(seat, request, action, step))
        await bot.sync()
        await self.sync()

    # ------------------------------------------------------------------------- the end

    async def _end(self) -> None:
        seat = self.pair.last
        if self.viewer is None:
            if seat is not None:
                await self.bots[seat].request()
            else:
                await until(lambda: self.hosted.over)
            await self.watch(after_event=0, picture=2)
        if seat is None:
            return
        await self.bots[seat].request()
        await self.sync()
        ending = self.script.ending
        if ending in {"illegal", "flood", "late"} or (
            ending == "resign" and len(self.seats) == 2
        ):
            await self._fail(seat, ending, self.script.number)
        elif ending == "lost":
            await self.lose(seat)
            await until(lambda: self.hosted.over)
            if seat == self.viewer:
                await self.resume(seat)
        elif ending == "void":
            self.hosted.abort(EndKind.VOID, "host.failed", "the host failed")
        else:
            self.hosted.abort(EndKind.WITHDRAWN, "match.aborted", "called off")

    async def _afterwards(self) -> None:
        for watch in self.watches:
            await watch.ended()
        if self.viewer is None:
            await self.watch(after_event=0)
            await self.watches[-1].ended()
            await self.call("GetMatch")
            await self.call("ListMatches")
            return
        seat = self.viewer
        bot = self.viewer_bot
        if self.script.ending == "flood" and self.pair.last == seat:
            await bot.left()
            await bot.open()
        else:
            await bot.last("match_ended")
            await bot.sync()
            await self.lose(seat)
            await self.resume(seat)
            if self.script.stops:
                await self.restart_after_the_end(seat)
        where = self.where(seat)
        await bot.send(decision=pb.Decision(**where, decision_id=1, index=0))
        await bot.send(ack=pb.Ack(**where, ended=True))
        await bot.sync()
        await self.call("GetMatch")
        if self.script.sealed:
            await self.call("FetchRecord", view=1)
        await self.call("WatchMatch")
