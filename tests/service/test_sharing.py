"""Many matches on one stream: they share it fairly, and travel together."""

from __future__ import annotations

import asyncio
import random
from collections import Counter

import pytest
from tests.service.rawbot import RawBot, decide

from fritillary import Registry

MATCHES = 64

#: So many decisions are made in each match, on average.
ROUNDS = 15

#: By so many decisions one match may be ahead of another, whatever is going on.
MOST_AHEAD = 3

#: Pig that goes on for longer than any test.
ENDLESS = {"target": 10**6}


def shuffle(decisions):
    random.Random(len(decisions)).shuffle(decisions)


#: What becomes of the decisions of a frame before it is sent.
ORDERS = {"as asked": list, "backwards": list.reverse, "at random": shuffle}


class Sharer(RawBot):
    """Answers what it is asked, in some order, until all matches had some rounds.

    Attributes:
        counts: decisions of each match since all had one.
        frames: with requests.
        done: set when there were enough.
    """

    def __init__(self, address, token, *, order=list, withheld=()):
        super().__init__(address, token, play=self._play, capacity=MATCHES)
        self.counts: Counter[str] = Counter()
        self.frames = 0
        self.done = asyncio.Event()
        self.withheld = set(withheld)
        self._order = order
        self._begun = set()

    def _play(self, request):
        match_id = request.match_id
        if match_id in self.withheld:
            return None
        self._begun.add(match_id)
        if len(self._begun) == MATCHES - len(self.withheld):
            self.counts[match_id] += 1
            if self.counts.total() >= ROUNDS * MATCHES:
                self.done.set()
                return None
        return decide(request, index=request.legal[0])

    async def send_all(self, *messages):
        others = [one for one in messages if not one.HasField("decision")]
        decisions = [one for one in messages if one.HasField("decision")]
        self._order(decisions)
        self.frames += bool(decisions)
        await super().send_all(*others, *decisions)

    def ahead(self):
        """Return by how much the first match is ahead of the last."""
        return max(self.counts.values()) - min(self.counts.values())


def begin(stage, *, heavy=0):
    """Create the matches; so many of them are costly, with hundreds of actions."""
    games = Registry()
    games.load()
    costly = games.game("butterfly-garden")
    return [
        stage.arena.create(costly, ["remote:bob", "uniform"])
        if number < heavy
        else stage.arena.create("pig", ["remote:bob", "uniform"], options=ENDLESS)
        for number in range(MATCHES)
    ]


@pytest.mark.parametrize("heavy", [0, 4])
@pytest.mark.parametrize("order", ORDERS)
async def test_no_match_of_a_stream_gets_ahead_of_the_others(stage, order, heavy):
    matches = begin(stage, heavy=heavy)
    token = stage.token()
    async with Sharer(stage.address, token, order=ORDERS[order]) as bot:
        async with asyncio.timeout(60):
            await bot.done.wait()
    assert set(bot.counts) == {hosted.id for hosted in matches}
    assert bot.ahead() <= MOST_AHEAD


async def test_a_match_that_is_not_answered_holds_up_no_other(stage):
    matches = begin(stage)
    slow = [hosted.id for hosted in matches[:8]]
    async with Sharer(stage.address, stage.token(), withheld=slow) as bot:
        async with asyncio.timeout(60):
            await bot.done.wait()
        # Once the bot is gone it is waited for.
        phases = {hosted.phase for hosted in matches[:8]}
    assert phases == {"running"}
    assert set(bot.counts) == {hosted.id for hosted in matches[8:]}
    assert bot.ahead() <= MOST_AHEAD


async def test_what_is_ready_together_travels_together(stage):
    begin(stage)
    async with Sharer(stage.address, stage.token()) as bot:
        async with asyncio.timeout(60):
            await bot.done.wait()
        asked = bot.counts.total()
    # A frame for each decision would be as many frames as decisions.
    assert bot.frames * 8 < asked
