"""FetchRecord: what is held for who does not read, and what others are spared."""

from __future__ import annotations

import asyncio
import hashlib
import io
import threading
from typing import Any

import pytest
from tests.service.calls import Caller, outcome_of
from tests.service.rawbot import until

from fritillary.core.errors import StorageError
from fritillary.service.fetching import CHUNK, send
from fritillary.service.hosted import HostedMatch
from fritillary.service.tokens import Role
from fritillary.service.turns import Turns

RAW = bytes(range(256)) * (5 * CHUNK // 256) + b"the end"


class File(io.BytesIO):
    """Counts what is read, and by whom."""

    def __init__(self, raw: bytes = RAW) -> None:
        super().__init__(raw)
        self.sizes: list[int] = []
        self.threads: set[int] = set()

    def read(self, size: Any = -1, /) -> bytes:
        self.sizes.append(size)
        self.threads.add(threading.get_ident())
        return super().read(size)


class Stream:
    """Takes what it is sent when it is free."""

    def __init__(self, *, free: bool = True) -> None:
        self.free = asyncio.Event()
        self.asked = asyncio.Event()
        self.told: list[Any] = []
        if free:
            self.free.set()

    async def write(self, chunk: Any) -> None:
        self.asked.set()
        await self.free.wait()
        self.told.append(chunk)


def sending(file: Any, stream: Any, offset: int = 0, turns: Turns | None = None):
    return send(file, offset, turns or Turns(), "token", stream)


@pytest.mark.parametrize("size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, len(RAW)], ids=str)
@pytest.mark.parametrize("offset", [0, 1, CHUNK, 2**62], ids=str)
async def test_what_is_sent_is_the_rest_and_the_hash_of_all(size, offset):
    raw, stream = RAW[:size], Stream()
    await sending(File(raw), stream, offset)
    assert b"".join(chunk.data for chunk in stream.told) == raw[offset:]
    assert all(chunk.data for chunk in stream.told[1:])
    assert [chunk.HasField("size") for chunk in stream.told[:-1]] == [False] * (
        len(stream.told) - 1
    )
    assert stream.told[0].offset == min(offset, size)
    assert stream.told[-1].size == size
    assert stream.told[-1].sha256 == hashlib.sha256(raw).digest()


async def test_no_more_than_a_chunk_is_read_for_who_does_not_read():
    file, stream = File(), Stream(free=False)
    running = asyncio.ensure_future(sending(file, stream))
    await stream.asked.wait()
    for _ in range(100):
        await asyncio.sleep(0)
    assert file.sizes == [CHUNK]
    stream.free.set()
    await running
    assert sum(file.sizes) == len(RAW)


async def test_who_does_not_read_keeps_nobody_waiting():
    turns = Turns()
    stuck, quick = Stream(free=False), Stream()
    waiting = asyncio.ensure_future(sending(File(), stuck, turns=turns))
    await stuck.asked.wait()
    async with asyncio.timeout(60):
        await sending(File(), quick, turns=turns)
    assert quick.told[-1].size == len(RAW)
    stuck.free.set()
    await waiting


async def test_records_are_read_in_threads():
    file = File()
    await sending(file, Stream(), 2 * CHUNK)
    assert threading.get_ident() not in file.threads


async def test_a_record_that_becomes_shorter_is_not_sent_to_its_end():
    class Cut(File):
        def read(self, size: Any = -1, /) -> bytes:
            return super().read(size)[:-1]

    stream = Stream()
    with pytest.raises(StorageError):
        await sending(Cut(), stream)
    assert not stream.told


async def test_a_record_that_cannot_be_read_is_an_error_of_storage():
    class Broken(File):
        def read(self, size: Any = -1, /) -> bytes:
            raise OSError(5, "input/output error")

    with pytest.raises(StorageError, match="input/output error"):
        await sending(Broken(), Stream())


async def test_only_so_many_records_are_fetched_at_once_with_one_token(
    stage, monkeypatch
):
    await stage.arena.play("pig", ["uniform", "uniform"], match_id="m")
    begun: list[int] = []
    free = asyncio.Event()
    closed: list[Any] = []

    def open_record(_):
        file = File()
        closed.append(file)
        return file

    async def stuck(*_):
        begun.append(1)
        await free.wait()

    monkeypatch.setattr(HostedMatch, "open_record", open_record)
    monkeypatch.setattr("fritillary.service.matches.send", stuck)
    async with Caller(stage, Role.SPECTATOR) as spectator:
        calls = [spectator.FetchRecord(match_id="m") for _ in range(40)]
        outcomes = [asyncio.ensure_future(outcome_of(call)) for call in calls]
        await until(lambda: sum(one.done() for one in outcomes) == 24)
        await until(lambda: len(begun) >= 16)
        assert len(begun) == 16
        free.set()
        told = await asyncio.gather(*outcomes)
    assert sorted(told) == ["limit.streams"] * 24 + ["ok"] * 16
    assert all(file.closed for file in closed)


@pytest.mark.parametrize("what", ["missing", "folder"])
async def test_what_is_no_file_is_not_fetched(open_stage, tmp_path, what):
    stage = await open_stage(records=tmp_path)
    await stage.arena.play("pig", ["uniform", "uniform"], match_id="m")
    (tmp_path / "m.frec").unlink()
    if what == "folder":
        (tmp_path / "m.frec").mkdir()
    with pytest.raises(StorageError) as caught:
        stage.arena.match("m").open_record()
    assert str(tmp_path) not in caught.value.message


async def test_a_record_in_memory_is_shared_by_all_who_fetch_it(stage):
    await stage.arena.play("pig", ["uniform", "uniform"], match_id="m")
    sink = stage.arena.match("m").sink
    assert sink.getvalue() is sink.getvalue()
