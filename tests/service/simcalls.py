"""Asking a simulator, in process."""

from __future__ import annotations

import random
from typing import Any

import pytest
from attrs import frozen
from tests.service import simgames

from fritillary.api.v1 import common_pb2
from fritillary.api.v1 import simulator_pb2 as pb
from fritillary.core.dealer import FastDealer
from fritillary.core.errors import FritillaryError
from fritillary.plugins.game import Game
from fritillary.service.simulator_calls import Calls
from fritillary.service.simulator_limits import SimulatorLimits, Watch
from fritillary.service.simulator_playouts import play_out

GAMES = simgames.registry()

#: Games that hide cards.
HIDDEN = ["lepidoptery", "lost-cities"]


@frozen
class Decision:
    """A position in which a seat is to act, as the truth and as it is seen.

    Args:
        game: the rules.
        state: the truth.
        seat: that is to act.
        seats: how many there are.
    """

    game: Game[Any, Any, Any]
    state: Any
    seat: int
    seats: int

    @property
    def observation(self):
        """What the seat receives."""
        raw = self.game.codec.encode_observation(self.game.seen(self.state, self.seat))
        return common_pb2.Payload(encoding=common_pb2.ENCODING_MSGPACK, data=raw)


def decision(name, plies=0, *, seed=1, seats=None):
    """Return a decision of a match of a game after some plies."""
    game = GAMES.game(name)
    seats = seats or game.info.min_seats
    rng = random.Random(seed)
    dealer = FastDealer(rng)
    state = game.new(dealer, None, seats)
    while plies > 0 or game.decision_point(state).seat is None:
        if game.decision_point(state).seat is None:
            game.apply(state, game.draw_chance(state, dealer))
        else:
            game.apply(state, rng.choice(game.legal(state)))
        plies -= 1
    return Decision(game, state, game.decision_point(state).seat, seats)


class Asking:
    """The calls of a simulator with its games, in this process."""

    def __init__(self, **limits):
        self.limits = SimulatorLimits(**{"workers": 1, **limits})
        self.calls = Calls(GAMES, self.limits)

    def watch(self):
        return Watch(self.limits)

    def open(self, game, **fields):
        return self.calls.open_game(
            pb.OpenGameRequest(game=game, **fields), self.watch()
        )

    def sample(self, **fields):
        request = pb.SampleWorldsRequest(**{"count": 1, **fields})
        return list(self.calls.sample_worlds(request, self.watch()).worlds)

    def positions(self, **fields):
        request = pb.GetPositionsRequest(**fields)
        return list(self.calls.get_positions(request, self.watch()).positions)

    def apply(self, **fields):
        request = pb.ApplyActionsRequest(**fields)
        return list(self.calls.apply_actions(request, self.watch()).results)

    def observe(self, **fields):
        request = pb.ObserveWorldsRequest(**fields)
        return list(self.calls.observe_worlds(request, self.watch()).observations)

    def play_out(self, watch=None, **fields):
        request = pb.PlayOutRequest(**fields)
        return play_out(self.calls, request, watch or self.watch())

    def at(self, one, *, count=1, seed=0, **fields):
        """Return the name of a decision's game, and worlds of the decision."""
        game = self.open(one.game.id, seats=one.seats, **fields).game
        worlds = self.sample(
            game=game,
            observation=one.observation,
            seat=one.seat,
            count=count,
            seed=seed,
        )
        return game, worlds


def code_of(call, *arguments, **fields):
    """Return the code of the error that a call raises."""
    with pytest.raises(FritillaryError) as caught:
        call(*arguments, **fields)
    return caught.value.code


def state_of(one, world):
    """Return the state of a world."""
    return one.game.codec.decode_state(world[8:], one.state.options)
