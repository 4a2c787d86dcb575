"""The seats of one match in one world: bots, streams, calls, and how it is to go."""

from __future__ import annotations

from typing import Any, Final

from attrs import define, evolve, field
from tests.service.leakscripts import Script
from tests.service.leakstage import LeakStage
from tests.service.tape import Tape, WatchTape, call, until
from tests.service.worlds import Pair, Rules

from fritillary import FastDealer
from fritillary.api.v1 import bot_pb2 as pb
from fritillary.api.v1 import common_pb2, match_pb2
from fritillary.record.terms import (
    ClockSettings,
    Consequence,
    Fault,
    FaultRule,
    LinkBank,
    Policy,
    Terms,
)
from fritillary.service import wire
from fritillary.service.hosted import HostedMatch
from fritillary.service.tokens import Role

RETRIES = 3

#: For a decision, in milliseconds; far more than it takes.
MOVE_MS: Final = 600_000

#: Faults that end the match, or take a seat out of it.
FATAL: Final = (
    Fault.ILLEGAL,
    Fault.MALFORMED,
    Fault.LATE,
    Fault.DISCONNECTED,
    Fault.FLOODING,
    Fault.REFUSED_TO_START,
)


@define
class Heard:
    """All that a viewer was sent.

    Args:
        streams: every stream, as raw messages; ``None`` where one has ended.
        frames: of every stream, how many messages came in each frame; empty where
            that depends on how busy the machine is.
        watches: every stream of updates, with the error that ended it.
        calls: method and answer, or refusal, of every call.
        lines: of the server's journal; they are the host's, and tell no more.
    """

    streams: list[list[bytes | None]] = field(factory=list)
    frames: list[list[int]] = field(factory=list)
    watches: list[tuple[list[bytes], tuple[Any, ...]]] = field(factory=list)
    calls: list[tuple[str, bytes | tuple[Any, ...]]] = field(factory=list)
    lines: list[str] = field(factory=list)


class Table:
    """The seats of one match of one world, their bots, and who looks on.

    Args:
        stage: the server.
        rules: of the game.
        pair: both worlds and the line.
        which: of the two worlds this is.
        script: how the match goes.

    Attributes:
        bots: by seat, each with its newest stream.
        tapes: the streams of the viewer's bot; a new one for one that replaces another.
        hosted: the match.
        secret: differs between the worlds; decides what the viewer must not hear of.
        common: the same in both.
    """

    def __init__(
        self, stage: LeakStage, rules: Rules, pair: Pair, which: int, script: Script
    ) -> None:
        self.stage = stage
        self.pair = pair
        self.which = which
        self.script = script
        self.viewer = pair.viewer
        self.world = pair.worlds[which]
        self.seats = range(rules.seats)
        self.match_id = f"m-{script.number}-{pair.viewer}"
        self.heard = Heard()
        self.tapes: list[Tape] = []
        self.bots: dict[int, Tape] = {}
        self.watches: list[WatchTape] = []
        self.secret = FastDealer(f"secret/{which}/{script.number}")
        self.common = FastDealer(f"common/{script.number}")
        table = stage.game.table(self.world.state.options, rules.seats)
        self.actions = table.actions or rules.actions
        self.hosted: HostedMatch

    @property
    def viewer_bot(self) -> Tape:
        """The viewer's newest stream."""
        return self.tapes[-1]

    # ---------------------------------------------------------------------- the match

    async def connect(self) -> None:
        """Let every bot dial in, in seat order."""
        for seat in self.seats:
            bot = self._tape(seat)
            self.bots[seat] = bot
            if seat == self.viewer:
                self.tapes.append(bot)
            await bot.open()

    def _tape(self, seat: int) -> Tape:
        script = self.script
        json, msgpack = common_pb2.ENCODING_JSON, common_pb2.ENCODING_MSGPACK
        mine = seat == self.viewer
        other = json if script.encoding == msgpack else msgpack
        return Tape(
            self.stage.arena.address,
            self.stage.token(f"bot-{seat}"),
            seat,
            bot=common_pb2.PlayerInfo(name=f"Bot {seat}", version="1", build="b"),
            encoding=script.encoding if mine else other,
            legal_form=self._form(expanded=script.expanded if mine else True),
            capacity=1,
        )

    @staticmethod
    def _form(*, expanded: bool) -> Any:
        return pb.LEGAL_FORM_EXPANDED if expanded else pb.LEGAL_FORM_PACKED

    def create(self) -> None:
        """Make the match."""
        world, script = self.world, self.script
        codec = self.stage.game.codec
        raw = codec.encode_state(world.state)
        self.stage.beginnings.set(lambda options: codec.decode_state(raw, options))
        # Labels are shown to spectators, not to bots.
        secret = "" if self.viewer is None else f"world {self.which}"
        self.hosted = self.stage.arena.create(
            self.stage.game_name,
            [f"remote:bot-{seat}" for seat in self.seats],
            options=world.state.options,
            clocks=self._clock(),
            terms=Terms(policy=self._policy()),
            match_id=self.match_id,
            seed=world.seed,
            salt=world.salt,
            nonces_wanted=script.mixed,
            labels={"plan": secret, "script": str(script.number)},
            sealed=script.sealed,
        )

    def _policy(self) -> Policy:
        script = self.script
        # Where it is not looked at, a stand-in might do what the viewer can tell apart.
        fatal = Consequence.FORFEIT
        if len(self.seats) > 2 and not script.fails:
            fatal = Consequence.VOID
        again = {Fault.ILLEGAL, Fault.MALFORMED}
        rules = {
            fault: FaultRule(fault, fatal, RETRIES if fault in again else 0)
            for fault in FATAL
        }
        if script.substitutes:
            fault = Fault(script.substitutes)
            rules[fault] = evolve(rules[fault], consequence=Consequence.SUBSTITUTE)
        lost = "lost" in {script.ending, script.fails}
        link = LinkBank(loss_ms=30 if lost else 30_000)
        return Policy.of(*rules.values(), link=link)

    def _clock(self) -> ClockSettings:
        if not self.script.timed:
            return ClockSettings()
        if "late" in {self.script.ending, self.script.substitutes}:
            # What is spent in one decision is not missing in the next.
            return ClockSettings(move_ms=MOVE_MS)
        return ClockSettings(
            base_ms=600_000, increment_ms=1_000, move_ms=300_000, bank_ms=60_000
        )

    def where(self, seat: int, **more: Any) -> dict[str, Any]:
        """Return the fields that say which match and seat a message is about."""
        return {"match_id": self.match_id, "seat": seat, **more}

    async def sync(self) -> None:
        """Wait until the viewer, if its bot is there, has all that was said so far."""
        if self.viewer is not None and self.viewer_bot.is_open:
            await self.viewer_bot.sync()

    # ----------------------------------------------------------------------- the link

    @property
    def may_lose(self) -> bool:
        """Whether links may be lost without an end to the match."""
        return "lost" not in {self.script.ending, self.script.fails}

    async def lose(self, seat: int) -> None:
        """Cut the link of a seat, and wait until the server knows."""
        await self.bots[seat].cut()
        name = f"bot-{seat}"
        await until(lambda: self.stage.arena.hub.link(name).session is None)

    async def resume(
        self, seat: int, *, acked: bool = False, awaiting: str = "ping"
    ) -> None:
        """Dial in again with the token of the session.

        Args:
            seat: of the bot.
            acked: acknowledge what was heard.
            awaiting: a kind of message that comes before anything more is said.
        """
        bot = self.bots[seat]
        acks = []
        if acked:
            numbers = [body.number for kind, body in bot.log if kind == "event"]
            acks.append(
                pb.Ack(
                    **self.where(seat),
                    event_number=max(numbers, default=0),
                    closed_decision_id=bot.closed_id,
                )
            )
        await bot.open(awaiting, session_token=bot.session_token, acks=acks)

    async def lose_and_resume(self, seat: int, *, acked: bool = False) -> None:
        """Lose the link of a seat for a moment."""
        if self.may_lose:
            await self.lose(seat)
            if seat != self.viewer:
                await self.sync()
            await self.resume(seat, acked=acked)
            await self.sync()

    async def begin_anew(self, seat: int) -> None:
        """Dial in without the token of the session: the seat is offered again."""
        bot = self.bots[seat]
        await bot.open(session_token="", acks=[])
        await bot.last("match_offer")
        await bot.send(accept=pb.Accept(**self.where(seat)))
        await bot.send(ready=pb.Ready(**self.where(seat)))
        await bot.sync()

    async def replace(self, seat: int) -> None:
        """Dial in while the stream before is still there."""
        before = self.bots[seat]
        tape = self._tape(seat)
        tape.closed_id = before.closed_id
        self.bots[seat] = tape
        self.tapes.append(tape)
        await tape.open(session_token=before.session_token)
        await before.left()

    # -------------------------------------------------------------------- the server

    async def restart(self, seat: int, *, anew: bool) -> None:
        """Restart the server while a request of a seat is open.

        Args:
            seat: that is asked.
            anew: whether the viewer's bot does not go on with its session.
        """
        stops = self.script.stops
        if stops == "paused":
            await self.pause(seat)
        await self._start_anew()
        self.hosted = self.stage.arena.match(self.match_id)
        await until(lambda: len(self.hosted.players) == len(self.seats))
        if self.viewer is None:
            await self.watches[-1].ended()
            await self.watch(after_event=0, view_each_event=True)
        for one in self.bots:
            if anew and one == self.viewer:
                await self.begin_anew(one)
            else:
                await self.resume(one)
            if one != self.viewer and self.viewer in range(one):
                await self.sync()
        if stops == "paused":
            await self.go_on()
        await self.bots[seat].request()
        await self.sync()

    async def pause(self, seat: int) -> None:
        """Pause the match while a request of a seat is open."""
        self.hosted.pause("a break")
        await until(lambda: self.hosted.phase == "paused")
        await self.bots[seat].sync()
        await self.sync()

    async def go_on(self) -> None:
        """End a pause."""
        self.hosted.resume()
        await until(lambda: self.hosted.phase != "paused")

    async def restart_after_the_end(self, seat: int) -> None:
        """Restart the server before a bot has acknowledged the end."""
        await self._start_anew()
        # What was missed is read first, which takes some time.
        await self.resume(seat, awaiting="match_ended")

    async def _start_anew(self) -> None:
        if self.script.stops == "crash":
            await self.stage.crash()
        else:
            await self.stage.stop()
        for bot in self.bots.values():
            await bot.left()
        await self.stage.start()
        for bot in self.bots.values():
            await bot.move(self.stage.arena.address)

    # ------------------------------------------------------------------ what is said

    def choose(self, seat: int, decision: pb.Decision, action: Any, step: int) -> None:
        """Name an action in a decision, in one of the three ways in turn."""
        game = self.stage.game
        table = game.table(self.world.state.options, len(self.seats))
        if step % 3 == 0 and action in table.index:
            decision.index = table.index[action]
        elif step % 3 == 1:
            decision.text = game.format_action(action)
        else:
            decision.action = self._encoded(seat, game.codec.action_to_data(action))

    def _encoded(self, seat: int, data: Any) -> bytes:
        return wire.coder(self.bots[seat].hello["encoding"]).encode(data)

    async def watch(self, role: Role = Role.SPECTATOR, **request: Any) -> None:
        """Look on, as a spectator if nothing else is said."""
        watch = WatchTape(
            self.stage.calls,
            self.stage.token(f"watcher-{role.value}", role),
            match_id=self.match_id,
            encoding=self.script.encoding,
            **request,
        )
        self.watches.append(watch)
        await watch.joined()

    async def call(
        self, method: str, role: Role = Role.SPECTATOR, **fields: Any
    ) -> None:
        """Call a method as the viewer, and keep the answer.

        Args:
            method: of MatchService.
            role: of who looks on, where the viewer has no seat.
            fields: of the request, but for the match.
        """
        if self.viewer is None:
            token = self.stage.token(f"watcher-{role.value}", role)
        else:
            token = self.stage.token(f"bot-{self.viewer}")
        if method == "ListMatches":
            fields["labels"] = {"script": str(self.script.number)}
        else:
            fields["match_id"] = self.match_id
        request = getattr(match_pb2, f"{method}Request")
        answer = await call(self.stage.calls, token, method, request(**fields))
        self.heard.calls.append((method, answer))
