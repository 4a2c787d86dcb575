"""Bots that raise, are late, or lose their link are charged with just that."""

from __future__ import annotations

import asyncio

import pytest
from tests.referee.local import First, answering, local
from tests.referee.support import NEVER, Scripted, played, policy, referee, run
from tests.referee.virtual_loop import sleep

from fritillary import BaseBot
from fritillary.record.events import ActionTaken
from fritillary.record.terms import ClockSettings, EndKind, Fault, Terms
from fritillary.referee.player import PlayerFault


@pytest.mark.parametrize(
    "failure",
    [
        ValueError("private"),
        SystemExit(3),
        StopIteration(),
        TimeoutError(),
        PlayerFault(Fault.REFEREE_ERROR, "it was you"),
        asyncio.CancelledError(),
    ],
    ids=repr,
)
@pytest.mark.parametrize("light", [True, False])
def test_a_bot_that_raises_has_crashed(failure, light):
    async def main():
        return await referee([local(First()), answering(failure, light=light)])

    game = run(main()) if light else asyncio.run(main())
    [ruling] = game.rulings
    assert (ruling.seat, ruling.fault) == (1, Fault.CRASHED)
    assert "private" not in ruling.message
    assert game.finish.outcome.placing == (1, 2)


class Waiting(BaseBot):
    """Waits for something that is cancelled."""

    async def decide(self, ask):
        inner = asyncio.ensure_future(asyncio.sleep(10))
        asyncio.get_running_loop().call_later(1, inner.cancel)
        await inner


def test_a_bot_whose_own_task_is_cancelled_has_crashed():
    game = played([local(Waiting()), local(First())])
    [ruling] = game.rulings
    assert ruling.fault is Fault.CRASHED
    assert "CancelledError" in ruling.message


class Stubborn(BaseBot):
    """Takes no notice of being cancelled, and answers in the end."""

    async def decide(self, ask):
        while True:
            try:
                await asyncio.sleep(10)
                return ask.legal[0]
            except asyncio.CancelledError:
                await asyncio.sleep(3)
                return ask.legal[0]


def test_an_answer_after_the_time_is_late_however_it_comes():
    clock = ClockSettings(move_ms=5_000)
    game = played([local(Stubborn()), local(First())], clocks=clock)
    assert game.finish.code == "fault.late"


class Slow(BaseBot):
    light = True

    def decide(self, ask):
        sleep(2)
        return ask.legal[0]


@pytest.mark.parametrize(
    ("clock", "ceiling", "code"),
    [
        (ClockSettings(base_ms=5_000), 10**6, "fault.late"),
        (ClockSettings(), 5_000, "fault.stalled"),
    ],
)
def test_inline_bots_are_timed_as_well(clock, ceiling, code):
    terms = Terms(ceiling_ms=ceiling, margin_ms=0)
    game = played([local(Slow()), local(First())], clocks=clock, terms=terms)
    assert game.finish.code == code
    assert [a.charged_ms for a in game.all(ActionTaken) if a.seat == 0] == [2_000] * 2


def test_a_crash_of_an_inline_bot_can_be_substituted():
    terms = Terms(policy=policy(crashed="substitute"))
    game = played([answering(ValueError(), ValueError()), local(First())], terms=terms)
    assert game.finish.kind is EndKind.PLAYED
    assert [ruling.fault for ruling in game.rulings] == [Fault.CRASHED] * 2


class LostPlayer(Scripted):
    def lost(self):
        return PlayerFault(Fault.DISCONNECTED, "the link was lost 7 s ago")


@pytest.mark.parametrize(
    ("clock", "charged"),
    [(ClockSettings(move_ms=5_000), 5_000), (ClockSettings(), 9_000)],
)
def test_when_time_runs_out_on_a_lost_link_that_is_the_fault(clock, charged):
    terms = Terms(ceiling_ms=9_000, margin_ms=0)
    game = played([LostPlayer({1: NEVER}), Scripted()], clocks=clock, terms=terms)
    [ruling] = game.rulings
    assert (ruling.fault, ruling.charged_ms) == (Fault.DISCONNECTED, charged)
