"""Turns: work that many ask for gets in nobody's way."""

from __future__ import annotations

import asyncio
import itertools

import pytest

from fritillary.service.turns import REST, Queues, Turns


class Clock:
    """Times of a loop, made by hand."""

    def __init__(self, monkeypatch):
        self.now_s = 0.0
        self.later: list[float] = []
        loop = asyncio.get_running_loop()
        monkeypatch.setattr(loop, "time", lambda: self.now_s)
        monkeypatch.setattr(loop, "call_later", self._call_later)

    def _call_later(self, delay_s, callback):
        self.later.append(delay_s)
        asyncio.get_running_loop().call_soon(callback)


async def work(turns, key, told, count=3):
    for _ in range(count):
        async with turns.one(key):
            told.append(key)


async def test_tokens_take_turns_however_often_one_asks():
    turns = Turns()
    told: list[str] = []
    asking = ["a", "a", "a", "a", "b", "c"]
    await asyncio.gather(*(work(turns, key, told, 4) for key in asking))
    assert len(told) == 24
    # All of b and c while a, who asks four times as often, has had no more than each.
    first = told[1:13]
    assert {key: first.count(key) for key in "abc"} == {"a": 4, "b": 4, "c": 4}


async def test_one_turn_is_had_at_a_time():
    turns = Turns()
    having, most = 0, 0

    async def have():
        nonlocal having, most
        async with turns.one("a"):
            having += 1
            most = max(most, having)
            await asyncio.sleep(0)
            having -= 1

    await asyncio.gather(*(have() for _ in range(50)))
    assert most == 1


async def test_others_run_between_two_turns():
    turns = Turns()
    told: list[str] = []

    async def play():
        while len(told) < 300:
            seen.append(len(told))
            await asyncio.sleep(0)

    seen: list[int] = []
    working = [work(turns, "a", told) for _ in range(100)]
    await asyncio.gather(play(), *working)
    assert all(after - before <= 1 for before, after in itertools.pairwise(seen))
    assert len(seen) > 100


async def test_after_a_turn_there_is_a_rest_in_proportion(monkeypatch):
    turns = Turns()
    clock = Clock(monkeypatch)
    for worked_s in (0.01, 1.0):
        async with turns.one("a"):
            clock.now_s += worked_s
    assert clock.later == [pytest.approx(REST * s, rel=0.05) for s in (0.01, 1.0)]


async def test_short_rests_are_saved_up(monkeypatch):
    turns = Turns()
    clock = Clock(monkeypatch)
    for _ in range(100):
        async with turns.one("a"):
            clock.now_s += 0.000_1
    assert 0 < len(clock.later) < 70
    assert sum(clock.later) >= 0.9 * REST * clock.now_s


async def test_who_gives_up_does_not_keep_the_turn(monkeypatch):
    turns = Turns()
    told: list[str] = []
    plain = turns._next
    late: list[asyncio.Future[None]] = []

    def give():
        plain()
        if late:
            # It has the turn and is cancelled before it knows.
            late.pop().cancel()

    monkeypatch.setattr(turns, "_next", give)
    async with turns.one("a"):
        waiting = [asyncio.ensure_future(work(turns, "a", told, 1)) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        late.append(waiting[1])
    async with asyncio.timeout(60):
        await asyncio.gather(*waiting, return_exceptions=True)
        await work(turns, "b", told, 1)
    assert told == ["a", "b"]
    assert [one.cancelled() for one in waiting] == [True, True, False]


async def test_a_turn_that_fails_is_over():
    turns = Turns()
    told: list[str] = []
    with pytest.raises(ZeroDivisionError):
        async with turns.one("a"):
            _ = 1 / 0
    async with asyncio.timeout(60):
        await work(turns, "a", told)
    assert told == ["a"] * 3


async def test_a_rest_may_be_longer_or_shorter(monkeypatch):
    rests = {}
    for factor in (1.0, REST):
        clock = Clock(monkeypatch)
        turns = Turns(factor)
        async with turns.one("a"):
            clock.now_s += 1
        (rests[factor],) = clock.later
    assert rests[REST] == pytest.approx(REST * rests[1.0])


async def test_of_each_token_one_piece_of_work_is_under_way():
    queues = Queues()
    under_way: list[str] = []

    async def work_on(key):
        async with queues.one(key):
            assert key not in under_way
            under_way.append(key)
            await asyncio.sleep(0)
            under_way.remove(key)

    await asyncio.gather(*(work_on(key) for key in "aabab"))
    with pytest.raises(TimeoutError):
        async with queues.one("a"), asyncio.timeout(0.01), queues.one("a"):
            pass
    # Who gave up is in nobody's way.
    await work_on("a")
