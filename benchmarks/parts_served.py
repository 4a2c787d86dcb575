"""The parts of the report in which a server runs."""

from __future__ import annotations

import functools

from benchmarks import over_grpc
from benchmarks.rows import Bench

_DECISIONS = "decisions/s"

#: What a message takes from one machine to another not far away, one way.
_DELAY_MS = 2.5


def grpc_part(bench: Bench) -> None:
    for streams in sorted({1, min(8, bench.busy), bench.busy}):
        found = over_grpc.compare(streams, rounds=bench.rounds, seconds=bench.seconds)
        profile = functools.partial(over_grpc.show_profile, streams)
        bench.ratio(
            f"grpc.{streams}",
            f"decisions over gRPC, {streams} streams",
            "a bare aio echo",
            found.rates,
            _DECISIONS,
            0.6 if streams == bench.busy else None,
            profile=profile,
        )
        what = f"CPU of the server for a decision, {streams} streams, one in a frame"
        if found.costs is None:
            bench.leave_out(f"grpc.{streams}.cpu", what, "it is read from /proc")
            continue
        bench.ratio(
            f"grpc.{streams}.cpu",
            what,
            "for an echo",
            found.costs,
            "us",
            1.3 if streams == bench.busy else None,
            at_most=True,
        )


def clients_part(bench: Bench) -> None:
    from tests.clients import languages

    from benchmarks import clients

    for language in languages.found():
        language.make()
    for matches in (1, bench.busy):
        players = languages.commands()
        if matches > 1:
            # A process for each match: to start them all is all that would be seen.
            del players[languages.STDIO]
        ratios = clients.compare(
            players, matches, rounds=bench.rounds, seconds=bench.seconds
        )
        at_once = "one match" if matches == 1 else f"{matches} matches at a time"
        for name, ratio in ratios.items():
            bench.ratio(
                f"client.{name}.{matches}",
                f"a bot in {name}, {at_once}",
                "in Python",
                ratio,
                _DECISIONS,
            )
    for reason in languages.left_out():
        bench.leave_out("client", "a bot in another language", reason)


def crowd_part(bench: Bench) -> None:
    from benchmarks import crowd, far

    bench.ratio(
        "crowd.one-stream",
        f"one bot in {bench.busy} matches on one stream",
        "in one match",
        over_grpc.compare_one(bench.busy, rounds=bench.rounds, seconds=bench.seconds),
        _DECISIONS,
        10.0,
        profile=lambda: over_grpc.show_profile(1, bench.busy),
    )
    bench.ratio(
        "crowd.one-stream-far",
        f"... over a link of {2 * _DELAY_MS:g} ms there and back",
        "in one match over it",
        far.compare(
            bench.busy, delay_ms=_DELAY_MS, rounds=bench.rounds, seconds=bench.seconds
        ),
        _DECISIONS,
    )
    bench.ratio(
        "crowd.one-stream-echo",
        f"bare echoes of {bench.busy} decisions in a frame",
        "of one",
        over_grpc.compare_echo(bench.busy, rounds=bench.rounds, seconds=bench.seconds),
        _DECISIONS,
    )
    bench.ratio(
        "crowd.idle-share",
        f"{bench.busy} busy bots beside {bench.idle} idle ones",
        "without them",
        crowd.idle_share(
            bench.busy, bench.idle, rounds=bench.rounds, seconds=bench.seconds
        ),
        _DECISIONS,
        0.95,
        profile=lambda: over_grpc.show_profile(bench.busy, 1, bench.idle),
    )
    memory = crowd.idle_memory(bench.idle, rounds=min(bench.rounds, 3))
    bench.ratio(
        "crowd.idle-memory",
        "memory of an idle bot",
        "a bare echo stream",
        memory,
        "bytes",
        2.0,
        at_most=True,
    )
    bench.value(
        "crowd.idle-bytes",
        "memory of an idle bot",
        [memory.rate / 1024],
        "KiB",
        64.0,
        at_most=True,
    )
    bots, echoes = crowd.connect(bench.many)
    bench.value(
        "crowd.welcome",
        f"bots that are welcome when {bench.many:,} dial in at once",
        [bots.count],
        "bots",
        bench.many,
    )
    bench.value(
        "crowd.welcome-seconds",
        f"until the last one is (bare echo streams: {echoes.seconds:.1f})",
        [bots.seconds],
        "s",
    )
    for asking in crowd.ASKING:
        found = crowd.stopped_reader(asking)
        id = f"crowd.silent.{asking.replace(' ', '-').lower()}"
        bench.value(
            f"{id}.memory",
            f"a bot sends {asking} and does not read: memory of the server",
            [found.grown / 2**20],
            "MiB more",
            (found.announced + crowd.SLACK_BYTES) / 2**20,
            at_most=True,
        )
        cut = found.seconds is not None and found.over
        bench.value(f"{id}.over", "... and is cut off (1: it is)", [int(cut)], "", 1.0)
        bench.value(
            f"{id}.others",
            "... decisions of another bot meanwhile",
            [found.others],
            _DECISIONS,
        )
