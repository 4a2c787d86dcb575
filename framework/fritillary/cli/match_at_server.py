"""The match of ``fritillary match --server``: made, watched and fetched there."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any, Final

import attrs
from attrs import field, frozen

from fritillary.app.application import Application
from fritillary.cli.lines import event_text, finish_text
from fritillary.cli.live import Screen
from fritillary.cli.loop import run as run_loop
from fritillary.cli.loop import stopped_by
from fritillary.cli.output import console, print_note
from fritillary.cli.painting import received_picture
from fritillary.cli.results import Played, check_target, tell, tell_faults
from fritillary.cli.servers import (
    Access,
    Desk,
    finish_of,
    lost_text,
    names_of,
    our_errors,
)
from fritillary.cli.wish import Wish
from fritillary.core.errors import RecordError, ServiceError, StorageError
from fritillary.record import terms as record_terms
from fritillary.record.reader import read_file
from fritillary_client import (
    ArenaError,
    ClockSettings,
    Event,
    FaultRule,
    Match,
    MatchResult,
    MatchView,
    Terms,
)
from fritillary_client.matches import Update

#: So long a server that has gone away is waited for, in seconds.
_PATIENCE_S: Final = 60.0


@frozen
class Order:
    """What is played where.

    Args:
        server: its address.
        token: of a referee.
        game: full id.
        options: as plain data.
        preset: name of published options.
        ca: file of certificates to trust.
        cert: file of a certificate to show to the server.
        key: file of its private key.
    """

    server: str
    token: str = field(repr=False)
    game: str
    options: dict[str, Any]
    preset: str
    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None


def play_out(app: Application, order: Order, wish: Wish) -> int:
    """Play a match at a server and tell how it ended; return the exit code.

    On Ctrl-C the match is called off there; a second one leaves it to the server.
    """
    check_target(wish.record)
    with our_errors("referee"):
        return run_loop(_play(app, order, wish))


async def _play(app: Application, order: Order, wish: Wish) -> int:
    access = Access(order.server, order.token, order.ca, order.cert, order.key)
    async with Desk(access, give_up_after=_PATIENCE_S, lost=_lost) as desk:
        made = await desk.ask(
            lambda referee: referee.create_match(
                order.game,
                wish.players,
                options=order.options or None,
                preset=order.preset,
                clock=[ClockSettings(**attrs.asdict(clock)) for clock in wish.clocks],
                terms=_terms(wish.terms),
                seed=wish.seed or b"",
                salt=wish.salt or b"",
                match_id=wish.match_id,
            )
        )
        if not wish.as_json:
            print_note(f"match {made.match_id} at {order.server}")
        try:
            await (_show if wish.watch else _wait)(desk, made, wish)
        except (asyncio.CancelledError, OSError) as error:
            why = "called off since it could not be shown"
            if isinstance(error, asyncio.CancelledError):
                why = f"called off by {stopped_by()}"
            # What is shown at a pace may have ended meanwhile.
            with contextlib.suppress(ArenaError):
                await desk.referee.abort(made.match_id, why)
                print_note("calling the match off")
            await _wait(desk, made, wish)
            with contextlib.suppress(OSError):
                await _tell_end(app, desk, made, wish)
            raise
        return await _tell_end(app, desk, made, wish)


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


def _lost(error: ArenaError, wait_s: float = 0.0) -> None:
    del wait_s
    print_note(f"{lost_text(error)}; trying again")


def _follow(desk: Desk, match: Match, **wanted: Any) -> AsyncGenerator[Update]:
    """Watch a match, also over a restart of the server."""
    away = False

    def lost(error: ArenaError, wait_s: float) -> None:
        nonlocal away
        if not away:
            away = True
            _lost(error, wait_s)

    async def updates() -> AsyncGenerator[Update]:
        nonlocal away
        followed = desk.referee.follow(
            match.match_id, give_up_after=_PATIENCE_S, lost=lost, **wanted
        )
        async with contextlib.aclosing(followed):
            async for update in followed:
                away = False
                yield update

    return updates()


async def _wait(desk: Desk, match: Match, wish: Wish) -> None:
    """Wait for the end of a match."""
    del wish
    async with contextlib.aclosing(_follow(desk, match, after=None)) as updates:
        async for _ in updates:
            pass


async def _show(desk: Desk, match: Match, wish: Wish) -> None:
    """Show a match on the terminal to its end."""
    screen = Screen(console(), pace_s=wish.pace_s)
    following = asyncio.ensure_future(_tell(desk, match, screen))
    try:
        await screen.show()
        await following
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)


async def _tell(desk: Desk, match: Match, screen: Screen) -> None:
    """Tell a screen what happens.

    What was over before the watching began has no picture of its own; all else is
    shown with the view that comes after it.
    """
    names: list[str] = []
    seen: int | None = None
    ply = 0
    event: Event | None = None

    def show(event: Event, *, past: bool = False) -> None:
        screen.add(event.ply, event_text(names, event), past=past)

    async def described() -> list[str]:
        # Programs tell their names when they dial in.
        return names_of(
            await desk.ask(lambda referee: referee.get_match(match.match_id))
        )

    updates = _follow(desk, match, views=True, picture="text")
    try:
        async for update in updates:
            if isinstance(update, MatchView):
                if seen is None:
                    seen = update.ply
                screen.picture = received_picture(update.picture) or screen.picture
                if event is not None:
                    show(event)
                    event = None
            elif isinstance(update, Event):
                names = names or await described()
                ply = update.ply
                if event is not None:
                    show(event)
                    event = None
                if update.kind == "ended":
                    continue
                if ply <= (seen or 0):
                    show(update, past=True)
                else:
                    event = update
            elif isinstance(update, MatchResult):
                names = names or await described()
                if event is not None:
                    show(event)
                screen.add(ply, finish_text(names, finish_of(update)))
    finally:
        screen.close()
        await updates.aclose()


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
    _keep(raw, path)
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
        if path.exists():
            if _holds(path, raw):
                return
            msg = f"{path}: there is another file already; name one with --record"
            raise StorageError(msg, code="storage.exists")
        path.write_bytes(raw)
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror}") from error
