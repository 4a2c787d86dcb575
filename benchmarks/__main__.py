"""``make bench``: every hot path as a ratio against a reference of the same run."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from benchmarks import parts, parts_served, report
from benchmarks.rows import Bench
from fritillary.record.whole import put

#: What can be asked for with --only, in the order of the report.
PARTS: Final[dict[str, Callable[[Bench], None]]] = {
    "start-up": parts.start_up_part,
    "playouts": parts.playouts_part,
    "games": parts.games_part,
    "match": parts.match_part,
    "search": parts.search_part,
    "growth": parts.growth_part,
    "grpc": parts_served.grpc_part,
    "crowd": parts_served.crowd_part,
    "clients": parts_served.clients_part,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="samples of each")
    parser.add_argument("--seconds", type=float, default=0.6, help="of one sample")
    parser.add_argument(
        "--only", choices=PARTS, action="append", help="a part of it; may be repeated"
    )
    parser.add_argument(
        "--no-peers", action="store_true", help="measure against no other system"
    )
    parser.add_argument(
        "--no-compiled", action="store_true", help="leave the compiled build out"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write it as JSON")
    parser.add_argument(
        "--write", action="store_true", help="put the figures into docs/performance.md"
    )
    given = parser.parse_args()
    print(
        f"Python {platform.python_version()}, {os.cpu_count()} cores; "
        "what / against, median (lowest-highest), target, rates"
    )
    bench = Bench(
        given.rounds,
        given.seconds,
        with_peers=not given.no_peers,
        with_compiled=not given.no_compiled,
    )
    try:
        for name, part in PARTS.items():
            if not given.only or name in given.only:
                bench.begin(name)
                part(bench)
    finally:
        bench.close()
    if given.json:
        put(given.json, f"{json.dumps(report.as_json(bench), indent=2)}\n".encode())
    if given.write:
        page = report.PAGE.read_text("utf-8")
        put(report.PAGE, report.filled(page, bench).encode())


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
