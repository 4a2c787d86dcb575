"""Benchmarks inside one process: playouts, refereed matches, restoring a state."""

from __future__ import annotations

import asyncio
import functools
import itertools
import random
import statistics
import time
from collections.abc import Iterator
from typing import Any

from benchmarks import connect_four
from benchmarks.pairs import rate, until
from fritillary import FastDealer, Game, Registry, SealedDealer, UniformBot, playout
from fritillary.core.points import Over
from fritillary.record.signing import Signer
from fritillary.record.terms import PlayerInfo
from fritillary.record.writer import MemorySink
from fritillary.referee.match import Match
from fritillary.referee.player import LocalPlayer
from fritillary.referee.setup import MatchSetup


@functools.cache
def registry() -> Registry:
    found = Registry()
    found.load()
    return found


def lepidoptery() -> Game[Any, Any, Any]:
    return registry().game("lepidoptery")


def playouts(seconds: float) -> int:
    """Lepidoptery through `Game`, deals included; counts plies."""
    game = lepidoptery()
    options = game.info.options()
    seeds: Iterator[int] = itertools.count()
    rng = random.Random(1)

    def once() -> int:
        state = game.new(FastDealer(next(seeds)), options, 2)
        plies = _Counter(game)
        return plies.playout(state, rng)

    return until(seconds, once)


class _Counter:
    """A playout that counts its plies, else like `fritillary.playout`."""

    def __init__(self, game: Game[Any, Any, Any]) -> None:
        self.point = game.decision_point
        self.legal = game.legal_actions
        self.apply = game.apply

    def playout(self, state: Any, rng: random.Random) -> int:
        point, legal_actions, apply = self.point, self.legal, self.apply
        draw = rng.random
        plies = 0
        while type(point(state)) is not Over:
            legal = legal_actions(state)
            apply(state, legal[int(draw() * len(legal))])
            plies += 1
        return plies


def bare_playouts(seconds: float) -> int:
    """The same rules as plain functions, without the framework; counts plies."""
    from fritillary_games import lepidoptery as rules

    options = rules.describe().options()
    seeds: Iterator[int] = itertools.count()
    rng = random.Random(1)
    point, legal_actions, apply = (
        rules.decision_point,
        rules.legal_actions,
        rules.apply_action,
    )
    draw = rng.random

    def once() -> int:
        state = rules.new_state(options, 2, FastDealer(next(seeds)))
        plies = 0
        while type(point(state)) is not Over:
            legal = legal_actions(state)
            apply(state, legal[int(draw() * len(legal))])
            plies += 1
        return plies

    return until(seconds, once)


def connect_four_playouts(seconds: float) -> int:
    """A bare Connect Four; counts plies."""
    rng = random.Random(1)
    return until(seconds, lambda: connect_four.playout(connect_four.ConnectFour(), rng))


def _sealed(number: int) -> SealedDealer:
    return SealedDealer(number.to_bytes(32, "big"))


def match_playouts(seconds: float) -> int:
    """Bare playouts from the deals that the matches have; counts matches."""
    game = lepidoptery()
    rng = random.Random(1)
    seeds: Iterator[int] = itertools.count()

    def once() -> int:
        playout(game, game.new(_sealed(next(seeds)).stream("deal")), rng)
        return 1

    return until(seconds, once)


def refereed_matches(seconds: float) -> int:
    """Refereed and recorded matches of two local bots; counts matches."""
    game = lepidoptery()
    signer = Signer.generate()
    seeds: Iterator[int] = itertools.count()
    info = PlayerInfo("uniform", player="uniform")

    async def run() -> int:
        stop = time.perf_counter() + seconds
        matches = 0
        while time.perf_counter() < stop:
            setup = MatchSetup(
                game=game,
                players=(
                    LocalPlayer(UniformBot(), info),
                    LocalPlayer(UniformBot(), info),
                ),
                match_id="bench",
                seed=next(seeds).to_bytes(32, "big"),
                salt=bytes(32),
            )
            await Match(setup, MemorySink(), signer).run()
            matches += 1
        return matches

    return asyncio.run(run())


@functools.cache
def _middle() -> tuple[bytes, Any]:
    """Return the bytes of a mid-game state, and its options."""
    game = lepidoptery()
    options = game.info.options()
    rng = random.Random(3)
    state = game.new(FastDealer(3), options)
    for _ in range(14):
        game.apply(state, rng.choice(game.legal_actions(state)))
    return game.codec.encode_state(state), options


def restores(seconds: float) -> int:
    """Restore a mid-game state; counts restores."""
    raw, options = _middle()
    decode = lepidoptery().codec.decode_state

    def once() -> int:
        for _ in range(100):
            decode(raw, options)
        return 100

    return until(seconds, once)


def restore_microseconds(rounds: int = 7) -> tuple[float, int]:
    """Return the time to restore a mid-game state, and its bytes."""
    restores(0.1)
    samples = [1e6 / rate(restores, 0.1) for _ in range(rounds)]
    return statistics.median(samples), len(_middle()[0])
