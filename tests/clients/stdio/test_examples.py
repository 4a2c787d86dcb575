"""The example programs play on a server, every game, and leave records that hold."""

from __future__ import annotations

import asyncio
import itertools
import os
import random
import re
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.clients.stdio import examples
from tests.clients.stdio.examples import FOLDER, Example

from fritillary import Registry
from fritillary.record.events import ActionTaken
from fritillary.record.reader import read_record
from fritillary.record.terms import ClockSettings, EndKind
from fritillary.referee.verify import verify
from fritillary.service.arena import Arena
from fritillary.service.server import Server
from fritillary.service.tokens import TokenStore

pytestmark = [pytest.mark.system, pytest.mark.timeout(600)]

#: More than any needs, so that a match with one that hangs ends too.
CLOCK = ClockSettings(move_ms=60_000)

GAMES = ("lepidoptery", "lost-cities", "butterfly-garden")

FOUND = examples.found()


@pytest.fixture(scope="module")
def registry() -> Registry:
    registry = Registry()
    registry.load()
    return registry


@pytest.fixture
async def arena(registry: Registry) -> AsyncIterator[Arena]:
    arena = Arena(registry, tokens=TokenStore())
    async with Server(arena), arena:
        yield arena


def dealt(seed: int) -> dict[str, Any]:
    return {
        "seed": seed.to_bytes(32, "big"),
        "salt": bytes(32),
        "match_id": f"m-{seed}",
        "nonces_wanted": False,
        "clocks": CLOCK,
    }


@pytest.mark.parametrize("example", FOUND, ids=lambda example: example.file)
async def test_an_example_plays_every_game(arena, registry, tmp_path, example) -> None:
    player = example.player(tmp_path)
    hosted = [
        arena.create(game, [player, "uniform"], **dealt(number))
        for number, game in enumerate(GAMES)
    ]
    for one in hosted:
        result = await one.ended
        assert result.finish.kind is EndKind.PLAYED, one.problems
        assert verify(one.record(), registry).plies == result.plies
        seat = read_record(one.record()).header.seats[0]
        assert seat.player.name == Path(example.file).stem
        assert seat.player.player.startswith("stdio:")
        assert str(tmp_path) not in seat.player.player


async def test_examples_play_each_other(arena, registry, tmp_path) -> None:
    players = [each.player(tmp_path) for each in FOUND]
    hosted = [
        arena.create("lepidoptery", [a, b], **dealt(number))
        for number, (a, b) in enumerate(itertools.pairwise(players))
    ]
    assert hosted
    for one in hosted:
        assert (await one.ended).finish.kind is EndKind.PLAYED, one.problems
        verify(one.record(), registry)


@pytest.mark.parametrize("example", FOUND, ids=lambda example: example.file)
async def test_the_same_deal_gives_the_same_play(registry, tmp_path, example) -> None:
    player = example.player(tmp_path)
    chosen = []
    for _ in range(2):
        arena = Arena(registry, tokens=TokenStore())
        async with Server(arena), arena:
            one = arena.create("lepidoptery", [player, "uniform"], **dealt(5))
            await one.ended
            events = read_record(one.record()).events
            chosen.append(
                [(e.seat, e.index) for e in events if isinstance(e, ActionTaken)]
            )
    assert chosen[0] == chosen[1] != []


@pytest.mark.parametrize(
    "example",
    [each for each in FOUND if each.file == "thoughtful.pl"],
    ids=lambda example: example.file,
)
async def test_the_one_that_looks_at_the_board_beats_chance(
    arena, tmp_path, example: Example
) -> None:
    player = example.player(tmp_path)
    won = 0
    for number in range(4):
        pair = [player, "uniform"] if number % 2 else ["uniform", player]
        results = await asyncio.gather(
            *(
                arena.play("lepidoptery", pair, **dealt(100 + 10 * number + deal))
                for deal in range(3)
            )
        )
        won += sum(
            result.finish.outcome.placing[pair.index(player)] == 1 for result in results
        )
    assert won >= 9


def test_examples_are_short() -> None:
    sizes = {
        each.file: len(
            [
                line
                for line in (FOLDER / each.file).read_text("utf-8").splitlines()
                if line.strip() and not re.match(r'\s*(#|"""|/\*|\*)', line)
            ]
        )
        for each in examples.EXAMPLES
    }
    assert sizes["uniform.py"] <= 10
    assert sizes["uniform.sh"] <= 10
    assert sizes["uniform.c"] <= 80
    assert sizes["thoughtful.pl"] <= 80


@pytest.mark.parametrize(
    "example",
    [each for each in FOUND if each.file == "uniform.c"],
    ids=lambda example: example.file,
)
def test_it_survives_lines_of_any_kind(tmp_path: Path, example: Example) -> None:
    checked = ("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    program = examples.built(FOLDER / example.file, tmp_path, *checked)
    chance = random.Random(1)
    line = (
        b'{"type":"ask","seed":7,"legal":[{"index":4,"text":"a\\"}]"},{"index":9}]}\n'
    )
    spoilt = bytearray()
    for _ in range(3000):
        copy = bytearray(line)
        for _ in range(chance.randrange(4)):
            copy[chance.randrange(len(copy))] = chance.randrange(256)
        spoilt += copy[: chance.randrange(1, len(copy) + 1)] + b"\n"
    spoilt += b"[" * 100_000 + b"\n" + b'{"type":' + b'{"a":' * 50_000 + b"\n"
    done = subprocess.run(
        [str(program)],
        input=bytes(spoilt) + b"\n" + line,
        capture_output=True,
        timeout=120,
        check=False,
        env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"},
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.endswith(b'{"index":9}\n')
