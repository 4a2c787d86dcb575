"""Who sits in a match that is played again for its record alone."""
# ruff: noqa: ANN401, TID251 - as the protocol says

from __future__ import annotations

import random
from typing import Any

from fritillary.bots.protocol import Ask
from fritillary.record.terms import PlayerInfo
from fritillary.referee.player import Answer
from fritillary.referee.seen import Closure, MatchResult, Offer, Request, SeatEvent


class Absent:
    """Sits where nobody listens any more; must not be asked.

    Args:
        info: who sat there.
    """

    inline = False
    wants_events = True

    def __init__(self, info: PlayerInfo) -> None:
        self.info = info

    @property
    def rng(self) -> random.Random:
        """Nobody draws."""
        raise NotImplementedError

    async def accept(self, offer: Offer) -> bytes:
        """Take no seat."""
        raise NotImplementedError

    async def ready(self) -> None:
        """Never be ready."""
        raise NotImplementedError

    def notify(self, event: SeatEvent) -> None:
        """Hear nothing."""

    async def decide(self, request: Request) -> Answer:
        """Decide nothing."""
        raise NotImplementedError

    def decide_now(self, ask: Ask) -> Any:
        """Decide nothing."""
        raise NotImplementedError

    def closed(self, closure: Closure) -> None:
        """Hear nothing."""

    def end(self, result: MatchResult) -> None:
        """Hear nothing."""
