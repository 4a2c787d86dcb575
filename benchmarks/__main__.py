"""``make bench``: every hot path as a ratio against a reference of the same run."""

from __future__ import annotations

import argparse
import os
import platform
import sys

from benchmarks import games, in_process, profiles
from benchmarks.pairs import Ratio, Workload, compare

#: So many bots dial in at once.
_MANY = 2_000

#: What can be asked for with --only.
_PARTS = ("in-process", "games", "grpc", "clients", "crowd")


def report(
    what: str, ratio: Ratio, target: float | None, unit: str, *, at_most: bool = False
) -> bool:
    """Print one line; return whether the target was missed."""
    wanted = ""
    if target is not None:
        wanted = f"target {'<=' if at_most else ''}{target:.2f} "
    missed = target is not None and (
        ratio.median > target if at_most else ratio.median < target
    )
    verdict = "" if target is None else ("MISSED" if missed else "ok")
    print(
        f"{what:<58} {ratio.median:6.2f}  ({ratio.low:.2f}-{ratio.high:.2f})  "
        f"{wanted}{verdict:<7} {ratio.rate:>10,.0f} / {ratio.reference:,.0f} {unit}",
        flush=True,
    )
    return missed


def in_process_part(rounds: int, seconds: float) -> None:
    rows: list[tuple[str, Workload, Workload, float, str]] = [
        (
            "Lepidoptery playouts through Game / bare rules",
            in_process.playouts,
            in_process.bare_playouts,
            0.9,
            "plies/s",
        ),
        (
            "Lepidoptery playouts through Game / bare Connect Four",
            in_process.playouts,
            in_process.connect_four_playouts,
            0.22,
            "plies/s",
        ),
        (
            "refereed recorded match / its bare playout",
            in_process.refereed_matches,
            in_process.match_playouts,
            0.3,
            "matches/s",
        ),
    ]
    for what, workload, reference, target, unit in rows:
        ratio = compare(workload, reference, rounds=rounds, seconds=seconds)
        if report(what, ratio, target, unit):
            profiles.show_workload(workload)
    micros, size = in_process.restore_microseconds()
    verdict = "ok" if micros <= 15 else "MISSED"
    print(
        f"{'restore a mid-game Lepidoptery state':<58} {micros:6.1f} us  "
        f"target 15 us {verdict}  ({size} bytes)"
    )
    if micros > 15:
        profiles.show_workload(in_process.restores)


def games_part(rounds: int, seconds: float) -> None:
    for name in games.names():
        report(
            f"{name} playouts through Game / bare Connect Four",
            compare(
                games.playouts(name),
                in_process.connect_four_playouts,
                rounds=rounds,
                seconds=seconds,
            ),
            None,
            "plies/s",
        )
        state, observation, record, plies = games.sizes(name)
        print(
            f"    {name}: state {state}, observation {observation} bytes at most; "
            f"record {record} bytes for {plies} plies"
        )


def grpc_part(rounds: int, seconds: float) -> None:
    from benchmarks import over_grpc

    for streams in (1, 8, 64):
        ratio = over_grpc.compare(streams, rounds=rounds, seconds=seconds)
        what = f"decisions over gRPC, {streams} streams / bare aio echo"
        target = 0.6 if streams == 64 else None
        if report(what, ratio, target, "decisions/s"):
            over_grpc.show_profile(streams)


def clients_part(rounds: int, seconds: float) -> None:
    from tests.clients import languages

    from benchmarks import clients

    for language in languages.found():
        language.make()
    for matches in (1, 64):
        ratios = clients.compare(
            languages.commands(), matches, rounds=rounds, seconds=seconds
        )
        for name, ratio in ratios.items():
            at_once = "one match" if matches == 1 else f"{matches} matches at a time"
            what = f"a bot in {name} / in Python, {at_once}"
            report(what, ratio, None, "decisions/s")
    for line in languages.left_out():
        print(line)


def crowd_part(rounds: int, seconds: float) -> None:
    from benchmarks import crowd, over_grpc

    what = "one bot in 64 matches on one stream / in one match"
    ratio = over_grpc.compare_one(64, rounds=rounds, seconds=seconds)
    if report(what, ratio, 10, "decisions/s"):
        over_grpc.show_profile(1, 64)
    what = "64 busy bots beside 500 idle ones / without them"
    ratio = crowd.idle_share(64, 500, rounds=rounds, seconds=seconds)
    if report(what, ratio, 0.95, "decisions/s"):
        over_grpc.show_profile(64, 1, 500)
    ratio = crowd.idle_memory(500, rounds=min(rounds, 3))
    what = "memory of an idle bot / of a bare echo stream"
    report(what, ratio, 2, "bytes", at_most=True)
    bots, echoes = crowd.connect(_MANY)
    print(
        f"{f'{_MANY:,} bots dial in at once':<58} {bots.count:,} are welcome after "
        f"{bots.seconds:.1f} s (bare echo streams: {echoes.count:,}, "
        f"{echoes.seconds:.1f} s), {bots.each / 1000:.0f} kB each "
        f"{'ok' if bots.count == _MANY else 'MISSED'}"
    )
    for asking in crowd.ASKING:
        found = crowd.stopped_reader(asking)
        most = found.announced + crowd.SLACK_BYTES
        cut = found.seconds is not None and found.over
        print(
            f"{f'a bot sends {asking} and does not read':<58} "
            f"{found.grown / 2**20:.1f} MiB more at most, {found.kept / 2**20:.1f} "
            f"kept; target <={most / 2**20:.0f} MiB, then cut off: "
            f"{'ok' if cut and found.grown <= most else 'MISSED'}  "
            f"(another bot: {found.others:,.0f} decisions/s meanwhile)"
        )


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="samples of each")
    parser.add_argument("--seconds", type=float, default=0.6, help="of one sample")
    parser.add_argument("--only", choices=_PARTS, help="one part of it")
    given = parser.parse_args()
    print(
        f"Python {platform.python_version()}, {os.cpu_count()} cores; ratio of medians "
        "(lowest-highest), rate / reference rate"
    )
    parts = (in_process_part, games_part, grpc_part, clients_part, crowd_part)
    for name, part in zip(_PARTS, parts, strict=True):
        if given.only in {None, name}:
            part(given.rounds, given.seconds)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
