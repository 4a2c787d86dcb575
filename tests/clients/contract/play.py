"""The matches of the contract, and how an undisturbed bot of plain stubs plays them.

Every bot of the contract chooses by one rule, so all play the same matches, and are
asked the same.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any, Final

from attrs import field, frozen
from tests.clients.contract.programs import WITHIN_S
from tests.service.rawbot import RawBot, decide

from fritillary.api.v1 import bot_pb2 as pb
from fritillary.api.v1 import common_pb2
from fritillary.core.outcome import Outcome
from fritillary.plugins.discovery import Registry
from fritillary.record.terms import Terms
from fritillary.referee.seen import MatchResult
from fritillary.referee.verify import Verified, verify
from fritillary.service.arena import Arena
from fritillary.service.hosted import HostedMatch
from fritillary.service.server import Server
from fritillary.service.tokens import Role

SALT: Final = bytes(range(32))

NO_ACTION: Final = "no such action"
"""The answer of a bot that is told to answer illegally."""


@frozen
class Deal:
    """A match that can be played again.

    Args:
        game: id of the game.
        preset: of its options.
        number: of the deal, below 256.
    """

    game: str
    preset: str = ""
    number: int = 0

    @property
    def seed(self) -> bytes:
        """Of the deal."""
        return bytes([self.number] * 31 + [1])

    def create(self, arena: Arena, *players: str, **more: Any) -> HostedMatch:
        """Make the match; without players ``remote:bob`` takes all seats."""
        settings = {"preset": self.preset, "seed": self.seed, "salt": SALT, **more}
        return arena.create(self.game, players or ("remote:bob",) * 2, **settings)


SHORT: Final = Deal("lepidoptery")
"""A match of some twenty decisions."""

DEALS: Final = (SHORT, Deal("lost-cities", "single"), Deal("butterfly-garden"))
"""One match of each game."""


@frozen
class Expected:
    """How a match goes.

    Args:
        result: of the match.
        asked: what each seat is asked, as contract bots tell it.
    """

    result: MatchResult
    asked: list[dict[str, Any]] = field(repr=False)

    @property
    def content_hash(self) -> str:
        """Of its record, hex."""
        return self.result.content_hash.hex()


_known: dict[tuple[Any, ...], Expected] = {}


async def expected(
    registry: Registry,
    deal: Deal,
    terms: Terms | None = None,
    illegal: Collection[int] = (),
) -> Expected:
    """Return how a match goes whose seats are both taken by one bot.

    Args:
        registry: where the game is found.
        deal: the match.
        terms: of the match.
        illegal: decisions that are answered illegally at the first asking.
    """
    key = (deal, terms, tuple(illegal))
    if key not in _known:
        _known[key] = await _played(registry, deal, terms, illegal)
    return _known[key]


async def _played(
    registry: Registry, deal: Deal, terms: Terms | None, illegal: Collection[int]
) -> Expected:
    def play(request: pb.DecisionRequest) -> pb.BotMessage:
        if request.attempt == 1 and request.decision_id in illegal:
            return decide(request, text=NO_ACTION)
        legal = request.legal
        return decide(
            request, index=legal[(request.decision_id * 7 + request.ply) % len(legal)]
        )

    async with Arena(registry) as arena, Server(arena) as server:
        token = arena.tokens.create("bob", Role.BOT)
        bot = RawBot(
            server.address,
            token,
            play=play,
            encoding=common_pb2.ENCODING_JSON,
            legal_form=pb.LEGAL_FORM_EXPANDED,
        )
        async with bot:
            hosted = deal.create(arena, terms=terms)
            result = await arena.wait(hosted.id)
            await bot.until("match_ended", count=2, within=WITHIN_S)
        return Expected(result, _asked(bot.log))


def _asked(log: list[tuple[str, Any]]) -> list[dict[str, Any]]:
    """Return the requests of a log as contract bots tell them."""
    news: dict[int, list[int]] = {}
    asked = []
    for kind, body in log:
        if kind == "event":
            news.setdefault(body.seat, []).append(body.number)
        elif kind == "decision_request":
            asked.append(
                {
                    "seat": body.seat,
                    "decision_id": body.decision_id,
                    "ply": body.ply,
                    "legal": len(body.legal),
                    "first": body.legal_actions[0].text,
                    "observation": json.loads(body.observation),
                    "news": news.pop(body.seat, []),
                    "attempt": body.attempt,
                }
            )
    return asked


def asked_in(told: list[dict[str, Any]], match_id: str) -> list[dict[str, Any]]:
    """Return what a contract bot was asked in a match, in the same form and order."""
    left_out = {"event", "match_id"}
    return [
        {key: value for key, value in one.items() if key not in left_out}
        for one in told
        if one["event"] == "asked" and one["match_id"] == match_id
    ]


def outcome_of(result: MatchResult) -> Outcome:
    """Return the outcome of a match that counts."""
    outcome = result.finish.outcome
    assert outcome is not None
    return outcome


def verified(hosted: HostedMatch, registry: Registry) -> Verified:
    """Return the record of a match that has ended, verified."""
    path = hosted.path
    assert path is not None
    return verify(path.read_bytes(), registry)
