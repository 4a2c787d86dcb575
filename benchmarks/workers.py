"""Playouts in one worker process and in two."""

from __future__ import annotations

import contextlib
import multiprocessing
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Final

from attrs import frozen

from benchmarks.playing import game_of, playouts

#: CPU of one task in seconds: long enough that passing it on costs nothing.
_TASK: Final = 0.1


@frozen
class Done:
    """What workers did.

    Args:
        per_second: plies in a second on the wall.
        per_cpu: plies in a second of the workers' CPU.
    """

    per_second: float
    per_cpu: float


def _task(name: str) -> tuple[int, float]:
    start = time.process_time()
    plies = playouts(game_of(name))(_TASK)
    return plies, time.process_time() - start


def _sample(pool: ProcessPoolExecutor, name: str, workers: int, seconds: float) -> Done:
    tasks = max(round(seconds / _TASK), 1) * workers
    start = time.perf_counter()
    done = list(pool.map(_task, [name] * tasks))
    wall = time.perf_counter() - start
    plies = sum(plies for plies, _ in done)
    return Done(plies / wall, plies / sum(cpu for _, cpu in done))


@contextlib.contextmanager
def _pool(workers: int, name: str) -> Iterator[ProcessPoolExecutor]:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        _sample(pool, name, workers, 2 * _TASK)
        yield pool


def one_and_two(
    name: str, *, rounds: int, seconds: float
) -> tuple[list[Done], list[Done]]:
    """Return samples of two workers, and of one before and after each."""
    with _pool(2, name) as two, _pool(1, name) as one:
        both, alone = [], [_sample(one, name, 1, seconds)]
        for _ in range(rounds):
            both.append(_sample(two, name, 2, seconds))
            alone.append(_sample(one, name, 1, seconds))
    return both, alone
