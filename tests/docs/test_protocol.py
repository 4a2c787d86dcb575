"""docs/protocol.md: its tables are those of the code, its links and commands work.

With FRITILLARY_REWRITE_GOLDEN=1 its generated parts are written anew. That its words
are enough to write a client is shown by tests/clients/test_reflection_bot.py.
"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import sys
from pathlib import Path

import pytest
from docs import codes, fill_codes, fill_protocol
from google.protobuf.descriptor import Descriptor, EnumDescriptor

from fritillary import Registry
from fritillary.api.v1 import (
    bot_pb2,
    catalog_pb2,
    common_pb2,
    match_pb2,
    simulator_pb2,
)
from fritillary.service.arena import Arena
from fritillary.service.server import Server

PAGE = fill_protocol.PAGE
REWRITE = bool(os.environ.get("FRITILLARY_REWRITE_GOLDEN"))

#: What clients say of themselves.
OF_BOTS = {
    "bot.declined",
    "bot.stopping",
    "game.not-announced",
    "game.other-table",
}

CODE = re.compile(r"`([a-z]+(?:\.[a-z]+(?:-[a-z]+)*)+)`")


def text() -> str:
    return PAGE.read_text("utf-8")


def prose() -> str:
    return fill_protocol.PART.sub("", text())


def anchors() -> list[str]:
    headings = re.findall(r"^#+ (.*)$", text(), re.MULTILINE)
    return [re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings]


def test_the_generated_parts_are_those_of_the_code():
    wanted = fill_protocol.filled(text())
    if REWRITE:
        PAGE.write_text(wanted, "utf-8")
    assert text() == wanted
    named = re.findall(r"<!-- generated: (\w+) -->", text())
    assert sorted(named) == sorted(fill_protocol.PARTS)


def test_every_service_message_field_and_value_is_documented():
    for name, source in fill_protocol.sources().items():
        file = source.file
        assert source.about, name
        for index, service in enumerate(file.service):
            assert source.comment(6, index), service.name
            for number, method in enumerate(service.method):
                assert source.comment(6, index, 2, number), method.name
        for index, message in enumerate(file.message_type):
            assert source.comment(4, index), message.name
            for number, field in enumerate(message.field):
                assert source.comment(4, index, 2, number), (message.name, field.name)
        for index, enum in enumerate(file.enum_type):
            assert source.comment(5, index), enum.name
            for number, value in enumerate(enum.value):
                assert source.comment(5, index, 2, number), value.name


@pytest.mark.parametrize(
    "module", [bot_pb2, catalog_pb2, common_pb2, match_pb2, simulator_pb2]
)
def test_every_message_and_field_is_on_the_page(module):
    def section(found: Descriptor | EnumDescriptor) -> str:
        _, _, rest = text().partition(f"\n#### {found.name}\n")
        return rest.partition("\n#### ")[0]

    for message in module.DESCRIPTOR.message_types_by_name.values():
        for field in message.fields:
            assert f"| {field.number} | `{field.name}` |" in section(message)
    for enum in module.DESCRIPTOR.enum_types_by_name.values():
        for value in enum.values:
            assert f"| {value.number} | `{value.name}` |" in section(enum)


def test_every_message_of_a_stream_stands_in_the_conversation():
    _, _, rest = prose().partition("## The conversation\n")
    conversation = rest.partition("\n### ")[0]
    for message in (bot_pb2.BotMessage, bot_pb2.ServerMessage):
        for field in message.DESCRIPTOR.oneofs[0].fields:
            assert field.message_type is not None
            name = field.message_type.name
            assert re.search(rf"\b{name}\b", conversation), name


def test_every_code_that_the_code_knows_has_a_meaning_and_a_mend():
    assert fill_codes.untold() == set()
    assert fill_codes.gone() == set()
    for code, what in {**codes.CODES, **codes.FAMILIES}.items():
        assert what.places, code
        assert what.meaning.endswith("."), code
        assert what.mend.endswith((".", ".)")), code


def test_a_code_that_is_new_is_missed(monkeypatch):
    known = {**codes.CODES}
    del known["decision.stale"], known["usage.salt"], known["fault.late"]
    monkeypatch.setattr(fill_codes, "CODES", known)
    assert fill_codes.untold() == {"decision.stale", "usage.salt", "fault.late"}
    monkeypatch.setattr(fill_codes, "CODES", {**known, "no.more": known["match.id"]})
    assert "no.more" in fill_codes.gone()


def test_codes_in_the_words_of_the_page_and_of_the_proto_are_codes():
    known = {*codes.CODES, *OF_BOTS}
    families = {each.partition(".")[0] for each in known}
    comments = "".join(path.read_text("utf-8") for path in protos())
    fields = set(re.findall(r" (\w+) = \d+;", comments))
    found = [
        code
        for code in (*CODE.findall(prose()), *CODE.findall(comments))
        if code.partition(".")[0] in families
        and code.rpartition(".")[2] not in fields - {"nonce"}
    ]
    assert len(found) > 50
    assert set(found) - known == {"decision.joint"}  # the name of a feature


def protos() -> list[Path]:
    return sorted((fill_protocol.ROOT / "proto").rglob("*.proto"))


def test_links_within_the_page_lead_to_one_heading():
    found = anchors()
    assert len(found) == len(set(found))
    for link in re.findall(r"\]\(#([^)]+)\)", text()):
        assert link in found, link


@pytest.mark.parametrize("page", sorted(PAGE.parent.glob("*.md")), ids=lambda p: p.name)
def test_links_to_this_page_lead_to_a_heading(page):
    for link in re.findall(r"\]\(protocol\.md#([^)]+)\)", page.read_text("utf-8")):
        assert link in anchors(), link


@pytest.mark.system
async def test_the_commands_on_the_page_run():
    commands = re.findall(r"^ *\$ (.*)$", text(), re.MULTILINE)
    assert len(commands) == 2
    registry = Registry()
    registry.load()
    said = []
    async with Arena(registry) as arena, Server(arena) as server:
        for command in commands:
            words = shlex.split(command.replace("127.0.0.1:7447", server.address))
            assert words[0] == "buf"
            process = await asyncio.create_subprocess_exec(
                str(Path(sys.executable).with_name("buf")),
                *words[1:],
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            out, err = await process.communicate()
            assert process.returncode == 0, err.decode()
            said.append(out.decode())
    assert "fritillary.api.v1.BotService/Connect\n" in said[0]
    assert '"lepidoptery"' in said[1]
