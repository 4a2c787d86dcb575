"""What goes to a seat: the only values that players and spectators receive.

They are built in one place, the `Gate`, from the hooks ``observe``,
``observe_action`` and ``explain_illegal`` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from attrs import field, frozen

from fritillary.core.outcome import Outcome
from fritillary.plugins.game import Game
from fritillary.record.events import SeatTerms
from fritillary.record.terms import Consequence, EndKind, Fault, Source, Terms


@frozen
class Problem:
    """Why something was refused or ruled.

    Args:
        code: stable dotted code.
        message: one sentence for people.
    """

    code: str
    message: str


@frozen(kw_only=True)
class Offer:
    """A seat in a match.

    Args:
        match_id: of the match.
        seat: that is offered.
        game: the rules.
        options: of the game.
        seats: who plays, with their clocks, in seat order.
        terms: the same for all.
        algorithm: of the deal.
        commitment: the hash that binds the deal.
        nonce_wanted: whether the answer may bring a nonce.
        bot_seed: a number below 2**53 for this seat alone.
    """

    match_id: str
    seat: int
    game: Game[Any, Any, Any]
    options: Any
    seats: tuple[SeatTerms, ...]
    terms: Terms
    algorithm: str
    commitment: bytes
    nonce_wanted: bool
    bot_seed: int


@frozen
class Acted:
    """A seat has acted; ``action`` as the receiver may see it."""

    seat: int
    action: Any
    source: Source = Source.PLAYER


@frozen
class Drawn:
    """Chance has had its part; ``action`` as the receiver may see it."""

    action: Any


@frozen
class Ruled:
    """The referee has ruled on a fault.

    Args:
        seat: at fault; ``None`` if no seat is to blame.
        fault: what went wrong.
        consequence: what follows.
        problem: explained to the seat at fault; a general sentence to others.
        retries_left: of this decision.
    """

    seat: int | None
    fault: Fault
    consequence: Consequence
    problem: Problem
    retries_left: int = 0


@frozen
class GaveUp:
    """A seat has resigned."""

    seat: int


@frozen
class Halted:
    """The match was stopped; no clock runs."""

    message: str


@frozen
class WentOn:
    """The match goes on after it was stopped."""


@frozen
class Finish:
    """How a match ended.

    Args:
        kind: how.
        code: why, as a code; empty if it was played to its end.
        message: why, for people.
        outcome: ``None`` if the match does not count.
    """

    kind: EndKind
    code: str = ""
    message: str = ""
    outcome: Outcome | None = None


Body: TypeAlias = Acted | Drawn | Ruled | GaveUp | Halted | WentOn | Finish


@frozen
class SeatEvent:
    """One thing that happened, as one receiver may see it.

    Args:
        number: in the receiver's own sequence, from 1.
        ply: plies up to and including this event.
        body: what happened.
    """

    number: int
    ply: int
    body: Body


@frozen(kw_only=True, eq=False)
class Request:
    """A question to a seat.

    Args:
        decision_id: grows from request to request of a seat.
        seat: that is asked.
        event_number: of the last event that the observation includes.
        ply: plies so far.
        observe: builds all that the seat may know.
        legal: the legal actions.
        reading: gives what is left of each part of the clock, at the moment of the
            call.
        events: gives what happened since the seat last looked.
        attempt: 1 for the first time of asking.
        problem: what was wrong with the attempt before.
    """

    decision_id: int
    seat: int
    event_number: int
    ply: int
    observe: Callable[[], Any]
    legal: Sequence[Any]
    reading: Callable[[], dict[str, int]]
    events: Callable[[], list[SeatEvent]]
    attempt: int = 1
    problem: Problem | None = None


@frozen(kw_only=True)
class Closure:
    """How a request was closed.

    Args:
        decision_id: of the request.
        how: ``accepted``, ``ruled`` or ``withdrawn``.
        event_number: of the event that closed it.
        problem: why, unless it was accepted.
        charged_ms: taken from the clock.
        server_ms: from asking to answering.
        clock: what is left of each part of the clock.
    """

    decision_id: int
    how: str
    event_number: int | None = None
    problem: Problem | None = None
    charged_ms: int = 0
    server_ms: int = 0
    clock: dict[str, int] = field(factory=dict)


@frozen(kw_only=True)
class Reveal:
    """What opens the commitment."""

    seed: bytes
    salt: bytes
    nonces: tuple[bytes, ...]


@frozen(kw_only=True)
class MatchResult:
    """The whole result of a match.

    Args:
        match_id: of the match.
        finish: how it ended.
        plies: how many were played.
        content_hash: of what happened.
        final_hash: that closes the record; empty while it is open, as it is when the
            deal is held back.
        reveal: of the deal; ``None`` while it is held back.
    """

    match_id: str
    finish: Finish
    plies: int
    content_hash: bytes
    final_hash: bytes
    reveal: Reveal | None = None
