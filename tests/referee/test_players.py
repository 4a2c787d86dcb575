"""Local players: a match is the same however they are asked, threads, start and end."""

from __future__ import annotations

import asyncio
import queue
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from examples.kuhn_poker import kuhn_poker
from examples.pig import pig
from tests.referee import race
from tests.referee.local import First, local, play
from tests.referee.race import Options
from tests.referee.support import SALT, SIGNER, policy, referee, run

from fritillary import BaseBot, Decision, Plugin, Registry, UniformBot
from fritillary.record.terms import ClockSettings, EndKind, Fault, PlayerInfo, Terms
from fritillary.record.writer import MemorySink
from fritillary.referee.match import Match
from fritillary.referee.player import LocalPlayer
from fritillary.referee.setup import MatchSetup
from fritillary.referee.verify import verify

# ------------------------------------------------- the same match, however asked


class InlineUniform(UniformBot):
    """As it is: asked inline."""


class ThreadUniform(UniformBot):
    light = False


class AsyncUniform(UniformBot):
    async def decide(self, ask):
        await asyncio.sleep(0)
        return UniformBot.decide(self, ask)


class ThoughtfulUniform(UniformBot):
    """Says more than its action, which is no part of what happened."""

    def decide(self, ask):
        legal = len(ask.legal)
        return Decision(UniformBot.decide(self, ask), "hm", (1 / legal,) * legal)


class UniformPlayer:
    """Asked as remote players are, with events and requests."""

    def __new__(cls):
        player = LocalPlayer(AsyncUniform(), PlayerInfo("local"))
        player.wants_events = True
        return player


KINDS = [InlineUniform, ThreadUniform, AsyncUniform, ThoughtfulUniform, UniformPlayer]


@pytest.mark.parametrize("module", [pig, kuhn_poker, race.plugin().module])
def test_a_match_is_the_same_however_its_bots_are_asked(module):
    registry = Registry()
    registry.add_game(Plugin("game", module))
    [(game_id, _)] = registry.games()
    game = registry.game(game_id)
    options = pig.Options(target=30, rounds=5) if module is pig else None
    hashes = set()
    plies = set()
    for kind in KINDS:
        bots = [kind(), kind()]
        players = [bot if kind is UniformPlayer else local(bot) for bot in bots]
        result, raw = play(players, game, options=options)
        assert result.finish.kind is EndKind.PLAYED
        verify(raw, registry)
        hashes.add(result.content_hash)
        plies.add(result.plies)
    assert len(hashes) == 1
    assert plies != {0}


def test_another_seed_makes_another_match():
    game = race.GAME
    one, _ = play([local(UniformBot()), local(UniformBot())], game)
    other, _ = play([local(UniformBot()), local(UniformBot())], game, seed=SALT)
    assert one.content_hash != other.content_hash


# ---------------------------------------------------------- beginning and ending


class Failing(First):
    def __init__(self, failure, *, light=True):
        self.failure = failure
        self.light = light

    def start(self, info):
        raise self.failure


class AsyncFailing(First):
    async def start(self, info):  # type: ignore[override]
        raise ValueError


@pytest.mark.parametrize(
    "bot",
    [
        Failing(ValueError()),
        Failing(SystemExit()),
        Failing(ValueError(), light=False),
        AsyncFailing(),
    ],
)
def test_a_bot_that_fails_to_start_refuses(bot):
    result, _ = play([local(bot), local(First())], race.GAME)
    assert result.finish.code == "fault.refused-to-start"
    assert result.finish.outcome.placing == (2, 1)


class Ending(First):
    def __init__(self):
        self.told = []

    def end(self, outcome):
        self.told.append(outcome)
        raise ValueError


class AsyncEnding(Ending):
    async def end(self, outcome):  # type: ignore[override]
        await asyncio.sleep(0)
        Ending.end(self, outcome)


@pytest.mark.parametrize("kind", [Ending, AsyncEnding])
def test_a_bot_is_told_the_end_and_may_fail_then(kind):
    bots = [kind(), kind()]

    async def main():
        game = await referee([local(bot) for bot in bots])
        await asyncio.sleep(1)
        return game

    game = run(main())
    assert [bot.told for bot in bots] == [[game.finish.outcome]] * 2


def test_a_bot_that_was_never_asked_to_start_is_not_told_the_end():
    bot = Ending()

    async def main():
        setup = MatchSetup(game=race.GAME, players=[local(bot), local(First())])
        match = Match(setup, MemorySink(), SIGNER)
        match.abort(EndKind.VOID, "match.aborted", "no")
        return await match.run()

    assert asyncio.run(main()).finish.kind is EndKind.VOID
    assert bot.told == []


# ----------------------------------------------------------------------- threads


class Pondering(BaseBot):
    """Takes its time in its thread, and notes when two calls overlap."""

    def __init__(self, seconds):
        self.seconds = seconds
        self.inside = 0
        self.overlaps = 0
        self.looks = []
        self.threads = set()

    def _work(self):
        self.threads.add(threading.get_ident())
        self.inside += 1
        self.overlaps += self.inside > 1
        self._ponder()
        self.inside -= 1

    def _ponder(self):
        time.sleep(self.seconds)

    def start(self, info):
        self._work()

    def decide(self, ask):
        self._work()
        self.looks.append(ask.observation.turn)
        return ask.legal[0]


class Listening(Pondering):
    """Ponders until the loop has gone round a few times meanwhile."""

    def __init__(self, rounds):
        super().__init__(0)
        self.rounds = rounds

    def _ponder(self):
        for _ in range(3):
            self.rounds.get(timeout=60)


def test_a_bot_that_ponders_does_not_hold_up_the_others():
    rounds: queue.SimpleQueue[None] = queue.SimpleQueue()
    bots = [Listening(rounds), Listening(rounds)]

    async def main():
        async def tick():
            while True:
                await asyncio.sleep(0.005)
                # No store of rounds: each is one in which somebody pondered.
                if rounds.empty() and any(bot.inside for bot in bots):
                    rounds.put(None)

        task = asyncio.ensure_future(tick())
        options = Options(rounds=1)
        game = await referee([local(bot) for bot in bots], options=options)
        task.cancel()
        return game

    game = asyncio.run(main())
    assert game.finish.kind is EndKind.PLAYED
    assert all(bot.looks for bot in bots)
    assert threading.get_ident() not in bots[0].threads | bots[1].threads


def test_a_bot_has_never_two_calls_at_a_time():
    """Late, substituted, and asked again while it still thinks of the last one."""
    bot = Pondering(0.06)
    terms = Terms(policy=policy(late="substitute"), margin_ms=0)
    clocks = [ClockSettings(move_ms=20), ClockSettings()]

    async def main():
        return await referee([local(bot), local(First())], clocks=clocks, terms=terms)

    game = asyncio.run(main())
    assert game.finish.kind is EndKind.PLAYED
    assert {ruling.fault for ruling in game.rulings} == {Fault.LATE}
    assert bot.overlaps == 0
    # It was shown what was there to see when it was asked.
    assert bot.looks == sorted(bot.looks)


def test_a_process_ends_though_a_bot_hangs(tmp_path):
    script = tmp_path / "hang.py"
    script.write_text(
        """
import asyncio, time
from tests.referee import race
from tests.referee.support import *
from fritillary import BaseBot
from fritillary.record.terms import ClockSettings, PlayerInfo
from fritillary.referee.player import LocalPlayer

class Hanging(BaseBot):
    def decide(self, ask):
        time.sleep(1000)

players = [LocalPlayer(Hanging(), PlayerInfo("x")) for _ in range(2)]
game = asyncio.run(referee(players, clocks=ClockSettings(move_ms=10)))
print(game.finish.code)
"""
    )
    done = subprocess.run(
        [sys.executable, str(script)],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
        cwd=Path(__file__).parents[2],
        env={"PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert done.stdout.split() == ["fault.late"]
