"""What is told of a match that is watched where nobody looks on."""

import itertools
from typing import Any

import attrs
import pytest
from tests.cli.watching import LINK, RESULT, a_match, action, status

from fritillary.cli.watch_lines import LineOutput
from fritillary.cli.watched import Watched
from fritillary_client import (
    ClockSettings,
    Event,
    LinkError,
    Match,
    MatchView,
    Player,
)

#: 2026-11-30T05:07:53Z
NOON_S = 1_796_015_273


def printed(capsys: pytest.CaptureFixture[str], match: Match, *updates: Any) -> str:
    """Return what is printed where nobody looks on, one second an update."""
    moments = itertools.count(NOON_S)
    output = LineOutput(Watched(match), lambda: float(next(moments)))
    for update in updates:
        if isinstance(update, LinkError):
            output.lost(update, 1)
        else:
            output.told(update)
    output.close()
    said, errors = capsys.readouterr()
    assert errors == ""
    return said


def test_a_line_has_its_time_its_ply_and_what_happened(
    capsys: pytest.CaptureFixture[str],
) -> None:
    ruling = Event(
        number=3,
        ply=1,
        kind="ruling",
        seat=1,
        fault="illegal",
        consequence="retry",
        message="that is not legal",
    )
    said = printed(
        capsys,
        a_match(created_at_ms=(NOON_S - 3) * 1000),
        MatchView(event_number=1, ply=1),
        status(),
        action(1),
        Event(number=2, ply=1, kind="paused", message="lunch"),
        Event(number=2, ply=1, kind="resumed"),
        ruling,
        status("waiting", waiting_for=(1,), waiting_left_ms=30_000),
        status(),
        LinkError("the server is stopping", code="server.stopping"),
        LINK,
        MatchView(event_number=4, ply=2),
        status("waiting", waiting_for=(1,), waiting_left_ms=30_000),
        attrs.evolve(action(2, 1), number=4),
        status(),
        RESULT,
    )
    bob = "seat 1 (bob\ufffd[31m)"
    assert [parted(line) for line in said.splitlines()] == [
        ("05:07:50", "-", "match m-1, lepidoptery, ann : bob\ufffd[31m, 60s+1s"),
        ("-", "1", "seat 0 (ann): pass"),
        ("05:07:53", "1", "paused lunch"),
        ("05:07:54", "1", "resumed"),
        ("05:07:55", "1", f"ruling: {bob}: illegal -> retry (that is not legal)"),
        ("05:07:56", "-", f"waiting for {bob}, whose link was lost, 0:30 left"),
        ("05:07:57", "-", "all seats are back"),
        ("05:07:58", "-", "the server is stopping; trying again"),
        ("05:07:59", "-", "the server is back"),
        ("-", "2", f"{bob}: pass"),
        ("05:08:00", "-", f"waiting for {bob}, whose link was lost, 0:30 left"),
        ("05:08:01", "-", "all seats are back"),
        ("05:08:02", "2", "played: won by seat 0 (ann), 1 : 0, four-in-line"),
    ]
    assert {len(line.partition("  ")[0]) for line in said.splitlines()} == {1, 20}


def parted(line: str) -> tuple[str, ...]:
    """Return time of day, ply and text of a line, as any program may read them."""
    when, ply, text = line.split(maxsplit=2)
    return when.removeprefix("2026-11-30T").removesuffix("Z"), ply, text


def test_players_who_tell_their_names_later_have_a_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    unnamed = tuple(Player(seat=seat, clock=ClockSettings()) for seat in (0, 1))
    named = tuple(
        attrs.evolve(seat, name=name)
        for seat, name in zip(unnamed, ("ann", "bob"), strict=True)
    )
    watched = Watched(a_match(seats=unnamed, phase="offered"))
    output = LineOutput(watched, lambda: float(NOON_S))
    output.told(MatchView())
    output.told(status("offered"))
    watched.describe(a_match(seats=named))
    output.told(status())
    assert capsys.readouterr()[0].splitlines() == [
        "-                        -  match m-1, lepidoptery, seat 0 : seat 1, no clock",
        "2026-11-30T05:07:53Z     -  the seats are being taken",
        "2026-11-30T05:07:53Z     -  players: ann : bob, no clock",
        "2026-11-30T05:07:53Z     -  running",
    ]


def test_of_a_match_that_is_over_the_end_has_its_own_time(
    capsys: pytest.CaptureFixture[str],
) -> None:
    said = printed(
        capsys,
        a_match(phase="ended", ended_at_ms=(NOON_S - 60) * 1000),
        MatchView(event_number=1, ply=1),
        status("ended"),
        action(1),
        RESULT,
    )
    assert said.splitlines()[1:] == [
        "-                        1  seat 0 (ann): pass",
        "2026-11-30T05:06:53Z     1  played: won by seat 0 (ann), 1 : 0, four-in-line",
    ]
