"""A server, and programs that play on it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from attrs import define, field
from tests.clients.stdio.scene import script

from fritillary.record.terms import LinkBank, Policy, Terms
from fritillary.service.arena import Arena
from fritillary.service.server import Server
from fritillary.service.tokens import Role
from fritillary_client import Client
from fritillary_client.stdio import Stdio

#: Notes the types of the lines, and answers by chance.
NOTES = """
with open(%r, "a") as file:
    for text in sys.stdin:
        line = json.loads(text)
        file.write(f"{line['type']} {line.get('resumed')} {os.getpid()}\\n")
        file.flush()
        if line["type"] == "ask":
            say({"index": line["legal"][line["seed"] %% len(line["legal"])]["index"]})
"""

#: A program that has ended, or a link that stays lost, has lost soon.
SHORT = Terms(policy=Policy(link=LinkBank(loss_ms=200, total_ms=200, restarts=0)))


@define
class House:
    """A server, and clients in this process."""

    arena: Arena
    server: Server
    clients: list[Client] = field(factory=list)
    tasks: list[asyncio.Task[None]] = field(factory=list)
    programs: list[Stdio] = field(factory=list)

    def token(self, name: str) -> str:
        return self.arena.tokens.create(name, Role.BOT, passing=True)

    def connect(self, name: str, body: str, **settings: Any) -> Client:
        self.programs.append(Stdio(script(body)))
        client = Client(
            self.programs[-1],
            address=self.server.address,
            token=self.token(name),
            **settings,
        )
        self.clients.append(client)
        self.tasks.append(asyncio.ensure_future(client.run()))
        return client


def noted(path: Path) -> list[list[str]]:
    """Return the words of each line of such notes."""
    return [line.split() for line in path.read_text().splitlines()]
