"""What a lying host may alter: a table of lies, and the means to tell them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from attrs import frozen
from tests.record.support import (
    change,
    closed,
    find,
    game,
    registry,
)

from fritillary.core.errors import RecordError
from fritillary.record.events import (
    ActionTaken,
    GameRef,
    OutcomeData,
    Ruling,
    VariantRef,
)
from fritillary.record.terms import (
    ClockSettings,
    Consequence,
    Fault,
)
from fritillary.referee.verify import verify

#: Changes the events; returns the number of the one that does not hold.
Change = Callable[[list[Any]], int]


@frozen
class Lie:
    base: str
    words: str
    change: Change


LIES: dict[str, Lie] = {}


def lie(base: str, words: str) -> Callable[[Change], Change]:
    """Add a lie about the record of that name, refused with such words."""

    def add(function: Change) -> Change:
        name = function.__name__.replace("_", "-")
        assert name not in LIES
        LIES[name] = Lie(base, words, function)
        return function

    return add


def hide(digit: int) -> Any:
    return game("guess").codec.action_from_data({"type": "hide", "digit": digit})


def clock_of(base_ms: int) -> ClockSettings:
    return ClockSettings(base_ms=base_ms, increment_ms=1_000)


def lepidoptery(*variants: VariantRef) -> GameRef:
    return GameRef("lepidoptery", 1, "fritillary", variants)


def outcome(scores: tuple[int, ...], reason: str = "jury") -> OutcomeData:
    places = tuple(1 + sum(other > score for other in scores) for score in scores)
    return OutcomeData(reason, scores, places)


def rule(events: list[Any], kind: Fault, number: int) -> int:
    """Add a ruling on who acts next in the record, or has acted last."""
    seats = [event.seat for event in events[number:] if isinstance(event, ActionTaken)]
    seat = seats[0] if seats else 0
    ruling = Ruling(kind, Consequence.FORFEIT, f"fault.{kind.value}", "", seat)
    events.insert(number, ruling)
    return number


def other_legal(events: list[Any], number: int) -> int:
    """Change an action to another one that the rules allow there."""
    old = events[number].index
    for index in range(200):
        if index == old:
            continue
        change(events, number, index=index)
        with pytest.raises(RecordError) as caught:
            verify(closed(events), registry())
        if "the deal gives another" in caught.value.message:
            return number
    pytest.fail("there was no choice")


def first_failure(events: list[Any]) -> int:
    with pytest.raises(RecordError) as caught:
        verify(closed(events), registry())
    number = int(caught.value.message.removeprefix("event ").split(":")[0])
    assert number <= find(events, ActionTaken, 3)
    return number
