"""One timer for many waits: each ends in its own time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.referee.virtual_loop import run

from fritillary.record.terms import EndKind
from fritillary.referee.control import Control, InterruptedWait, Wait
from fritillary.referee.seen import Finish

ABORT = Finish(EndKind.WITHDRAWN, "match.aborted")


def now():
    return asyncio.get_running_loop().time()


@pytest.mark.parametrize("before", [2, 5, 3_600])
@pytest.mark.parametrize("limit", [0, 3, 60])
def test_a_wait_runs_out_in_its_own_time_whatever_the_one_before_was(before, limit):
    async def main():
        wait = Wait(Control())
        assert await wait.within(before, asyncio.sleep(1, "in time")) == "in time"
        with pytest.raises(TimeoutError):
            await wait.within(limit, asyncio.sleep(10_000))
        assert now() == 1 + limit
        # The task is not left cancelled.
        assert await wait.within(5, asyncio.sleep(1, "again")) == "again"

    run(main())


def test_waits_without_number_set_few_timers():
    async def main():
        loop: Any = asyncio.get_running_loop()
        timers: list[float] = []
        call_at = loop.call_at

        def counting(when, callback, *arguments, **settings):
            if callback == wait._ring:
                timers.append(when)
            return call_at(when, callback, *arguments, **settings)

        wait = Wait(Control())
        loop.call_at = counting
        for _ in range(100):
            await wait.within(10, asyncio.sleep(1))
        # After ten seconds the first looks again, nine seconds later the next.
        assert len(timers) <= 12

    run(main())


def test_an_interruption_ends_a_wait_and_forbids_the_next():
    async def main():
        control = Control()
        wait = Wait(control)
        asyncio.get_running_loop().call_later(2, control.end, ABORT)
        with pytest.raises(InterruptedWait):
            await wait.within(10, asyncio.sleep(3_600))
        assert now() == 2
        with pytest.raises(InterruptedWait):
            await wait.within(10, asyncio.sleep(0))

    run(main())


def test_whoever_cancels_the_task_is_heard_even_when_time_has_run_out():
    async def main():
        wait = Wait(Control())
        task = asyncio.create_task(wait.within(1, asyncio.sleep(3_600)))
        # Later in the same moment as the timer, before the task is run.
        asyncio.get_running_loop().call_later(1, task.cancel)
        await asyncio.wait({task})
        assert task.cancelled()

    run(main())


def test_a_timeout_from_inside_is_not_the_end_of_the_wait():
    async def fail():
        raise TimeoutError

    async def main():
        with pytest.raises(RuntimeError, match="of its own"):
            await Wait(Control()).within(1, fail())

    run(main())


def test_a_closed_wait_leaves_nothing_in_the_loop():
    async def main():
        wait = Wait(Control())
        await wait.within(3_600, asyncio.sleep(1))
        wait.close()
        wait.close()

    async def outer():
        await main()
        loop: Any = asyncio.get_running_loop()
        return [one for one in loop._scheduled if not one._cancelled]

    assert run(outer()) == []
