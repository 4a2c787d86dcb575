"""``make profile``: what each hot path spends its time on, from cProfile.

make profile PART=uct
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Callable
from typing import Final

from benchmarks import in_process, over_grpc, profiles, searching
from benchmarks.pairs import Workload
from benchmarks.playing import game_of, playouts


def _workload(make: Callable[[], Workload]) -> Callable[[], None]:
    return lambda: profiles.show_workload(make())


def _playouts(name: str) -> Callable[[], None]:
    return _workload(lambda: playouts(game_of(name)))


#: What shows the profile of each.
PATHS: Final[dict[str, Callable[[], None]]] = {
    "playouts": _playouts("lepidoptery"),
    "playouts-lost-cities": _playouts("lost-cities"),
    "playouts-butterfly-garden": _playouts("butterfly-garden"),
    "playouts-connect-four": _playouts("connect-four"),
    "variant": _playouts("lepidoptery+unchanged"),
    "uct": _workload(lambda: searching.searches("connect-four")),
    "ismcts": _workload(lambda: searching.searches("lepidoptery")),
    "match": _workload(lambda: in_process.refereed_matches),
    "observe": _workload(lambda: in_process.observations),
    "restore": _workload(lambda: in_process.restores("lepidoptery", 0.5)),
    "server": functools.partial(over_grpc.show_profile, 64),
    "one-stream": functools.partial(over_grpc.show_profile, 1, 64),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="make profile", description=__doc__)
    parser.add_argument("part", nargs="?", choices=PATHS, help="default: all")
    given = parser.parse_args()
    for name, show in PATHS.items():
        if given.part in {None, name}:
            print(name, flush=True)
            show()


if __name__ == "__main__":
    main()
