"""How many bytes the states, observations and records of a game take."""

from __future__ import annotations

import asyncio
import random

from benchmarks.in_process import record_match
from benchmarks.playing import game_of
from fritillary import FastDealer
from fritillary.core.points import Over
from fritillary.record.signing import Signer


def sizes(name: str) -> tuple[int, int, int, int]:
    """Return bytes of state, observation and record, and the match's plies.

    State and observation are the largest that one random match has.
    """
    game = game_of(name)
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
    record, plies = asyncio.run(record_match(game, 0, Signer(bytes(32))))
    return largest_state, largest_observation, len(record), plies
