"""What is known of a match that is watched, and its pictures."""

from typing import Any

import attrs
import pytest
from tests.cli.watching import GAME, RESULT, a_match, action, status

from fritillary.app.application import Application
from fritillary.cli.painting import Painter
from fritillary.cli.watched import Watched, duration_text, ticked
from fritillary_client import (
    Clock,
    ClockSettings,
    Event,
    MatchView,
    Player,
)


class Time:
    """A clock that stands still unless it is moved."""

    def __init__(self) -> None:
        self.s = 100.0

    def __call__(self) -> float:
        return self.s


@pytest.fixture
def time() -> Time:
    return Time()


# --------------------------------------------------------------------------- lines


def lines_of(watched: Watched, *updates: Any) -> list[str]:
    return [line for update in updates for line in watched.take(update)]


def test_a_late_joiner_is_told_the_past_then_where_the_match_is(time: Time) -> None:
    watched = Watched(a_match(), now=time)
    waiting = status("waiting", waiting_for=(1,), waiting_left_ms=28_400)
    lines = lines_of(watched, MatchView(event_number=2, ply=2), waiting)
    assert lines == []
    assert watched.catching_up
    lines = lines_of(watched, action(1), action(2, 1, "single 3"))
    assert lines == [
        "   1  seat 0 (ann): pass",
        "   2  seat 1 (bob\ufffd[31m): single 3",
        "      waiting for seat 1 (bob\ufffd[31m), whose link was lost, 0:28 left",
    ]
    assert lines_of(watched, status("running")) == ["      all seats are back"]
    assert not watched.catching_up


def test_what_happened_without_a_link_is_past(time: Time) -> None:
    watched = Watched(a_match(), now=time)
    lines_of(watched, MatchView(), status(), action(1))
    assert not watched.catching_up
    watched.lose()
    waiting = status("waiting", waiting_for=(0,), waiting_left_ms=30_000)
    assert lines_of(watched, MatchView(event_number=2, ply=2), waiting) == []
    assert watched.catching_up
    # What is missed comes before where the match is now.
    lines = lines_of(watched, action(2, 1))
    assert lines[0].startswith("   2  seat 1 ")
    assert lines[1].startswith("      waiting for seat 0 (ann), whose link was lost")
    lines_of(watched, status("waiting", waiting_for=(0,)), action(3))
    assert not watched.catching_up


def test_a_match_that_is_taken_up_again_does_not_begin_again(time: Time) -> None:
    watched = Watched(a_match(), now=time)
    lines_of(watched, MatchView(), status(), status("closing"))
    watched.lose()
    assert lines_of(watched, MatchView(), status()) == []


def test_the_title_has_the_clocks_once_where_they_are_the_same() -> None:
    assert Watched(a_match()).title() == (
        "match m-1, lepidoptery, ann : bob\ufffd[31m, 60s+1s"
    )
    ann, bob = a_match().seats
    bob = attrs.evolve(bob, clock=ClockSettings(move_ms=5_000))
    other = a_match(seats=(ann, bob))
    assert Watched(other).players() == "ann (60s+1s) : bob\ufffd[31m (move=5s)"
    unnamed = tuple(Player(seat=seat, clock=ClockSettings()) for seat in (0, 1))
    assert Watched(a_match(seats=unnamed)).players() == "seat 0 : seat 1, no clock"


def test_phases_have_a_line_each_where_no_event_tells_of_them(time: Time) -> None:
    watched = Watched(a_match(phase="offered"), now=time)
    lines = lines_of(
        watched,
        MatchView(),
        status("offered", waiting_for=(0,)),
        status("preparing", waiting_for=(0, 1)),
        status("running"),
        status("running"),
        Event(number=1, ply=0, kind="paused", message="lunch"),
        status("paused", message="lunch"),
        Event(number=2, ply=0, kind="resumed"),
        status("running"),
        status("closing"),
        Event(number=3, ply=0, kind="ended"),
        status("ended"),
    )
    assert lines == [
        "      waiting for seat 0 (ann) to take the seat",
        "      waiting for seat 0 (ann) and seat 1 (bob\ufffd[31m) to get ready",
        "      running",
        "   0  paused lunch",
        "   0  resumed",
    ]


def test_the_end_is_told_from_the_result(time: Time) -> None:
    watched = Watched(a_match(), now=time)
    assert watched.end_line() == ""
    watched.take(RESULT)
    assert watched.end_line() == "played: won by seat 0 (ann), 1 : 0, four-in-line"


# -------------------------------------------------------------------------- clocks


def test_only_the_clock_of_the_seat_that_is_asked_runs(time: Time) -> None:
    watched = Watched(a_match(), now=time)
    lines_of(watched, MatchView(seats_to_act=(1,)), status())
    assert watched.clock_texts(0) == (["0:50"], False)
    time.s += 1.25
    assert watched.clock_texts(0) == (["0:50"], False)
    assert watched.clock_texts(1) == (["8.2 s"], True)
    time.s += 60
    assert watched.clock_texts(1) == (["0.0 s"], True)


def test_how_long_a_seat_thinks_is_told_only_if_it_was_seen(time: Time) -> None:
    watched = Watched(a_match(), now=time)
    lines_of(watched, MatchView(event_number=1, seats_to_act=(1,)), status())
    time.s += 30
    # It may have been asked long before somebody looked.
    assert watched.thinks_text() == "thinks"
    lines_of(watched, action(1), action(2))
    assert watched.thinks_text() == "thinks"
    time.s += 9
    lines_of(watched, status("waiting", waiting_for=(1,)), status())
    assert watched.thinks_text() == "thinks for 9 s"
    time.s += 60
    assert watched.thinks_text() == "thinks for 1:09"
    watched.lose()
    assert watched.thinks_text() == "thinks"


@pytest.mark.parametrize("phase", ["paused", "closing", "ended"])
def test_no_clock_runs_while_a_match_stands_still(time: Time, phase: str) -> None:
    watched = Watched(a_match(), now=time)
    lines_of(watched, MatchView(seats_to_act=(1,)), status(phase))
    time.s += 5
    assert watched.clock_texts(1) == (["9.5 s"], False)


def test_no_clock_runs_without_a_link(time: Time) -> None:
    watched = Watched(a_match(), now=time)
    lines_of(watched, MatchView(seats_to_act=(1,)), status())
    time.s += 1
    watched.lose()
    time.s += 5
    assert watched.clock_texts(1)[0] == ["8.5 s"]
    watched.take(status())
    assert watched.clock_texts(1)[0] == ["9.5 s"]


def test_the_bank_is_touched_when_the_move_is_over_time() -> None:
    clock = Clock(left_ms=15_000, move_left_ms=5_000, bank_left_ms=10_000)
    assert ticked(clock, 4_000) == Clock(
        left_ms=11_000, move_left_ms=1_000, bank_left_ms=10_000
    )
    assert ticked(clock, 7_000) == Clock(
        left_ms=8_000, move_left_ms=0, bank_left_ms=8_000
    )
    assert ticked(clock, 99_000) == Clock(left_ms=0, move_left_ms=0, bank_left_ms=0)


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0, "0.0 s"),
        (99, "0.0 s"),
        (9_999, "9.9 s"),
        (10_000, "0:10"),
        (65_999, "1:05"),
        (3_600_000, "1:00:00"),
    ],
)
def test_times_are_cut_and_never_more_than_they_are(ms: int, text: str) -> None:
    assert duration_text(ms) == text


# ------------------------------------------------------------------------ pictures


@pytest.fixture(scope="module")
def app() -> Application:
    return Application()


def lepidoptery(app: Application) -> tuple[dict[str, Any], Any]:
    """Return options and a spectator's observation as they travel."""
    from fritillary.core.dealer import FastDealer

    game = app.registry.game(GAME)
    options = game.options()
    state = game.new(FastDealer(1).stream("deal"), options, 2)
    seen = game.codec.observation_to_data(game.observe(state, None))
    return game.codec.options_to_data(options), seen


def test_a_game_that_is_installed_draws_its_picture_here(app: Application) -> None:
    options, seen = lepidoptery(app)
    painter = Painter(app, a_match(options=options))
    assert painter.wanted == ""
    picture = painter.picture(MatchView(observation=seen, picture="not this"))
    assert picture.startswith("Lepidoptery - ")
    assert painter.picture(MatchView()) == ""
    nonsense = painter.picture(MatchView(observation={"seat": "x"}))
    assert nonsense.startswith("(the server's observation cannot be read: ")


@pytest.mark.parametrize(
    "changes",
    [
        {"full_id": "backgammon", "game": "backgammon"},
        {"rules_version": 99},
        {"variants": (("no-pass", 99),)},
        {"options": {"heights": "tall"}},
    ],
)
def test_else_the_server_draws_it_and_cannot_act_on_the_terminal(
    app: Application, changes: dict[str, Any]
) -> None:
    painter = Painter(app, a_match(**changes))
    assert painter.wanted == "text"
    assert painter.picture(MatchView(picture="a\x1b[2J\nb")) == "a\ufffd[2J\nb"
