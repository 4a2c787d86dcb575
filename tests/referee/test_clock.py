"""Clocks: what a seat is given, what a decision is charged, what is left."""

from __future__ import annotations

import asyncio

import pytest
from tests.referee.race import Options
from tests.referee.support import ILLEGAL, NEVER, Do, Scripted, played, policy

from fritillary.record.events import ActionTaken
from fritillary.record.terms import (
    ClockSettings,
    EndKind,
    Fault,
    Terms,
    ceiling_ms,
    parse_clock,
)
from fritillary.referee.clock import UNTIMED, SeatClock


def clock(**parts):
    return SeatClock(ClockSettings(**{f"{name}_ms": ms for name, ms in parts.items()}))


# ------------------------------------------------------------------- the books


def test_without_any_part_it_is_untimed():
    untimed = clock(preparation=5)
    untimed.charge(10**6)
    assert untimed.allowance_ms() is None
    assert untimed.reading(7) == UNTIMED
    assert untimed.parts() == {}


def test_a_base_with_increment():
    seat = clock(base=1_000, increment=300)
    seat.charge(400)
    seat.increment()
    assert seat.allowance_ms() == 900
    assert seat.reading(100).left_ms == seat.reading(100).move_ms == 800


def test_a_limit_per_move_is_whole_again_for_the_next_decision():
    seat = clock(move=1_000)
    seat.charge(400)
    assert seat.allowance_ms() == 600
    seat.increment()
    assert seat.allowance_ms() == 1_000
    seat.charge(1_000)
    seat.new_move()
    assert seat.allowance_ms() == 1_000


def test_a_decision_charged_in_parts_has_no_more_than_its_limit():
    whole, parts = clock(move=1_000, bank=2_000), clock(move=1_000, bank=2_000)
    whole.charge(1_700)
    for spent in (400, 0, 900, 400):
        parts.charge(spent)
    assert whole.bank_ms == parts.bank_ms == 1_300
    assert whole.allowance_ms() == parts.allowance_ms() == 1_300


def test_the_bank_is_taken_when_the_limit_is_spent():
    seat = clock(move=1_000, bank=500)
    assert seat.allowance_ms() == 1_500
    seat.charge(1_200)
    seat.increment()
    assert seat.bank_ms == 300
    assert seat.parts(1_100) == {
        "left_ms": 200,
        "move_left_ms": 0,
        "bank_left_ms": 200,
    }


def test_a_budget_per_turn_lasts_for_all_its_decisions():
    seat = clock(turn=1_000, move=800)
    seat.charge(700)
    seat.increment()
    assert seat.allowance_ms() == 300
    seat.new_turn()
    assert seat.allowance_ms() == 800


def test_all_parts_together_the_least_decides():
    seat = clock(base=2_000, increment=100, move=900, turn=1_500, bank=400)
    assert seat.allowance_ms() == 1_300
    seat.charge(1_300)
    seat.increment()
    assert (seat.base_ms, seat.bank_ms) == (800, 0)
    # Of the turn 200 are left, of the base 800.
    assert seat.allowance_ms() == 200
    seat.new_turn()
    assert seat.allowance_ms() == 800
    assert seat.parts() == {
        "left_ms": 800,
        "base_left_ms": 800,
        "move_left_ms": 900,
        "turn_left_ms": 1_500,
        "bank_left_ms": 0,
    }


def test_nothing_falls_below_nothing():
    seat = clock(base=100, move=50, bank=10, turn=70)
    seat.charge(10**6)
    assert seat.allowance_ms() == 0
    assert set(seat.parts(5).values()) == {0}


def test_no_match_within_its_clocks_reaches_the_computed_ceiling():
    settings = [parse_clock("1min+2s"), parse_clock("move=5s,bank=10s")]
    assert ceiling_ms(settings, 100, 50) == (
        60_000 + 50 * 100 + 60_000 + 2_000 * 100 + 5_000 * 100 + 10_000
    )


# ------------------------------------------------------------------- in a match


def charged(game, seat):
    return [a.charged_ms for a in game.all(ActionTaken) if a.seat == seat]


def left(game, seat):
    return [a.left_ms for a in game.all(ActionTaken) if a.seat == seat]


def thinking(*seconds):
    return Scripted({number: Do(after=s) for number, s in enumerate(seconds, 1)})


def test_each_seat_has_its_own_clock():
    clocks = [ClockSettings(base_ms=10_000, increment_ms=100), ClockSettings()]
    game = played([thinking(1, 2, 3, 0.25), thinking(50, 60)], clocks=clocks)
    assert game.finish.kind is EndKind.PLAYED
    assert charged(game, 0) == [1_000, 2_000, 3_000, 250]
    assert left(game, 0) == [9_100, 7_200, 4_300, 4_150]
    assert charged(game, 1) == [50_000, 60_000, 0, 0]
    assert left(game, 1) == [None] * 4


def test_milliseconds_are_whole_and_begun_ones_are_not_counted():
    game = played(
        [thinking(0.0009, 0.001, 0.0019, 0.1239), Scripted()],
        clocks=ClockSettings(base_ms=1_000),
    )
    assert charged(game, 0) == [0, 1, 1, 123]


def test_the_margin_absorbs_the_link_and_is_never_charged():
    terms = Terms(margin_ms=50)
    clocks = ClockSettings(base_ms=1_000, increment_ms=10)
    game = played([thinking(1.049, 0.05, 0.02), Scripted()], clocks=clocks, terms=terms)
    assert game.finish.kind is EndKind.PLAYED
    assert charged(game, 0) == [1_000, 10, 10, 0]
    assert left(game, 0) == [10, 10, 10, 20]
    [first, *_] = game.all(ActionTaken)
    assert first.server_ms == 1_049


@pytest.mark.parametrize(
    ("settings", "seconds", "late_at"),
    [
        ("base=3s", (1, 1, 1.5), 3),
        ("base=2s,increment=1s", (1.5, 1.4, 1.5), 3),
        ("move=1s", (0.999, 0.999, 1), 3),
        ("move=1s,bank=1s", (1.5, 1.4, 1.2), 3),
        ("base=2s,move=5s", (1, 1.5), 2),
    ],
)
def test_who_has_nothing_left_is_late(settings, seconds, late_at):
    game = played([thinking(*seconds), Scripted()], clocks=parse_clock(settings))
    [ruling] = game.rulings
    assert ruling.fault is Fault.LATE
    assert ruling.left_ms == 0
    assert len(game.players[0].requests) == late_at
    assert game.finish.outcome.placing == (2, 1)


def test_a_turn_of_several_actions_has_one_budget():
    options = Options(rounds=2, in_a_row=3)
    turn = ClockSettings(turn_ms=3_000)
    game = played(
        [thinking(1, 1, 0.9, 2.5, 0.4, 0), Scripted()], options=options, clocks=turn
    )
    assert game.finish.kind is EndKind.PLAYED
    assert left(game, 0) == [2_000, 1_000, 100, 500, 100, 100]
    game = played([thinking(1, 1, 1.5), Scripted()], options=options, clocks=turn)
    assert game.finish.code == "fault.late"


def test_chance_in_between_does_not_begin_a_turn():
    """The seat that ends a round begins the next one, with the wind in between."""
    options = Options(rounds=4, wind=True)
    game = played(
        [Scripted(), Scripted()], options=options, clocks=ClockSettings(turn_ms=1_000)
    )
    assert game.finish.kind is EndKind.PLAYED


def test_retries_run_on_the_same_clock():
    terms = Terms(policy=policy(illegal="retry:5,forfeit"), margin_ms=0)
    slowly = Do(ILLEGAL.what, after=2)
    game = played(
        [Scripted({1: slowly, 2: slowly, 3: slowly}), Scripted()],
        clocks=ClockSettings(move_ms=5_000),
        terms=terms,
    )
    assert [(r.fault, r.charged_ms, r.left_ms) for r in game.rulings] == [
        (Fault.ILLEGAL, 2_000, 3_000),
        (Fault.ILLEGAL, 2_000, 1_000),
        (Fault.LATE, 1_000, 0),
    ]
    readings = [c.clock["move_left_ms"] for c in game.players[0].closures]
    assert readings == [3_000, 1_000, 0]


def test_a_late_seat_whose_action_is_substituted_has_its_limit_again():
    terms = Terms(policy=policy(late="substitute"), margin_ms=0)
    game = played(
        [Scripted({2: NEVER, 3: Do(after=4)}), Scripted()],
        clocks=ClockSettings(move_ms=5_000),
        terms=terms,
    )
    assert game.finish.kind is EndKind.PLAYED
    assert left(game, 0) == [5_000] * 4


def test_a_request_reads_the_clock_at_the_moment_of_the_call():
    readings = []

    class Reading(Scripted):
        async def decide(self, request):
            readings.append(request.reading()["left_ms"])
            await asyncio.sleep(1.5)
            readings.append(request.reading()["left_ms"])
            return await super().decide(request)

    played([Reading(), Scripted()], clocks=ClockSettings(base_ms=10_000))
    assert readings == [10_000, 8_500, 8_500, 7_000, 7_000, 5_500, 5_500, 4_000]


def test_what_the_game_needs_to_apply_is_nobodys_time():
    """Only the time from asking to answering is charged, not that of the others."""
    game = played(
        [thinking(0, 0), thinking(30, 30)], clocks=ClockSettings(base_ms=100_000)
    )
    assert charged(game, 0) == [0, 0, 0, 0]


def test_preparation_has_a_limit_of_its_own():
    clocks = [ClockSettings(preparation_ms=2_000), ClockSettings(preparation_ms=9_000)]
    slow = Do(after=5)
    game = played([Scripted(ready=slow), Scripted(ready=slow)], clocks=clocks)
    assert [(r.seat, r.fault) for r in game.rulings] == [(0, Fault.REFUSED_TO_START)]
