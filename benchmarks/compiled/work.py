"""The program that measures the compiled build, in its environment.

It is told what to do as the programs of the peers are, a line of JSON each:

    {"work": "playouts", "arguments": ["connect-four"], "seconds": 0.5}
"""

from __future__ import annotations

import functools
import importlib
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import benchmarks
from benchmarks.compiled import RULES
from fritillary.core.build import compiled_modules

# Compiled rules that are in no wheel go before their sources; the plain build, which
# has none, can do the same work to be compared.
if compiled_modules():
    sys.path.insert(0, str(RULES))
    benchmarks.__path__.insert(0, str(RULES / "benchmarks"))

from benchmarks import playing, searching
from benchmarks.pairs import Workload


def _of_game(made: Callable[[Any], Workload]) -> Callable[[str], Workload]:
    return lambda name: made(playing.game_of(name))


WORK: dict[str, Callable[..., Workload]] = {
    "bare": lambda module: playing.bare_playouts(importlib.import_module(module)),
    "copies": _of_game(playing.copies),
    "offered": _of_game(playing.offered_playouts),
    "plain": _of_game(playing.plain_playouts),
    "playouts": _of_game(playing.playouts),
    "searches": lambda name, count: searching.searches(name, (), count),
    "whole": _of_game(playing.whole_playouts),
}


@functools.cache
def prepared(work: str, *arguments: Any) -> Workload:
    return WORK[work](*arguments)


def answer(line: str) -> dict[str, Any]:
    asked = json.loads(line)
    try:
        workload = prepared(asked["work"], *asked["arguments"])
        start = time.process_time()
        units = workload(asked["seconds"])
        seconds = time.process_time() - start
    except Exception as error:  # noqa: BLE001 - told to who asked
        return {"error": f"{type(error).__name__}: {error}"}
    return {"units": units, "seconds": seconds}


def main() -> None:
    for line in sys.stdin:
        print(json.dumps(answer(line)), flush=True)


if __name__ == "__main__":
    main()
