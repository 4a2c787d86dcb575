"""How a search finds out what a position is worth: by playing on, or by asking."""
# ruff: noqa: ANN401, TID251 - values of any game; the generator is the search's

from __future__ import annotations

import inspect
import random
from collections.abc import Callable
from typing import Any

from fritillary.bots.protocol import Ask, Bot, Clock, Decision, MatchStart, Resign
from fritillary.bots.search.payoffs import Payoff, Payoffs
from fritillary.core.dealer import FastDealer
from fritillary.core.errors import GameError
from fritillary.core.points import Over
from fritillary.plugins.game import Game
from fritillary.plugins.playout import playout

#: Changes the state; returns one payoff per seat.
Rollout = Callable[[Any], Payoffs]

#: Returns the action of a seat that is asked; the generator is the search's.
Policy = Callable[[Ask, random.Random], Any]

_NO_CLOCK = Clock()


def check_rollout(game: Game[Any, Any, Any], policy: str, depth: int | None) -> None:
    """Check that a game can be rolled out.

    Args:
        game: the rules.
        policy: see `rollout_of`.
        depth: see `rollout_of`.

    Raises:
        GameError: if the game has no such bot, or no ``evaluate``.
    """
    if policy != "uniform" and policy not in game.bots:
        known = ", ".join(["uniform", *sorted(game.bots)])
        msg = f"{game.id} has no bot {policy!r} to play rollouts; known: {known}"
        raise GameError(msg)
    if depth is not None and game.evaluate is None:
        msg = f"{game.id} has no evaluate, which rollouts of {depth} plies need"
        raise GameError(msg)


def rollout_of(
    game: Game[Any, Any, Any],
    start: MatchStart,
    payoff: Payoff,
    rng: random.Random,
    *,
    policy: str,
    depth: int | None,
) -> Rollout:
    """Return the rollout that was asked for.

    Args:
        game: the rules.
        start: of the match.
        payoff: judges outcomes.
        rng: chooses.
        policy: ``uniform``, or the name of one of the game's bots.
        depth: stop after so many plies and ask the game's ``evaluate``; ``None``: play
            to the end.
    """
    check_rollout(game, policy, depth)
    if policy == "uniform" and depth is None:
        return lambda state: payoff(playout(game, state, rng))
    choose = (
        _uniform(game, rng)
        if policy == "uniform"
        else _Players(game, start, game.bots[policy], rng).choose
    )
    return _Playing(game, choose, payoff, rng, start.seats, depth)


def policy_of(game: Game[Any, Any, Any], start: MatchStart, policy: str) -> Policy:
    """Return what decides for a seat as it would in rollouts.

    Args:
        game: the rules.
        start: of the match.
        policy: see `rollout_of`.
    """
    if policy == "uniform":
        return lambda ask, rng: ask.legal[int(rng.random() * len(ask.legal))]
    bot = _started(game, game.bots[policy], start)

    def choose(ask: Ask, rng: random.Random) -> Any:
        seen, legal = ask.observation, ask.legal
        asked = Ask(game, ask.seat, seen, legal, rng, ask.clock, lambda: ask.events)
        return _chosen(bot.decide(asked), asked)

    return choose


def _started(
    game: Game[Any, Any, Any], factory: Callable[..., Bot], start: MatchStart
) -> Bot:
    bot = factory()
    if inspect.iscoroutinefunction(bot.decide):
        msg = f"{game.id}: a bot that awaits cannot play rollouts"
        raise GameError(msg)
    bot.start(start)
    return bot


def _chosen(decided: Any, ask: Ask) -> Any:
    """Return the action of what a bot decided; the first legal one if it resigns."""
    if isinstance(decided, Decision):
        return decided.action
    return ask.legal[0] if isinstance(decided, Resign) else decided


def _uniform(
    game: Game[Any, Any, Any], rng: random.Random
) -> Callable[[Any, int], Any]:
    legal_actions, draw = game.legal_actions, rng.random

    def choose(state: Any, _: int) -> Any:
        legal = legal_actions(state)
        return legal[int(draw() * len(legal))]

    return choose


class _Playing:
    """Plays on with a policy, to the end or for some plies."""

    def __init__(
        self,
        game: Game[Any, Any, Any],
        choose: Callable[[Any, int], Any],
        payoff: Payoff,
        rng: random.Random,
        seats: int,
        depth: int | None,
    ) -> None:
        self._game = game
        self._choose = choose
        self._payoff = payoff
        self._dealer = FastDealer(rng)
        self._seats = seats
        self._depth = depth

    def __call__(self, state: Any) -> Payoffs:
        game, choose = self._game, self._choose
        left = self._depth
        while True:
            point = game.decision_point(state)
            if type(point) is Over:
                return self._payoff(point.outcome)
            if left is not None:
                if left <= 0 and game.evaluate is not None:
                    evaluate = game.evaluate
                    return tuple(
                        (1.0 + evaluate(state, seat)) / 2 for seat in range(self._seats)
                    )
                left -= 1
            if point.seat is None:
                game.apply(state, game.draw_chance(state, self._dealer))
            else:
                game.apply(state, choose(state, point.seat))


class _Players:
    """Bots of the game that sit at all seats of every rollout.

    They see what their seat sees in the drawn world, and no events: a bot that needs a
    memory of its own is no policy for rollouts.
    """

    def __init__(
        self,
        game: Game[Any, Any, Any],
        start: MatchStart,
        factory: Callable[..., Bot],
        rng: random.Random,
    ) -> None:
        self._game = game
        self._rng = rng
        match_id, options, seats = start.match_id, start.options, start.seats
        self._bots = [
            _started(game, factory, MatchStart(match_id, game, options, seat, seats))
            for seat in range(seats)
        ]

    def choose(self, state: Any, seat: int) -> Any:
        """Return the action of a seat."""
        game = self._game
        ask = Ask(
            game,
            seat,
            lambda: game.observe(state, seat),
            game.legal_actions(state),
            self._rng,
            _NO_CLOCK,
        )
        return _chosen(self._bots[seat].decide(ask), ask)
