"""How a recorded match must have ended: by events, by the rules, or from outside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from attrs import frozen

from fritillary.core.outcome import Outcome
from fritillary.core.points import Over
from fritillary.record.events import Dealt, Ended, OutcomeData
from fritillary.record.reader import bad
from fritillary.record.replay import Replay
from fritillary.record.terms import EndKind
from fritillary.referee.outcomes import with_forfeits

#: Ways in which whoever runs a match can end it.
_FROM_OUTSIDE: Final = (EndKind.ADJUDICATED, EndKind.VOID, EndKind.WITHDRAWN)

#: Code of a failure of the referee, and of the end that follows it.
REFEREE_FAILED: Final = "referee.error"

#: Beginnings of the codes of ends that other events lead to.
_FROM_INSIDE: Final = ("fault.", "seat.resigned", "match.forfeited", REFEREE_FAILED)


@frozen
class MustEnd:
    """How a match must end.

    Args:
        kind: how.
        code: why, as a code; empty if it was played to its end.
        outcome: ``None`` if the match does not count.
    """

    kind: EndKind
    code: str
    outcome: Outcome | None = None


def by_the_rules(replay: Replay, forfeited: Sequence[int]) -> MustEnd | None:
    """Return how the rules end the match here; ``None`` if they do not.

    Args:
        replay: up to the end.
        forfeited: seats, in the order in which they were.

    Raises:
        RecordError: if the rules say nothing.
    """
    if replay.state is None:
        return None
    point = replay.point()
    if type(point) is not Over:
        return None
    outcome = point.outcome
    if forfeited:
        outcome = with_forfeits(outcome, forfeited)
        return MustEnd(EndKind.FORFEITED, "match.forfeited", outcome)
    return MustEnd(EndKind.PLAYED, "", outcome)


def check_end(number: int, event: Ended, wanted: MustEnd) -> None:
    """Check an end that something in the match leads to.

    Args:
        number: of the event.
        event: itself.
        wanted: what it must say.

    Raises:
        RecordError: if it says something else.
    """
    if event.kind is not wanted.kind:
        msg = f"the match was {wanted.kind.value}, not {event.kind.value}"
        raise bad(number, msg, "record.outcome")
    if event.code != wanted.code:
        msg = f"it ended by {wanted.code!r}, not {event.code[:60]!r}"
        raise bad(number, msg, "record.outcome")
    expected = None
    if wanted.outcome is not None:
        outcome = wanted.outcome
        expected = OutcomeData(outcome.reason, outcome.scores, outcome.placing)
    if event.outcome != expected:
        msg = f"the outcome is {_say(expected)}, not {_say(event.outcome)}"
        raise bad(number, msg, "record.outcome")


def check_from_outside(number: int, event: Ended, replay: Replay) -> None:
    """Check an end that whoever runs the match brought about.

    Args:
        number: of the event.
        event: itself.
        replay: up to it.

    Raises:
        RecordError: if nobody can end a match so.
    """
    if replay.state is None and replay.record.find(Dealt) is not None:
        replay.point()  # which says why nothing was dealt
    if event.kind not in _FROM_OUTSIDE:
        msg = f"it was {event.kind.value}, yet nothing had ended the match"
        raise bad(number, msg, "record.outcome")
    if not event.code or event.code.startswith(_FROM_INSIDE):
        msg = f"nothing in the record leads to the end {event.code[:60]!r}"
        raise bad(number, msg, "record.outcome")
    found = event.outcome
    if found is None:
        return
    if event.kind is not EndKind.ADJUDICATED:
        msg = "a match that does not count has no outcome"
        raise bad(number, msg, "record.outcome")
    try:
        outcome = Outcome(found.reason, found.scores, found.placing)
    except ValueError as error:
        raise bad(number, str(error), "record.outcome") from error
    if len(outcome.scores) != replay.seats:
        msg = f"the outcome is not one of {replay.seats} seats"
        raise bad(number, msg, "record.outcome")


def _say(outcome: OutcomeData | None) -> str:
    if outcome is None:
        return "none"
    scores = ", ".join(map(str, outcome.scores))
    places = ", ".join(map(str, outcome.placing))
    return f"{outcome.reason[:60]!r}, scores {scores}, places {places}"
