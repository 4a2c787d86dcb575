"""Which games a bot announces, for how many matches, and what it declines."""

from __future__ import annotations

import re

import pytest
from tests.clients.python.bots import first

from fritillary.api.v1 import common_pb2 as common
from fritillary_client import Ask, Bot, Declined, GameSupport


async def test_capacity_is_lowered_as_the_last_matches_begin(arena, play):
    running = play(first, capacity=2, matches=3)
    stream = await arena.stream()
    assert (await stream.welcome()).capacity == 2
    await stream.seated("m1")
    await stream.seated("m2")
    await stream.ended("m1")
    await stream.find("ack")
    await stream.offer("m3")
    assert (await stream.find("capacity")).matches == 0
    await stream.find("ready")
    await stream.ended("m2")
    await stream.ended("m3")
    await stream.find("goodbye")
    await running.done()
    assert running.client.ended == 3


def test_games_can_be_named_in_every_form() -> None:
    from fritillary_client.settings import resolve

    class Named(Bot):
        games = ("nim+long", GameSupport("go", (1, 2), any_variant=True))

    setup = resolve(Named, {"address": "localhost:1", "token": "t"})
    assert [
        (game.game, list(game.rules_versions), list(game.variants), game.any_variant)
        for game in setup.games
    ] == [("nim", [], ["long"], False), ("go", [1, 2], [], True)]
    other = resolve(Named, {"address": "localhost:1", "token": "t", "games": ["go"]})
    assert [game.game for game in other.games] == ["go"]


@pytest.mark.parametrize(
    ("announced", "full_id", "version", "covered"),
    [
        ([], "nim+long", 3, True),
        (["nim"], "nim", 3, True),
        (["nim"], "go", 3, False),
        (["go", "nim"], "nim", 3, True),
        (["nim"], "nim+long", 3, False),
        (["nim+long"], "nim", 3, True),
        (["nim+long"], "nim+long", 3, True),
        (["nim+long"], "nim+long+short", 3, False),
        ([GameSupport("nim", any_variant=True)], "nim+long", 3, True),
        ([GameSupport("nim", (1, 3))], "nim", 3, True),
        ([GameSupport("nim", (1, 2))], "nim", 3, False),
        (["somebody:nim"], "nim", 3, True),
        (["nim"], "somebody:nim", 3, True),
    ],
)
def test_only_what_was_announced_is_played(
    announced, full_id, version, covered
) -> None:
    from fritillary_client.settings import resolve

    setup = resolve(first, {"address": "h:1", "token": "t", "games": announced})
    game, *variants = full_id.split("+")
    offered = common.GameRef(
        id=game,
        rules_version=version,
        variants=[common.VariantRef(id=each, version=1) for each in variants],
    )
    if covered:
        setup.consider(offered)
        return
    with pytest.raises(Declined, match=re.escape(full_id)) as caught:
        setup.consider(offered)
    assert caught.value.code == "game.not-announced"


async def test_a_game_that_was_not_announced_makes_no_bot_and_is_declined(arena, play):
    made = []

    class Counted(Bot):
        games = ("nim",)

        def __init__(self) -> None:
            made.append(self)

        def decide(self, ask: Ask) -> int:
            return 1

    play(Counted)
    stream = await arena.stream()
    await stream.welcome()
    await stream.offer("m1", game=common.GameRef(id="go", rules_version=1))
    decline = await stream.find("decline")
    assert (decline.match_id, decline.seat) == ("m1", 0)
    assert decline.code == "game.not-announced"
    assert made == []
    await stream.seated("m2")
    assert len(made) == 1
