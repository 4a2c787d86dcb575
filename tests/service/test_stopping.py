"""A server that stops: what it says, and what its log is spared."""

from __future__ import annotations

import asyncio
import logging

import pytest
from tests.service.calls import Caller, outcome_of
from tests.service.house import plays

from fritillary.core.errors import ServiceError
from fritillary.service.audit import Audit
from fritillary.service.tokens import Role


async def test_who_is_sent_away_at_a_stop_is_no_line_of_the_log(house, caplog):
    async with (
        house.bot(play=plays(1)) as bot,
        Caller(house, Role.SPECTATOR) as watcher,
    ):
        house.create()
        await bot.until("decision_request", count=2)
        watching = asyncio.create_task(outcome_of(_all(watcher)))
        await asyncio.wait_for(_watched(house), 60)
        with caplog.at_level(logging.INFO, "fritillary.audit"):
            await house.server.refuse()
            # It knocks while the server is stopping.
            again = house.bot()
            again.listen()
            await again.until("closed")
            server = house.server
            await house.stop()
            await again.close()
        assert await watching == "server.stopping"
    assert not [one for one in caplog.records if one.name == "fritillary.audit"]
    assert server.audit.refused["server.stopping"] == 2
    assert server.audit.hidden == 0


async def test_a_match_that_was_made_just_before_a_stop_comes_to_an_end(house):
    hosted = house.create()
    await house.stop()
    # Whoever waits for it is told when to come back.
    with pytest.raises(ServiceError) as caught:
        await asyncio.wait_for(asyncio.shield(hosted.ended), 60)
    assert caught.value.code == "server.stopping"
    await house.start()
    assert house.taken_up == 1


async def _all(watcher):
    async for _ in watcher.WatchMatch(match_id="m"):
        pass


async def _watched(house):
    while not house.server.watches:  # noqa: ASYNC110 - nobody tells
        await asyncio.sleep(0.01)


async def test_other_refusals_have_their_lines(caplog):
    audit = Audit()
    with caplog.at_level(logging.INFO, "fritillary.audit"):
        audit.refuse("/x", "server.stopping", "ipv4:127.0.0.1:9", None)
        audit.refuse("/x", "server.full", "ipv4:127.0.0.1:9", None)
    assert [one.getMessage().split()[2] for one in caplog.records] == [
        "code=server.full"
    ]
