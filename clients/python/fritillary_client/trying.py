"""When a server is tried again, and for how long one that does not answer."""
# ruff: noqa: TID251 - spreads clients that come back in time

from __future__ import annotations

import logging
import math
import random
import time
from typing import Final

from fritillary_client.calls import LOST_ANSWER
from fritillary_client.errors import ArenaError

_log = logging.getLogger("fritillary_client")

#: The first rest after a lost link, in seconds. Each is twice the one before, up to a
#: longest one, and cut by a random part of up to one half.
_FIRST_WAIT_S: Final = 0.2

#: The longest rest of a bot.
_LONGEST_WAIT_S: Final = 10.0

#: A link that held for so long was a good one: back-off begins anew.
_GOOD_LINK_S: Final = 5.0

#: So often a server is asked again at once whose answer gRPC has lost.
_ANSWERS_LOST: Final = 3


class BackOff:
    """How long to rest before the next try.

    Args:
        longest_s: the longest rest, in seconds, unless the server asks for more.

    Attributes:
        tries: so many there were; to be counted by whoever tries.
    """

    def __init__(self, longest_s: float) -> None:
        self.tries = 0
        self._longest_s = longest_s

    def lost(self, held_s: float) -> None:
        """Note that a link is lost, which had held for so many seconds."""
        if held_s > _GOOD_LINK_S:
            self.tries = 0

    def rest_s(self, asked_ms: int | None) -> float:
        """Return how many seconds to rest.

        Args:
            asked_ms: for how long the server asks to stay away, in milliseconds.
        """
        rest: float = min(_FIRST_WAIT_S * 2 ** min(self.tries, 10), self._longest_s)
        rest *= random.uniform(0.5, 1)
        if asked_ms is not None:
            # What the server asks for is the least; the rest spreads those who come.
            rest += asked_ms / 1000 * random.uniform(1, 1.5)
        return rest


class Patience:
    """How long a bot puts up with a server that does not let it in.

    Args:
        first_s: if none answers at the start, in seconds.
        later_s: after a lost link, in seconds.
    """

    def __init__(self, first_s: float, later_s: float) -> None:
        self.back_off = BackOff(_LONGEST_WAIT_S)
        self._most_s = first_s
        self._later_s = later_s
        self._since: float | None = None
        self._spent_s = 0.0
        self._let_in_at: float | None = None
        #: The reason that was told last.
        self._told = ""

    @property
    def let_in(self) -> bool:
        """Whether the server has let the bot in, over the link that is tried."""
        return self._let_in_at is not None

    def dial(self) -> None:
        """Note that a link is tried."""
        self._let_in_at = None

    def welcomed(self) -> None:
        """Note that the server has let the bot in."""
        self._let_in_at = time.monotonic()

    def sent_away(self) -> None:
        """Note that the server asks to come back."""
        self._begin_anew(time.monotonic())
        self.back_off.tries = 0

    def lost(self) -> None:
        """Note that the link has failed."""
        now = time.monotonic()
        if self._let_in_at is not None:
            self.back_off.lost(now - self._let_in_at)
            self._begin_anew(now)
        since = self._since = now if self._since is None else self._since
        self._spent_s = now - since

    def _begin_anew(self, now: float) -> None:
        self._most_s = self._later_s
        self._since = now
        self._told = ""

    def asks_again(self, error: ArenaError) -> bool:
        """Say whether to try again at once; it then counts as a try."""
        if error.code != LOST_ANSWER or self.back_off.tries >= _ANSWERS_LOST:
            return False
        self.back_off.tries += 1
        return True

    def bear(self, error: ArenaError) -> None:
        """Tell that the server is tried again after an error.

        Raises:
            ArenaError: if it has been tried for long enough.
        """
        spent = self._spent_s
        if spent >= self._most_s:
            if spent < 1:
                raise error
            raise type(error)(
                gave_up(error, spent),
                code=error.code,
                retry_after_ms=error.retry_after_ms,
            ) from error
        # One line for each reason, however often it is tried.
        if self._told != error.message:
            self._told = error.message
            left = self._most_s - spent
            how_long = f" for {left:.0f} s" if math.isfinite(left) else ""
            _log.warning("%s; trying again%s", error.message, how_long)


def gave_up(error: ArenaError, spent_s: float) -> str:
    """Return what is told when a server has been tried for long enough."""
    return f"{error.message}; gave up after {spent_s:.0f} s"
