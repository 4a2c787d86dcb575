"""A match whose record could not be written to its end gets the end that was told."""

from __future__ import annotations

import asyncio

import pytest
from tests.referee import race
from tests.referee.support import ILLEGAL, SEED, SIGNER, Do, Scripted, policy, run
from tests.referee.test_failures import FullSink

from fritillary.core.errors import StorageError
from fritillary.record.chain import length_of
from fritillary.record.events import Ended
from fritillary.record.reader import read_record
from fritillary.record.reveal import reveal_record
from fritillary.record.terms import Terms
from fritillary.record.writer import MemorySink
from fritillary.referee.absent import Absent
from fritillary.referee.match import NO_RECORD, Match
from fritillary.referee.player import Answer
from fritillary.referee.restore import write_end
from fritillary.referee.setup import MatchSetup
from fritillary.referee.verify import verify

RESIGN = Do(Answer(resign=True))

#: By name: policy of illegal actions, and what the players do.
MATCHES = {
    "played": ("retry:1,substitute", {2: ILLEGAL, 3: ILLEGAL}),
    "forfeited": ("retry:1,forfeit", {2: ILLEGAL, 3: ILLEGAL}),
    "void": ("void", {2: ILLEGAL}),
    "resigned": ("void", {3: RESIGN}),
}


def broken_off(name, writes):
    """Play until nothing more can be written; return setup, result and sink."""
    illegal, script = MATCHES[name]
    sink = FullSink(writes)

    async def main():
        setup = MatchSetup(
            game=race.GAME,
            players=[Scripted(), Scripted(script)],
            seed=SEED,
            terms=Terms(policy=policy(illegal=illegal)),
        )
        match = Match(setup, sink, SIGNER, now=asyncio.get_running_loop().time)
        try:
            await match.run()
        except StorageError:
            return setup, match.result, sink.getvalue()
        return None

    return run(main())


def ended_again(setup, raw):
    """Return the record with its end."""
    found = read_record(raw, unfinished=True)
    sink = MemorySink()
    sink.write(raw[: length_of(raw, len(found.events))])

    async def main():
        seats = tuple(Absent(seat.player) for seat in found.header.seats)
        again = MatchSetup(
            game=setup.game,
            players=seats,
            match_id=setup.match_id,
            seed=setup.seed,
            salt=setup.salt,
            terms=setup.terms,
        )
        write_end(again, found, sink, NO_RECORD)

    run(main())
    return sink.getvalue()


@pytest.mark.parametrize("name", MATCHES)
def test_the_end_is_the_one_that_was_told_wherever_the_disk_was_full(name):
    told = set()
    for writes in range(2, 40):
        broken = broken_off(name, writes)
        if broken is None:
            break
        setup, result, raw = broken
        if read_record(raw, unfinished=True).find(Ended) is None:
            raw = ended_again(setup, raw)
        closed = reveal_record(raw, setup.seed, setup.salt, SIGNER)
        verify(closed, race.REGISTRY)
        ended = read_record(closed).find(Ended)
        assert ended is not None
        finish = result.finish
        assert (ended.kind, ended.code) == (finish.kind, finish.code), writes
        told.add(finish.code)
    assert NO_RECORD.code in told
    assert len(told) == 2


def test_rules_that_fail_lead_to_no_end():
    played = broken_off("played", 8)
    assert played is not None
    setup, _, raw = played
    broken = race.registry(apply_action=_fails).game("race")
    object.__setattr__(setup, "game", broken)
    record = read_record(ended_again(setup, raw), unfinished=True)
    assert isinstance(record.events[-1], Ended)
    assert record.events[-1].code == NO_RECORD.code


def _fails(state, action):
    raise ValueError
