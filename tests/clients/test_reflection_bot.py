"""docs/protocol.md is enough: bots that have read nothing else play matches."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from fritillary import Registry
from fritillary.record.terms import EndKind
from fritillary.referee.verify import verify
from fritillary.service.arena import Arena
from fritillary.service.server import Server
from fritillary.service.tokens import Role, TokenStore

pytestmark = pytest.mark.system

BOT = Path(__file__).with_name("reflection_bot.py")
BUF = str(Path(sys.executable).with_name("buf"))
CONNECT = "fritillary.api.v1.BotService/Connect"

#: To start a program, or to play a match; a busy machine is no bug.
WITHIN = 90.0


@pytest.fixture
async def arena(tmp_path):
    registry = Registry()
    registry.load()
    async with (
        Arena(registry, records=tmp_path, tokens=TokenStore()) as found,
        Server(found),
    ):
        yield found


async def played(arena: Arena, game: str, player: str, **settings: Any) -> str:
    """Play a match to its end; return the hash of what its record says happened."""
    async with asyncio.timeout(WITHIN):
        result = await arena.play(
            game, [player, "uniform"], seed=bytes(range(32)), **settings
        )
    assert result.finish.kind is EndKind.PLAYED, result.finish
    record = arena.match(result.match_id).record()
    return verify(record, arena.registry).content_hash


def test_the_bot_imports_nothing_of_ours():
    found: set[str] = set()
    for node in ast.walk(ast.parse(BOT.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found.update(each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            found.add(node.module or "")
    assert {each.partition(".")[0] for each in found} <= {
        *sys.stdlib_module_names,
        "google",
        "grpc",
        "grpc_reflection",
    }
    # Nor by another way.
    assert {"importlib", "runpy", "subprocess"}.isdisjoint(found)
    assert "__import__" not in BOT.read_text("utf-8")


def by_reflection(*options: str) -> str:
    """Return the bot as a player."""
    return f"exec:{shlex.join([sys.executable, str(BOT), *options])}"


FORMS = pytest.mark.parametrize("form", [(), ("--packed",)], ids=["expanded", "packed"])


@FORMS
@pytest.mark.parametrize("game", ["lepidoptery", "lost-cities"])
async def test_a_bot_by_reflection_alone_plays_a_match(arena, tmp_path, game, form):
    player = by_reflection(*form)
    await played(arena, game, player, match_id="m", nonces_wanted=True)
    assert "ended: " in await told(tmp_path / "m.seat0.log")


@FORMS
async def test_a_bot_by_reflection_alone_resumes(arena, tmp_path, form):
    whole = await played(arena, "lost-cities", by_reflection(*form), match_id="whole")
    assert "the link is cut" not in await told(tmp_path / "whole.seat0.log")
    player = by_reflection(*form, "--cut", "5")
    cut = await played(arena, "lost-cities", player, match_id="cut")
    log = await told(tmp_path / "cut.seat0.log")
    assert "the link is cut" in log
    assert "resumed: True" in log
    assert cut == whole


@FORMS
async def test_a_bot_by_reflection_alone_keeps_the_protocol(tmp_path, form):
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "fritillary", "check-bot", by_reflection(*form)),
        *("--game", "lepidoptery", "--json"),
        env={**os.environ, "FRITILLARY_DATA": str(tmp_path)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(WITHIN):
            out, errors = await process.communicate()
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
    assert process.returncode == 0, (out.decode(), errors.decode())


async def told(log: Path) -> str:
    """Return the log of a program, which is written when it has ended."""
    async with asyncio.timeout(WITHIN):
        while not (log.exists() and log.stat().st_size):  # noqa: ASYNC110 - a file
            await asyncio.sleep(0.01)
    return log.read_text("utf-8")


async def test_buf_curl_plays_a_match(arena):
    token = arena.tokens.create("curl", Role.BOT)
    process = await asyncio.create_subprocess_exec(
        BUF,
        "curl",
        *("--protocol", "grpc", "--http2-prior-knowledge"),
        *("--header", f"authorization: Bearer {token}"),
        *("--data", "@-", f"http://{arena.address}/{CONNECT}"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    bot = asyncio.ensure_future(by_hand(process))
    try:
        await played(arena, "lepidoptery", "remote:curl")
        async with asyncio.timeout(WITHIN):
            assert await bot == "played"
            _, said = await process.communicate()
        assert process.returncode == 0, said
    finally:
        bot.cancel()
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def by_hand(process: asyncio.subprocess.Process) -> str:
    """Play as the page says: answer what comes with the line that it asks for."""
    said = process.stdin
    assert said is not None
    assert process.stdout is not None

    def say(**message: Any) -> None:
        said.write(json.dumps({"messages": [message]}).encode() + b"\n")

    say(hello={"bot": {"name": "curl"}})
    decoder = json.JSONDecoder()
    heard = ""
    while True:
        chunk = await process.stdout.read(65_536)
        assert chunk, "the stream has ended too early"
        heard = (heard + chunk.decode()).lstrip()
        while heard:
            try:
                frame, end = decoder.raw_decode(heard)
            except json.JSONDecodeError:
                break  # the rest is still to come
            heard = heard[end:].lstrip()
            for message in frame["messages"]:
                ((kind, body),) = message.items()
                where = {
                    "matchId": body.get("matchId", ""),
                    "seat": body.get("seat", 0),
                }
                if kind == "ping":
                    say(pong={"id": body["id"]})
                elif kind == "matchOffer":
                    say(accept=where)
                    say(ready=where)
                elif kind == "decisionRequest":
                    decision_id, index = body["decisionId"], body["legal"][0]
                    say(decision={**where, "decisionId": decision_id, "index": index})
                elif kind == "matchEnded":
                    say(ack={**where, "ended": True})
                    say(goodbye={"code": "bot.stopping"})
                    said.close()
                    return "played"
