"""A data folder, and the servers that use it one after the other."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from tests.service import pig
from tests.service.rawbot import RawBot, first_legal

from fritillary.api.v1 import bot_pb2 as pb
from fritillary.plugins.discovery import Registry
from fritillary.record.chain import length_of
from fritillary.record.reader import read_record
from fritillary.record.signing import Signer
from fritillary.record.terms import LinkBank, Policy, Terms
from fritillary.service.arena import Arena
from fritillary.service.private import PrivateFolder
from fritillary.service.server import Server
from fritillary.service.tokens import Role, TokenStore

SEED = bytes(range(32))
SECRET = bytes(32)
SIGNER = Signer(bytes(range(32)))

#: For programs, which a busy machine may take long to start, at first and again.
PATIENT = Terms(
    policy=Policy.of(link=LinkBank(loss_ms=100_000, total_ms=200_000)),
    offer_ms=100_000,
)


class Deaf(RawBot):
    """Does not acknowledge ends."""

    def _answers(self, kind: str, body: Any) -> list[pb.BotMessage]:
        return [] if kind == "match_ended" else super()._answers(kind, body)


class House:
    """A data folder, and the servers that use it one after the other."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tokens = TokenStore()
        self.text = self.tokens.create("bob", Role.BOT)
        self.arena: Any = None
        self.server: Any = None
        self.taken_up = 0

    @property
    def signer(self) -> Signer:
        return SIGNER

    @property
    def records(self) -> Path:
        return self.path / "records"

    @property
    def private(self) -> PrivateFolder:
        return PrivateFolder(self.path / "private")

    @property
    def address(self) -> str:
        address: str = self.server.address
        return address

    def token(self, name: str, role: Role) -> str:
        """Return a fresh token."""
        return self.tokens.create(name, role)

    async def start(
        self,
        registry: Registry | None = None,
        *,
        programs: bool = True,
        address: str = "127.0.0.1:0",
        **more: Any,
    ) -> Any:
        self.arena = Arena(
            registry or pig.registry(),
            SIGNER,
            records=self.records,
            private=self.private.path,
            tokens=self.tokens,
            **more,
        )
        self.taken_up = self.arena.take_up(programs=programs)
        self.server = Server(self.arena, address, session_secret=SECRET)
        await self.server.start()
        return self.arena

    async def stop(self) -> None:
        """Stop in order."""
        await self.arena.close()
        await self.server.stop()
        self.arena = None

    async def crash(self) -> None:
        """Stop as a process does that is killed: nothing is said or written."""
        await crash(self.arena, self.server)
        self.arena = None

    def bot(self, **settings: Any) -> RawBot:
        return RawBot(self.server.address, self.text, **settings)

    def deaf_bot(self, **settings: Any) -> RawBot:
        return Deaf(self.server.address, self.text, **settings)

    def record(self, match_id: str = "m") -> Any:
        raw = (self.records / f"{match_id}.frec").read_bytes()
        return read_record(raw, unfinished=True)

    def cut(self, events: int, *, torn: bytes = b"") -> None:
        """Cut the record off after so many events."""
        path = self.records / "m.frec"
        raw = path.read_bytes()
        path.write_bytes(raw[: length_of(raw, events)] + torn)
        path.chmod(0o600)

    def create(self, *players: str, **more: Any) -> Any:
        settings = {"match_id": "m", "seed": SEED, "salt": SEED, **more}
        return self.arena.create(
            "pig", players or ("remote:bob", "uniform"), **settings
        )


async def crash(arena: Any, server: Server) -> None:
    """Stop an arena and its server as if their process was killed."""
    for sessions in arena.hub.sessions():
        sessions._finish()
    tasks = list(arena.running.tasks.values())
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    arena.running.tasks.clear()
    arena._keeping.close()
    await server.stop()


def plays(count):
    """Answer so many requests, then fall silent."""
    left = [count]

    def play(request):
        left[0] -= 1
        return first_legal(request) if left[0] >= 0 else None

    return play
