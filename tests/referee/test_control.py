"""Abort, pause and resume from outside, at every moment."""

from __future__ import annotations

import asyncio

import pytest
from tests.referee.local import First
from tests.referee.race import Options
from tests.referee.support import (
    NEVER,
    SALT,
    SEED,
    SIGNER,
    Do,
    Scripted,
    played,
    race,
    referee,
    run,
)

from fritillary import Outcome
from fritillary.record.events import ActionTaken, Dealt, Paused, Resumed
from fritillary.record.terms import ClockSettings, EndKind, Fault, PlayerInfo, Terms
from fritillary.record.writer import MemorySink
from fritillary.referee.match import Match
from fritillary.referee.player import LocalPlayer
from fritillary.referee.seen import Halted, WentOn
from fritillary.referee.setup import MatchSetup


def abort(match, code="match.aborted"):
    return match.abort(EndKind.WITHDRAWN, code, "called off")


def at(seconds, *calls):
    """Return what calls a match after so many seconds."""

    async def during(match):
        await asyncio.sleep(seconds)
        for call in calls:
            call(match)

    return during


def check_aborted(game):
    assert game.finish.kind is EndKind.WITHDRAWN
    assert game.finish.code == "match.aborted"
    assert game.finish.outcome is None
    assert not game.rulings


def test_an_abort_while_a_seat_thinks_withdraws_the_request():
    game = played([Scripted(), Scripted({2: NEVER})], during=at(5, abort))
    check_aborted(game)
    closure = game.players[1].closures[-1]
    assert (closure.how, closure.problem.code) == ("withdrawn", "match.aborted")
    assert game.result.plies == 3


@pytest.mark.parametrize(
    "silent", [Scripted(accept=NEVER), Scripted(ready=NEVER)], ids=["accept", "ready"]
)
def test_an_abort_during_the_offers_ends_them(silent):
    players = [silent, Scripted(), Scripted(accept=Do(after=2))]
    game = played(players, during=at(1, abort))
    check_aborted(game)
    assert game.record.find(Dealt) is None
    assert game.result.plies == 0


def test_an_abort_before_the_match_runs():
    async def main():
        loop = asyncio.get_running_loop()
        players = [Scripted(), Scripted()]
        setup = MatchSetup(game=race.GAME, players=players, seed=SEED, salt=SALT)
        match = Match(setup, MemorySink(), SIGNER, now=loop.time)
        assert abort(match)
        result = await match.run()
        assert not abort(match)
        assert not match.pause("late")
        assert not match.resume()
        return result, players

    result, players = run(main())
    assert result.finish.code == "match.aborted"
    assert [player.offer for player in players] == [None, None]
    assert all(player.log[-1] is result for player in players)


def test_the_first_abort_decides():
    def second(match):
        assert abort(match, "match.again")

    game = played([Scripted(), Scripted({2: NEVER})], during=at(5, abort, second))
    check_aborted(game)


def test_a_match_can_be_adjudicated_with_an_outcome():
    outcome = Outcome.ranked("adjudicated", (3, 7))

    def adjudicate(match):
        match.abort(EndKind.ADJUDICATED, "match.adjudicated", "enough", outcome)

    game = played([Scripted({2: NEVER}), Scripted()], during=at(5, adjudicate))
    assert game.finish.kind is EndKind.ADJUDICATED
    assert game.finish.outcome == outcome


# --------------------------------------------------------------------------- pause


def pause(match):
    assert match.pause("lunch")


def resume(match):
    assert match.resume()


def pausing(start, length):
    async def during(match):
        await asyncio.sleep(start)
        pause(match)
        await asyncio.sleep(0)
        await asyncio.sleep(length)
        assert match.phase == "paused"
        resume(match)

    return during


def test_the_time_of_a_pause_is_nobodys():
    clocks = ClockSettings(base_ms=10_000)
    thinking = Scripted({2: Do(after=8), 3: Do(after=1)})
    game = played([thinking, Scripted()], clocks=clocks, during=pausing(2, 3_600))
    assert game.finish.kind is EndKind.PLAYED
    [paused] = game.all(Paused)
    assert (paused.message, paused.seat, paused.charged_ms) == ("lunch", 0, 2_000)
    assert len(game.all(Resumed)) == 1
    # Withdrawn and asked again: the second answer comes after one second.
    hows = [(c.how, c.charged_ms) for c in thinking.closures]
    assert hows[:3] == [("accepted", 0), ("withdrawn", 2_000), ("accepted", 1_000)]
    assert thinking.closures[1].problem.code == "match.paused"
    assert game.match.clocks[0].base_ms == 7_000
    kinds = [type(body) for body in thinking.bodies]
    assert kinds.index(WentOn) == kinds.index(Halted) + 1


def test_a_pause_gives_back_no_part_of_a_limit():
    clocks = ClockSettings(move_ms=5_000)
    game = played(
        [Scripted({1: Do(after=4.5), 2: Do(after=2.5)}), Scripted()],
        clocks=clocks,
        during=pausing(3, 60),
    )
    [ruling] = game.rulings
    assert (ruling.fault, ruling.charged_ms) == (Fault.LATE, 2_000)


def test_a_pause_does_not_bring_the_ceiling_nearer():
    terms = Terms(ceiling_ms=10_000, margin_ms=0)
    game = played(
        [Scripted({1: Do(after=4), 2: Do(after=4)}), Scripted()],
        terms=terms,
        during=pausing(2, 3_600),
    )
    assert game.finish.kind is EndKind.PLAYED


def test_an_abort_during_a_pause_ends_the_match():
    async def during(match):
        await asyncio.sleep(1)
        pause(match)
        await asyncio.sleep(100)
        abort(match)

    game = played([Scripted({1: NEVER}), Scripted()], during=during)
    check_aborted(game)
    assert len(game.all(Paused)) == 1
    assert not game.all(Resumed)


def test_pauses_follow_each_other():
    async def during(match):
        for _ in range(3):
            await asyncio.sleep(1)
            pause(match)
            assert not match.pause("again")
            await asyncio.sleep(10)
            assert not match.pause("again")
            resume(match)
            assert not match.resume()

    clocks = ClockSettings(base_ms=60_000)
    script = {number: Do(after=5) for number in range(1, 5)}
    game = played([Scripted(script), Scripted()], clocks=clocks, during=during)
    assert len(game.all(Paused)) == len(game.all(Resumed)) == 3
    # Three times a second was spent on a request that was withdrawn.
    assert game.match.clocks[0].base_ms == 60_000 - 3_000 - 5_000


def test_a_pause_that_is_ended_before_the_referee_came_to_it():
    def hurried(match):
        pause(match)
        resume(match)
        pause(match)
        resume(match)

    clocks = ClockSettings(base_ms=60_000)
    game = played(
        [Scripted({1: Do(after=5), 2: Do(after=2)}), Scripted()],
        clocks=clocks,
        during=at(1, hurried),
    )
    assert game.finish.kind is EndKind.PLAYED
    assert game.match.clocks[0].base_ms == 57_000
    assert len(game.all(Paused)) == len(game.all(Resumed)) == 1


def test_the_pause_of_a_match_that_is_paused_again_lasts():
    async def during(match):
        await asyncio.sleep(1)
        pause(match)
        await asyncio.sleep(10)
        resume(match)
        pause(match)
        await asyncio.sleep(100)
        assert match.phase == "paused"
        resume(match)

    clocks = ClockSettings(base_ms=60_000)
    game = played([Scripted({1: NEVER}), Scripted()], clocks=clocks, during=during)
    assert game.finish.kind is EndKind.PLAYED
    assert game.match.clocks[0].base_ms == 59_000


def test_time_that_runs_out_in_the_very_moment_of_a_pause_is_late_afterwards():
    clocks = ClockSettings(base_ms=5_000)

    async def during(match):
        await asyncio.sleep(5)
        pause(match)
        await asyncio.sleep(100)
        resume(match)

    game = played(
        [Scripted({1: NEVER, 2: NEVER}), Scripted()], clocks=clocks, during=during
    )
    assert game.finish.code == "fault.late"


def test_an_answer_in_the_very_moment_of_an_abort_is_one_or_the_other():
    game = played([Scripted({2: Do(after=5)}), Scripted()], during=at(5, abort))
    check_aborted(game)
    assert game.players[0].closures[-1].how in {"withdrawn", "accepted"}


@pytest.mark.parametrize("when", ["before", "after"])
def test_only_a_running_match_is_paused(when):
    async def during(match):
        if when == "before":
            assert not match.pause("early")
            assert not match.resume()
        else:
            await asyncio.sleep(1_000)
            assert not match.pause("late")
            assert not match.resume()

    game = played([Scripted(accept=Do(after=1)), Scripted()], during=during)
    assert game.finish.kind is EndKind.PLAYED
    assert not game.all(Paused)


def test_a_match_of_bots_that_never_wait_can_be_aborted_and_paused():
    options = Options(rounds=200)

    async def main():
        paused = []

        async def during(match):
            await asyncio.sleep(0)
            assert match.phase == "running"
            pause(match)
            await asyncio.sleep(1)
            paused.append(match.phase)
            resume(match)
            await asyncio.sleep(0)
            abort(match)

        players = [LocalPlayer(First(), PlayerInfo("first")) for _ in range(2)]
        game = await referee(players, options=options, during=during)
        return game, paused

    game, paused = run(main())
    check_aborted(game)
    assert paused == ["paused"]
    [event] = game.all(Paused)
    assert (event.seat, event.charged_ms) == (None, 0)
    assert 0 < len(game.all(ActionTaken)) < 400
