"""The kinds of attack: what each may lead to, and how many frames it gets."""

from __future__ import annotations

import fnmatch
import random
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, Final

from attrs import define, field, frozen
from tests.service.fuzz.attacker import Attacker
from tests.service.fuzz.http2 import Http2, message
from tests.service.fuzz.server import ATTACKERS
from tests.service.fuzz.tally import Tally

from fritillary.api.v1 import common_pb2, match_pb2

MATCHES: Final = "/fritillary.api.v1.MatchService"
CATALOG: Final = "/fritillary.api.v1.CatalogService"

#: Names of attackers that one kind has for itself.
_NAMES: Final = 2

#: What notices may say of a message that changes nothing.
NOTICES: Final = frozenset(
    {
        *("frame.malformed", "message.empty", "hello.repeated", "match.unknown"),
        *("seat.missing", "seat.wrong", "seat.taken", "seat.not-accepted"),
        *("decision.unknown", "decision.stale", "nonce.too-long"),
    }
)

#: How a stream of a bot may be closed that came too early for the one before.
REPLACED: Final = frozenset({"session.replaced", "limit.streams"})


@define
class Field:
    """Where an attack takes place.

    Args:
        address: of the server.
        tokens: by name.
        rng: of the attack.
        tally: of the attack.
        names: of the bots that attack, for nobody else.
        matches: ids of matches of others that go on or did.
    """

    address: str
    tokens: Mapping[str, str]
    rng: random.Random
    tally: Tally = field(factory=Tally)
    names: tuple[str, ...] = ATTACKERS[:_NAMES]
    matches: list[str] = field(factory=list)

    @property
    def token(self) -> str:
        """Token of the first attacker."""
        return self.tokens[self.names[0]]

    def attacker(self, **settings: Any) -> Attacker:
        """Return a stream of the first attacker, not yet open."""
        return Attacker(self.address, self.token, self.tally, **settings)

    async def tidy(self) -> None:
        """Have the attackers come once more and leave in order.

        What the server keeps for bots that may come back is theirs to let go of.
        """
        for name in self.names:
            bot = Attacker(self.address, self.tokens[name], Tally(), hello={})
            async with bot:
                await bot.sync()

    def left(self, count: int) -> Iterator[int]:
        """Yield how many frames are still to be sent, as long as there are any."""
        while self.tally.sent < count and len(self.tally.wrong) < 5:
            yield count - self.tally.sent


@frozen
class Kind:
    """One kind of attack.

    Args:
        name: of it.
        run: sends so many frames, calls or connections.
        expected: patterns of codes that it may lead to.
        share: of the frames of the long form, in relation to others.
        few: so many are enough for a look.
    """

    name: str
    run: Callable[[Field, int], Awaitable[None]]
    expected: frozenset[str]
    share: float
    few: int

    def unexpected(self, tally: Tally) -> list[str]:
        """Return what must not have come of it."""
        codes = {
            code
            for code in (*tally.codes, *tally.cut)
            if any(fnmatch.fnmatchcase(code, one) for one in self.expected)
        }
        return tally.judge(frozenset(codes))


KINDS: Final[dict[str, Kind]] = {}

_Run = Callable[[Field, int], Awaitable[None]]


def kind(name: str, *expected: str, share: float, few: int) -> Callable[[_Run], _Run]:
    """Enter an attack among the kinds."""

    def enter(run: _Run) -> _Run:
        KINDS[name] = Kind(name, run, frozenset(expected), share, few)
        return run

    return enter


def names_of(number: int) -> tuple[str, ...]:
    """Return the attackers of the kind of a number."""
    start = number * _NAMES
    return ATTACKERS[start : start + _NAMES]


# ---------------------------------------------------------------------------- calls


async def ask(
    http2: Http2, method: str, token: str, payload: bytes, **settings: Any
) -> str:
    """Call a method once; return how it ended.

    Args:
        http2: the connection.
        method: full name.
        token: of the caller.
        payload: the request, or what passes for it.
        **settings: of `Http2.call`.
    """
    stream = await http2.call(method, token, **settings)
    await http2.data(stream, message(payload), end=True)
    how = await http2.ended(stream)
    http2.forget(stream)
    return how


async def make_match(
    field: Field,
    game: str = "pig",
    *,
    retries: int = 5,
    preset: str = "",
    loss_ms: int = 300,
) -> str:
    """Have a match made in which the first attacker has the first seat.

    It goes on whatever the bot answers, and ends soon after the bot has gone.

    Returns:
        The id of the match; empty if it was refused.
    """
    substituted = (common_pb2.FAULT_ILLEGAL, common_pb2.FAULT_MALFORMED)
    request = match_pb2.CreateMatchRequest(
        game=game,
        seats=[
            match_pb2.SeatRequest(player=f"remote:{field.names[0]}"),
            match_pb2.SeatRequest(player="uniform"),
        ],
        terms=common_pb2.MatchTerms(
            policy=common_pb2.Policy(
                rules=[
                    common_pb2.FaultRule(
                        fault=fault,
                        retries=retries,
                        consequence=common_pb2.CONSEQUENCE_SUBSTITUTE,
                    )
                    for fault in substituted
                ],
                link=common_pb2.LinkBank(loss_ms=loss_ms, total_ms=1_000),
            ),
            offer_ms=1_000,
            ready_ms=1_000,
        ),
    )
    if preset:
        request.options.preset = preset
    made: list[str] = []
    # The server closes connections that were idle, as a client has to expect.
    async with Http2(field.address) as http2:
        how = await ask(
            http2,
            f"{MATCHES}/CreateMatch",
            field.tokens["mallory"],
            request.SerializeToString(),
            hears=lambda raw: made.append(
                match_pb2.CreateMatchResponse.FromString(raw).match.match_id
            ),
        )
    field.tally.expect(made, f"no match could be made: {how}")
    return made[0] if made else ""
