"""Stranded matches are ended beside all else, and wholly or not at all."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import threading
from pathlib import Path

import grpc
import pytest
from tests.service.calls import Caller, code_of, outcome_of
from tests.service.rawbot import until
from tests.service.shelf import shelf
from tests.service.test_stranded import aborted, broken_off, referee_of, the_match

from fritillary.api.v1 import common_pb2, match_pb2
from fritillary.core.errors import ServiceError
from fritillary.record.events import Closed, Ended
from fritillary.record.terms import EndKind
from fritillary.service.stranded import end
from fritillary.service.tokens import Role

PATIENCE_S = 60


class Held:
    """Ending a match waits until it is let go; counts how often that was begun."""

    def __init__(self, monkeypatch):
        self.begun = 0
        self.threads: set[threading.Thread] = set()
        self.let_go = threading.Event()

        def held(*args):
            self.begun += 1
            self.threads.add(threading.current_thread())
            assert self.let_go.wait(PATIENCE_S)
            return end(*args)

        monkeypatch.setattr("fritillary.service.keeping.end", held)


@pytest.fixture
async def held(house, monkeypatch):
    await broken_off(house)
    await house.start(shelf("home", version=2))
    held = Held(monkeypatch)
    yield held
    held.let_go.set()


def files(folder):
    """Return what lies in a folder and below it, with what is in each file."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".lock"
    }


# --------------------------------------------------------------- beside all else


async def test_ending_it_keeps_nobody_else_waiting(house, held):
    async with referee_of(house) as referee, Caller(house, Role.REFEREE, "ruth") as two:
        first = asyncio.ensure_future(referee.AbortMatch(match_id="m", message="1"))
        await until(lambda: held.begun)
        assert threading.main_thread() not in held.threads
        # All that is asked meanwhile is answered, and it is as it was.
        phase = (await two.GetMatch(match_id="m")).match.phase
        assert phase == common_pb2.MATCH_PHASE_STRANDED
        seats = [match_pb2.SeatRequest(player="uniform")] * 2
        again = two.CreateMatch(game="pig", match_id="m", seats=seats)
        assert await outcome_of(again) == "match.exists"
        later = [
            asyncio.ensure_future(outcome_of(two.AbortMatch(match_id="m")))
            for _ in range(3)
        ]
        held.let_go.set()
        match = (await first).match
        assert await asyncio.gather(*later) == ["match.phase"] * 3
    assert match.result.message == "1"
    assert held.begun == 1
    assert sum(isinstance(one, Ended) for one in house.record().events) == 1


async def test_whoever_hangs_up_does_not_undo_it(house, held):
    async with referee_of(house) as referee:
        call = referee.AbortMatch(match_id="m")
        ending = asyncio.ensure_future(outcome_of(call))
        await until(lambda: held.begun)
        call.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await ending
    held.let_go.set()
    await until(lambda: not house.arena.stranded)
    assert (await the_match(house)).phase == common_pb2.MATCH_PHASE_ENDED
    assert isinstance(house.record().events[-1], Closed)


async def test_who_hangs_up_before_its_turn_has_begun_nothing(house, held):
    arena = house.arena
    first, *others = (
        asyncio.ensure_future(arena.abort_stranded("m", EndKind.VOID, str(number)))
        for number in range(100)
    )
    await until(lambda: held.begun)
    for one in others:
        one.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    assert all(one.cancelled() for one in others)
    assert len(arena._earlier._aborts) == 1
    held.let_go.set()
    await first
    assert house.record().find(Ended).message == "0"


async def test_who_waits_at_a_stop_is_told_so(house, held):
    arena = house.arena
    first, second = (
        asyncio.ensure_future(arena.abort_stranded("m", EndKind.VOID, ""))
        for _ in range(2)
    )
    await until(lambda: held.begun)
    closing = asyncio.ensure_future(house.stop())
    await until(lambda: arena._earlier._closed)
    held.let_go.set()
    with pytest.raises(ServiceError) as caught:
        await second
    assert caught.value.code == "server.stopping"
    await first
    await closing


async def test_a_server_that_stops_ends_it_first(house, held):
    arena = house.arena
    async with referee_of(house) as referee:
        call = asyncio.ensure_future(outcome_of(referee.AbortMatch(match_id="m")))
        await until(lambda: held.begun)
        closing = asyncio.ensure_future(house.stop())
        await until(lambda: arena._closing)
        with pytest.raises(ServiceError) as caught:
            await arena.abort_stranded("m", EndKind.VOID, "")
        assert caught.value.code == "server.stopping"
        held.let_go.set()
        await closing
        await call
    # The next one may use the folder, and finds the end.
    await house.start(shelf("home"))
    assert house.taken_up == 0
    assert (await the_match(house)).phase == common_pb2.MATCH_PHASE_ENDED


# ---------------------------------------------------------- wholly or not at all


@pytest.fixture
async def damaged(house):
    """A match of which no record can tell the end."""
    await broken_off(house)
    (house.records / "m.frec").write_bytes(b"x" * 500)
    await house.start(shelf())


async def refused(house):
    """Abort the match in vain; return what is told of that."""
    async with referee_of(house) as referee:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await referee.AbortMatch(match_id="m")
    assert code_of(caught.value) == "storage.private"
    told = str(caught.value.details())
    assert str(house.path) not in told
    return told


def another_file_system(monkeypatch, *names):
    """Let files be moved between folders by copying alone; those named, not at all."""
    replace, unlink = Path.replace, Path.unlink

    def moved(path, target):
        if path.parent != Path(target).parent:
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        return replace(path, target)

    def removed(path, **more):
        if path.name in names and path.parent.name == "private":
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))
        return unlink(path, **more)

    monkeypatch.setattr(Path, "replace", moved)
    monkeypatch.setattr(Path, "unlink", removed)


async def test_all_goes_to_another_file_system(house, damaged, monkeypatch):
    order = (house.private.path / "m.order").read_bytes()
    with monkeypatch.context() as patched:
        another_file_system(patched)
        match = await aborted(house)
    assert match.phase == common_pb2.MATCH_PHASE_ENDED
    (folder,) = (house.private.path / "aside").iterdir()
    assert files(folder) == {"m.frec": b"x" * 500, "m.order": order}
    for path in (folder, *folder.iterdir()):
        assert not path.stat().st_mode & 0o077
    assert not (house.records / "m.frec").exists()
    assert not house.private.has("m")


async def test_where_the_second_file_cannot_be_moved_the_first_is_back(
    house, damaged, monkeypatch
):
    before = files(house.path)
    with monkeypatch.context() as patched:
        another_file_system(patched, "m.order")
        for _ in range(2):
            assert "Permission denied" in await refused(house)
            assert files(house.path) == before
    assert [*house.arena.stranded] == ["m"]
    assert (await aborted(house)).phase == common_pb2.MATCH_PHASE_ENDED


async def test_a_full_disk_leaves_all_where_it_was(house, damaged, monkeypatch):
    before = files(house.path)

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        another_file_system(patched)
        patched.setattr("fritillary.service.moving.shutil.copyfileobj", full)
        assert "No space left" in await refused(house)
    assert files(house.path) == before
    assert (await aborted(house)).phase == common_pb2.MATCH_PHASE_ENDED


@pytest.mark.parametrize("what", ["link", "file", "link-within"])
async def test_nothing_goes_where_others_may_read_it(
    house, damaged, tmp_path, caplog, what
):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    aside = house.private.path / "aside"
    if what == "file":
        aside.write_bytes(b"")
    elif what == "link":
        aside.symlink_to(elsewhere)
    else:
        aside.mkdir(mode=0o700)
        kept = house.arena.stranded["m"].kept
        (aside / f"m-{kept.created_at_ms}").symlink_to(elsewhere)
    before = files(house.path)
    assert "Not a directory" in await refused(house)
    assert "not a folder; remove it" in caplog.text
    assert not [*elsewhere.iterdir()]
    assert files(house.path) == before
    assert [*house.arena.stranded] == ["m"]
