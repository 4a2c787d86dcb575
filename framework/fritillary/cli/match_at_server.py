"""The match of ``fritillary match --server``: made, watched and fetched there."""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from pathlib import Path
from typing import Any, Final

import attrs
import typer
from attrs import define, frozen

from fritillary.app.application import Application
from fritillary.cli import watch_at_server
from fritillary.cli.claims import claimed
from fritillary.cli.interrupted import leave
from fritillary.cli.loop import run as run_loop
from fritillary.cli.loop import stopped_by
from fritillary.cli.match_remarks import RemarkOutput
from fritillary.cli.output import print_note
from fritillary.cli.reach import Access
from fritillary.cli.results import Played, tell, tell_faults
from fritillary.cli.servers import Desk, lost_text, our_errors
from fritillary.cli.watched import Watched
from fritillary.cli.wish import Wish
from fritillary.core.errors import RecordError, ServiceError, StorageError
from fritillary.core.interrupts import INTERRUPTED
from fritillary.record import terms as record_terms
from fritillary.record.reader import read_file
from fritillary.record.whole import put
from fritillary_client import (
    ArenaError,
    ClockSettings,
    FaultRule,
    LinkError,
    Match,
    RefusedError,
    Terms,
)

#: So long a server that has gone away is waited for, in seconds.
_PATIENCE_S: Final = 60.0

#: Code of a match that cannot be made since a bot is not there, or busy; and how often
#: it is tried again, in seconds.
_ABSENT: Final = "player.absent"
_LOOK_S: Final = 1.0


@frozen
class Order:
    """What is played where.

    Args:
        access: to the server, of a referee.
        game: full id.
        options: as plain data.
        preset: name of published options.
    """

    access: Access
    game: str
    options: dict[str, Any]
    preset: str


def play_out(app: Application, order: Order, wish: Wish) -> int:
    """Play a match at a server and tell how it ended; return the exit code.

    On Ctrl-C the match is called off there; a second one leaves it to the server.
    """
    left = _Left(order.access.server)
    with claimed(wish.record) as claim, our_errors("referee"):
        wish = attrs.evolve(wish, claim=claim)
        try:
            return run_loop(_play(app, order, wish, left))
        except KeyboardInterrupt:
            if left.told:
                raise typer.Exit(INTERRUPTED) from None
            leave(left.text())
        except SystemExit:
            if not left.told and (text := left.text()):
                print_note(text)
            raise


@define
class _Left:
    """What becomes of a match when the command leaves.

    Attributes:
        server: its address.
        asked: the server was asked to make it.
        match_id: what it has answered.
        called_off: the server has agreed to end it.
        why_not: why it was not, if that is known.
        away: whether it does not answer.
        told: its end was told here.
    """

    server: str
    asked: bool = False
    match_id: str = ""
    called_off: bool = False
    why_not: str = ""
    away: bool = False
    told: bool = False

    def text(self) -> str:
        """Return it in words; empty if there is nothing to be left."""
        if not self.match_id:
            if self.asked:
                return f"if {self.server} has made the match already, it goes on there"
            return ""
        if self.called_off:
            return (
                f"match {self.match_id} was called off; its record stays at "
                f"{self.server}"
            )
        later = (
            f"'fritillary matches abort {self.match_id} --server {self.server}' ends it"
        )
        if self.why_not:
            when = "when the server is back" if self.away else f"at {self.server}"
            return (
                f"match {self.match_id} was NOT called off ({self.why_not}); it goes "
                f"on {when}; {later}"
            )
        return f"match {self.match_id} may go on at {self.server}; {later}"


async def _play(app: Application, order: Order, wish: Wish, left: _Left) -> int:
    access = order.access
    looking = watch_at_server.Wish(access, _PATIENCE_S, wish.as_json, wish.pace_s)
    async with looking.desk() as desk:
        left.asked = True
        made = await _made(desk, order, wish)
        left.match_id = made.match_id
        if not wish.as_json:
            print_note(f"match {made.match_id} at {access.server}")
        try:
            if wish.watch:
                await watch_at_server.watch_one(app, looking, desk, made)
            else:
                await _wait(looking, desk, made)
        except (asyncio.CancelledError, OSError) as error:
            why = "called off since it could not be shown"
            if isinstance(error, asyncio.CancelledError):
                why = f"called off by {stopped_by()}"
            await _call_off(access, left, why)
            if left.why_not:
                if isinstance(error, OSError):
                    print_note(left.text())
                raise
            await _wait(looking, desk, made)
            with contextlib.suppress(OSError):
                await _tell_end(app, desk, made, wish)
            left.told = True
            raise
        return await _tell_end(app, desk, made, wish)


async def _made(desk: Desk, order: Order, wish: Wish) -> Match:
    """Return the match, made as soon as the bots are there that are waited for.

    Raises:
        ArenaError: if it cannot be made, or they are not there in time.
    """
    until = time.monotonic() + (wish.wait_ms or 0) / 1000
    told = False
    while True:
        try:
            return await desk.ask(
                lambda referee: referee.create_match(
                    order.game,
                    wish.players,
                    options=order.options or None,
                    preset=order.preset,
                    clock=[
                        ClockSettings(**attrs.asdict(clock)) for clock in wish.clocks
                    ],
                    terms=_terms(wish.terms),
                    seed=wish.seed or b"",
                    salt=wish.salt or b"",
                    match_id=wish.match_id,
                    labels=wish.labels,
                )
            )
        except RefusedError as error:
            if error.code != _ABSENT:
                raise
            left_s = until - time.monotonic()
            why = error.message.partition("; ")[0]
            if left_s <= 0:
                waited = f"{why}; " + (
                    "it was waited for" if told else "--wait TIME waits for it"
                )
                raise RefusedError(waited, code=error.code) from error
            if not told and not wish.as_json:
                print_note(f"{why}; waiting {math.ceil(left_s)} s for it")
            told = True
            await asyncio.sleep(min(_LOOK_S, left_s))


async def _call_off(access: Access, left: _Left, why: str) -> None:
    """Ask a server once to end a match, and note what came of it."""
    try:
        # A connection that has failed holds its next tries back.
        async with access.referee() as referee:
            await referee.abort(left.match_id, why)
    except ArenaError as error:
        # What is shown at a pace may have ended meanwhile.
        if error.code != "match.phase":
            left.why_not = lost_text(error)
            left.away = isinstance(error, LinkError) or error.retry_after_ms is not None
        return
    left.called_off = True
    print_note("calling the match off")


def _terms(terms: record_terms.Terms) -> Terms:
    policy = terms.policy
    return Terms(
        policy=[
            FaultRule(rule.fault.value, rule.consequence.value, rule.retries)
            for rule in policy.rules
        ],
        stand_in=policy.stand_in,
        link_loss_ms=policy.link.loss_ms,
        link_total_ms=policy.link.total_ms,
        restarts=policy.link.restarts,
        # Ceiling, and time for offers and preparation, are the server's to choose.
        margin_ms=terms.margin_ms,
    )


async def _wait(looking: watch_at_server.Wish, desk: Desk, match: Match) -> None:
    """Wait for the end of a match."""
    watched = Watched(match)
    output = RemarkOutput(watched, quiet=looking.as_json)
    await watch_at_server.feed(looking, desk, watched, None, output)


async def _tell_end(app: Application, desk: Desk, match: Match, wish: Wish) -> int:
    """Fetch the record and tell how the match ended; return the exit code."""
    raw = await desk.ask(lambda referee: referee.fetch_record(match.match_id))
    played = Played.of_record(raw)
    if played.match_id != match.match_id:
        msg = f"the server sent the record of another match, {played.match_id}"
        raise ServiceError(msg, code="record.other")
    # The record does not repeat what programs wrote.
    with contextlib.suppress(ArenaError):
        ended = await desk.referee.get_match(match.match_id)
        problems = {one.seat: one.message for one in ended.problems}
        played = attrs.evolve(played, problems=problems)
    path = wish.record or app.records / f"{played.match_id}.frec"
    if wish.claim is None:
        _keep(raw, path)
    else:
        wish.claim.put(raw)
    tell(played, path, as_json=wish.as_json)
    tell_faults(played)
    return played.code


def _holds(path: Path, raw: bytes) -> bool:
    """Say whether a file is a record of some bytes."""
    try:
        return read_file(path) == raw
    except RecordError:
        return False


def _keep(raw: bytes, path: Path) -> None:
    """Write a record, unless the server on this machine has done so."""
    try:
        put(path, raw, overwrite=False)
    except FileExistsError as error:
        if not _holds(path, raw):
            msg = f"{path}: there is another file already; name one with --record"
            raise StorageError(msg, code="storage.exists") from error
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror}") from error
