"""Answers of which the record is told little take a short way through the referee."""

from __future__ import annotations

import attrs
import pytest
from tests.referee import race
from tests.referee.support import Do, Scripted, played

from fritillary.record.events import ActionTaken
from fritillary.record.terms import ClockSettings
from fritillary.referee.player import Answer

CLOCKS = {
    "untimed": ClockSettings(),
    "base": ClockSettings(base_ms=5_000, increment_ms=100),
    "move": ClockSettings(move_ms=900, bank_ms=400, turn_ms=2_000),
}


def game(clock: ClockSettings, **remarks):
    class Remarking(Scripted):
        async def decide(self, request):
            await self._do(Do(after=0.1 * len(self.requests)))
            self.log.append(request)
            index = race.STEPS.index(request.legal[0])
            return Answer(index=index, think_ms=7, **remarks)

    return played([Remarking(), Remarking()], clocks=(clock, clock))


@pytest.mark.parametrize("clock", CLOCKS)
def test_a_remark_changes_nothing_but_the_remark(clock):
    brief, noted = game(CLOCKS[clock]), game(CLOCKS[clock], note="hm")
    assert brief.result.content_hash == noted.result.content_hash
    actions = brief.all(ActionTaken)
    assert actions
    assert all(one.think_ms == 7 for one in actions)
    assert [attrs.evolve(one, note="hm") for one in actions] == noted.all(ActionTaken)
    for one, other in zip(brief.players, noted.players, strict=True):
        assert one.events == other.events
        assert one.closures == other.closures


@pytest.mark.parametrize("think_ms", [-1, 2**60, 1.5, True])
def test_times_that_make_no_sense_do_not_spoil_the_record(think_ms):
    class Odd(Scripted):
        async def decide(self, request):
            answer = await super().decide(request)
            return attrs.evolve(answer, think_ms=think_ms)

    found = played([Odd(), Scripted()])
    assert found.record.events
    assert all(
        one.think_ms is None or 0 <= one.think_ms < 2**53
        for one in found.all(ActionTaken)
    )
