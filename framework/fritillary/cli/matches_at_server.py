"""Matches at a server: listed, shown, paused, resumed and aborted."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from typing import Any, Final, TypeVar

from attrs import frozen

from fritillary.cli.interrupted import telling_of_interrupts
from fritillary.cli.loop import run as run_loop
from fritillary.cli.match_sheet import print_sheet, sheet_data
from fritillary.cli.output import print_json, print_note, say
from fritillary.cli.reach import Access
from fritillary.cli.servers import OPEN, names_of, our_errors
from fritillary.cli.tables import print_filled
from fritillary.cli.watched import Watched
from fritillary.core.moments import moment_text
from fritillary.record.terms import clip
from fritillary_client import (
    ArenaError,
    Match,
    MatchStatus,
    MatchView,
    Referee,
    RefusedError,
)

#: Stands for all phases but ``ended``.
_OPEN_WORD: Final = "open"
_NOT_ENDED: Final = (*OPEN, "stranded")

#: Nothing is told to whoever would look on.
_STILL: Final = ("ended", "stranded")

_SENTENCE: Final = 500

#: So long a server may take to tell the clocks of a match, in seconds.
_LOOK_S: Final = 15.0

#: Codes with which a server keeps somebody who may see a match from watching it.
_UNWATCHED: Final = {"match.sealed", "auth.wrong-role", "limit.streams"}

T = TypeVar("T")


@frozen(kw_only=True)
class Wanted:
    """Which matches are to be listed; all conditions must hold.

    Args:
        phases: any of these, or ``open``; empty: all.
        game: full id; empty: all.
        labels: that a match must have.
        bot: that sits at a seat; empty: whoever.
        since_ms: since 1970-01-01 UTC; made no earlier.
        limit: at most so many; 0: all.
    """

    phases: tuple[str, ...] = ()
    game: str = ""
    labels: dict[str, str]
    bot: str = ""
    since_ms: int = 0
    limit: int = 0

    def has(self, match: Match) -> bool:
        """Say whether a match has what the server is not asked for."""
        if not self.bot:
            return True
        names = {seat.name for seat in match.seats}
        return bool({self.bot, f"remote:{self.bot}"} & (names | set(match.players)))


def list_matches(access: Access, wanted: Wanted, *, as_json: bool) -> None:
    """Print matches, the newest first."""
    found, more = _asked(access, "spectator", lambda referee: _find(referee, wanted))
    if as_json:
        print_json([sheet_data(match) for match in found])
    elif found:
        columns = ("MATCH", "GAME", "PHASE", "PLY", "MADE (UTC)", "PLAYERS", "LABELS")
        print_filled(columns, list(map(_row, found)))
        for match in found:
            if match.phase == "stranded":
                told = f"match {match.match_id} is stranded: {_why(match)}"
                print_note(told, wrap=True)
    else:
        print_note(f"there is no such match at {access.server}")
    if more:
        print_note(f"there are more; --limit {wanted.limit} left them out")


async def _find(referee: Referee, wanted: Wanted) -> tuple[list[Match], bool]:
    """Return the matches that are wanted, and whether there are more of them."""
    phases: list[str] = []
    for word in wanted.phases:
        phases += _NOT_ENDED if word == _OPEN_WORD else [word]
    listed = referee.list_matches(
        phases=dict.fromkeys(phases), game=wanted.game, labels=wanted.labels
    )
    found: list[Match] = []
    async with contextlib.aclosing(listed) as matches:
        async for match in matches:
            if match.created_at_ms < wanted.since_ms:
                # All that follow are older.
                break
            if not wanted.has(match):
                continue
            if wanted.limit and len(found) == wanted.limit:
                return found, True
            found.append(match)
    return found, False


def _row(match: Match) -> tuple[str, ...]:
    phase = match.phase if match.result is None else match.result.kind
    return (
        match.match_id,
        match.full_id,
        phase,
        str(match.ply),
        moment_text(match.created_at_ms).removesuffix(" UTC"),
        " : ".join(names_of(match)),
        " ".join(f"{name}={value}" for name, value in match.labels.items()),
    )


def _why(match: Match) -> str:
    """Return why a match is stranded, in one line."""
    return clip(match.stranded_reason, _SENTENCE)


def show(access: Access, match_id: str, *, as_json: bool) -> None:
    """Print all about a match."""
    match, watched = _asked(
        access, "spectator", lambda referee: _look(referee, match_id)
    )
    if as_json:
        print_json(sheet_data(match, watched))
    else:
        print_sheet(match, watched)


async def _look(referee: Referee, match_id: str) -> tuple[Match, Watched | None]:
    """Return a match, and how spectators see it now, where somebody may look on."""
    match = await referee.get_match(match_id)
    if match.phase in _STILL:
        return match, None
    watched = Watched(match)
    try:
        async with (
            asyncio.timeout(_LOOK_S),
            contextlib.aclosing(_beginning(referee, match_id)) as updates,
        ):
            async for update in updates:
                watched.take(update)
    except TimeoutError:
        return match, None
    except RefusedError as error:
        if error.code not in _UNWATCHED:
            raise
        return match, None
    except ArenaError as error:
        if error.code != "match.no-result":
            raise
    # It may have gone on, and players tell their names when they dial in.
    match = await referee.get_match(match_id)
    watched.describe(match)
    return match, None if match.phase in _STILL else watched


async def _beginning(
    referee: Referee, match_id: str
) -> AsyncGenerator[MatchView | MatchStatus]:
    """Yield what a watcher is told at once: a view, and where the match is."""
    watching = referee.watch(match_id, after=None)
    async with contextlib.aclosing(watching) as updates:
        async for update in updates:
            if isinstance(update, (MatchView, MatchStatus)):
                yield update
            if isinstance(update, MatchStatus):
                return


def pause(access: Access, match_id: str, message: str, *, as_json: bool) -> None:
    """Stop the clocks of a match."""
    match = _told(access, lambda referee: referee.pause(match_id, message))
    _print(
        match,
        f"'fritillary matches resume {match.match_id}' lets it go on",
        as_json=as_json,
    )


def resume(access: Access, match_id: str, *, as_json: bool) -> None:
    """Let a match go on."""
    match = _told(access, lambda referee: referee.resume(match_id))
    _print(match, as_json=as_json)


def abort(
    access: Access, match_id: str, message: str, *, void: bool, as_json: bool
) -> None:
    """End a match that goes on."""
    match = _told(access, lambda referee: referee.abort(match_id, message, void=void))
    hint = f"'fritillary matches fetch {match.match_id}' fetches its record"
    # One that was stranded may have none.
    _print(match, _why(match) or hint, as_json=as_json)


def _print(match: Match, hint: str = "", *, as_json: bool) -> None:
    """Print what has become of a match."""
    if as_json:
        print_json(sheet_data(match))
        return
    ended = match.result
    how = match.phase if ended is None else f"{match.phase}, {ended.kind}"
    why = f": {ended.message}" if ended is not None and ended.message else ""
    say(f"match {match.match_id} is {how} at ply {match.ply}{why}")
    if hint:
        print_note(hint)


def _told(access: Access, call: Callable[[Referee], Awaitable[Match]]) -> Match:
    """Return a match after something was done to it."""
    with telling_of_interrupts(lambda: "the server may have done it already"):
        return _asked(access, "referee", call)


def _asked(access: Access, role: str, call: Callable[[Referee], Awaitable[T]]) -> T:
    """Return what a server answers.

    Args:
        access: to the server.
        role: whose token it takes.
        call: asks it.

    Raises:
        ServiceError: if it refuses, or does not answer.
        UsageError: if what is asked makes no sense.
    """

    async def ask() -> T:
        async with access.referee() as referee:
            return await call(referee)

    asking: Coroutine[Any, Any, T] = ask()
    with our_errors(role):
        return run_loop(asking)
