"""What the commands that talk to a running server share."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Final, Self, TypeVar

from fritillary.cli.reach import Access
from fritillary.core.errors import FritillaryError, ServiceError, UsageError
from fritillary.core.outcome import Outcome
from fritillary.record.terms import EndKind, clip
from fritillary.referee.seen import Finish
from fritillary_client import ArenaError, LinkError, Match, MatchResult, Referee

T = TypeVar("T")

#: A match in one of these phases has not ended.
OPEN: Final = ("offered", "preparing", "running", "waiting", "paused", "closing")

#: Codes with which a server tells that what was asked for makes no sense.
_USAGE: Final = ("usage.", "options.", "match.id", "game.unknown", "codec.")

#: Between two tries to reach a server that has gone away, in seconds.
_AGAIN_S: Final = 1.0

_NAME: Final = 64
_SENTENCE: Final = 500


@contextlib.contextmanager
def our_errors(role: str) -> Iterator[None]:
    """Raise what the client raises as an error of the command line.

    Args:
        role: whose token the command needs, to tell how one is made.
    """
    try:
        yield
    except ArenaError as error:
        usage = error.code.startswith(_USAGE)
        kind: type[FritillaryError] = UsageError if usage else ServiceError
        message = error.message
        if error.code == "usage.token":
            message = "a server wants to know who asks: give --token"
        if error.code in {"usage.token", "auth.wrong-role"}:
            message += (
                f"; 'fritillary token create NAME --role {role}' makes one, with the "
                "--data of that server"
            )
        raise kind(message, code=error.code) from error


class Desk:
    """Asks a server, also after it has gone away and come back.

    Use it as an async context manager.

    Args:
        access: to the server.
        give_up_after: seconds without any answer after which it is given up.
        lost: told once of each time that the server goes away.

    Attributes:
        referee: the client in use.
    """

    def __init__(
        self,
        access: Access,
        *,
        give_up_after: float,
        lost: Callable[[ArenaError], object],
    ) -> None:
        self._access = access
        self._give_up_after = give_up_after
        self._lost = lost
        self._met = False
        self.referee = self._access.referee()

    async def __aenter__(self) -> Self:
        await self.referee.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.referee.__aexit__()

    async def ask(self, call: Callable[[Referee], Awaitable[T]]) -> T:
        """Return what a call of the client gives.

        Raises:
            ArenaError: if the server refuses, was never there, or stays away.
        """
        since: float | None = None
        while True:
            try:
                answer = await call(self.referee)
            except ArenaError as error:
                again = isinstance(error, LinkError) or error.retry_after_ms is not None
                now = time.monotonic()
                if not self._met or not again:
                    raise
                if since is None:
                    since = now
                    self._lost(error)
                if now - since >= self._give_up_after:
                    raise
            else:
                self._met = True
                return answer
            await asyncio.sleep(_AGAIN_S)
            # A connection that has failed holds its next tries back.
            fresh = self._access.referee()
            await self.referee.__aexit__()
            self.referee = await fresh.__aenter__()


def lost_text(error: ArenaError) -> str:
    """Return that a link was lost, without what gRPC says of it."""
    if error.code != "link.lost":
        return error.message
    return error.message.partition(" (")[0]


def names_of(match: Match) -> list[str]:
    """Return the names of the players, by seat, as they may be shown."""
    return [clip(seat.name, _NAME) for seat in match.seats]


def finish_of(result: MatchResult) -> Finish:
    """Return how a match ended, as the framework says it."""
    outcome = None
    if result.counts:
        outcome = Outcome(result.reason, result.scores, result.placing)
    return Finish(
        EndKind(result.kind), result.code, clip(result.message, _SENTENCE), outcome
    )
