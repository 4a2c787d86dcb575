"""What a program gets is made of what its seat was told, and of nothing else."""

from __future__ import annotations

import ast
import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.clients.stdio.scene import WITHIN, script

import fritillary_client
from fritillary import Registry
from fritillary.api.v1 import bot_pb2 as wire
from fritillary.record.terms import ClockSettings, EndKind
from fritillary.service.arena import Arena
from fritillary.service.server import Server
from fritillary.service.tokens import Role, TokenStore
from fritillary_client import Ask, Client, MatchInfo, reading
from fritillary_client.dealing import Promise, nonce_for
from fritillary_client.encoding import MSGPACK
from fritillary_client.stdio import Stdio
from fritillary_client.stdio_lines import ask_line, end_line, start_line

NONCE = b"mine"

FOLDER = Path(fritillary_client.__file__).parent
MODULES = sorted(FOLDER.glob("stdio*.py"))


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.stem)
def test_no_part_of_it_can_look_elsewhere(module: Path) -> None:
    imported = set()
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(node.module or "")
    ours = {name for name in imported if name.startswith("fritillary")}
    allowed = {"ask", "bot", "encoding", "errors", "reading", "values"}
    allowed |= {module.stem for module in MODULES}
    # This one looks at nothing but the text that it is given.
    ours.discard("fritillary.core.lastwords")
    assert ours <= {f"fritillary_client.{name}" for name in allowed}


def lines_of(told: list[tuple[str, wire.ServerMessage]]) -> list[bytes]:
    """Return the lines that follow from what a seat was told, in their order."""
    lines: list[bytes] = []
    news: list[wire.Event] = []
    info: MatchInfo | None = None
    promise: Promise | None = None
    for kind, message in told:
        if kind == "match_offer":
            offer = message.match_offer
            info = reading.match_info(offer, MSGPACK)
            promise = Promise(offer, nonce_for(offer, NONCE), MSGPACK)
            lines.append(start_line(info))
        elif kind == "event":
            news.append(message.event)
        elif kind == "decision_request":
            assert info is not None
            lines.append(
                ask_line(Ask(info, message.decision_request, news, MSGPACK, None))
            )
            news = []
        elif kind == "match_ended":
            assert info is not None
            assert promise is not None
            result = message.match_ended.result
            deal = promise.check(result)
            lines.append(end_line(info, reading.outcome(result, info.seat, deal)))
    return lines


@pytest.mark.system
@pytest.mark.parametrize("game", ["lepidoptery", "lost-cities", "butterfly-garden"])
async def test_lines_follow_from_the_messages_to_the_seat(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, game: str
) -> None:
    told: list[tuple[str, wire.ServerMessage]] = []
    heard = tmp_path / "heard"
    body = f"""
    with open({str(heard)!r}, "w") as file:
        for text in sys.stdin:
            file.write(text)
            line = json.loads(text)
            if line["type"] == "ask":
                legal = line["legal"]
                say({{"index": legal[line["seed"] % len(legal)]["index"]}})
    """
    received = Client._on_message

    def note(client: Client, kind: str, message: wire.ServerMessage) -> None:
        told.append((kind, message))
        received(client, kind, message)

    monkeypatch.setattr(Client, "_on_message", note)
    registry = Registry()
    registry.load()
    arena = Arena(registry, tokens=TokenStore())
    settings: Mapping[str, Any] = {"matches": 1, "legal": "expanded", "nonce": NONCE}
    program = Stdio(script(body))
    async with Server(arena) as server, arena:
        token = arena.tokens.create("a", Role.BOT, passing=True)
        client = Client(program, address=server.address, token=token, **settings)
        task = asyncio.ensure_future(client.run())
        one = arena.create(
            game,
            ["remote:a", "uniform"],
            clocks=ClockSettings(base_ms=600_000),
            wait_for_remote=True,
        )
        assert (await one.ended).finish.kind is EndKind.PLAYED
        await asyncio.wait_for(task, WITHIN)
    lines = heard.read_bytes().splitlines(keepends=True)
    assert len(lines) > 5
    assert lines == lines_of(told)
