"""Checks one bot, item by item."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from attrs import frozen

from fritillary.plugins.discovery import Registry
from fritillary.referee.lineup import parse_player
from fritillary.sparring.items import HELLO, ITEMS, Item, chosen
from fritillary.sparring.ring import Ring
from fritillary.sparring.tape import Tape
from fritillary.sparring.verdicts import (
    FailedError,
    Finding,
    NotCheckedError,
    Report,
    Shown,
    Verdict,
)

#: Seconds that a bot has for one thing.
PATIENCE_S: Final = 10.0

#: So many messages are shown around a failure.
_SHOWN: Final = 12


def _nothing(_: object) -> None:
    pass


@frozen(kw_only=True)
class Listener:
    """Who is told of a check while it goes on.

    Args:
        begun: told of an item before it is checked.
        judged: told of its verdict.
        remark: told in a sentence what happens.
        invited: told how a bot that is not started here can dial in.
        passed: told of every message, and of what happens to link and program.
    """

    begun: Callable[[Item], None] = _nothing
    judged: Callable[[Finding], None] = _nothing
    remark: Callable[[str], None] = _nothing
    invited: Callable[[str], None] = _nothing
    passed: Callable[[Shown], None] | None = None


async def check(
    player: str,
    registry: Registry,
    *,
    games: Sequence[str] = (),
    only: Sequence[str] = (),
    patience_s: float = PATIENCE_S,
    listener: Listener | None = None,
    report: Report | None = None,
) -> Report:
    """Check a bot.

    Args:
        player: as `fritillary.referee.lineup` reads it; nobody who plays by hand.
        registry: the games; one is added to it that no bot knows.
        games: to be played, by full id; default those that the bot announces.
        only: ids of items; default all.
        patience_s: the longest wait for one thing that the bot has to do. What lasts
            longer by its nature takes multiples of it.
        listener: told meanwhile.
        report: filled in, so that it is there if the check is cut short.

    Returns:
        The report.

    Raises:
        FritillaryError: if player, games or items make no sense.
    """
    spec = parse_player(player)
    items = chosen(only)
    for game in games:
        registry.game(game)
    listener = listener or Listener()
    report = Report(player) if report is None else report
    tape = Tape(listener.passed)
    async with Ring(
        spec,
        registry,
        tape,
        wanted=games,
        patience_s=patience_s,
        remark=listener.remark,
        invited=listener.invited,
    ) as ring:
        there = False
        for item in ITEMS:
            if item not in items and item.id != HELLO:
                continue
            listener.begun(item)
            finding = await _judge(ring, item, there=there)
            if item.id == HELLO:
                # A bot without a build, for example, can play all the same.
                there = ring.connected() and bool(ring.games)
                report.games = list(ring.games)
            if item in items or finding.verdict is Verdict.FAILED:
                report.findings.append(finding)
                listener.judged(finding)
    report.whole = True
    return report


async def _judge(ring: Ring, item: Item, *, there: bool) -> Finding:
    """Check one item."""
    since = len(ring.tape)
    try:
        if item.id != HELLO:
            if not there:
                raise NotCheckedError(
                    "the bot is not there, or plays none of the games"
                )
            await ring.ready()
            since = len(ring.tape)
        seen = await item.run(ring)
    except NotCheckedError as reason:
        return _finding(item, Verdict.NOT_CHECKED, reason.why)
    except FailedError as failure:
        ring.spoiled = True
        return Finding(
            item=item.id,
            verdict=Verdict.FAILED,
            expected=failure.expected,
            seen=failure.seen,
            mend=item.mend,
            messages=ring.tape.last(since, _SHOWN),
        )
    return _finding(item, Verdict.PASSED, seen)


def _finding(item: Item, verdict: Verdict, seen: str) -> Finding:
    return Finding(item=item.id, verdict=verdict, expected=item.what, seen=seen)
