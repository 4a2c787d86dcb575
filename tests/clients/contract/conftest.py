"""A server with all games, and contract bots of each language."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.clients import languages
from tests.clients.contract.play import SHORT, Deal, asked_in, expected, verified
from tests.clients.contract.programs import ContractBot
from tests.clients.languages import Language

from fritillary.plugins.discovery import Registry
from fritillary.record.terms import EndKind
from fritillary.referee.seen import MatchResult
from fritillary.service.arena import Arena
from fritillary.service.hosted import HostedMatch
from fritillary.service.limits import Limits
from fritillary.service.server import Server
from fritillary.service.tokens import Role


@pytest.fixture(
    scope="session", params=languages.found(), ids=lambda language: language.name
)
def language(request: pytest.FixtureRequest) -> Language:
    """One language after the other, each built once."""
    made: Language = request.param
    made.make()
    return made


@pytest.fixture(scope="session")
def registry() -> Registry:
    """The games that are installed."""
    games = Registry()
    games.load()
    return games


class House:
    """A server, and the contract bots that dial in.

    Args:
        language: of the bots.
        arena: of the server.
        server: where they dial in.
    """

    def __init__(self, language: Language, arena: Arena, server: Server) -> None:
        self.language = language
        self.arena = arena
        self.server = server
        self.address = server.address
        self.bots: list[ContractBot] = []
        self._tokens: dict[str, str] = {}

    def token(self, name: str = "bob") -> str:
        """Return the token of a bot."""
        if name not in self._tokens:
            self._tokens[name] = self.arena.tokens.create(name, Role.BOT)
        return self._tokens[name]

    def bot(
        self,
        *,
        address: str = "",
        token: str = "",
        environment: dict[str, str] | None = None,
        **task: Any,
    ) -> ContractBot:
        """Return the contract bot ``bob``, which has not been started."""
        made = ContractBot(
            self.language,
            address or self.address,
            token or self.token(),
            environment,
            **task,
        )
        self.bots.append(made)
        return made

    async def started(self, **task: Any) -> ContractBot:
        """Return the contract bot ``bob``, started."""
        bot = self.bot(**task)
        await bot.start()
        return bot

    async def connected(self, **task: Any) -> ContractBot:
        """Return the contract bot ``bob``, connected."""
        bot = await self.started(**task)
        assert await bot.until("connected") == {
            "event": "connected",
            "bot": "bob",
            "resumed": False,
        }
        return bot

    def create(self, deal: Deal, *players: str, **more: Any) -> HostedMatch:
        """Make a match; without players the bot takes all seats."""
        return deal.create(self.arena, *players, **more)

    async def result(
        self, hosted: HostedMatch, kind: EndKind = EndKind.PLAYED
    ) -> MatchResult:
        """Wait for the end of a match, verify its record, and return its result."""
        result = await self.arena.wait(hosted.id)
        assert result.finish.kind is kind, result.finish
        record = verified(hosted, self.arena.registry)
        assert record.content_hash == result.content_hash.hex()
        return result

    async def went_as_ever(
        self, bot: ContractBot, hosted: HostedMatch, deal: Deal = SHORT
    ) -> MatchResult:
        """Wait for the end of a match of which the bot has all seats.

        It went as for everybody: the bot was told its end, was asked the same, nothing
        twice, and no event was missed or told twice.
        """
        result = await self.result(hosted)
        wanted = await expected(self.arena.registry, deal)
        assert result.content_hash.hex() == wanted.content_hash
        for seat in range(2):
            told = await bot.until("ended", match_id=hosted.id, seat=seat)
            assert told["kind"] == "played"
        assert asked_in(bot.events, hosted.id) == wanted.asked
        return result


Open = Callable[..., Awaitable[House]]


@pytest.fixture
async def open_house(
    language: Language, registry: Registry, tmp_path: Path
) -> AsyncIterator[Open]:
    """Opens houses; all are closed, and their bots ended, after the test."""
    houses: list[House] = []
    async with contextlib.AsyncExitStack() as stack:

        async def open_one(*, limits: Limits | None = None, **server: Any) -> House:
            records = tmp_path / "records"
            arena = Arena(registry, records=records, limits=limits)
            await stack.enter_async_context(arena)
            serving = await stack.enter_async_context(Server(arena, **server))
            houses.append(House(language, arena, serving))
            return houses[-1]

        try:
            yield open_one
        finally:
            for house in houses:
                for bot in house.bots:
                    await bot.kill()


@pytest.fixture
async def house(open_house: Open) -> House:
    """A server as it is usually."""
    return await open_house()
