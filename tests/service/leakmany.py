"""Several matches on one stream: what one hides must not show in what others send.

One bot sits in a seat of two matches whose worlds differ, and in both seats of two that
are the same in both worlds. Its opponent plays a match with somebody else meanwhile, of
which it must not even learn whether there is one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final

from attrs import define, frozen
from tests.service.leakframes import steady_frames
from tests.service.leakgate import (
    MASKS,
    Report,
    check_secrets,
    compare,
    finder_for,
    note_kinds,
    places_for,
)
from tests.service.leakstage import LeakStage, leak_stage
from tests.service.leaktable import Heard
from tests.service.tape import Tape, call, until
from tests.service.worlds import Pair, Rules, Turn, Wish, World

from fritillary import FastDealer
from fritillary.api.v1 import bot_pb2 as pb
from fritillary.api.v1 import common_pb2, match_pb2
from fritillary.record.terms import (
    Consequence,
    EndKind,
    Fault,
    FaultRule,
    Policy,
    Terms,
)
from fritillary.service.hosted import HostedMatch

#: The bots: whose stream is looked at, its opponent, and whom that one plays besides.
MANY, FOE, OTHER = "many", "foe", "other"

#: The match that the bot must not learn of.
ELSEWHERE: Final = "elsewhere"

#: Of each line, at most.
_TURNS: Final = 6

_TERMS: Final = Terms(
    policy=Policy.of(FaultRule(Fault.MALFORMED, Consequence.FORFEIT, 3))
)


class Desk(Tape):
    """A bot that sits in several matches; see `Tape`."""

    def __init__(self, stage: LeakStage, name: str) -> None:
        super().__init__(
            stage.arena.address,
            stage.token(name),
            -1,
            bot=common_pb2.PlayerInfo(name=name, version="1", build="b"),
            encoding=common_pb2.ENCODING_MSGPACK,
            legal_form=pb.LEGAL_FORM_EXPANDED,
            capacity=8,
        )
        self.name = name

    async def asked(self, match_id: str, seat: int) -> pb.DecisionRequest:
        """Wait for an open request of a seat; return it."""
        closed = {
            body.decision_id
            for kind, body in self.log
            if kind == "decision_closed"
            and (body.match_id, body.seat) == (match_id, seat)
        }
        request: pb.DecisionRequest = await self.last(
            "decision_request",
            lambda one: (
                (one.match_id, one.seat) == (match_id, seat)
                and one.decision_id not in closed
            ),
        )
        return request

    async def ended(self, match_id: str) -> None:
        """Wait until the end of a match is here."""
        await self.last("match_ended", lambda one: one.match_id == match_id)

    async def put(self, *messages: pb.BotMessage) -> None:
        """Send messages in one frame."""
        await self._call.write(pb.ConnectRequest(messages=messages))


@frozen
class Game:
    """One of the matches.

    Args:
        id: of it.
        bots: one for each seat.
        pair: both worlds and the line.
        same: whether it is the first world in both.
    """

    id: str
    bots: tuple[str, ...]
    pair: Pair
    same: bool = False

    def world(self, which: int) -> World:
        """Return how it begins in one of the worlds."""
        return self.pair.worlds[0 if self.same else which]

    def action(self, turn: Turn, which: int) -> Any:
        """Return what is played in one of the worlds."""
        return turn.actions[0 if self.same else which]


@define(slots=False)
class Room:
    """All the matches in one world.

    Args:
        stage: the server.
        games: the matches.
        which: of the worlds this is.
        elsewhere: how the match begins that the bot must not learn of.
        restarts: whether the server is restarted in the middle.
    """

    stage: LeakStage
    games: Sequence[Game]
    which: int
    elsewhere: World
    restarts: bool

    async def play(self) -> Heard:
        """Play all matches; return what the bot heard that sits in them."""
        self._desks = {name: Desk(self.stage, name) for name in (MANY, FOE, OTHER)}
        self._secret = FastDealer(f"room/{self.which}")
        self._calls: list[tuple[str, bytes | tuple[Any, ...]]] = []
        try:
            for desk in self._desks.values():
                await desk.open()
            await self._begin()
            rounds = max(len(game.pair.turns) for game in self.games)
            for number in range(rounds):
                await self._round(number)
                if number == rounds // 2:
                    await self._ask_in_vain()
                    await self._lose(acked=self.restarts)
            await self._end()
        finally:
            for desk in self._desks.values():
                await desk.close()
        many = self._desks[MANY]
        return Heard([many.raw], [many.frames], [], self._calls)

    # ------------------------------------------------------------------ the beginning

    async def _begin(self) -> None:
        # Elsewhere there is a match before all others, or when all is half over.
        if self.which == 0:
            await self._begin_elsewhere()
        for game in self.games:
            await self._create(game.id, game.bots, game.world(self.which))
            for seat, name in enumerate(game.bots):
                await self._take(game.id, seat, name)

    async def _create(self, match_id: str, bots: Sequence[str], world: World) -> None:
        codec = self.stage.game.codec
        raw = codec.encode_state(world.state)
        self.stage.beginnings.set(
            lambda options: codec.decode_state(raw, options), world.seed
        )
        self.stage.arena.create(
            self.stage.game_name,
            [f"remote:{name}" for name in bots],
            options=world.state.options,
            match_id=match_id,
            seed=world.seed,
            salt=world.salt,
            terms=_TERMS,
        )

    async def _take(self, match_id: str, seat: int, name: str) -> None:
        desk = self._desks[name]
        await desk.last(
            "match_offer", lambda one: (one.match_id, one.seat) == (match_id, seat)
        )
        where: dict[str, Any] = {"match_id": match_id, "seat": seat}
        await desk.put(
            pb.BotMessage(accept=pb.Accept(**where)),
            pb.BotMessage(ready=pb.Ready(**where)),
        )
        await desk.sync()
        await self._desks[MANY].sync()

    async def _begin_elsewhere(self) -> None:
        bots = FOE, OTHER
        await self._create(ELSEWHERE, bots, self.elsewhere)
        for seat, name in enumerate(bots):
            await self._take(ELSEWHERE, seat, name)

    # --------------------------------------------------------------------- the rounds

    async def _round(self, number: int) -> None:
        """Play one turn of each match; whoever is asked in several answers at once."""
        for name in (FOE, MANY):
            desk = self._desks[name]
            answers = []
            for game, turn in self._turns(number):
                if game.bots[turn.seat] == name:
                    request = await desk.asked(game.id, turn.seat)
                    answers.append((game, turn, request))
            for game, turn, request in answers:
                if (number + len(game.id)) % 3 == 0:
                    await self._be_wrong(desk, game, turn, request)
            for game, turn, _ in answers:
                await desk.asked(game.id, turn.seat)
            await self._desks[MANY].sync()
            await desk.put(
                *[await self._decision(desk, game, turn) for game, turn, _ in answers]
            )
            played = [game.id for game, _, _ in answers]
            await self._until_ply(1 + number, played)
            await desk.sync()
            await self._desks[MANY].sync()
            await self._play_elsewhere(self._secret.below(3))
            await self._desks[MANY].sync()

    def _turns(self, number: int) -> Iterator[tuple[Game, Turn]]:
        for game in self.games:
            if number < len(game.pair.turns):
                yield game, game.pair.turns[number]

    async def _until_ply(self, ply: int, match_ids: Sequence[str]) -> None:
        arena = self.stage.arena
        await until(lambda: all(arena.match(one).ply >= ply for one in match_ids))

    async def _be_wrong(
        self, desk: Desk, game: Game, turn: Turn, request: pb.DecisionRequest
    ) -> None:
        """Decide what cannot be read; others than the bot looked at differ in it."""
        size = 3 if desk.name == MANY else 1 + self._secret.below(60)
        await desk.send(
            decision=pb.Decision(
                match_id=game.id,
                seat=turn.seat,
                decision_id=request.decision_id,
                text="x" * size,
            )
        )
        await desk.last(
            "decision_closed",
            lambda one: (
                (one.match_id, one.seat, one.decision_id)
                == (game.id, turn.seat, request.decision_id)
            ),
        )

    async def _decision(self, desk: Desk, game: Game, turn: Turn) -> pb.BotMessage:
        request = await desk.asked(game.id, turn.seat)
        action = game.action(turn, self.which)
        table = self.stage.game.table(game.world(self.which).state.options, 2)
        size = 3 if desk.name == MANY else self._secret.below(60)
        return pb.BotMessage(
            decision=pb.Decision(
                match_id=game.id,
                seat=turn.seat,
                decision_id=request.decision_id,
                index=table.index[action],
                note="n" * size,
            )
        )

    async def _play_elsewhere(self, turns: int) -> None:
        """Play some turns of which the bot must not hear; which, the world decides."""
        for _ in range(turns):
            for hosted in self.stage.arena.matches():
                if hosted.id == ELSEWHERE and not hosted.over:
                    await self._turn_elsewhere(hosted)

    async def _turn_elsewhere(self, hosted: HostedMatch) -> None:
        asked: list[int] = []

        def anyone() -> bool:
            players = hosted.players.items()
            asked[:] = (seat for seat, one in players if one.open_decision_id)
            return hosted.over or bool(asked)

        await until(anyone)
        for seat in asked:
            desk = self._desks[(FOE, OTHER)[seat]]
            # What was answered before may not have come back to the bot.
            await desk.sync()
            request = await desk.asked(ELSEWHERE, seat)
            before = hosted.ply
            await desk.send(
                decision=pb.Decision(
                    match_id=ELSEWHERE,
                    seat=seat,
                    decision_id=request.decision_id,
                    index=self._secret.choice(list(request.legal)),
                )
            )
            await self._until_ply(before + 1, [ELSEWHERE])

    # ------------------------------------------------------------------- in the middle

    async def _ask_in_vain(self) -> None:
        """Try to learn of the match elsewhere, which there is in one world alone."""
        many = self._desks[MANY]
        where: dict[str, Any] = {"match_id": ELSEWHERE, "seat": 0}
        await many.send(decision=pb.Decision(**where, decision_id=1, index=0))
        await many.send(accept=pb.Accept(**where))
        await many.send(ack=pb.Ack(**where, ended=True))
        await many.sync()
        await self._ask("GetMatch", ELSEWHERE)
        await self._ask("FetchRecord", ELSEWHERE)
        if self.which == 1:
            await self._begin_elsewhere()

    async def _ask(self, method: str, *match_ids: str) -> None:
        token = self.stage.token(MANY)
        for match_id in match_ids:
            request = getattr(match_pb2, f"{method}Request")(match_id=match_id)
            answer = await call(self.stage.calls, token, method, request)
            self._calls.append((method, answer))

    async def _lose(self, *, acked: bool) -> None:
        """Lose the link, or the server; then go on."""
        many = self._desks[MANY]
        await self._play_elsewhere(self._secret.below(3))
        if self.restarts:
            await self.stage.stop()
            for desk in self._desks.values():
                await desk.left()
            await self.stage.start()
            for desk in self._desks.values():
                await desk.move(self.stage.arena.address)
            running = [one for one in self.stage.arena.matches() if not one.over]
            await until(lambda: all(len(one.players) == 2 for one in running))
        else:
            await many.cut()
            link = self.stage.arena.hub.link(MANY)
            await until(lambda: link.session is None)
            await self._play_elsewhere(self._secret.below(3))
        acks = []
        if acked:
            numbers: dict[tuple[str, int], int] = {}
            for kind, body in many.log:
                if kind == "event":
                    numbers[body.match_id, body.seat] = body.number
            acks = [
                pb.Ack(match_id=match_id, seat=seat, event_number=number)
                for (match_id, seat), number in numbers.items()
            ]
        for desk in self._desks.values() if self.restarts else [many]:
            mine = acks if desk is many else []
            await desk.open(session_token=desk.session_token, acks=mine)
        await many.sync()

    # ------------------------------------------------------------------------ the end

    async def _end(self) -> None:
        many = self._desks[MANY]
        arena = self.stage.arena
        for number, game in enumerate(self.games):
            hosted = arena.match(game.id)
            seat = game.pair.last
            if not hosted.over and seat is not None and number % 2:
                desk = self._desks[game.bots[seat]]
                request = await desk.asked(game.id, seat)
                resign = pb.Resign(
                    match_id=game.id, seat=seat, decision_id=request.decision_id
                )
                await desk.send(resign=resign)
            elif not hosted.over:
                hosted.abort(EndKind.WITHDRAWN, "match.aborted", "called off")
            await hosted.ended
            await many.ended(game.id)
            await self._play_elsewhere(self._secret.below(3))
            await many.sync()
        await self._ask("GetMatch", *(game.id for game in self.games), ELSEWHERE)
        await self._lose_at_the_end()

    async def _lose_at_the_end(self) -> None:
        many = self._desks[MANY]
        await many.cut()
        link = self.stage.arena.hub.link(MANY)
        await until(lambda: link.session is None)
        await many.open(session_token=many.session_token, acks=[])
        for game in self.games:
            await many.send(ack=pb.Ack(match_id=game.id, ended=True))
        await many.sync()


def _games(rules: Rules, shared: str) -> tuple[Game, ...]:
    finder = finder_for(rules)
    wish = Wish(shared=shared, length=_TURNS)
    one, two, both, again = (
        finder.pair(viewer, 50 + number, wish)
        for number, viewer in enumerate((0, 1, 0, 1))
    )
    return (
        Game("hidden-a", (MANY, FOE), one),
        Game("both-a", (MANY, MANY), both, same=True),
        Game("hidden-b", (FOE, MANY), two),
        Game("both-b", (MANY, MANY), again, same=True),
    )


async def check_many(
    rules: Rules, *, shared: str = "nothing", folder: Path | None = None
) -> Report:
    """Play several matches at a time in two worlds, and compare what a bot is sent.

    Args:
        rules: of a game for two.
        shared: see `Wish`.
        folder: where the servers keep their matches for a restart, if they do.

    Raises:
        WireLeakError: if that differs, or too little does in truth.
    """
    games = _games(rules, shared)
    elsewhere = finder_for(rules).pair(0, 60, Wish()).worlds
    hidden = [game for game in games if not game.same]
    report = Report(
        pairs=len(hidden),
        different=sum(game.pair.differs for game in hidden),
        turns=sum(len(game.pair.turns) for game in games),
        secrets=sum(
            turn.actions[0] != turn.actions[1]
            for game in hidden
            for turn in game.pair.turns
        ),
    )
    heard = []
    async with AsyncExitStack() as stack:
        stack.enter_context(steady_frames())
        for which, place in enumerate(places_for(folder)):
            stage = await stack.enter_async_context(leak_stage(rules, (), place))
            room = Room(stage, games, which, elsewhere[which], folder is not None)
            heard.append(await room.play())
            for game in hidden:
                check_secrets(heard[-1], game.world(which), None)
    report.messages = compare(heard[0], heard[1], MASKS[shared], "several matches")
    note_kinds(heard[0], report.kinds)
    report.judge()
    return report
