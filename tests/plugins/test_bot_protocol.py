"""The shape of a bot, which is the same in process and in every client."""

from __future__ import annotations

import random
from typing import Any

from tests.plugins import nim

from fritillary import (
    Ask,
    BaseBot,
    Bot,
    Clock,
    Decision,
    FastDealer,
    Game,
    MatchStart,
    Resign,
    UniformBot,
)

GAME = Game(nim.plugin())
STATE = GAME.new(FastDealer(1))


def ask(**parts: Any) -> Ask:
    values = {"observation": STATE, "legal": GAME.legal_actions(STATE), "events": ()}
    values.update(parts)
    return Ask(
        GAME,
        0,
        values["observation"],
        values["legal"],
        random.Random(3),
        Clock(),
        values["events"],
    )


def test_what_is_costly_is_built_once_and_only_when_looked_at() -> None:
    built: list[str] = []

    def make(name: str) -> Any:
        def build() -> Any:
            built.append(name)
            return [name]

        return build

    lazy = ask(**{name: make(name) for name in ("observation", "legal", "events")})
    assert built == []
    for _ in range(2):
        assert lazy.events == ["events"]
        assert lazy.legal == ["legal"]
        assert lazy.observation == ["observation"]
    assert built == ["events", "legal", "observation"]


def test_what_is_ready_is_handed_on() -> None:
    ready = ask(events=("e",))
    assert ready.observation is STATE
    assert ready.legal == GAME.legal_actions(STATE)
    assert ready.events == ("e",)
    assert (ready.seat, ready.game, ready.clock) == (0, GAME, Clock(None, None))


def test_the_uniform_bot_is_a_bot_and_chooses_every_legal_action() -> None:
    bot = UniformBot()
    assert isinstance(bot, Bot)
    assert not isinstance(BaseBot(), Bot)
    bot.start(MatchStart("m", GAME, nim.Options(), 0, 2))
    question = ask()
    assert {bot.decide(question) for _ in range(99)} == set(question.legal)
    bot.end(None)


def test_equal_seeds_choose_alike() -> None:
    one, two = ask(), ask()
    assert [UniformBot().decide(one) for _ in range(20)] == [
        UniformBot().decide(two) for _ in range(20)
    ]


def test_decisions_are_values() -> None:
    decision = Decision(nim.Take(1), probabilities=[0.5, 0.5])
    assert decision == Decision(nim.Take(1), "", (0.5, 0.5))
    assert Resign() == Resign()
