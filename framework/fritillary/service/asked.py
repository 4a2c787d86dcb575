"""The question that a bot is asked: which decisions answer it, and which come late."""

from __future__ import annotations

import asyncio
from typing import Any, TypeAlias

from fritillary.referee.player import Answer, PlayerFault
from fritillary.referee.seen import Request
from fritillary.service.hub import UnusableMessageError

#: Which field of a decision names the action, and its value.
Choice: TypeAlias = tuple[str | None, Any]


class Asked:
    """The requests of one seat, of which one at most is open.

    Attributes:
        request: that was made last; ``None`` once it is closed.
        last_id: of the last request.
    """

    def __init__(self) -> None:
        self.request: Request | None = None
        self.last_id = 0
        self._answer: asyncio.Future[Answer] | None = None
        #: The decision that was taken up last, to know it again.
        self._taken: tuple[int, Choice] | None = None

    @property
    def open(self) -> bool:
        """Whether an answer is waited for."""
        return self._answer is not None

    @property
    def unanswered(self) -> bool:
        """Whether it is waited for, and has not come."""
        return self._answer is not None and not self._answer.done()

    def begin(self, request: Request) -> asyncio.Future[Answer]:
        """Open a request; return what its answer comes in."""
        self.request = request
        self.last_id = request.decision_id
        answer = self._answer = asyncio.get_running_loop().create_future()
        return answer

    def leave(self) -> None:
        """Wait no more for an answer; the request is still to be closed."""
        self._answer = None

    def closed(self, how: str) -> None:
        """Note how the request was closed."""
        self.request = None
        if how != "accepted":
            self._taken = None

    def fail(self, fault: PlayerFault) -> None:
        """Let a fault be the answer, if one is waited for."""
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(fault)
            # It may be that nobody waits for it any more.
            self._answer.exception()

    def take(self, decision_id: int, choice: Choice) -> asyncio.Future[Answer] | None:
        """Return what waits for a decision; ``None`` if it was made already.

        Raises:
            UnusableMessageError: if its request is not open.
        """
        answer = self._answer
        if answer is not None and decision_id == self.last_id and not answer.done():
            self._taken = (decision_id, choice)
            return answer
        if self._taken == (decision_id, choice):
            return None
        if not 0 < decision_id <= self.last_id:
            msg = f"there was no request {decision_id}"
            raise UnusableMessageError(msg, code="decision.unknown")
        msg = f"request {decision_id} is closed; nothing has changed"
        raise UnusableMessageError(msg, code="decision.stale")
