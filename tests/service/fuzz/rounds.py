"""Attacks on a server while others play, and what must hold meanwhile and after."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any, Final

from attrs import Factory, define
from tests.service.fuzz import calls, links, seats, streams, watchers
from tests.service.fuzz.honest import FIXTURES, Fixture, Honest
from tests.service.fuzz.kinds import KINDS, Field, Kind, names_of
from tests.service.fuzz.tally import Tally
from tests.service.fuzz.target import Target, left_behind

#: The modules that enter kinds.
MODULES: Final = (streams, seats, links, calls, watchers)

#: Memory that may stay in use after the attackers have left, in bytes. The server
#: keeps things of bounded size for later: messages, options and clocks that were made
#: once (caches of some hundred entries), ended matches with their records, lists of
#: addresses. Whatever grew with the number of frames would be far more: a hundred bytes
#: for each of a million frames are 100 MB.
TOLERANCE: Final = 24 * 1024 * 1024

#: Memory that may stay with the process besides, in bytes: Python and the C library
#: keep a whole mebibyte or page while one block in it is used, and hand it out again.
#: How much that is follows from the most that was in use at a time.
FRAGMENTS: Final = 96 * 1024 * 1024

#: For so long nobody else has a go, in milliseconds of CPU: one turn of the loop
#: serves all streams that are ready, and a deal or a signature may be due in each.
LONGEST_TURN_MS: Final = 400

#: Kinds that attack at a time.
_AT_ONCE: Final = 4

#: Seconds between looks at the memory.
_LOOK_S: Final = 0.1

#: Most frames of a kind in one go; kinds take turns.
_GO: Final = 5_000


@define
class Report:
    """What came of it.

    Attributes:
        tallies: by kind.
        wrong: sentences on what did not hold.
        matches: content hashes of honest matches: the one they have when nobody
            disturbs them, and how often each was seen.
        start: bytes of memory that the process had before.
        peak: most at any time.
        after: when all had left.
        used: bytes in use for something, before and after; `server.used`.
        turn_ms: the longest turn of the server's loop, in milliseconds of CPU.
    """

    tallies: dict[str, Tally] = Factory(lambda: {name: Tally() for name in KINDS})
    wrong: list[str] = Factory(list)
    matches: dict[Fixture, tuple[str, Counter[str]]] = Factory(dict)
    start: int = 0
    peak: int = 0
    after: int = 0
    used: tuple[int, int] = (0, 0)
    turn_ms: int = 0

    @property
    def sent(self) -> int:
        """Frames so far."""
        return sum(one.sent for one in self.tallies.values())


def field_of(target: Target, kind: Kind, rng: random.Random) -> Field:
    """Return where a kind attacks."""
    number = list(KINDS).index(kind.name)
    return Field(target.address, target.tokens, rng, names=names_of(number))


async def attack(
    target: Target, kind: Kind, frames: int, seed: str, matches: Iterable[str] = ()
) -> Tally:
    """Let one kind send frames; return its tally, in which is what went wrong."""
    field = field_of(target, kind, random.Random(f"{seed} {kind.name}"))
    field.matches = list(matches)
    try:
        await kind.run(field, frames)
    except (OSError, EOFError) as error:
        field.tally.expect(False, f"the server is not to be reached: {error!r}")
    return field.tally


async def cleared(
    target: Target, kinds: Iterable[Kind], before: dict[str, int]
) -> dict[str, int]:
    """Return what the server holds when the attackers have left in order."""
    without = {what: count for what, count in before.items() if what != "links"}
    await target.settled(without)
    for kind in kinds:
        await field_of(target, kind, random.Random(0)).tidy()
    return await target.settled(before)


@contextlib.asynccontextmanager
async def peak_of(target: Target, report: Report) -> AsyncIterator[None]:
    """Note the most memory that the server has in use meanwhile."""

    async def look() -> None:
        while True:
            report.peak = max(report.peak, target.resident)
            await asyncio.sleep(_LOOK_S)

    task = asyncio.create_task(look())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def shares(frames: int) -> dict[str, int]:
    """Return how many frames each kind sends of so many in all."""
    whole = sum(kind.share for kind in KINDS.values())
    counts = {
        name: max(1, int(frames * kind.share / whole)) for name, kind in KINDS.items()
    }
    # What rounding has left over.
    counts["random bytes"] += max(0, frames - sum(counts.values()))
    return counts


async def fuzz(
    target: Target,
    report: Report,
    frames: int,
    seed: int,
    progress: Callable[[int], Any] = lambda _: None,
) -> None:
    """Attack with all kinds at once while honest matches are played.

    Args:
        target: the server, on which nothing has happened yet.
        report: filled in as it goes.
        frames: about so many in all.
        seed: of all that is sent.
        progress: called with the frames so far.
    """
    honest = Honest(target.address, target.tokens)
    async with honest:
        for _ in range(2):
            await honest.round()
    _settle_hashes(report, honest)
    # All that stays is there, and all caches are filled, before anything is counted.
    field = field_of(target, KINDS["catalog"], random.Random(0))
    await calls.begin_rules_apart(field)
    report.wrong += field.tally.wrong
    for kind in KINDS.values():
        await attack(target, kind, kind.few, f"{seed} before")
    nothing = await target.settled()
    before = await cleared(target, KINDS.values(), {**nothing, "links": 0})
    report.start = report.peak = before["rss"]
    async with peak_of(target, report), Honest(target.address, target.tokens) as honest:
        for fixture, (_, seen) in report.matches.items():
            honest.seen[fixture] = seen
        playing = asyncio.create_task(honest.on_and_on())
        try:
            await _attack_all(target, report, shares(frames), seed, progress)
        finally:
            playing.cancel()
            await asyncio.gather(playing, return_exceptions=True)
        await honest.round()
        report.wrong += honest.failed
    after = await cleared(target, KINDS.values(), before)
    report.after = after["rss"]
    report.used = before["used"], after["used"]
    report.turn_ms = after["turn_ms"]
    report.wrong += judged(target, before, after)
    for fixture, (wanted, seen) in report.matches.items():
        report.wrong += [
            f"{fixture.game}: content hash {one}, {count} times"
            for one, count in seen.items()
            if one != wanted
        ]


def _settle_hashes(report: Report, honest: Honest) -> None:
    report.wrong += honest.failed
    for fixture in FIXTURES:
        found = list(honest.seen[fixture])
        if len(found) != 1:
            report.wrong.append(f"{fixture.game}: not the same without the fuzz")
        report.matches[fixture] = (found[0] if found else "", Counter())


async def _attack_all(
    target: Target,
    report: Report,
    counts: dict[str, int],
    seed: int,
    progress: Callable[[int], Any],
) -> None:
    places = asyncio.Semaphore(_AT_ONCE)

    async def one(kind: Kind) -> None:
        left, go = counts[kind.name], 0
        while left > 0:
            async with places:
                now = min(left, max(_GO, kind.few))
                matches = await links.listed(field_of(target, kind, random.Random(0)))
                tally = await attack(target, kind, now, f"{seed} {go}", matches)
            left -= max(now, tally.sent)
            go += 1
            unexpected = kind.unexpected(tally)
            report.tallies[kind.name].add(tally)
            report.wrong += [f"{kind.name}: {what}" for what in unexpected]
            progress(report.sent)
            if unexpected and not target.up:
                return

    await asyncio.gather(*map(one, KINDS.values()))


def judged(target: Target, before: dict[str, int], after: dict[str, int]) -> list[str]:
    """Return what does not hold at the end."""
    wrong = left_behind(before, after)
    more = after["used"] - before["used"]
    if more > TOLERANCE:
        wrong.append(f"{more / 2**20:.0f} MiB of memory are still in use")
    more = after["rss"] - before["rss"]
    if more > TOLERANCE + FRAGMENTS:
        wrong.append(f"{more / 2**20:.0f} MiB of memory have not been given back")
    if after["turn_ms"] > LONGEST_TURN_MS:
        wrong.append(f"nobody else had a go for {after['turn_ms']} ms of CPU")
    if not target.up:
        wrong.append("the server is gone")
    lines = target.unexpected()
    if lines:
        wrong.append(f"its log has {len(lines)} lines too many: {lines[0][:200]}")
    return wrong
