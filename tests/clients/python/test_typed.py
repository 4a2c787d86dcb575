"""Bots for play in process that dial in: what they refuse and what they see."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from fritillary import BaseBot, FastDealer, Registry, UniformBot
from fritillary.api.v1 import bot_pb2 as wire
from fritillary.api.v1 import common_pb2 as common
from fritillary.core.errors import UsageError
from fritillary_client import BotError, ProtocolError
from fritillary_client.typed import TypedBot


@pytest.fixture(scope="module")
def registry() -> Registry:
    registry = Registry()
    registry.load()
    return registry


@pytest.fixture(scope="module")
def game(registry: Registry) -> Any:
    return registry.game("lepidoptery")


def offered(of: Any, /, **changes: Any) -> dict[str, Any]:
    """The fields of an offer of a game."""
    options = of.info.options()
    table = of.table(options, 2)
    return {
        "game": common.GameRef(id="lepidoptery", rules_version=1),
        "table": common.ActionTable(size=len(table), hash=table.digest()),
        "options": of.codec.encode_options(options),
        **changes,
    }


class Keeping(BaseBot):
    """Keeps what it is asked."""

    asks: ClassVar[list[Any]] = []

    def decide(self, ask: Any) -> Any:
        self.asks.append((ask.observation, tuple(ask.legal), list(ask.events)))
        return ask.legal[-1]


async def test_it_says_which_games_it_has(arena, play, registry) -> None:
    play(TypedBot(registry, UniformBot, only=["lepidoptery"]))
    stream = await arena.stream()
    hello = await stream.welcome()
    (support,) = hello.games
    assert (support.game, list(support.rules_versions)) == ("lepidoptery", [1])
    assert list(support.variants) == ["no-pass"]
    assert hello.bot.name == "UniformBot"


@pytest.mark.parametrize("factory", [Keeping, lambda _: Keeping()])
async def test_it_sees_values_of_the_game(arena, play, registry, game, factory) -> None:
    Keeping.asks = []
    play(TypedBot(registry.game, factory))
    stream = await arena.stream()
    await stream.welcome()
    await stream.seated(**offered(game))
    assert not arena.listed
    state = game.new(FastDealer(3))
    table = game.table(state.options, 2)
    legal = game.legal_actions(state)
    taken = wire.ActionTaken(
        seat=1, index=0, action=game.codec.encode_action(table.actions[0]), text="x"
    )
    await stream.send(
        wire.ServerMessage(
            event=wire.Event(match_id="m1", seat=0, number=1, ply=1, action=taken)
        )
    )
    await stream.ask(
        observation=game.codec.encode_observation(game.observe(state, 0)),
        legal=[table.index[action] for action in legal],
    )
    decision = await stream.find("decision")
    assert decision.index == table.index[legal[-1]]
    ((observation, seen, events),) = Keeping.asks
    assert observation == game.observe(state, 0)
    assert seen == tuple(legal)
    assert all(one is other for one, other in zip(seen, legal, strict=True))
    assert events[0].body.action is table.actions[0]
    assert (events[0].number, events[0].ply, events[0].body.seat) == (1, 1, 1)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"table": common.ActionTable(size=110, hash=b"?" * 32)}, "game.other-table"),
        ({"table": None}, "game.other-table"),
        (
            {"game": common.GameRef(id="lepidoptery", rules_version=2)},
            "game.other-table",
        ),
        (
            {
                "game": common.GameRef(
                    id="lepidoptery",
                    rules_version=1,
                    variants=[common.VariantRef(id="no-pass", version=9)],
                )
            },
            "game.other-table",
        ),
        ({"game": common.GameRef(id="chess", rules_version=1)}, "game.unknown"),
        ({"options": b"\x81\xa1x\x01"}, "options.invalid"),
        ({"seats": [common.SeatInfo(seat=0)]}, "options.invalid"),
    ],
)
async def test_it_refuses_what_is_not_the_game_at_hand(
    arena, play, registry, game, changes, code
) -> None:
    # It announces nothing, so it has to look itself.
    play(TypedBot(registry.game, UniformBot))
    stream = await arena.stream()
    await stream.welcome()
    await stream.offer(**offered(game, **changes))
    decline = await stream.find("decline")
    assert decline.code == code
    assert decline.message


async def test_a_game_that_lacks_the_bot_is_declined_and_the_next_is_played(
    arena, play, registry, game
) -> None:
    has_one = False

    def make(rules: Any) -> Any:
        if has_one:
            return UniformBot()
        msg = f"{rules.info.id} has no bot of that name"
        raise UsageError(msg, code="usage.player")

    running = play(TypedBot(registry, make))
    stream = await arena.stream()
    await stream.welcome()
    await stream.offer(**offered(game))
    decline = await stream.find("decline")
    assert decline.code == "usage.player"
    assert decline.message == "lepidoptery has no bot of that name"
    has_one = True
    await stream.seated("m2", **offered(game))
    assert not running.task.done()


async def test_what_is_no_action_of_the_game_is_named(
    arena, play, registry, game
) -> None:
    class Wrong(BaseBot):
        def decide(self, ask: Any) -> Any:
            return 3

    running = play(TypedBot(registry, Wrong))
    stream = await arena.stream()
    await stream.welcome()
    await stream.seated(**offered(game))
    await stream.ask(legal=[0])
    with pytest.raises(BotError, match="3, which is no action of the game"):
        await running.done()


@pytest.mark.parametrize("changes", [{"legal": [900]}, {"observation": b"\x80"}])
async def test_garbage_of_the_server_is_its_own_fault(
    arena, play, registry, game, changes
) -> None:
    class Looking(BaseBot):
        def decide(self, ask: Any) -> Any:
            return ask.observation and ask.legal[0]

    running = play(TypedBot(registry, Looking))
    stream = await arena.stream()
    await stream.welcome()
    await stream.seated(**offered(game))
    await stream.ask(**{"legal": [0], **changes})
    with pytest.raises(ProtocolError):
        await running.done()


async def test_a_bot_that_is_light_in_process_is_light_here(
    arena, play, registry, game
) -> None:
    import threading

    threads = []

    class Light(UniformBot):
        def decide(self, ask: Any) -> Any:
            threads.append(threading.get_ident())
            return super().decide(ask)

    play(TypedBot(registry, Light))
    stream = await arena.stream()
    await stream.welcome()
    await stream.seated(**offered(game))
    await stream.ask(legal=[0, 5])
    await stream.find("decision")
    assert threads == [threading.get_ident()]
