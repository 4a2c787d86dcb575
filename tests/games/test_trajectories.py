"""Both builds play the same matches and search the same trees.

What the rules and the searches do is hashed, step by step, and compared with
``tests/golden/trajectories.json``. The plain build runs this in ``make test``, the
compiled one in ``make test-compiled``. ``FRITILLARY_REWRITE_GOLDEN=1`` writes it anew.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import random
from pathlib import Path

import pytest
from examples.connect_four import connect_four
from examples.tic_tac_toe import tic_tac_toe

from fritillary import Clock, Plugin, Registry, SealedDealer
from fritillary.bots.protocol import Ask, MatchStart
from fritillary.bots.search import FlatMcBot, IsmctsBot, MctsBot
from fritillary.core.info import Information
from fritillary.core.points import Over

GOLDEN = Path(__file__).parents[1] / "golden" / "trajectories.json"
EXAMPLES = {"connect-four": connect_four, "tic-tac-toe": tic_tac_toe}
OURS = ("butterfly-garden", "lepidoptery", "lost-cities")
MATCHES = 6

#: So many plies apart a state is looked at from all sides.
APART = 7


def registry():
    found = Registry()
    found.load()
    for name, module in EXAMPLES.items():
        found.add_game(Plugin(name, module))
    return found


REGISTRY = registry()


def setups():
    """Yield a name, the game, options and seats of each way to play."""
    for name in (*OURS, *EXAMPLES):
        game = REGISTRY.game(name)
        presets = game.info.presets or {"default": game.info.options()}
        numbers = range(game.info.min_seats, game.info.max_seats + 1)
        for preset, seats in itertools.product(presets, numbers):
            yield f"{name} {preset} {seats}", game, presets[preset], seats


SETUPS = {name: rest for name, *rest in setups()}


def dealer_of(*labels):
    return SealedDealer(bytes(32)).stream(*labels)


def steps(game, options, seats, number):
    """Yield what a random match shows, as bytes."""
    dealer = dealer_of("trajectory", number)
    state = game.new(dealer.stream("deal"), options, seats)
    encode = game.codec.encode_state
    for ply in itertools.count():
        before = encode(state)
        yield before
        point = game.decision_point(state)
        if ply % APART == 0 or type(point) is Over:
            yield from sides(game, state, seats, dealer)
            assert encode(state) == before
        if type(point) is Over:
            yield repr(point.outcome).encode()
            return
        if point.seat is None:
            game.apply(state, game.draw_chance(state, dealer))
            continue
        legal = game.legal_actions(state)
        yield " ".join(map(game.format_action, legal)).encode()
        copied, action = game.copy(state), dealer.choice(legal)
        game.apply(copied, action)
        assert encode(state) == before
        game.apply(state, action)
        assert copied == state


def sides(game, state, seats, dealer):
    """Yield what everybody sees, and what might be the case."""
    restored = game.codec.decode_state(game.codec.encode_state(state), state.options)
    assert restored == state
    for seat in (None, *range(seats)):
        observation = game.observe(state, seat)
        yield game.codec.encode_observation(observation)
        if game.sample_state is not None:
            drawn = game.sample_state(observation, dealer)
            yield game.codec.encode_state(drawn)
            yield game.codec.encode_observation(game.observe(drawn, seat))


def searched(game, options, seats):
    """Yield what searches find in some positions of a match, as text."""
    hidden = game.info.information is Information.HIDDEN
    dealer = dealer_of("search")
    state = game.new(dealer.stream("deal"), options, seats)
    for _ in range(4):
        for _ in range(2):
            game.apply(state, dealer.choice(game.legal_actions(state)))
        for kind in (FlatMcBot, IsmctsBot if hidden else MctsBot):
            bot = kind(iterations=60, seed=1, probabilities=True)
            seat = game.decision_point(state).seat
            bot.start(MatchStart("golden", game, options, seat, seats))
            ask = Ask(
                game,
                seat,
                lambda: game.observe(state, seat),  # noqa: B023 - asked at once
                game.legal_actions(state),
                random.Random(1),
                Clock(),
            )
            decided = bot.decide(ask)
            yield game.format_action(decided.action)
            yield ", ".join(f"{share:.6f}" for share in decided.probabilities)


def digest(parts):
    summed = hashlib.sha256()
    for part in parts:
        summed.update(part if isinstance(part, bytes) else part.encode())
        summed.update(b"\n")
    return summed.hexdigest()[:16]


def played(name):
    game, options, seats = SETUPS[name]
    told = {f"{i}": digest(steps(game, options, seats, i)) for i in range(MATCHES)}
    return {**told, "search": digest(searched(game, options, seats))}


def test_the_file_is_current_for_all_ways_to_play():
    if os.environ.get("FRITILLARY_REWRITE_GOLDEN"):
        told = {name: played(name) for name in SETUPS}
        GOLDEN.write_text(json.dumps(told, indent=1) + "\n", "utf-8")
    assert json.loads(GOLDEN.read_text("utf-8")).keys() == SETUPS.keys()


@pytest.mark.parametrize("name", SETUPS)
def test_matches_and_searches_are_the_same_on_every_build(name):
    assert played(name) == json.loads(GOLDEN.read_text("utf-8"))[name]
