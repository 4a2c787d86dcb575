"""The program that plays in a peer's environment. It imports nothing of this project.

It reads a line of JSON, works for so long, and writes one: how many units it did, and
the seconds of its own CPU that they took. Work is named ``peer.what``:

    {"work": "open_spiel.playouts", "arguments": ["connect_four"], "seconds": 0.5}
    {"units": 412345, "seconds": 0.51}
    {"error": "ModuleNotFoundError: No module named 'pyspiel'"}
"""

from __future__ import annotations

import functools
import importlib
import json
import os
import random
import sys
import time
from collections.abc import Callable
from typing import Any

#: Does one thing; returns how many units that was.
Once = Callable[[], int]


# ------------------------------------------------------------------------- OpenSpiel


def _open_spiel_game(name: str) -> Any:
    # The bindings first, then the games that are written in Python.
    pyspiel = importlib.import_module("pyspiel")
    if name.startswith("python_"):
        importlib.import_module("open_spiel.python.games")
    return pyspiel.load_game(name)


def open_spiel_playouts(name: str) -> Once:
    """Random playouts, a legal action chosen by index."""
    game, draw = _open_spiel_game(name), random.Random(1).random

    def once() -> int:
        state = game.new_initial_state()
        plies = 0
        while not state.is_terminal():
            legal = state.legal_actions()
            state.apply_action(legal[int(draw() * len(legal))])
            plies += 1
        return plies

    return once


def open_spiel_documented(name: str) -> Once:
    """Random playouts as in OpenSpiel's own examples."""
    game, rng = _open_spiel_game(name), random.Random(1)

    def once() -> int:
        state = game.new_initial_state()
        plies = 0
        while not state.is_terminal():
            state.apply_action(rng.choice(state.legal_actions(state.current_player())))
            plies += 1
        return plies

    return once


def open_spiel_copies(name: str) -> Once:
    """Random playouts in which each position is kept and a copy goes on."""
    game, draw = _open_spiel_game(name), random.Random(1).random

    def once() -> int:
        state = game.new_initial_state()
        plies = 0
        while not state.is_terminal():
            state = state.clone()
            legal = state.legal_actions()
            state.apply_action(legal[int(draw() * len(legal))])
            plies += 1
        return plies

    return once


def open_spiel_python_mcts(name: str, simulations: int, exploration: float) -> Once:
    """Searches of the first position with the MCTS in Python; counts simulations."""
    mcts = importlib.import_module("open_spiel.python.algorithms.mcts")
    numpy = importlib.import_module("numpy")
    game = _open_spiel_game(name)
    chance = numpy.random.RandomState(1)
    judge = mcts.RandomRolloutEvaluator(1, chance)
    bot = mcts.MCTSBot(game, exploration, simulations, judge, random_state=chance)

    def once() -> int:
        bot.step(game.new_initial_state())
        return simulations

    return once


def open_spiel_mcts(name: str, simulations: int, exploration: float) -> Once:
    """Searches of the first position with the MCTS in C++; counts simulations."""
    pyspiel = importlib.import_module("pyspiel")
    game = _open_spiel_game(name)
    bot = pyspiel.MCTSBot(
        game,
        pyspiel.RandomRolloutEvaluator(1, 1),
        exploration,
        simulations,
        1_000,  # MB at most
        True,  # it stops where the game is solved, which it is not so soon
        1,
        False,
    )

    def once() -> int:
        bot.step(game.new_initial_state())
        return simulations

    return once


# ------------------------------------------------------------------------ PettingZoo


def pettingzoo_playouts(name: str) -> Once:
    """Random playouts as in PettingZoo's documentation: `env()`, sampled by mask."""
    env = importlib.import_module(f"pettingzoo.classic.{name}").env()
    seeds = iter(range(1, 1 << 40))

    def once() -> int:
        env.reset(seed=next(seeds))
        plies = 0
        for agent in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            env.step(env.action_space(agent).sample(observation["action_mask"]))
            plies += 1
        return plies

    return once


# ---------------------------------------------------------------------------- RLCard


def rlcard_playouts(name: str) -> Once:
    """Random playouts by reset and step, the fastest way that RLCard has."""
    env = importlib.import_module("rlcard").make(name, config={"seed": 1})
    draw = random.Random(1).random

    def once() -> int:
        state, _ = env.reset()
        plies = 0
        while not env.is_over():
            legal = list(state["legal_actions"])
            state, _ = env.step(legal[int(draw() * len(legal))])
            plies += 1
        return plies

    return once


# ------------------------------------------------------------------------------- pgx


def pgx_playouts(name: str, games: int) -> Once:
    """Random playouts of so many games at a time, many plies in one compiled call.

    A game that is over begins anew within the call.
    """
    jax = importlib.import_module("jax")
    auto_reset = importlib.import_module("pgx.experimental").auto_reset
    env = importlib.import_module("pgx").make(name)
    numpy = jax.numpy
    step = jax.vmap(auto_reset(env.step, env.init))
    plies = 16

    def ply(carried: Any, _: Any) -> tuple[Any, None]:
        state, key = carried
        key, choose, again = jax.random.split(key, 3)
        weights = numpy.where(state.legal_action_mask, 0.0, -numpy.inf)
        actions = jax.random.categorical(choose, weights, axis=-1)
        return (step(state, actions, jax.random.split(again, games)), key), None

    play = jax.jit(lambda carried: jax.lax.scan(ply, carried, None, length=plies)[0])
    key = jax.random.PRNGKey(1)
    first = jax.jit(jax.vmap(env.init))(jax.random.split(key, games))
    at = [jax.block_until_ready(play((first, key)))]  # compiled by now

    def once() -> int:
        at[0] = jax.block_until_ready(play(at[0]))
        return games * plies

    return once


# ---------------------------------------------------------------- kaggle-environments


def kaggle_steps(name: str) -> Once:
    """Random matches by `env.step`: checked, with clocks and a log of the steps."""
    env = importlib.import_module("kaggle_environments").make(name)
    draw = random.Random(1).random

    def once() -> int:
        env.reset()
        plies = 0
        while not env.done:
            board = env.state[0].observation.board
            legal = [column for column in range(7) if not board[column]]
            action = legal[int(draw() * len(legal))]
            env.step(
                [action if seat.status == "ACTIVE" else None for seat in env.state]
            )
            plies += 1
        return plies

    return once


# ----------------------------------------------------------------------- the program


WORK: dict[str, Callable[..., Once]] = {
    "open_spiel.playouts": open_spiel_playouts,
    "open_spiel.documented": open_spiel_documented,
    "open_spiel.copies": open_spiel_copies,
    "open_spiel.python_mcts": open_spiel_python_mcts,
    "open_spiel.mcts": open_spiel_mcts,
    "pettingzoo.playouts": pettingzoo_playouts,
    "rlcard.playouts": rlcard_playouts,
    "pgx.playouts": pgx_playouts,
    "kaggle.steps": kaggle_steps,
}


@functools.cache
def prepared(work: str, *arguments: Any) -> Once:
    return WORK[work](*arguments)


def answer(line: str) -> dict[str, Any]:
    asked = json.loads(line)
    try:
        once = prepared(asked["work"], *asked["arguments"])
        start = before = time.process_time()
        stop = start + asked["seconds"]
        units = once()
        times = 1
        while (now := time.process_time()) < stop:
            # As often as we look at the clock ourselves, see `benchmarks.pairs.until`.
            if now - before < asked["seconds"] / 100:
                times *= 2
            before = now
            for _ in range(times):
                units += once()
    except Exception as error:  # noqa: BLE001 - told to who asked
        return {"error": f"{type(error).__name__}: {error}"}
    return {"units": units, "seconds": now - start}


def main() -> None:
    # Some libraries greet whoever imports them, on standard output.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    for line in sys.stdin:
        print(json.dumps(answer(line)), file=answers, flush=True)


if __name__ == "__main__":
    main()
