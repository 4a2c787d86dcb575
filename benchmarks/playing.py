"""Random playouts: through `Game`, of the bare rules, and of the bare calibrator."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, Final

from examples.connect_four import connect_four
from examples.kuhn_poker import kuhn_poker
from examples.tic_tac_toe import tic_tac_toe

from benchmarks import connect_four as bare_connect_four
from benchmarks import tic_tac_toe as fast_tic_tac_toe
from benchmarks import unchanged, unchanged_guarded
from benchmarks.pairs import Workload, until
from fritillary import FastDealer, Game, GameInfo, Plugin, Registry, playout
from fritillary.core.points import Over

_OTHERS = {
    "connect-four": connect_four,
    "fast-tic-tac-toe": fast_tic_tac_toe,
    "kuhn-poker": kuhn_poker,
    "tic-tac-toe": tic_tac_toe,
}


#: Playouts after which `offered_playouts` begins again with the same ones.
_OFFERED: Final = 20


@functools.cache
def registry() -> Registry:
    """Return the installed games, the others, and variants that change nothing."""
    found = Registry()
    found.load()
    for name, module in _OTHERS.items():
        found.add_game(Plugin(name, module))
    found.add_variant(Plugin("unchanged", unchanged))
    found.add_variant(Plugin("unchanged-guarded", unchanged_guarded))
    return found


@functools.cache
def game_of(name: str) -> Game[Any, Any, Any]:
    """Return a game, as in ``lepidoptery`` or ``lepidoptery+unchanged``."""
    return registry().game(name)


def installed() -> list[str]:
    """Return the names of the games that are installed."""
    return [name for name, _ in registry().games() if name not in _OTHERS]


def playouts(game: Game[Any, Any, Any]) -> Workload:
    """Return random playouts with the fewest seats, deals included; counts plies."""
    options, seats = game.info.options(), game.info.min_seats
    rng = random.Random(1)
    dealer = FastDealer(rng)
    point, legal_actions, apply = (
        game.decision_point,
        game.legal_actions,
        game.apply,
    )
    draw = rng.random

    def once() -> int:
        state = game.new(dealer, options, seats)
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


def offered_playouts(game: Game[Any, Any, Any]) -> Workload:
    """Return the same by `fritillary.playout`, for a game without chance.

    It counts no plies, so the playouts are always the same ones, counted beforehand.
    """
    options, seats = game.info.options(), game.info.min_seats

    def begin() -> tuple[random.Random, FastDealer]:
        rng = random.Random(1)
        return rng, FastDealer(rng)

    rng, dealer = begin()
    plies = sum(
        _plies(game, game.new(dealer, options, seats), rng) for _ in range(_OFFERED)
    )

    def once() -> int:
        rng, dealer = begin()
        for _ in range(_OFFERED):
            playout(game, game.new(dealer, options, seats), rng)
        return plies

    return functools.partial(until, once=once)


def _plies(game: Game[Any, Any, Any], state: Any, rng: random.Random) -> int:
    """Play as `fritillary.playout` does; return how many plies it took."""
    plies = 0
    while type(game.decision_point(state)) is not Over:
        legal = game.legal_actions(state)
        game.apply(state, legal[int(rng.random() * len(legal))])
        plies += 1
    return plies


def copies(game: Game[Any, Any, Any]) -> Workload:
    """Return playouts of a game without chance that go on with a copy each ply."""
    first, draw = game.new(FastDealer(1)), random.Random(1).random
    point, legal_actions, apply, copy = (
        game.decision_point,
        game.legal_actions,
        game.apply,
        game.copy,
    )

    def once() -> int:
        state = first
        plies = 0
        while type(point(state)) is not Over:
            state = copy(state)
            legal = legal_actions(state)
            apply(state, legal[int(draw() * len(legal))])
            plies += 1
        return plies

    return functools.partial(until, once=once)


def checked_playouts(game: Game[Any, Any, Any]) -> Workload:
    """Return playouts of a game without chance by `Game.play`, the checked way."""
    rng = random.Random(1)
    dealer, draw = FastDealer(rng), rng.random
    point, legal_actions, play = game.decision_point, game.legal_actions, game.play

    def once() -> int:
        state = game.new(dealer)
        plies = 0
        while type(point(state)) is not Over:
            legal = legal_actions(state)
            play(state, legal[int(draw() * len(legal))], legal)
            plies += 1
        return plies

    return functools.partial(until, once=once)


def whole_playouts(game: Game[Any, Any, Any]) -> Workload:
    """Return playouts by `fritillary.playout` from one first position; counts them."""
    first, rng = game.new(FastDealer(1)), random.Random(1)

    def once() -> int:
        playout(game, game.copy(first), rng)
        return 1

    return functools.partial(until, once=once)


def decisions(game: Game[Any, Any, Any], seed: int) -> Iterator[Any]:
    """Yield the positions of a random match in which a seat has a choice."""
    state = game.new(FastDealer(seed))
    rng, dealer = random.Random(seed), FastDealer(seed + 1)
    while type(point := game.decision_point(state)) is not Over:
        if point.seat is None:
            game.apply(state, game.draw_chance(state, dealer))
            continue
        legal = game.legal_actions(state)
        if len(legal) > 1:
            yield game.copy(state)
        game.apply(state, legal[int(rng.random() * len(legal))])


def plain_playouts(game: Game[Any, Any, Any]) -> Workload:
    """Return playouts of a game without chance by the loop of `bare_playouts`."""
    return _plain(
        game.info, game.new, game.decision_point, game.legal_actions, game.apply
    )


def bare_playouts(rules: ModuleType) -> Workload:
    """Return playouts of a game without chance, its functions called by hand.

    No `Game` and no checks; what somebody would write who has the rules alone.
    """

    def new(dealer: FastDealer, options: Any, seats: int) -> Any:
        return rules.new_state(options, seats, dealer)

    return _plain(
        rules.describe(),
        new,
        rules.decision_point,
        rules.legal_actions,
        rules.apply_action,
    )


def _plain(
    info: GameInfo,
    new: Callable[..., Any],
    point: Callable[..., Any],
    legal_actions: Callable[..., Any],
    apply: Callable[..., Any],
) -> Workload:
    options, seats = info.options(), info.min_seats
    rng = random.Random(1)
    dealer, draw = FastDealer(rng), rng.random

    def once() -> int:
        state = new(dealer, options, seats)
        plies = 0
        while type(point(state)) is not Over:
            legal = legal_actions(state)
            apply(state, legal[int(draw() * len(legal))])
            plies += 1
        return plies

    return functools.partial(until, once=once)


def calibrator(seconds: float) -> int:
    """Play a bare Connect Four; counts plies."""
    rng = random.Random(1)
    return until(
        seconds,
        lambda: bare_connect_four.playout(bare_connect_four.ConnectFour(), rng),
    )
