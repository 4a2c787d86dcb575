"""Players that do as they are told, and what must be true of every match."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from typing import Any

from attrs import define, field, frozen
from tests.referee import race
from tests.referee.virtual_loop import run

from fritillary import Registry
from fritillary.record.events import Ended, Header, Revealed, Ruling
from fritillary.record.reader import Record, read_record
from fritillary.record.signing import Signer
from fritillary.record.terms import (
    ClockSettings,
    Consequence,
    Fault,
    FaultRule,
    PlayerInfo,
    Policy,
    Terms,
)
from fritillary.record.writer import MemorySink
from fritillary.referee.match import Match
from fritillary.referee.player import Answer, Player, PlayerFault
from fritillary.referee.seen import (
    Acted,
    Closure,
    Finish,
    MatchResult,
    Offer,
    Request,
    Ruled,
    SeatEvent,
)
from fritillary.referee.setup import MatchSetup
from fritillary.referee.verify import verify

SEED = bytes(range(32))
SALT = bytes(32)
SIGNER = Signer(bytes(range(32, 64)))


@frozen
class Do:
    """One step of a script.

    Args:
        what: an answer, or an exception to raise; ``None`` for the first legal action.
        after: seconds of thinking.
    """

    what: Answer | BaseException | None = None
    after: float = 0.0


NEVER = Do(after=1e9)

ILLEGAL = Do(Answer(index=3))
MALFORMED = Do(Answer(text="fly"))


class Scripted:
    """An asked player that follows a script, then takes the first legal action.

    Args:
        script: by number of the request, from 1.
        accept: what happens to the offer, as in the script.
        ready: what happens then.
        nonce: to bring.

    Attributes:
        log: everything it was told, in order.
    """

    inline = False
    wants_events = True
    rng = random.Random(0)

    def __init__(
        self,
        script: dict[int, Do] | None = None,
        *,
        accept: Do | None = None,
        ready: Do | None = None,
        nonce: bytes = b"",
        name: str = "scripted",
    ) -> None:
        self.info = PlayerInfo(name)
        self.script = script or {}
        self.log: list[Any] = []
        self.offer: Offer | None = None
        self._accept = accept or Do()
        self._ready = ready or Do()
        self._nonce = nonce

    async def accept(self, offer: Offer) -> bytes:
        self.offer = offer
        await self._do(self._accept)
        return self._nonce

    async def ready(self) -> None:
        await self._do(self._ready)

    async def _do(self, step: Do) -> None:
        if step.after:
            await asyncio.sleep(step.after)
        if isinstance(step.what, BaseException):
            raise step.what

    def notify(self, event: SeatEvent) -> None:
        self.log.append(event)

    async def decide(self, request: Request) -> Answer:
        self.log.append(request)
        self.look(request)
        step = self.script.get(len(self.requests), Do())
        await self._do(step)
        if isinstance(step.what, Answer):
            return step.what
        return Answer(index=race.STEPS.index(request.legal[0]))

    def look(self, request: Request) -> None:
        """Look at the request before anything else."""

    def decide_now(self, ask: Any) -> Any:
        raise NotImplementedError

    def closed(self, closure: Closure) -> None:
        self.log.append(closure)

    def end(self, result: MatchResult) -> None:
        self.log.append(result)

    def _all(self, kind: type) -> list[Any]:
        return [one for one in self.log if isinstance(one, kind)]

    @property
    def requests(self) -> list[Request]:
        return self._all(Request)

    @property
    def closures(self) -> list[Any]:
        return self._all(Closure)

    @property
    def events(self) -> list[Any]:
        return self._all(SeatEvent)

    @property
    def bodies(self) -> list[Any]:
        return [event.body for event in self.events]

    @property
    def rulings(self) -> list[Any]:
        return [body for body in self.bodies if isinstance(body, Ruled)]


class Watching:
    """Looks on."""

    def __init__(self) -> None:
        self.events: list[Any] = []
        self.results: list[MatchResult] = []

    def on_event(self, event: SeatEvent) -> None:
        self.events.append(event)

    def on_end(self, result: MatchResult) -> None:
        self.results.append(result)


@define
class Played:
    """A match that was played to its end."""

    match: Match
    result: MatchResult
    raw: bytes
    players: Sequence[Any]
    watching: Watching
    record: Record = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.record = read_record(self.raw)

    @property
    def finish(self) -> Any:
        """How it ended; without type, since an outcome may be missing."""
        return self.result.finish

    def all(self, kind: type) -> list[Any]:
        return [event for event in self.record.events if isinstance(event, kind)]

    @property
    def rulings(self) -> list[Any]:
        return self.all(Ruling)


def policy(**rules: str) -> Policy:
    """Return a policy of ``illegal="retry:2,substitute"`` and the like."""
    made = []
    for name, text in rules.items():
        *retry, consequence = text.split(",")
        retries = int(retry[0].removeprefix("retry:")) if retry else 0
        fault = Fault(name.replace("_", "-"))
        made.append(FaultRule(fault, Consequence(consequence), retries))
    return Policy.of(*made)


async def referee(
    players: Sequence[Player],
    *,
    registry: Registry = race.REGISTRY,
    game: str = "race",
    options: Any = None,
    clocks: Sequence[ClockSettings] | ClockSettings | None = None,
    terms: Terms | None = None,
    during: Callable[[Match], Any] | None = None,
    seed: bytes = SEED,
    nonces_wanted: bool = False,
    sound: bool = True,
    holds: bool = True,
    **more: Any,
) -> Played:
    """Play a match on the virtual clock of the running loop.

    Args:
        players: in seat order.
        registry: that holds the game.
        game: its id.
        options: of the game.
        clocks: of each seat, or of all; untimed if left out.
        terms: with margin 0 if left out, so that times are round.
        during: a coroutine function that runs beside the match.
        seed: of the deal.
        nonces_wanted: see `MatchSetup`.
        sound: whether to check what must be true of every match.
        holds: whether the record must verify.
        more: for the `Match`.
    """
    loop = asyncio.get_running_loop()
    if clocks is None:
        clocks = ClockSettings()
    if isinstance(clocks, ClockSettings):
        clocks = [clocks] * len(players)
    setup = MatchSetup(
        game=registry.game(game),
        players=players,
        options=options,
        clocks=clocks,
        terms=terms or Terms(margin_ms=0),
        match_id="m",
        seed=seed,
        salt=SALT,
        nonces_wanted=nonces_wanted,
    )
    sink = MemorySink()
    match = Match(setup, sink, SIGNER, now=loop.time, **more)
    watching = Watching()
    match.teller.watch(watching)
    beside = None if during is None else asyncio.create_task(during(match))
    result = await match.run()
    if beside is not None:
        await beside
    played = Played(match, result, sink.getvalue(), players, watching)
    if sound:
        check_sound(played)
    if holds:
        verify(played.raw, registry)
    return played


def played(players: Sequence[Player], **more: Any) -> Played:
    """Play a match on a fresh virtual clock."""
    return run(referee(players, **more))


def check_sound(game: Played) -> None:
    """Check what must be true of every match, however it went."""
    for player in game.players:
        if getattr(player, "wants_events", False):
            check_told(player.log, game.result)
    numbers = [event.number for event in game.watching.events]
    assert numbers == list(range(1, len(numbers) + 1))
    assert game.watching.results == [game.result]
    header, *events = game.record.events
    assert isinstance(header, Header)
    assert len(game.all(Ended)) == len(game.all(Revealed)) == 1
    ended = game.all(Ended)[0]
    finish = game.finish
    assert (ended.kind, ended.code) == (finish.kind, finish.code)
    assert (ended.outcome is None) == (finish.outcome is None)
    if finish.outcome is not None:
        assert ended.outcome.placing == finish.outcome.placing
        assert ended.outcome.scores == finish.outcome.scores
    for event in events:
        assert (getattr(event, "left_ms", None) or 0) >= 0
        assert getattr(event, "charged_ms", 0) >= 0
    assert game.match.phase == "ended"
    assert game.match.result is game.result


def check_told(log: Sequence[Any], result: MatchResult) -> None:
    """Check what one seat was told: numbers, requests and their closures, the end."""
    number = 0
    plies = 0
    open_id = None
    last_id = 0
    due: int | None = None
    finished = False
    for position, one in enumerate(log):
        if isinstance(one, SeatEvent):
            number += 1
            assert one.number == number
            assert one.ply >= plies
            plies = one.ply
            assert not finished
            assert open_id is None or not isinstance(one.body, (Acted, Ruled, Finish))
            finished = isinstance(one.body, Finish)
            due = None
        elif isinstance(one, Request):
            assert open_id is None
            assert due is None
            assert not finished
            assert one.decision_id == last_id + 1
            assert one.event_number == number
            open_id = last_id = one.decision_id
        elif isinstance(one, Closure):
            assert one.decision_id == open_id
            open_id = None
            assert (one.event_number is None) == (one.how == "withdrawn")
            assert (one.problem is None) == (one.how == "accepted")
            if one.event_number is not None:
                due = one.event_number
                assert due == number + 1
                assert isinstance(log[position + 1], SeatEvent)
        else:
            assert one is result
            assert position == len(log) - 1
    assert open_id is None
    assert finished
    assert log[-1] is result


__all__ = [
    "ILLEGAL",
    "MALFORMED",
    "NEVER",
    "Answer",
    "Do",
    "Played",
    "PlayerFault",
    "Scripted",
    "Watching",
    "check_sound",
    "check_told",
    "played",
    "policy",
    "referee",
    "run",
]
