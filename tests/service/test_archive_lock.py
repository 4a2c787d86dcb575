"""The archive reads one file at a time, whoever gives up meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import threading

from tests.service import pig

from fritillary.service.archive import Archive


async def test_a_call_that_is_cancelled_keeps_the_next_one_waiting_for_its_thread(
    tmp_path,
):
    archive = Archive(tmp_path, pig.registry(), lambda _: None)
    begun, go_on = threading.Event(), threading.Event()
    order: list[str] = []

    def slow() -> None:
        begun.set()
        go_on.wait(60)
        order.append("slow")

    first = asyncio.ensure_future(archive.in_thread(slow))
    await asyncio.to_thread(begun.wait, 60)
    first.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await first
    second = asyncio.ensure_future(archive.in_thread(lambda: order.append("second")))
    third = asyncio.ensure_future(archive.in_thread(lambda: order.append("third")))
    for _ in range(10):
        await asyncio.sleep(0)
    third.cancel()
    assert not order
    go_on.set()
    async with asyncio.timeout(60):
        await second
    # Who gives up before its turn is not read for at all.
    await archive.in_thread(lambda: order.append("last"))
    assert order == ["slow", "second", "last"]


async def test_a_read_that_fails_after_its_call_was_cancelled_frees_the_archive(
    tmp_path,
):
    archive = Archive(tmp_path, pig.registry(), lambda _: None)
    begun, go_on = threading.Event(), threading.Event()

    def fail() -> None:
        begun.set()
        go_on.wait(60)
        raise OSError

    first = asyncio.ensure_future(archive.in_thread(fail))
    await asyncio.to_thread(begun.wait, 60)
    first.cancel()
    go_on.set()
    async with asyncio.timeout(60):
        assert await archive.in_thread(lambda: "read") == "read"
