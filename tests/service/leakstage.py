"""Servers for the two worlds, with games that begin where they are told to."""

from __future__ import annotations

import types
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
from tests.service.house import crash
from tests.service.tape import channel
from tests.service.worlds import Rules

from fritillary import Plugin, Registry, VariantInfo, hookimpl
from fritillary.core.dealer import SealedDealer
from fritillary.service.arena import Arena
from fritillary.service.limits import Limits
from fritillary.service.server import Server
from fritillary.service.tokens import Role, TokenStore

#: In bytes; a frame of more is flooding.
LARGEST = 20_000


def _mark(dealer: Any) -> int:
    """Return what tells one deal from others."""
    mark: int = dealer.stream("begun").below(1 << 53)
    return mark


class Beginnings:
    """A variant under which matches begin with a state that is set here.

    Args:
        game: id of the game.
    """

    def __init__(self, game: str) -> None:
        self._game = game
        self._begin: Callable[[Any], Any] | None = None
        self._of: dict[int, Callable[[Any], Any]] = {}

    def set(self, begin: Callable[[Any], Any], seed: bytes | None = None) -> None:
        """Set what the next match begins with, or the one with a seed, unmixed.

        Args:
            begin: makes the state for its options.
            seed: 32 bytes of the deal; ``None`` for any, and nothing else is kept.
        """
        if seed is None:
            self._begin = begin
            self._of.clear()
        else:
            self._of[_mark(SealedDealer(seed).stream("deal"))] = begin

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
            begin = (
                self._of.get(_mark(dealer), self._begin) if self._of else self._begin
            )
            # Options are tried out by a deal before there is a match.
            return dealt if begin is None else begin(options)

        module = types.SimpleNamespace(
            describe_variant=describe_variant, new_state=new_state
        )
        return Plugin("begun", module)


#: Loading games takes longer than most matches; plugins are kept for their identity.
_loaded: dict[
    tuple[int, ...], tuple[tuple[Plugin, ...], Registry, Beginnings, str]
] = {}


def _load(
    plugin: Plugin, variants: tuple[Plugin, ...]
) -> tuple[Registry, Beginnings, str]:
    """Return a registry, what begins matches of its game, and the game's full id."""
    key = tuple(map(id, (plugin, *variants)))
    if key not in _loaded:
        registry = Registry()
        registry.add_game(plugin)
        ((name, _),) = registry.games()
        beginnings = Beginnings(name)
        for variant in (*variants, beginnings.plugin()):
            registry.add_variant(variant)
            name += f"+{variant.name}"
        _loaded[key] = (plugin, *variants), registry, beginnings, name
    return _loaded[key][1:]


class LeakStage:
    """One world's server, which can be restarted.

    Args:
        rules: of the game.
        variants: that are played, beside the beginnings.
        folder: of records and of what is kept for a restart; ``None`` for none.

    Attributes:
        beginnings: of the matches; all stages of the same rules share them.
        game: that is played.
        arena: of the server that runs now.
        calls: a connection for calls.
    """

    def __init__(
        self, rules: Rules, variants: Iterable[Plugin], folder: Path | None
    ) -> None:
        registry, self.beginnings, self.game_name = _load(rules.plugin, tuple(variants))
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

    async def crash(self) -> None:
        """Stop as a process does that is killed: nothing is said or written."""
        await crash(self.arena, self._server)

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
