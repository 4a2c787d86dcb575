"""A server's log as its commands write it: no bot can fill the disk with it."""

from __future__ import annotations

import logging

import pytest
from tests.service import pig
from tests.service.rawbot import RawBot

from fritillary.api.v1 import common_pb2
from fritillary.cli.logs import metered, told
from fritillary.service.arena import Arena
from fritillary.service.server import Server
from fritillary.service.tokens import Role


def _build(text: str) -> common_pb2.PlayerInfo:
    return common_pb2.PlayerInfo(build=text)


async def test_a_bot_that_dials_in_under_ever_new_builds_has_few_lines(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async with Arena(pig.registry()) as arena, Server(arena) as server:
        token = arena.tokens.create("bob", Role.BOT)
        with told(debug=False), metered():
            async with RawBot(
                server.address, token, capacity=30, bot=_build("1")
            ) as bob:
                for number in range(30):
                    arena.create(
                        "pig", ["remote:bob", "uniform"], match_id=f"m{number}"
                    )
                await bob.until("decision_request", count=10)
            for number in range(10):
                build = _build(f"{number}{'x' * 120}")
                async with RawBot(server.address, token, auto=False, bot=build) as one:
                    await one.until("error", count=30)
        lines = capsys.readouterr().err.splitlines()
    refused = [line for line in lines if "does not get its seat" in line]
    assert 0 < len(refused) <= 21
    [summary] = [line for line in lines if " more lines: " in line]
    assert "fritillary.service.notices" in summary


async def test_a_line_is_no_longer_than_a_few_hundred_words(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with told(debug=False), metered():
        logging.getLogger("fritillary.any").warning("%s", "y" * 100_000)
    assert len(capsys.readouterr().err) <= 1_001
