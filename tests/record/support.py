"""Real matches with scripted players, and the means to lie about them afterwards."""

from __future__ import annotations

import asyncio
import functools
import random
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import attrs
from examples.pig import pig
from tests.record import guess

import fritillary_games.lepidoptery
import fritillary_games.lepidoptery.variants.no_pass
from fritillary import Game, Outcome, Plugin, Registry
from fritillary.codec.packing import pack
from fritillary.core.commitment import mix_nonces
from fritillary.record.chain import FIRST_LINK, MAGIC, frame, link_after
from fritillary.record.content import Content
from fritillary.record.events import (
    Closed,
    Dealt,
    Header,
    RecordEvent,
    Revealed,
    event_to_data,
)
from fritillary.record.reader import read_record
from fritillary.record.signing import Signer, signed_message
from fritillary.record.terms import (
    ClockSettings,
    EndKind,
    Fault,
    PlayerInfo,
    Terms,
    parse_clock,
    parse_policy,
)
from fritillary.record.writer import MemorySink
from fritillary.referee.match import Match
from fritillary.referee.player import Answer, PlayerFault
from fritillary.referee.setup import MatchSetup

SEED = bytes(range(32))
SALT = bytes(range(100, 132))
SIGNER = Signer(bytes(range(200, 232)))


@functools.cache
def registry() -> Registry:
    found = Registry()
    lepidoptery = fritillary_games.lepidoptery
    found.add_game(Plugin("lepidoptery", lepidoptery, "fritillary"))
    found.add_game(Plugin("pig", pig))
    found.add_game(Plugin("guess", guess))
    no_pass = fritillary_games.lepidoptery.variants.no_pass
    found.add_variant(Plugin("no-pass", no_pass, "fritillary"))
    return found


def game(name: str) -> Game[Any, Any, Any]:
    return registry().game(name)


class FakeTime:
    """A clock that moves when told to."""

    def __init__(self) -> None:
        self.ms = 0

    def __call__(self) -> float:
        return self.ms / 1000


#: ``(player, request) -> answer``; may raise a fault.
Choose = Callable[["Scripted", Any], Any]


def first(_: Any, request: Any) -> Answer:
    return Answer(action=request.legal[0])


def uniform(player: Scripted, request: Any) -> Answer:
    return Answer(action=player.rng.choice(request.legal))


def in_turn(*chooses: Choose, then: Choose = uniform) -> Choose:
    """Answer by one function after the other, then always by the last."""

    def choose(player: Scripted, request: Any) -> Any:
        which = player.asked - 1
        return (chooses[which] if which < len(chooses) else then)(player, request)

    return choose


def illegal(player: Scripted, request: Any) -> Answer:
    """Answer with the first action of the table that is not legal."""
    table = player.table
    return next(
        Answer(index=index)
        for index, action in enumerate(table.actions)
        if action not in request.legal
    )


def resign(_: Any, __: Any) -> Answer:
    return Answer(resign=True)


def fault(kind: Fault, **details: Any) -> Choose:
    def choose(_: Any, __: Any) -> Answer:
        raise PlayerFault(kind, f"the player has the fault {kind.value}", **details)

    return choose


def after(ms: int, choose: Choose = uniform) -> Choose:
    """Answer after so much time, whatever the player usually takes."""

    def slowly(player: Scripted, request: Any) -> Any:
        player.time.ms += ms - player.takes_ms
        return choose(player, request)

    return slowly


def breaks(_: Any, __: Any) -> Answer:
    """Fail as no player may: the referee takes the blame."""
    raise ZeroDivisionError


class Scripted:
    """A player that answers by a function, in a time of its own choosing."""

    inline = False
    wants_events = False

    def __init__(
        self,
        choose: Choose = uniform,
        *,
        name: str = "scripted",
        nonce: bytes = b"",
        refuses: bool = False,
        takes_ms: int = 7,
    ) -> None:
        self.choose = choose
        self.info = PlayerInfo(name)
        self.nonce = nonce
        self.refuses = refuses
        self.takes_ms = takes_ms
        self.asked = 0
        self.rng = random.Random(name)
        self.time = FakeTime()
        self.match: Any = None
        self.table: Any = None

    async def accept(self, offer: Any) -> bytes:
        self.table = offer.game.table(offer.options, len(offer.seats))
        if self.refuses:
            raise PlayerFault(Fault.REFUSED_TO_START, "no", code="offer.declined")
        return self.nonce

    async def ready(self) -> None:
        return

    def notify(self, event: Any) -> None:
        return

    async def decide(self, request: Any) -> Answer:
        self.asked += 1
        self.time.ms += self.takes_ms
        answer = self.choose(self, request)
        if answer is None:
            await asyncio.sleep(60)
        return answer

    def closed(self, closure: Any) -> None:
        return

    def end(self, result: Any) -> None:
        return


def pause(player: Scripted, _: Any) -> None:
    """Stop the match and let it go on at once."""
    assert player.match.pause("a pause")
    player.match.resume()


def end(kind: Any, code: str = "host.closing", *, paused: bool = False, outcome=None):
    """End the match from outside."""

    def choose(player: Scripted, _: Any) -> None:
        if paused:
            player.match.pause("a pause")
            # Once the pause has begun.
            asyncio.get_running_loop().call_later(
                0.001, player.match.abort, kind, code, "it has to end", outcome
            )
        else:
            player.match.abort(kind, code, "it has to end", outcome)

    return choose


def play(
    name: str = "lepidoptery",
    *chooses: Choose,
    players: Sequence[Scripted] = (),
    clock: str | Sequence[str] = "",
    policy: Iterable[str] = (),
    options: Any = None,
    signer: Signer = SIGNER,
    terms: Terms | None = None,
    setup: dict[str, Any] | None = None,
    prepared: Callable[[Match], Any] = lambda _: None,
    **rest: Any,
) -> bytes:
    """Play a match and return its record."""
    seated = list(players) or [
        Scripted(choose, name=f"player {seat}") for seat, choose in enumerate(chooses)
    ]
    clocks: list[ClockSettings]
    if isinstance(clock, str):
        clocks = [parse_clock(clock)] * len(seated)
    else:
        clocks = [parse_clock(one) for one in clock]
    sink = MemorySink()
    time = FakeTime()
    match = Match(
        MatchSetup(
            **{
                "game": game(name),
                "options": options,
                "players": seated,
                "clocks": clocks,
                "terms": terms or Terms(policy=parse_policy(list(policy))),
                "match_id": "m-test",
                "seed": SEED,
                "salt": SALT,
                **(setup or {}),
            }
        ),
        sink,
        signer,
        now=time,
        **rest,
    )
    for player in seated:
        player.time, player.match = time, match
    prepared(match)
    asyncio.run(match.run())
    return sink.getvalue()


# ----------------------------------------------------------------------------- lies


def chained(payloads: Iterable[bytes]) -> bytes:
    """Return a file of payloads, each linked to the one before."""
    raw, link = MAGIC, FIRST_LINK
    for payload in payloads:
        link = link_after(link, payload)
        raw += frame(payload, link)
    return raw


def payload(event: RecordEvent) -> bytes:
    return pack(event_to_data(event))


def content_of(events: Sequence[RecordEvent]) -> bytes:
    """Return the content hash that a host would compute for events."""
    header = events[0]
    assert isinstance(header, Header)
    content = Content(header)
    dealt = next((event for event in events if isinstance(event, Dealt)), None)
    revealed = next((event for event in events if isinstance(event, Revealed)), None)
    if dealt is not None and revealed is not None:
        nonces = [bytes.fromhex(nonce) for nonce in dealt.nonces]
        content.dealt(mix_nonces(bytes.fromhex(revealed.seed), nonces))
    for event in events:
        content.add(event)
    return content.digest()


def closed(
    events: Sequence[RecordEvent],
    signer: Signer = SIGNER,
    *,
    content: bytes | None = None,
) -> bytes:
    """Return the record of events, the closing one left out, chained and signed."""
    raw = chained(map(payload, events))
    if content is None:
        content = content_of(events)
    signature = signer.sign(signed_message(raw[-32:], content))
    last = Closed(content.hex(), signer.public.hex(), signature.hex())
    return chained(map(payload, [*events, last]))


def all_events(raw: bytes) -> tuple[Any, ...]:
    """Return the events of a record, of whatever class each is."""
    return read_record(raw).events


def open_events(raw: bytes) -> list[Any]:
    """Return the events of a record without the closing one."""
    return list(read_record(raw).events[:-1])


def find(events: Sequence[RecordEvent], kind: type, nth: int = 0, **fields: Any) -> int:
    """Return the number of the nth event of a class with such fields."""
    fitting = [
        number
        for number, event in enumerate(events)
        if isinstance(event, kind)
        and all(getattr(event, name) == value for name, value in fields.items())
    ]
    return fitting[nth]


def change(events: list[Any], number: int, **fields: Any) -> int:
    """Change fields of an event; return its number."""
    events[number] = attrs.evolve(events[number], **fields)
    return number


# ---------------------------------------------------------- one record of every kind


def _text(player: Scripted, request: Any) -> Answer:
    return Answer(text="no such action")


RECORDS: dict[str, Callable[[], bytes]] = {
    "played": lambda: play(
        "lepidoptery",
        uniform,
        uniform,
        clock="1min+1s",
        options=game("lepidoptery").info.presets["classic"],
    ),
    "ruled": lambda: play(
        "lepidoptery",
        uniform,
        in_turn(illegal, illegal, uniform, _text, uniform),
        clock="1min+1s",
        policy=["illegal=retry:1,substitute", "malformed=retry:1,substitute"],
    ),
    "forfeited": lambda: play("lepidoptery", uniform, illegal),
    "void": lambda: play("lepidoptery", uniform, illegal, policy=["illegal=void"]),
    "chance": lambda: play("pig", uniform, uniform, clock="move=1s,bank=2s,turn=3s"),
    "hidden": lambda: play(
        "guess",
        players=[
            Scripted(name=f"player {seat}", nonce=bytes([seat] * seat))
            for seat in range(3)
        ],
        setup={"nonces_wanted": True},
    ),
    "stand-in": lambda: play(
        "pig",
        uniform,
        in_turn(uniform, resign),
        uniform,
        clock="2s+1s",
        options=pig.Options(target=10, rounds=9),
    ),
    "late": lambda: play("pig", uniform, in_turn(uniform, after(2_500)), clock="2s"),
    "late-forgiven": lambda: play(
        "pig",
        in_turn(after(1_040), after(2_500)),
        uniform,
        clock="move=1s",
        policy=["late=substitute"],
        options=pig.Options(target=10, rounds=3),
    ),
    "resigned": lambda: play("lepidoptery", uniform, resign),
    "crashed": lambda: play(
        "guess", in_turn(illegal_text, fault(Fault.CRASHED)), uniform, uniform
    ),
    "refused": lambda: play(
        "pig", players=[Scripted(refuses=True), Scripted(), Scripted(refuses=True)]
    ),
    "refused-one": lambda: play(
        "guess", players=[Scripted(), Scripted(refuses=True), Scripted()]
    ),
    "nobody-ready": lambda: play("pig", players=[Scripted(refuses=True)] * 2),
    "paused": lambda: play("lepidoptery", in_turn(uniform, pause), uniform, clock="9s"),
    "withdrawn": lambda: play("lepidoptery", uniform, end(EndKind.WITHDRAWN)),
    "withdrawn-in-a-pause": lambda: play(
        "lepidoptery", uniform, end(EndKind.WITHDRAWN, paused=True)
    ),
    "withdrawn-before-the-deal": lambda: play(
        "pig",
        uniform,
        uniform,
        prepared=lambda match: match.abort(EndKind.WITHDRAWN, "host.closing", ""),
    ),
    "adjudicated": lambda: play(
        "pig",
        uniform,
        end(EndKind.ADJUDICATED, outcome=Outcome.ranked("jury", (5, 7))),
    ),
    "referee-error": lambda: play("pig", uniform, breaks),
    "too-long": lambda: play("guess", *[uniform] * 4, options=guess.Options(rounds=5)),
    "deal-failed": lambda: play(
        "guess", uniform, uniform, options=guess.Options(fail="new_state")
    ),
}


def illegal_text(player: Scripted, request: Any) -> Answer:
    """Answer with a hidden chance action, which no seat may take."""
    return Answer(data={"type": "hide", "digit": 3})


@functools.cache
def record_of(name: str) -> bytes:
    return RECORDS[name]()
