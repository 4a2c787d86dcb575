"""A lying host: what it alters, chains anew and signs with the right key.

Each lie is refused, and the error names the event that does not hold.
"""

from __future__ import annotations

import pytest
from tests.record import lies_about_ends, lies_about_play, lies_about_rulings
from tests.record.lies import LIES
from tests.record.support import (
    RECORDS,
    closed,
    open_events,
    record_of,
    registry,
)

from fritillary.core.errors import RecordError
from fritillary.referee.verify import verify


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_written_anew_without_a_lie_still_holds(name):
    raw = record_of(name)
    assert closed(open_events(raw)) == raw
    verify(raw, registry())


@pytest.mark.parametrize("name", LIES)
def test_a_lie_is_refused_and_its_event_named(name):
    events = open_events(record_of(LIES[name].base))
    number = LIES[name].change(events)
    with pytest.raises(RecordError, match=LIES[name].words) as caught:
        verify(closed(events), registry())
    assert caught.value.message.startswith(f"event {number}: ")
    assert "\n" not in caught.value.message


@pytest.mark.parametrize(
    "family", [lies_about_ends, lies_about_play, lies_about_rulings]
)
def test_the_lies_are_many(family):
    told = [one for one in LIES.values() if one.change.__module__ == family.__name__]
    assert len(told) >= 25
