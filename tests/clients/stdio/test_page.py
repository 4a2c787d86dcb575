"""docs/stdio.md tells every field and every limit, and shows a real conversation.

``FRITILLARY_REWRITE_GOLDEN=1`` writes the conversation anew.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import textwrap
from pathlib import Path
from typing import Any

import attrs
import pytest
from examples.nim import nim_game
from tests.clients.languages import ROOT
from tests.clients.stdio import examples
from tests.clients.stdio.scene import INFO, OUTCOME, WITHIN, ask, script

import fritillary_client
from fritillary import Plugin, Registry
from fritillary.record.terms import EndKind
from fritillary.referee.verify import verify
from fritillary.service.arena import Arena
from fritillary.service.server import Server
from fritillary.service.tokens import Role, TokenStore
from fritillary_client import Client, Event
from fritillary_client.stdio import Stdio
from fritillary_client.stdio_lines import (
    MAX_ANSWER_BYTES,
    PROTOCOL,
    ask_line,
    end_line,
    start_line,
)
from fritillary_client.stdio_output import MAX_LOG_BYTES, MAX_LOG_LINE_BYTES
from fritillary_client.stdio_process import MAX_UNREAD_BYTES, PATIENCE_S, TERM_S

PAGE = ROOT / "docs" / "stdio.md"
START = "<!-- conversation: written by tests/clients/stdio/test_page.py -->\n"
END = "<!-- end of the conversation -->\n"


def section(heading: str) -> str:
    """Return what stands below a heading of the third or second rank."""
    _, _, after = PAGE.read_text("utf-8").partition(f"# {heading}\n")
    return re.split(r"^#", after, maxsplit=1, flags=re.MULTILINE)[0]


def listed(heading: str) -> set[str]:
    """Return the fields that a table lists."""
    names: set[str] = set()
    for row in re.findall(r"^\|(.*?)\|", section(heading), re.MULTILINE):
        names |= set(re.findall(r"`([a-z_\[\].]+)`", row))
    return {name for name in names if "." not in name}


@pytest.mark.parametrize(
    ("heading", "line"),
    [
        ("start", start_line(INFO)),
        ("ask", ask_line(ask(1))),
        ("end", end_line(INFO, OUTCOME)),
    ],
    ids=["start", "ask", "end"],
)
def test_every_field_of_a_line_is_in_its_table(heading: str, line: bytes) -> None:
    fields = json.loads(line)
    assert listed(heading) == set(fields)
    words = set(re.findall(r"`(?:[a-z]+\[\]\.)?([a-z_]+)`", section(heading)))
    inner: list[Any] = list(fields.values())
    while inner:
        value = inner.pop()
        if isinstance(value, list):
            inner += value
        elif isinstance(value, dict) and value not in (
            fields.get("options"),
            fields.get("observation"),
            {"stones": value.get("stones")},
        ):
            assert set(value) <= words
            inner += value.values()


def test_every_field_of_an_event_is_told() -> None:
    words = set(re.findall(r"`([a-z_]+)`", section("ask")))
    assert {field.name for field in attrs.fields(Event)} <= words


def test_every_field_of_an_answer_is_told() -> None:
    choices = {"index", "text", "action", "resign"}
    more = {"note", "probabilities", "decision_id", "match_id"}
    assert listed("The answer") == choices | more


def test_limits_and_version_are_those_of_the_code() -> None:
    mib = 1024 * 1024
    assert (mib, mib, 16 * mib) == (MAX_ANSWER_BYTES, MAX_LOG_BYTES, MAX_UNREAD_BYTES)
    assert MAX_LOG_LINE_BYTES == 4096
    limits = re.findall(
        r"^\| [^|]+ \| (\d+ [MK]iB) \|", section("Limits"), re.MULTILINE
    )
    assert limits == ["1 MiB", "4 KiB", "1 MiB", "16 MiB"]
    assert (PATIENCE_S, TERM_S, PROTOCOL) == (2.0, 1.0, 1)
    assert "two seconds" in section("end")
    assert "1: what this page says" in section("start")


def test_every_code_is_told() -> None:
    folder = Path(fritillary_client.__file__).parent
    code = "".join(path.read_text("utf-8") for path in folder.glob("stdio*.py"))
    told = set(re.findall(r"\| `(bot\.[a-z-]+)` \|", PAGE.read_text("utf-8")))
    assert told == {*re.findall(r'"(bot\.[a-z-]+)"', code), "bot.answer"}


@pytest.mark.parametrize(
    "example",
    [each for each in examples.found() if each.file == "uniform.sh"],
    ids=lambda example: example.file,
)
def test_the_example_by_hand_prints_what_the_page_says(example) -> None:
    text = PAGE.read_text("utf-8").partition("<!-- by hand:")[2]
    command, answer = re.findall(r"```console\n\$ (.*)\n(.*)\n```", text)[0]
    assert example.file in command
    done = subprocess.run(
        ["sh", "-c", command], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{answer}\n"


# --------------------------------------------------------------------- the conversation

_BODY = """
with open({path!r}, "w") as file:
    def keep(mark, text):
        print(mark, text.strip(), file=file, flush=True)
    def reply(line):
        keep("<", line if isinstance(line, str) else json.dumps(line))
        say(line)
    for text in sys.stdin:
        keep(">", text)
        line = json.loads(text)
        if line["type"] == "ask":
            if len(line["legal"]) == 1:
                reply({{"index": line["legal"][0]["index"]}})
            else:
                reply("thinking ...")
                action = {{"heap": 1, "stones": 1}}
                reply({{"action": action, "note": "leaves two equal heaps"}})
"""


def broken(line: str) -> str:
    """Return a line as the page shows it: broken at its fields."""
    mark, _, text = line.partition(" ")
    if not text.startswith("{"):
        return line
    dumped = json.dumps(json.loads(text), separators=(", ", ":"))
    # Between fields alone, not within texts.
    glued = re.sub(r'"[^"]*"', lambda found: found[0].replace(" ", "\0"), dumped)
    folded = textwrap.wrap(glued, 84, subsequent_indent="    ", break_long_words=False)
    return f"{mark} " + "\n".join(folded).replace("\0", " ")


async def conversation(tmp_path: Path) -> str:
    """Play the match, and return what was said."""
    registry = Registry()
    registry.add_game(Plugin("nim", nim_game))
    heard = tmp_path / "heard"
    program = Stdio(script(_BODY.format(path=str(heard))))
    arena = Arena(registry, tokens=TokenStore())
    async with Server(arena) as server, arena:
        client = Client(
            program,
            address=server.address,
            token=arena.tokens.create("a", Role.BOT, passing=True),
            name="mybot",
            matches=1,
        )
        task = asyncio.ensure_future(client.run())
        one = arena.create(
            "nim",
            ["remote:a", "uniform"],
            options={"heaps": [1, 2]},
            match_id="m-1",
            seed=bytes(32),
            salt=bytes(32),
            nonces_wanted=False,
            wait_for_remote=True,
        )
        result = await one.ended
        await asyncio.wait_for(task, WITHIN)
        assert result.finish.kind is EndKind.PLAYED
        verify(one.record(), registry)
    return "\n".join(broken(line) for line in heard.read_text().splitlines())


@pytest.mark.system
async def test_the_conversation_is_one_that_took_place(tmp_path: Path) -> None:
    said = f"\n```text\n{await conversation(tmp_path)}\n```\n\n"
    text = PAGE.read_text("utf-8")
    before, _, rest = text.partition(START)
    shown, _, after = rest.partition(END)
    if os.environ.get("FRITILLARY_REWRITE_GOLDEN"):
        PAGE.write_text(f"{before}{START}{said}{END}{after}", "utf-8")
    else:
        assert shown == said
