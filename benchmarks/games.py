"""Every installed game: how fast it plays, and how many bytes it takes."""

from __future__ import annotations

import asyncio
import functools
import itertools
import random
from collections.abc import Iterator
from typing import Any

from benchmarks.in_process import registry
from benchmarks.pairs import Workload, until
from fritillary import FastDealer, Game, UniformBot
from fritillary.core.points import Over
from fritillary.record.signing import Signer
from fritillary.record.terms import PlayerInfo
from fritillary.record.writer import MemorySink
from fritillary.referee.match import Match
from fritillary.referee.player import LocalPlayer
from fritillary.referee.setup import MatchSetup


def names() -> list[str]:
    return [name for name, _ in registry().games()]


def playouts(name: str) -> Workload:
    """Return random playouts of a game with the fewest seats, deals included."""
    game = registry().game(name)
    options = game.info.options()
    seats = game.info.min_seats
    seeds: Iterator[int] = itertools.count()
    rng = random.Random(1)
    dealer = FastDealer(rng)
    point, legal_actions, apply = (
        game.decision_point,
        game.legal_actions,
        game.apply,
    )
    draw = rng.random

    def once() -> int:
        state = game.new(FastDealer(next(seeds)), options, seats)
        plies = 0
        while True:
            at = point(state)
            if at.seat is not None:
                legal = legal_actions(state)
                apply(state, legal[int(draw() * len(legal))])
            elif type(at) is Over:
                return plies
            else:
                apply(state, game.draw_chance(state, dealer))
            plies += 1

    return functools.partial(until, once=once)


def sizes(name: str) -> tuple[int, int, int, int]:
    """Return bytes of state, observation and record, and the match's plies.

    State and observation are the largest that one random match has.
    """
    game = registry().game(name)
    state = game.new(FastDealer(1))
    rng = random.Random(1)
    dealer = FastDealer(2)
    largest_state = largest_observation = 0
    while type(point := game.decision_point(state)) is not Over:
        if point.seat is None:
            game.apply(state, game.draw_chance(state, dealer))
            continue
        encoded = game.codec.encode_state(state)
        seen = game.codec.encode_observation(game.observe(state, point.seat))
        largest_state = max(largest_state, len(encoded))
        largest_observation = max(largest_observation, len(seen))
        game.apply(state, rng.choice(game.legal_actions(state)))
    record, plies = asyncio.run(_record(game))
    return largest_state, largest_observation, len(record), plies


async def _record(game: Game[Any, Any, Any]) -> tuple[bytes, int]:
    info = PlayerInfo("uniform", player="uniform")
    players = tuple(LocalPlayer(UniformBot(), info) for _ in range(game.info.min_seats))
    sink = MemorySink()
    setup = MatchSetup(
        game=game, players=players, match_id="bench", seed=bytes(32), salt=bytes(32)
    )
    result = await Match(setup, sink, Signer(bytes(32))).run()
    return sink.getvalue(), result.plies
