"""Refereed matches and restored states, inside one process."""

from __future__ import annotations

import asyncio
import functools
import itertools
import random
import time
from collections.abc import Iterator
from typing import Any

from benchmarks.pairs import Workload, until
from benchmarks.playing import decisions, game_of
from fritillary import Game, SealedDealer, UniformBot, playout
from fritillary.record.signing import Signer
from fritillary.record.terms import PlayerInfo
from fritillary.record.writer import MemorySink
from fritillary.referee.match import Match
from fritillary.referee.player import LocalPlayer
from fritillary.referee.setup import MatchSetup

#: Restores between two looks at the clock.
_AT_ONCE = 100


def _sealed(number: int) -> SealedDealer:
    return SealedDealer(number.to_bytes(32, "big"))


def match_playouts(seconds: float) -> int:
    """Bare playouts from the deals that the matches have; counts matches."""
    game = game_of("lepidoptery")
    rng = random.Random(1)
    seeds: Iterator[int] = itertools.count()

    def once() -> int:
        playout(game, game.new(_sealed(next(seeds)).stream("deal")), rng)
        return 1

    return until(seconds, once)


async def record_match(
    game: Game[Any, Any, Any], seed: int, signer: Signer
) -> tuple[bytes, int]:
    """Play a refereed match of uniform bots; return its record and its plies."""
    players = [
        LocalPlayer(UniformBot(), PlayerInfo("uniform", player="uniform"))
        for _ in range(game.info.min_seats)
    ]
    setup = MatchSetup(
        game=game,
        players=tuple(players),
        match_id="bench",
        seed=seed.to_bytes(32, "big"),
        salt=bytes(32),
    )
    sink = MemorySink()
    result = await Match(setup, sink, signer).run()
    return sink.getvalue(), result.plies


def _refereed(name: str, seconds: float, *, count_plies: bool) -> int:
    game, signer = game_of(name), Signer.generate()

    async def matches() -> int:
        stop = time.process_time() + seconds
        units, seeds = 0, itertools.count()
        while time.process_time() < stop or not units:
            _, plies = await record_match(game, next(seeds), signer)
            units += plies if count_plies else 1
        return units

    return asyncio.run(matches())


def refereed_matches(seconds: float) -> int:
    """Refereed and recorded matches of Lepidoptery; counts matches."""
    return _refereed("lepidoptery", seconds, count_plies=False)


def refereed_plies(seconds: float) -> int:
    """Refereed and recorded matches of Connect Four; counts plies."""
    return _refereed("connect-four", seconds, count_plies=True)


@functools.cache
def encoded(name: str, share: float) -> bytes:
    """Return the bytes of a state after this share of a random match."""
    game = game_of(name)
    states = list(decisions(game, 3))
    return game.codec.encode_state(states[int(share * (len(states) - 1))])


def restores(name: str, share: float) -> Workload:
    """Return restores of such a state; counts them."""
    game = game_of(name)
    raw, options = encoded(name, share), game.info.options()
    decode = game.codec.decode_state

    def once() -> int:
        for _ in range(_AT_ONCE):
            decode(raw, options)
        return _AT_ONCE

    return functools.partial(until, once=once)


def observations(seconds: float) -> int:
    """Observe and pack the middle of a match of Lepidoptery; counts observations."""
    game = game_of("lepidoptery")
    state = game.codec.decode_state(encoded("lepidoptery", 0.5), game.info.options())

    def once() -> int:
        game.codec.encode_observation(game.observe(state, 0))
        return 1

    return until(seconds, once)
