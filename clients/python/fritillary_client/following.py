"""Following a match over lost links and restarts of the server."""
# ruff: noqa: TID251 - draws the random part of the back-off

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import AsyncGenerator, Callable
from typing import Final, TypeAlias

from fritillary_client.errors import ArenaError, LinkError
from fritillary_client.matches import MatchResult, MatchStatus, MatchView, Update
from fritillary_client.values import Event

#: Watches a match from after an event; see `Referee.watch`.
Watch: TypeAlias = Callable[[int | None], AsyncGenerator[Update]]

#: Told of a lost link: why, and for how many seconds it rests before the next try.
Lost: TypeAlias = Callable[[ArenaError, float], object]

#: Back-off after a lost link: the first wait and the longest, in seconds. Each is cut
#: by a random part of up to one half.
_FIRST_WAIT_S: Final = 0.2
_LONGEST_WAIT_S: Final = 5.0

#: A link that held for so long was a good one: back-off begins anew.
_GOOD_LINK_S: Final = 5.0

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
    tries = 0
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
            if link.held_s > _GOOD_LINK_S:
                tries = 0
            since = now if since is None else since
            if now - since >= give_up_after:
                raise _given_up(error, now - since) from error
            wait = _wait(tries, error)
            if lost is not None and error.code != _TOO_SLOW:
                lost(error, wait)
        await asyncio.sleep(wait)
        tries += 1


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


def _wait(tries: int, error: ArenaError) -> float:
    """Return how many seconds to rest before the next try."""
    if error.code == _TOO_SLOW:
        return 0.0
    wait: float = min(_FIRST_WAIT_S * 2 ** min(tries, 10), _LONGEST_WAIT_S)
    wait *= random.uniform(0.5, 1)
    if error.retry_after_ms is not None:
        wait += error.retry_after_ms / 1000 * random.uniform(1, 1.5)
    return wait


def _given_up(error: ArenaError, spent: float) -> LinkError:
    msg = f"{error.message}; gave up after {spent:.0f} s"
    return LinkError(msg, code=error.code)
