"""Matches at a server, listed and watched."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import Final

from attrs import frozen

from fritillary.app.application import Application
from fritillary.cli.interrupted import telling_of_interrupts
from fritillary.cli.loop import run as run_loop
from fritillary.cli.match_remarks import RemarkOutput
from fritillary.cli.output import console, looks_on, print_note
from fritillary.cli.painting import Painter
from fritillary.cli.reach import Access
from fritillary.cli.servers import OPEN, Desk, lost_text, names_of, our_errors
from fritillary.cli.tables import print_table
from fritillary.cli.watch_lines import JsonOutput, LineOutput, match_data, print_object
from fritillary.cli.watch_screen import TerminalOutput
from fritillary.cli.watched import Watched
from fritillary_client import (
    ArenaError,
    Event,
    Match,
    MatchStatus,
    Referee,
    RefusedError,
)

#: In these the players may not have told their names.
_UNNAMED: Final = ("offered", "preparing")

#: Kinds of events after which the board is another one.
_MOVES: Final = ("action", "chance")

#: So often a server is asked for the next match, in seconds.
_LOOK_S: Final = 1.0

#: So many of the newest matches are looked at then.
_NEWEST: Final = 50


@frozen
class Wish:
    """Where to look, and how to show it.

    Args:
        access: to the server, of a spectator or a referee.
        give_up_s: so long a server that has gone away is waited for, in seconds.
        as_json: print data.
        pace_s: least time between two moves on a terminal.
    """

    access: Access
    give_up_s: float
    as_json: bool
    pace_s: float = 0.0

    def desk(self) -> Desk:
        """Return who asks the server."""
        return Desk(self.access, give_up_after=self.give_up_s, lost=self._lost)

    def _lost(self, error: ArenaError) -> None:
        if not self.as_json:
            print_note(f"{lost_text(error)}; trying again")


def list_open(wish: Wish) -> None:
    """Print the matches that go on."""
    with our_errors("spectator"):
        run_loop(_list(wish))


def watch(app: Application, wish: Wish, match_id: str, *, follow: bool) -> None:
    """Watch a match to its end.

    Args:
        app: knows the games that are installed.
        wish: where to look, and how to show it.
        match_id: of the match; empty for the newest that goes on, or the next.
        follow: go on with the next match, and the next.
    """
    watching: set[str] = set()

    def kept() -> str:
        return "".join(f"match {one} goes on without you" for one in watching)

    with our_errors("spectator"), telling_of_interrupts(kept):
        run_loop(_watch(app, wish, match_id, watching, follow=follow))


# ------------------------------------------------------------------------- listing


async def _list(wish: Wish) -> None:
    """Print the matches that go on."""
    async with wish.desk() as desk:
        matches = [match async for match in desk.referee.list_matches(phases=OPEN)]
    if wish.as_json:
        for match in matches:
            print_object({"type": "match", **match_data(match)})
    elif matches:
        print_table(("MATCH", "GAME", "PHASE", "PLY", "PLAYERS"), map(_row, matches))
        print_note("'fritillary watch MATCH' shows one, --latest the first of them")
    else:
        print_note(
            f"no match goes on at {wish.access.server}; --latest waits for the next one"
        )


def _row(match: Match) -> tuple[str, ...]:
    players = " : ".join(names_of(match))
    return match.match_id, match.full_id, match.phase, str(match.ply), players


# ------------------------------------------------------------------------ watching


async def _watch(
    app: Application, wish: Wish, match_id: str, watching: set[str], *, follow: bool
) -> None:
    """Watch one match, or one after the other; keep the id of what goes on."""
    async with wish.desk() as desk:
        if match_id:
            match = await _named(desk, match_id)
            watching.add(match_id)
            await watch_one(app, wish, desk, match)
            watching.clear()
            if not follow:
                return
        coming = _Coming(desk, wish, match_id)
        while True:
            watching.clear()
            match = await coming.next()
            watching.add(match.match_id)
            try:
                await watch_one(app, wish, desk, match)
            except RefusedError as error:
                # Whether a deal is sealed is told only to who tries to look.
                if error.code not in {"match.sealed", "match.unknown"}:
                    raise
                print_note(error.message)
                continue
            if not follow:
                return


async def _named(desk: Desk, match_id: str) -> Match:
    """Return the match of an id.

    Raises:
        ArenaError: if there is none, or it may not be watched.
    """
    try:
        return await desk.ask(lambda referee: referee.get_match(match_id))
    except RefusedError:
        # A bot is told that there is no match but its own; that it may not look on
        # is what it should hear.
        async with contextlib.aclosing(desk.referee.watch(match_id)) as updates:
            await anext(updates)
        raise


class _Coming:
    """Finds the match that is watched next.

    Args:
        desk: asks the server.
        wish: where to look.
        seen: id of the match that was watched already; may be empty.
    """

    def __init__(self, desk: Desk, wish: Wish, seen: str) -> None:
        self._desk = desk
        self._wish = wish
        #: Matches that are not to be shown: seen, or over before the waiting began.
        self._known = {seen}
        self._since: int | None = None

    async def next(self) -> Match:
        """Return the newest match that goes on; wait for the next one if none does.

        One that is over before it was noticed counts as well.

        Raises:
            ArenaError: if the server refuses, or stays away.
        """
        told = False
        while True:
            found = await self._desk.ask(_newest)
            match = self._choice(found)
            if match is not None:
                self._known.add(match.match_id)
                return match
            if not told and not self._wish.as_json:
                told = True
                print_note(f"waiting for a match at {self._wish.access.server}")
            await asyncio.sleep(_LOOK_S)

    def _choice(self, found: list[Match]) -> Match | None:
        if self._since is None:
            self._since = max((match.created_at_ms for match in found), default=0)
            self._known |= {match.match_id for match in found if match.phase == "ended"}
        new = [
            match
            for match in found
            if match.match_id not in self._known
            and match.phase != "stranded"
            and (match.phase != "ended" or match.created_at_ms >= self._since)
        ]
        going_on = [match for match in new if match.phase != "ended"]
        return next(iter(going_on or new), None)


async def _newest(referee: Referee) -> list[Match]:
    """Return the newest matches, newest first."""
    found = []
    async with contextlib.aclosing(referee.list_matches(page_size=_NEWEST)) as matches:
        async for match in matches:
            found.append(match)
            if len(found) == _NEWEST:
                break
    return found


async def watch_one(app: Application, wish: Wish, desk: Desk, match: Match) -> None:
    """Watch one match to its end: on a terminal the board, elsewhere lines or objects.

    Args:
        app: knows the games that are installed.
        wish: how to show it.
        desk: asks the server.
        match: as the server describes it.

    Raises:
        ArenaError: if it cannot be watched.
    """
    watched = Watched(match)
    painter = Painter(app, match)
    out = console()
    if wish.as_json:
        await feed(wish, desk, watched, painter, JsonOutput(watched))
        return
    if not looks_on() or out.is_dumb_terminal:
        await feed(wish, desk, watched, painter, LineOutput(watched))
        return
    output = TerminalOutput(out, watched, painter)
    feeding = asyncio.ensure_future(feed(wish, desk, watched, painter, output))
    try:
        await output.show()
        await feeding
    finally:
        feeding.cancel()
        await asyncio.gather(feeding, return_exceptions=True)


async def feed(
    wish: Wish,
    desk: Desk,
    watched: Watched,
    painter: Painter | None,
    output: TerminalOutput | JsonOutput | LineOutput | RemarkOutput,
) -> None:
    """Hand on what spectators are told, to the end of the match.

    Args:
        wish: how long to wait for a server, and at which pace to go on.
        desk: asks the server.
        watched: what is known of the match.
        painter: draws the board; ``None`` where nothing is drawn.
        output: is told.

    Raises:
        ArenaError: if the match cannot be watched, or the server stays away.
    """
    match_id = watched.match.match_id
    pictures = painter is not None and not isinstance(output, LineOutput)
    paced = wish.pace_s if isinstance(output, TerminalOutput) else 0.0
    moved_at = 0.0
    updates = desk.referee.follow(
        match_id,
        views=pictures,
        picture=painter.wanted if pictures and painter is not None else "",
        give_up_after=wish.give_up_s,
        lost=output.lost,
    )
    try:
        async with contextlib.aclosing(updates):
            async for update in updates:
                if watched.renamed and not (
                    isinstance(update, MatchStatus) and update.phase in _UNNAMED
                ):
                    # Players tell their names when they dial in.
                    with contextlib.suppress(ArenaError):
                        watched.describe(
                            await desk.ask(lambda referee: referee.get_match(match_id))
                        )
                if paced and isinstance(update, Event) and update.kind in _MOVES:
                    await asyncio.sleep(moved_at + paced - time.monotonic())
                    moved_at = time.monotonic()
                output.told(update)
    except RefusedError as error:
        if error.code == "match.unknown" and watched.view is not None:
            msg = (
                f"the server has come back and does not know match {match_id} any more"
            )
            raise RefusedError(msg, code=error.code) from error
        raise
    finally:
        output.close()
