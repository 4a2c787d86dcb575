"""Servers for the two worlds, with games that begin where they are told to."""

from __future__ import annotations

import types
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
from tests.service.tape import channel
from tests.service.worlds import Rules

from fritillary import Plugin, Registry, VariantInfo, hookimpl
from fritillary.service.arena import Arena
from fritillary.service.limits import Limits
from fritillary.service.server import Server
from fritillary.service.tokens import Role, TokenStore

#: In bytes; a frame of more is flooding.
LARGEST = 20_000


class Beginnings:
    """A variant under which matches begin with a state that is set here.

    Args:
        game: id of the game.
    """

    def __init__(self, game: str) -> None:
        self._game = game
        self._begin: Callable[[Any], Any] | None = None

    def set(self, begin: Callable[[Any], Any]) -> None:
        """Set what the next match begins with.

        Args:
            begin: makes the state for its options.
        """
        self._begin = begin

    def plugin(self) -> Plugin:
        """Return the variant."""

        @hookimpl
        def describe_variant() -> VariantInfo:
            return VariantInfo(
                id="begun",
                title="Begun",
                summary="Begins in the middle.",
                version=1,
                games=(self._game,),
            )

        @hookimpl(wrapper=True)
        def new_state(options: Any, seats: int, dealer: Any) -> Any:
            dealt = yield
            # Options are tried out by a deal before there is a match.
            return dealt if self._begin is None else self._begin(options)

        module = types.SimpleNamespace(
            describe_variant=describe_variant, new_state=new_state
        )
        return Plugin("begun", module)


class LeakStage:
    """One world's server, which can be restarted.

    Args:
        rules: of the game.
        variants: that are played, beside the beginnings.
        folder: of records and of what is kept for a restart; ``None`` for none.

    Attributes:
        beginnings: of the matches.
        game: that is played.
        arena: of the server that runs now.
        calls: a connection for calls.
    """

    def __init__(
        self, rules: Rules, variants: Iterable[Plugin], folder: Path | None
    ) -> None:
        registry = Registry()
        registry.add_game(rules.plugin)
        ((self.game_name, _),) = registry.games()
        self.beginnings = Beginnings(self.game_name)
        for variant in (*variants, self.beginnings.plugin()):
            registry.add_variant(variant)
            self.game_name += f"+{variant.name}"
        self.game = registry.game(self.game_name)
        self.arena: Arena
        self.calls: grpc.aio.Channel
        self._connections: list[grpc.aio.Channel] = []
        self._registry = registry
        self._folder = folder
        self._store = TokenStore()
        self._secret = bytes(32)
        self._server: Server
        self._tokens: dict[tuple[str, Role], str] = {}

    async def start(self) -> None:
        """Listen, with what an earlier server has left."""
        kept: dict[str, Any] = {}
        if self._folder is not None:
            private = self._folder / "private"
            private.mkdir(mode=0o700, exist_ok=True)
            kept = {"records": self._folder / "records", "private": private}
        limits = Limits(max_message_bytes=LARGEST, max_streams=64)
        self.arena = Arena(self._registry, limits=limits, tokens=self._store, **kept)
        self.arena.take_up()
        self._server = Server(self.arena, session_secret=self._secret)
        await self._server.start()
        self.calls = channel(self.arena.address)
        self._connections.append(self.calls)

    async def stop(self) -> None:
        """Stop as a host does: bots are told, matches are left or called off."""
        await self.arena.close()
        await self._server.stop()

    async def leave(self) -> None:
        """Close all connections; one that is closed takes what it has not read."""
        for connection in self._connections:
            await connection.close()

    def token(self, name: str, role: Role = Role.BOT) -> str:
        """Return the token of a name."""
        key = (name, role)
        if key not in self._tokens:
            self._tokens[key] = self._store.create(name, role)
        return self._tokens[key]


@asynccontextmanager
async def leak_stage(
    rules: Rules, variants: Iterable[Plugin] = (), folder: Path | None = None
) -> AsyncIterator[LeakStage]:
    """Open a server for one world; see `LeakStage`."""
    stage = LeakStage(rules, variants, folder)
    await stage.start()
    try:
        yield stage
    finally:
        await stage.stop()
        await stage.leave()
