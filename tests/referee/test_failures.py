"""When the record cannot be written, and when the match is cancelled."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.referee import race
from tests.referee.support import (
    ILLEGAL,
    NEVER,
    SEED,
    SIGNER,
    Do,
    Scripted,
    Watching,
    check_told,
    policy,
    run,
)

from fritillary.core.errors import StorageError
from fritillary.record.events import Closed
from fritillary.record.reader import read_record
from fritillary.record.terms import EndKind, Terms
from fritillary.record.writer import MemorySink
from fritillary.referee.match import Match
from fritillary.referee.seen import Finish
from fritillary.referee.setup import MatchSetup


class FullSink(MemorySink):
    """Takes so many writes; then half of one, and no more. ``None``: all."""

    def __init__(self, writes, *, where="write"):
        super().__init__()
        keep = self.write
        self.left = writes
        self.where = where
        self.closed = 0
        self.refused = 0

        def write(raw):
            if self.where == "write" and self.left == 0:
                self.refused += 1
                if self.refused == 1:
                    keep(raw[: len(raw) // 2])
                raise StorageError("no space left on device")
            self.left -= 1
            keep(raw)

        self.write = write

    def sync(self):
        if self.where == "sync" and self.left <= 0:
            raise StorageError("input/output error")

    def close(self):
        self.closed += 1


def match_of(sink, players):
    terms = Terms(policy=policy(illegal="retry:1,substitute"))
    setup = MatchSetup(game=race.GAME, players=players, seed=SEED, terms=terms)
    return Match(setup, sink, SIGNER, now=asyncio.get_running_loop().time)


#: Magic, header, dealt, eight actions, two rulings, ended, revealed, closed.
WRITES = 16


@pytest.mark.parametrize("writes", range(2, WRITES))
def test_a_full_disk_ends_the_match_for_all_and_is_reported(writes):
    sink = FullSink(writes)
    players = [Scripted(), Scripted({2: ILLEGAL, 3: ILLEGAL})]
    watching = Watching()

    async def main():
        match = match_of(sink, players)
        match.teller.watch(watching)
        with pytest.raises(StorageError):
            await match.run()
        return match

    match = run(main())
    assert match.phase == "ended"
    assert sink.closed == 1
    # Nothing is written after what was torn.
    assert sink.refused == 1
    record = read_record(sink.getvalue(), unfinished=True)
    assert len(record.events) == writes - 1
    result = match.result
    assert (result.content_hash, result.final_hash, result.reveal) == (b"", b"", None)
    for player in players:
        check_told(player.log, result)
    assert watching.results == [result]
    # Once the record leads to an end, it is the end, even if it does not fit.
    ended = writes > WRITES - 4
    assert result.finish.kind is (EndKind.PLAYED if ended else EndKind.VOID)
    assert result.finish.code == ("" if ended else "referee.record")


def test_a_disk_with_just_enough_space_is_enough():
    sink = FullSink(WRITES)
    players = [Scripted(), Scripted({2: ILLEGAL, 3: ILLEGAL})]

    async def main():
        return await match_of(sink, players).run()

    assert run(main()).finish.kind is EndKind.PLAYED
    assert isinstance(read_record(sink.getvalue()).events[-1], Closed)


def test_a_disk_that_fails_at_the_very_end_is_reported():
    sink = FullSink(WRITES - 2, where="sync")
    players = [Scripted(), Scripted()]

    async def main():
        match = match_of(sink, players)
        with pytest.raises(StorageError):
            await match.run()
        return match

    match = run(main())
    assert match.result.finish.kind is EndKind.PLAYED
    assert match.result.final_hash == b""
    assert sink.closed == 1


@pytest.mark.parametrize("when", ["accept", "ready", "decide", "pause"])
def test_a_cancelled_match_says_nothing_and_leaves_its_record_open(when):
    sink = FullSink(-1)
    players = [Scripted(), Scripted()]
    never: dict[str, Any] = {"accept": NEVER, "ready": NEVER}
    if when in never:
        players[1] = Scripted(**{when: never[when]})
    else:
        players[1] = Scripted({2: NEVER})

    async def main():
        match = match_of(sink, players)
        task = asyncio.create_task(match.run())
        await asyncio.sleep(5)
        if when == "pause":
            assert match.pause("x")
            await asyncio.sleep(5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert match.phase == "ended"
        assert not match.abort(EndKind.VOID, "late", "late")
        return match

    match = run(main())
    assert match.result is None
    assert sink.closed == 1
    for player in players:
        assert not any(isinstance(body, Finish) for body in player.bodies)
    record = read_record(sink.getvalue(), unfinished=True)
    assert not record.finished


def test_a_bot_that_is_interrupted_from_the_keyboard_interrupts_all():
    sink = FullSink(-1)

    async def main():
        players = [Scripted(), Scripted({2: Do(KeyboardInterrupt())})]
        await match_of(sink, players).run()

    with pytest.raises(KeyboardInterrupt):
        run(main())
    assert sink.closed == 1
