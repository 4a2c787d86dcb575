"""Honest matches: what comes of them must not depend on who else is about."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final, Self

import grpc
from attrs import frozen
from tests.service.calls import bearer
from tests.service.fuzz.server import HONEST
from tests.service.rawbot import RawBot, decide

from fritillary.api.v1 import bot_pb2 as pb
from fritillary.api.v1 import common_pb2, match_pb2, match_pb2_grpc
from fritillary.record.reader import content_hash, read_record


@frozen
class Fixture:
    """A match that is played again and again, always the same.

    Args:
        game: that is played.
        players: in seat order.
        move_ms: for one decision; 0: untimed.
    """

    game: str
    players: tuple[str, ...]
    move_ms: int = 0

    @property
    def seed(self) -> bytes:
        """The seed of its deal."""
        return hashlib.sha256(repr(self).encode()).digest()

    @property
    def clock(self) -> common_pb2.Clock | None:
        """The clock of its seats."""
        return common_pb2.Clock(move_ms=self.move_ms) if self.move_ms else None


FIXTURES: Final = (
    Fixture("pig", ("remote:ann", "uniform")),
    Fixture("lepidoptery", ("remote:ann", "remote:ben")),
    Fixture("lost-cities", ("uniform", "remote:ben")),
    # Whoever holds up the server takes time from those who think.
    Fixture("lepidoptery", ("uniform", "remote:ann"), move_ms=5_000),
)


def steadily(request: pb.DecisionRequest) -> pb.BotMessage:
    """Answer what follows from the observation alone."""
    digest = hashlib.sha256(request.observation).digest()
    choice = int.from_bytes(digest[:4], "big") % len(request.legal)
    return decide(request, index=request.legal[choice])


class Honest:
    """Bots that play as they should, and the referee who has them play.

    Args:
        address: of the server.
        tokens: by name.

    Attributes:
        seen: how often a match led to a content hash.
        failed: sentences on matches that came to nothing.
    """

    def __init__(self, address: str, tokens: Mapping[str, str]) -> None:
        self._address = address
        self._tokens = tokens
        self._stack = contextlib.AsyncExitStack()
        self._stub: Any = None
        self._bots: list[RawBot] = []
        self.seen: dict[Fixture, Counter[str]] = {one: Counter() for one in FIXTURES}
        self.failed: list[str] = []

    async def __aenter__(self) -> Self:
        self._bots = [
            await self._stack.enter_async_context(
                RawBot(self._address, self._tokens[name], play=steadily, capacity=9)
            )
            for name in HONEST
        ]
        channel = await self._stack.enter_async_context(
            grpc.aio.insecure_channel(
                self._address, options=(("grpc.use_local_subchannel_pool", 1),)
            )
        )
        self._stub = match_pb2_grpc.MatchServiceStub(channel)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def play(self, fixture: Fixture, within: float = 120) -> str:
        """Play a match, watch it to its end, and return its content hash.

        Raises:
            TimeoutError: if it does not end.
            RpcError: if it cannot be played.
        """
        as_referee = bearer(self._tokens["referee"])
        async with asyncio.timeout(within):
            made = await self._stub.CreateMatch(
                match_pb2.CreateMatchRequest(
                    game=fixture.game,
                    seats=[
                        match_pb2.SeatRequest(player=player)
                        for player in fixture.players
                    ],
                    seed=fixture.seed,
                    salt=fixture.seed,
                    clock=fixture.clock,
                ),
                metadata=as_referee,
            )
            match_id = made.match.match_id
            request = match_pb2.WatchMatchRequest(match_id=match_id)
            async for _ in self._stub.WatchMatch(request, metadata=as_referee):
                pass
            fetched = match_pb2.FetchRecordRequest(
                match_id=match_id, view=match_pb2.RECORD_VIEW_FULL
            )
            raw = b""
            async for chunk in self._stub.FetchRecord(fetched, metadata=as_referee):
                raw += chunk.data
        for bot in self._bots:
            bot.log.clear()
        return content_hash(read_record(raw)).hex()

    async def round(self) -> None:
        """Play each match once, and note what came of it."""
        for fixture in FIXTURES:
            try:
                self.seen[fixture][await self.play(fixture)] += 1
            except (grpc.RpcError, TimeoutError) as error:
                told = (
                    error.details() if isinstance(error, grpc.aio.AioRpcError) else ""
                )
                self.failed.append(
                    f"{fixture.game}: {told or repr(error)}{self._farewells()}"[:300]
                )

    def _farewells(self) -> str:
        """Return why the server has sent bots away, if it has."""
        ends = [
            f"; {name}: {goodbye.code} {goodbye.message}"
            for name, bot in zip(HONEST, self._bots, strict=True)
            for goodbye in bot.all("goodbye")
        ]
        return "".join(ends)

    async def on_and_on(self) -> None:
        """Play all matches again and again until cancelled."""
        while True:
            await self.round()
            # Matches that are always under way would leave no room for the rest.
            await asyncio.sleep(0.5)
