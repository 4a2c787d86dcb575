"""Taking up a match from its unfinished record, wherever it stopped."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest
from tests.referee import race
from tests.referee.race import Options
from tests.referee.support import (
    SALT,
    SEED,
    SIGNER,
    Do,
    Scripted,
    Watching,
    policy,
    referee,
    run,
)
from tests.referee.test_random_matches import (
    during,
    random_clock,
    random_player,
    random_policy,
)

from fritillary.record.chain import length_of
from fritillary.record.events import (
    ActionTaken,
    Dealt,
    Ended,
    Paused,
    Restarted,
    Resumed,
    Ruling,
)
from fritillary.record.reader import content_hash, read_record
from fritillary.record.terms import ClockSettings, Consequence, Fault, Terms
from fritillary.record.writer import MemorySink
from fritillary.referee.match import Match
from fritillary.referee.player import Answer, LocalPlayer, PlayerFault
from fritillary.referee.seen import Closure, Request, SeatEvent
from fritillary.referee.setup import MatchSetup
from fritillary.referee.verify import verify

MATCHES = 60


class Faithful(Scripted):
    """Depends on what it is asked alone, and comes back after a restart."""

    async def decide(self, request):
        self.log.append(request)
        step = self.script.get(request.decision_id, Do())
        await self._do(step)
        if isinstance(step.what, Answer):
            return step.what
        return Answer(index=race.STEPS.index(request.legal[0]))

    async def back(self):
        await asyncio.sleep(1)


def faithful(player):
    if isinstance(player, Scripted):
        player.__class__ = Faithful
    return player


def ingredients(seed, *, timed):
    """Return what a random match is made of: equal each time, players included."""
    rng = random.Random(seed)
    seats = rng.choice([2, 2, 3, 4])
    clock = random_clock if timed else lambda _: ClockSettings()
    return {
        "options": Options(
            rounds=rng.randrange(1, 6),
            in_a_row=rng.randrange(1, 3),
            wind=rng.random() < 0.4,
        ),
        "registry": race.masked() if rng.random() < 0.2 else race.REGISTRY,
        "terms": Terms(
            policy=random_policy(rng),
            margin_ms=rng.choice([0, 50]),
            ceiling_ms=rng.choice([15_000, 10**6]) if timed else 2**31 - 1,
        ),
        "clocks": [clock(rng) for _ in range(seats)],
        "nonces_wanted": rng.random() < 0.3,
        "seed": seed.to_bytes(32, "big"),
        "players": [
            faithful(random_player(random.Random(f"{seed} {seat}")))
            for seat in range(seats)
        ],
    }


async def take_up(raw, events, made, *, used=None, beside=None):
    """Go on from the first events of a record; return match, result, bytes."""
    made = dict(made)
    registry = made.pop("registry", race.REGISTRY)
    made.setdefault("seed", SEED)
    made.setdefault("terms", Terms(margin_ms=0))
    setup = MatchSetup(game=registry.game("race"), match_id="m", salt=SALT, **made)
    sink = MemorySink()
    whole = raw[: length_of(raw, events)]
    sink.write(whole)
    match = Match(
        setup,
        sink,
        SIGNER,
        now=asyncio.get_running_loop().time,
        after=read_record(whole, unfinished=True),
        used=used,
    )
    match.teller.watch(Watching())
    task = None if beside is None else asyncio.create_task(beside(match))
    result = await match.run()
    if task is not None:
        await task
    verify(sink.getvalue(), registry)
    return match, result, sink.getvalue()


def first_end(record: Any) -> Any:
    return next(n for n, one in enumerate(record.events) if isinstance(one, Ended))


def the(record: Any, number: int) -> Any:
    return record.events[number]


def events_of(player):
    return [one for one in player.log if isinstance(one, SeatEvent)]


def check_same(before, after, *, whole):
    """Check that a seat is told the same events, and asked under the same numbers."""
    old, new = events_of(before), events_of(after)
    assert [event.number for event in new] == list(range(1, len(new) + 1))
    if whole:
        assert new == old
    known = 0
    for one in after.log:
        if isinstance(one, Request):
            assert one.decision_id == known + 1
        elif isinstance(one, Closure):
            assert one.decision_id == known + 1
            known += 1


@pytest.mark.parametrize("part", range(4))
def test_an_untimed_match_taken_up_anywhere_ends_as_it_would_have(part):
    cuts = 0
    for seed in range(part, MATCHES, 4):
        made = ingredients(seed, timed=False)
        # One that never answers is late under a clock alone.
        played = run(referee(**made))
        for events in range(2, first_end(played.record) + 1):
            again = ingredients(seed, timed=False)
            try:
                _, result, raw = run(take_up(played.raw, events, again))
                last = the(played.record, events - 1)
                partly_refused = (
                    isinstance(last, (Dealt, Ruling))
                    and isinstance(the(played.record, events), Ruling)
                    and the(played.record, events).fault is Fault.REFUSED_TO_START
                )
                if partly_refused:
                    continue
                assert content_hash(read_record(raw)) == result.content_hash
                assert result.content_hash == played.result.content_hash
                for before, after in zip(
                    made["players"], again["players"], strict=True
                ):
                    if isinstance(before, Scripted):
                        check_same(before, after, whole=True)
            except BaseException as error:
                error.add_note(f"seed {seed}, after {events} events")
                raise
            cuts += 1
    assert cuts > 100


@pytest.mark.parametrize("part", range(2))
def test_a_timed_match_with_pauses_taken_up_anywhere_holds(part):
    seen = set()
    for seed in range(1_000 + part, 1_000 + MATCHES, 2):
        made = ingredients(seed, timed=True)
        played = run(referee(**made, during=during(random.Random(seed))))

        async def go_on(match):
            while match.phase != "ended":
                await asyncio.sleep(1)
                match.resume()

        for events in range(2, first_end(played.record) + 1):
            again = ingredients(seed, timed=True)
            last = the(played.record, events - 1)
            seen.add(type(last))
            try:
                run(take_up(played.raw, events, again, beside=go_on))
                for before, after in zip(
                    made["players"], again["players"], strict=True
                ):
                    if isinstance(before, Scripted):
                        check_same(before, after, whole=False)
            except BaseException as error:
                error.add_note(f"seed {seed}, after {events} events")
                raise
    assert {Dealt, ActionTaken, Ruling, Paused, Resumed} <= seen


def test_a_match_may_be_taken_up_again_and_again():
    made = ingredients(3, timed=False)
    played = run(referee(**made))
    raw = played.raw
    events = 2
    while events < first_end(read_record(raw)):
        _, result, raw = run(take_up(raw, events, ingredients(3, timed=False)))
        assert result.content_hash == played.result.content_hash
        events += 2
    record = read_record(raw)
    assert sum(isinstance(one, Restarted) for one in record.events) > 2


CLOCK = ClockSettings(base_ms=10_000)


def two(script=None):
    return {"players": [Faithful(script), Faithful()], "clocks": [CLOCK] * 2}


def test_time_that_an_open_decision_had_used_is_kept():
    played = run(referee(**two()))
    events = 4
    point = the(played.record, events)
    made = two()
    match, _, raw = run(take_up(played.raw, events, made, used=(point.seat, 4_000)))
    restarted = read_record(raw).find(Restarted)
    assert restarted == Restarted(point.seat, 4_000)
    assert match.clocks[point.seat].base_ms == 6_000
    assert match.clocks[1 - point.seat].base_ms == 10_000


def test_no_more_time_is_charged_than_there_was():
    played = run(referee(**two()))
    seat = the(played.record, 4).seat
    match, result, raw = run(take_up(played.raw, 4, two(), used=(seat, 99_000)))
    assert read_record(raw).find(Restarted) == Restarted(seat, 10_000)
    assert match.clocks[seat].base_ms == 0
    assert result.finish.outcome is not None


def test_downtime_and_the_way_back_cost_nobody():
    played = run(referee(**two()))
    made = two()

    class Slow(Faithful):
        async def back(self):
            await asyncio.sleep(500)

    for player in made["players"]:
        player.__class__ = Slow
    match, result, _ = run(take_up(played.raw, 4, made))
    assert [clock.base_ms for clock in match.clocks] == [10_000, 10_000]
    assert result.content_hash == played.result.content_hash


def test_a_retry_goes_on_with_its_attempt_and_what_was_left():
    illegal = {2: Do(Answer(index=3), after=3)}
    terms = Terms(policy=policy(illegal="retry:1,forfeit"), margin_ms=0)
    played = run(referee(**two(illegal), terms=terms))
    number = next(
        n for n, one in enumerate(played.record.events) if isinstance(one, Ruling)
    )
    made = {**two(illegal), "terms": terms}
    match, result, raw = run(take_up(played.raw, number + 1, made))
    assert result.content_hash == played.result.content_hash
    asked = [one for one in made["players"][0].log if isinstance(one, Request)]
    assert asked[0].decision_id == 3
    assert asked[0].attempt == 2
    assert asked[0].problem is not None
    assert match.clocks[0].base_ms == 7_000
    ruling = read_record(raw).find(Ruling)
    assert ruling is not None
    assert ruling.consequence is Consequence.RETRY


def test_a_paused_match_stays_paused():
    async def pause(match):
        await asyncio.sleep(2)
        match.pause("lunch")
        await asyncio.sleep(60)
        match.resume()

    slow = {n: Do(after=1) for n in range(1, 9)}
    played = run(referee(**two(slow), during=pause))
    number = next(
        n for n, one in enumerate(played.record.events) if isinstance(one, Paused)
    )
    phases = []

    async def later(match):
        await asyncio.sleep(30)
        phases.append(match.phase)
        assert match.resume()

    match, _, raw = run(take_up(played.raw, number + 1, two(slow), beside=later))
    assert phases == ["paused"]
    kinds = [type(one) for one in read_record(raw).events]
    assert kinds[number : number + 3] == [Paused, Restarted, Resumed]
    assert sum(clock.base_ms or 0 for clock in match.clocks) == sum(
        clock.base_ms or 0 for clock in played.match.clocks
    )


def test_a_match_can_be_ended_while_its_seats_are_waited_for():
    from fritillary.record.terms import EndKind

    played = run(referee(**two()))
    made = two()

    class Lost(Faithful):
        async def back(self):
            await asyncio.sleep(1e6)

    for player in made["players"]:
        player.__class__ = Lost

    async def abort(match):
        await asyncio.sleep(10)
        assert match.abort(EndKind.VOID, "match.aborted", "enough")

    _, result, _ = run(take_up(played.raw, 4, made, beside=abort))
    assert result.finish.code == "match.aborted"


def test_local_bots_are_where_they_were():
    """One that draws from its generator at each decision, and counts them."""
    from fritillary import BaseBot
    from fritillary.record.terms import PlayerInfo

    class Counting(BaseBot):
        light = True

        def __init__(self):
            self.count = 0

        def decide(self, ask):
            self.count += 1
            return ask.legal[(self.count + int(ask.rng.random() * 9)) % len(ask.legal)]

    class Threaded(Counting):
        light = False

    def made():
        return {
            "players": [
                LocalPlayer(Counting(), PlayerInfo("counting")),
                LocalPlayer(Threaded(), PlayerInfo("threaded")),
            ],
            "options": Options(rounds=6),
            "clocks": [ClockSettings()] * 2,
        }

    played = asyncio.run(referee(**made()))
    for events in range(2, first_end(played.record) + 1):
        _, result, _ = asyncio.run(take_up(played.raw, events, made()))
        assert result.content_hash == played.result.content_hash


def test_a_failure_of_the_referee_stays_one():
    def broken(state, action):
        raise ValueError("broken")

    registry = race.registry(apply_action=broken)
    made = {**two(), "registry": registry}
    played = run(referee(**made, holds=False))
    number = next(
        n for n, one in enumerate(played.record.events) if isinstance(one, Ruling)
    )
    made = {**two(), "registry": registry}
    _, result, raw = run(take_up(played.raw, number + 1, made))
    assert result.finish == played.finish
    rulings = [one for one in read_record(raw).events if isinstance(one, Ruling)]
    assert len(rulings) == 1


def test_seats_that_all_refused_are_all_ruled_on():
    refusing = Do(PlayerFault(Fault.REFUSED_TO_START, "no"))

    def made():
        return {
            "players": [Faithful(accept=refusing), Faithful(accept=refusing)],
            "clocks": [CLOCK] * 2,
        }

    played = run(referee(**made()))
    _, result, raw = run(take_up(played.raw, 3, made()))
    assert result.finish.kind is played.finish.kind
    rulings = [one for one in read_record(raw).events if isinstance(one, Ruling)]
    assert [ruling.seat for ruling in rulings] == [0, 1]
