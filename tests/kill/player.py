"""The bot of the kill matrix: it chooses by what it sees and by its seed alone."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from fritillary_client import Ask, Bot, LegalAction, MatchInfo, Outcome
from fritillary_client.seat import Seat


def make(tell: Callable[..., None], script: dict[str, Any]) -> type[Bot]:
    """Return a class of bots that tell the harness all that they hear.

    Args:
        tell: the harness.
        script: ``illegal``: ids of decisions that are answered with an action which is
            not legal; ``light``: whether it answers in the loop.
    """
    illegal = frozenset(script["illegal"])

    class Player(Bot):
        light = script["light"]

        def start(self, info: MatchInfo) -> None:
            tell(start=info.resumed)

        def decide(self, ask: Ask) -> int | LegalAction:
            request = ask._request
            number = request.decision_id
            seen = hashlib.sha256(request.observation)
            seen.update(repr((request.event_number, list(request.legal))).encode())
            events = [event.number for event in ask.events]
            tell(decide=number, seen=seen.hexdigest()[:16], events=events)
            if number in illegal:
                legal = set(request.legal)
                return next(n for n in range(len(legal) + 1) if n not in legal)
            return ask.rng.choice(ask.legal)

        def end(self, outcome: Outcome) -> None:
            tell(end=outcome.kind, code=outcome.code)

    owner: Any = Seat
    happened = Seat.happened

    def heard(seat: Seat, event: Any) -> None:
        before = seat._last_event
        happened(seat, event)
        if seat._last_event != before:
            what = hashlib.sha256(event.SerializeToString(deterministic=True))
            tell(event=event.number, what=what.hexdigest()[:16])

    owner.happened = heard
    return Player
