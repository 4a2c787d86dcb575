"""``make bench``: every hot path as a ratio against a reference of the same run."""

from __future__ import annotations

import argparse
import os
import platform
import sys

from benchmarks import in_process
from benchmarks.pairs import Ratio, compare


def report(what: str, ratio: Ratio, target: float | None, unit: str) -> None:
    wanted = "" if target is None else f"target {target:.2f} "
    verdict = "" if target is None else ("ok" if ratio.median >= target else "MISSED")
    print(
        f"{what:<58} {ratio.median:6.2f}  ({ratio.low:.2f}-{ratio.high:.2f})  "
        f"{wanted}{verdict:<7} {ratio.rate:>10,.0f} / {ratio.reference:,.0f} {unit}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="samples of each")
    parser.add_argument("--seconds", type=float, default=0.6, help="of one sample")
    parser.add_argument("--only", default="", help="in-process or grpc")
    given = parser.parse_args()
    timing = {"rounds": given.rounds, "seconds": given.seconds}
    print(
        f"Python {platform.python_version()}, {os.cpu_count()} cores; ratio of medians "
        "(lowest-highest), rate / reference rate"
    )
    if given.only in {"", "in-process"}:
        report(
            "Lepidoptery playouts through Game / bare rules",
            compare(in_process.playouts, in_process.bare_playouts, **timing),
            0.9,
            "plies/s",
        )
        report(
            "Lepidoptery playouts through Game / bare Connect Four",
            compare(in_process.playouts, in_process.connect_four_playouts, **timing),
            0.22,
            "plies/s",
        )
        report(
            "refereed recorded match / its bare playout",
            compare(in_process.refereed_matches, in_process.match_playouts, **timing),
            0.3,
            "matches/s",
        )
        micros, size = in_process.restore_microseconds()
        verdict = "ok" if micros <= 15 else "MISSED"
        print(
            f"{'restore a mid-game Lepidoptery state':<58} {micros:6.1f} us  "
            f"target 15 us {verdict}  ({size} bytes)"
        )
    if given.only in {"", "grpc"}:
        from benchmarks import over_grpc

        for streams in (1, 8, 64):
            report(
                f"decisions over gRPC, {streams} streams / bare aio echo",
                over_grpc.compare(streams, rounds=given.rounds, seconds=given.seconds),
                0.6 if streams == 64 else None,
                "decisions/s",
            )
        report(
            "one bot in 64 matches on one stream / in one match",
            over_grpc.compare_one(64, rounds=given.rounds, seconds=given.seconds),
            10,
            "decisions/s",
        )


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
