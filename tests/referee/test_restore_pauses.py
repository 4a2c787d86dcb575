"""Pauses between two requests: after a restart the next one has the number it had."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.referee.support import ILLEGAL, policy, referee, run
from tests.referee.test_restore import Faithful, take_up

from fritillary.record.events import ActionTaken, Paused, Resumed, Ruling
from fritillary.record.terms import ClockSettings, Terms
from fritillary.referee.seen import Closure

TERMS = Terms(policy=policy(illegal="retry:1,forfeit"), margin_ms=0)

#: Requests of the seat that pauses the match; the second is not answered well.
SCRIPT = {2: ILLEGAL}


class Pausing(Faithful):
    """Has the match paused as soon as one of its requests is ruled on."""

    match: Any = None

    def closed(self, closure: Closure) -> None:
        super().closed(closure)
        if closure.how == "ruled" and self.match is not None:
            assert self.match.pause("between two requests")


def made(first: type[Faithful]) -> dict[str, Any]:
    return {
        "players": [first(SCRIPT), Faithful()],
        "clocks": [ClockSettings(base_ms=10_000)] * 2,
        "terms": TERMS,
    }


async def go_on(match: Any) -> None:
    while match.phase != "ended":
        await asyncio.sleep(1)
        match.resume()


def paused_between_requests() -> Any:
    ingredients = made(Pausing)

    async def during(match: Any) -> None:
        ingredients["players"][0].match = match
        await go_on(match)

    return run(referee(**ingredients, during=during))


def test_such_a_pause_names_no_seat_and_withdraws_nothing():
    played = paused_between_requests()
    kinds = [type(one) for one in played.record.events]
    number = kinds.index(Ruling)
    assert kinds[number : number + 4] == [Ruling, Paused, Resumed, ActionTaken]
    assert played.record.find(Paused) == Paused("between two requests")
    closures = [one.how for one in played.players[0].closures]
    assert closures == ["accepted", "ruled", "accepted", "accepted", "accepted"]


@pytest.mark.parametrize("after", [Ruling, Paused, Resumed, ActionTaken])
def test_requests_keep_their_numbers_over_a_restart(after):
    played = paused_between_requests()
    kinds = [type(one) for one in played.record.events]
    events = kinds.index(after, kinds.index(Ruling)) + 1
    again = made(Faithful)
    _, result, _ = run(take_up(played.raw, events, again, beside=go_on))
    assert result.content_hash == played.result.content_hash
    asked = {one.decision_id: one.ply for one in played.players[0].requests}
    for request in again["players"][0].requests:
        assert asked[request.decision_id] == request.ply
    assert again["players"][0].requests[-1].decision_id == max(asked)
