"""A search that is told nothing but bytes: one JSON line in, one out, for each choice.

    python -m tests.bots.chooser

It runs in a process of its own, so that nothing of the position that the bytes were
made from can reach it. In: the game, its seats and options, the seat, the observation
in hex and the seed. Out: the action chosen, in notation, and the share of each.
"""

from __future__ import annotations

import json
import random
import sys

from tests.bots.boards import GAMES

from fritillary.bots.protocol import Ask, Clock, MatchStart
from fritillary.bots.search import IsmctsBot
from fritillary.core.dealer import FastDealer


def choose(told):
    game = GAMES[told["game"]]
    options = game.codec.decode_options(bytes.fromhex(told["options"]))
    seen = game.codec.decode_observation(bytes.fromhex(told["observation"]), options)
    seat = told["seat"]
    bot = IsmctsBot(iterations=told["iterations"], probabilities=True)
    bot.start(MatchStart("m", game, options, seat, told["seats"]))
    sample = game.sample_state
    if sample is None:
        raise TypeError
    legal = game.legal_actions(sample(seen, FastDealer(0)))
    rng = random.Random(told["seed"])
    decision = bot.decide(Ask(game, seat, seen, legal, rng, Clock()))
    return {
        "action": game.format_action(decision.action),
        "shares": decision.probabilities,
    }


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(choose(json.loads(line))), flush=True)
