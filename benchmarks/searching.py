"""Searches: simulations of the search bots, and how their cost grows."""

from __future__ import annotations

import functools
import itertools
import random
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from benchmarks.pairs import Workload, until
from benchmarks.playing import decisions, game_of
from fritillary import Clock, Game
from fritillary.bots.protocol import Ask, MatchStart
from fritillary.bots.search.bots import IsmctsBot, MctsBot, SearchBot

#: Of UCB1, in the same form here and in OpenSpiel; what the bots use.
EXPLORATION: Final = 0.7

#: Positions of each kind over which growth is measured.
_POSITIONS: Final = 12

#: Simulations that find an action at all.
_FEW: Final = 100


def ask_of(game: Game[Any, Any, Any], state: Any, rng: random.Random) -> Ask:
    """Return what the seat to act is asked."""
    seat = game.decision_point(state).seat
    assert seat is not None
    return Ask(
        game,
        seat,
        lambda: game.observe(state, seat),
        game.legal_actions(state),
        rng,
        Clock(),
    )


def _seated(game: Game[Any, Any, Any], bot: SearchBot) -> SearchBot:
    seats = game.info.min_seats
    bot.start(MatchStart("bench", game, game.info.options(), 0, seats))
    return bot


def _bot(game: Game[Any, Any, Any], simulations: int) -> SearchBot:
    settings: dict[str, Any] = {"iterations": simulations, "exploration": EXPLORATION}
    if game.info.id == "connect-four":
        return _seated(game, MctsBot(reuse=False, **settings))
    return _seated(game, IsmctsBot(**settings))


def searches(
    name: str, states: Sequence[Any] = (), simulations: int = 1_000
) -> Workload:
    """Return decisions of `mcts` in Connect Four, of `ismcts` elsewhere.

    Args:
        name: of the game.
        states: where it decides, in turn; default: the first position of a deal.
        simulations: of one decision; they are counted.
    """
    game = game_of(name)
    bot, rng = _bot(game, simulations), random.Random(1)
    turns: Iterator[Any] = itertools.cycle(states or [_first(game)])

    def once() -> int:
        bot.decide(ask_of(game, next(turns), rng))
        return simulations

    return functools.partial(until, once=once)


def _first(game: Game[Any, Any, Any]) -> Any:
    """Return the first position in which a seat has a choice."""
    return next(decisions(game, 1))


@functools.cache
def positions(name: str, size: Callable[[Any], int], low: int, high: int) -> list[Any]:
    """Return positions of random matches whose size is in a range."""
    game = game_of(name)
    found: list[Any] = []
    for seed in itertools.count():
        fitting = [
            state for state in decisions(game, seed) if low <= size(state) <= high
        ]
        found += fitting[:1]
        if len(found) == _POSITIONS:
            return found
    raise AssertionError


def plies_at(name: str, states: Sequence[Any]) -> Workload:
    """Return single plies as a search makes them: legal actions, copy, apply."""
    game = game_of(name)
    legal_actions, apply, copy = game.legal_actions, game.apply, game.copy
    draw = random.Random(1).random

    def once() -> int:
        for state in states:
            legal = legal_actions(state)
            apply(copy(state), legal[int(draw() * len(legal))])
        return len(states)

    return functools.partial(until, once=once)


def memory_of(name: str, simulations: int) -> float:
    """Return the bytes that a search holds for each simulation."""
    game = game_of(name)
    rng = random.Random(1)
    bot = _bot(game, simulations)
    state = _first(game)
    bot.searching(ask_of(game, state, rng), rng).iterate()  # what is made once
    tracemalloc.start()
    try:
        search = bot.searching(ask_of(game, state, rng), rng)
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(simulations):
            search.iterate()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return (after - before) / simulations


def searchable(name: str) -> bool:
    """Say whether `ismcts` finds an action in the first position of a game."""
    game = game_of(name)
    state = _first(game)
    bot = _seated(game, IsmctsBot(iterations=_FEW))
    legal = game.legal_actions(state)
    return bot.decide(ask_of(game, state, random.Random(1))).action in legal
