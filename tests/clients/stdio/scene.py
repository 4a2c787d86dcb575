"""Programs on their own: what a seat is told is made up here, without a server."""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

from fritillary.api.v1 import bot_pb2 as wire
from fritillary_client import Answer, Ask, MatchInfo, Outcome, Player
from fritillary_client.encoding import JSON
from fritillary_client.stdio import Stdio, StdioBot

#: For a program to start, answer or end, in seconds; a busy machine is no bug.
WITHIN = 60.0

INFO = MatchInfo(
    match_id="m-1",
    game="nim",
    full_id="nim",
    rules_version=1,
    seat=0,
    seats=2,
    players=(Player(seat=0, name="a"), Player(seat=1, name="b")),
    options={"heaps": [3, 4, 5]},
    seed=77,
)

OUTCOME = Outcome(
    seat=0, kind="played", reason="last-stone", scores=(1, 0), placing=(1, 2)
)

#: Reads a line into `told`, and writes lines; the first lines of each script.
_HEAD = """
import json, os, signal, sys, time
def told():
    line = sys.stdin.readline()
    if not line:
        sys.exit()
    return json.loads(line)
def asked():
    while (line := told())["type"] != "ask":
        pass
    return line
def say(*lines):
    for line in lines:
        print(line if isinstance(line, str) else json.dumps(line), flush=True)
def raw(data):
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
"""


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something to become true."""
    async with asyncio.timeout(WITHIN):
        while not condition():  # noqa: ASYNC110 - any condition
            await asyncio.sleep(0.01)


def ask(
    decision_id: int, *, legal: Sequence[int] = (0, 1, 2), info: MatchInfo = INFO
) -> Ask:
    """Return a question; its observation names the decision."""
    request = wire.DecisionRequest(
        match_id=info.match_id,
        seat=info.seat,
        decision_id=decision_id,
        observation=json.dumps({"decision": decision_id}).encode(),
        legal=legal,
        legal_actions=[
            wire.LegalAction(
                index=each,
                text=f"take {each}",
                action=json.dumps({"stones": each}).encode(),
            )
            for each in legal
        ],
        attempt=1,
    )
    return Ask(info, request, [], JSON, None)


def script(body: str) -> tuple[str, ...]:
    """Return the words of a Python program; see ``_HEAD`` for what it may use."""
    return (sys.executable, "-S", "-c", _HEAD + textwrap.dedent(body))


def written(folder: Path, body: str, name: str = "bot.py") -> str:
    """Write a program into a file; return the player that it is."""
    path = folder / name
    path.write_text(_HEAD + textwrap.dedent(body))
    return f"stdio:{shlex.join([sys.executable, str(path)])}"


class Played:
    """A program in one match.

    Attributes:
        log: what it said besides its answers.
    """

    def __init__(self, words: Sequence[str], **settings: Any) -> None:
        self.log: list[str] = []
        self.made_by = Stdio(words, log=self.log.append, **settings)
        bot = self.made_by()
        assert isinstance(bot, StdioBot)
        self.bot = bot

    async def __aenter__(self) -> Self:
        await self.bot.start(INFO)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.end()

    async def answer(self, decision_id: int) -> Answer:
        """Ask, and wait for the answer."""
        return await asyncio.wait_for(self.bot.decide(ask(decision_id)), WITHIN)

    async def close(self, decision_id: int) -> None:
        """Ask, and wait no longer, as where the time is up."""
        asking = asyncio.ensure_future(self.bot.decide(ask(decision_id)))
        await asyncio.sleep(0)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)

    async def end(self) -> None:
        """End the match, and thereby the program."""
        await asyncio.wait_for(self.bot.end(OUTCOME), WITHIN)
