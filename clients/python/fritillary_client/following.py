"""Following a match over lost links and restarts of the server."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Callable
from typing import Final, TypeAlias

from fritillary_client.errors import ArenaError, LinkError
from fritillary_client.matches import MatchResult, MatchStatus, MatchView, Update
from fritillary_client.trying import BackOff, gave_up
from fritillary_client.values import Event

#: Watches a match from after an event; see `Referee.watch`.
Watch: TypeAlias = Callable[[int | None], AsyncGenerator[Update]]

#: Told of a lost link: why, and for how many seconds it rests before the next try.
Lost: TypeAlias = Callable[[ArenaError, float], object]

#: The longest rest after a lost link, in seconds.
_LONGEST_WAIT_S: Final = 5.0

_TOO_SLOW: Final = "watch.too-slow"
_NO_RESULT: Final = "match.no-result"


async def followed(
    watch: Watch,
    *,
    after: int | None,
    give_up_after: float,
    lost: Lost | None,
) -> AsyncGenerator[Update]:
    """Yield what spectators are told, each event once and in order.

    Args:
        watch: opens a link and watches.
        after: tell of past events after this number; 0: all; ``None``: none.
        give_up_after: seconds without any answer after which it is given up.
        lost: told of lost links.

    Raises:
        ArenaError: if there was no link at all, if the server will not go on, or if
            it stayed away.
    """
    link = _Watched(after)
    since: float | None = None
    back_off = BackOff(_LONGEST_WAIT_S)
    while True:
        link.begin()
        wait = 0.0
        try:
            async with contextlib.aclosing(watch(link.last)) as updates:
                async for update in updates:
                    since = None
                    if link.takes(update):
                        yield update
                    if isinstance(update, MatchResult):
                        return
        except ArenaError as error:
            if not link.may_go_on(error):
                raise
            now = time.monotonic()
            back_off.lost(link.held_s)
            since = now if since is None else since
            if now - since >= give_up_after:
                raise LinkError(gave_up(error, now - since), code=error.code) from error
            if error.code != _TOO_SLOW:
                wait = back_off.rest_s(error.retry_after_ms)
                if lost is not None:
                    lost(error, wait)
        await asyncio.sleep(wait)
        back_off.tries += 1


class _Watched:
    """What was told so far.

    Attributes:
        last: number of the last event; ``None`` while none is known.
    """

    def __init__(self, after: int | None) -> None:
        self.last = after
        self._met = False
        self._began: float | None = None
        self._phase = ""

    def begin(self) -> None:
        """Note that a link is opened."""
        self._began = None
        self._phase = ""

    @property
    def held_s(self) -> float:
        """For how long the link has held, in seconds."""
        return 0.0 if self._began is None else time.monotonic() - self._began

    def takes(self, update: Update) -> bool:
        """Note an update; return whether it is news."""
        if isinstance(update, MatchView) and self._began is None:
            # A server that was killed may have lost the last events with its disk:
            # it will tell them anew, or others.
            number = update.event_number
            self.last = number if self.last is None else min(self.last, number)
        if self._began is None:
            self._began = time.monotonic()
            self._met = True
        if isinstance(update, MatchStatus):
            self._phase = update.phase
        elif isinstance(update, Event):
            if self.last is not None and update.number <= self.last:
                return False
            self.last = update.number
        return True

    def may_go_on(self, error: ArenaError) -> bool:
        """Say whether trying again makes sense."""
        if not self._met:
            return False
        if error.code == _NO_RESULT:
            # A server that goes down ends the stream in the midst of a match.
            return self._phase != "ended"
        return (
            isinstance(error, LinkError)
            or error.retry_after_ms is not None
            or error.code == _TOO_SLOW
        )
