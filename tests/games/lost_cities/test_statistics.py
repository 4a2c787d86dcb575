"""Random play has the statistics that independent simulations of the rules had."""

from __future__ import annotations

import pytest
from benchmarks import lost_cities_statistics as statistics
from tests.games.checks import check_interrupt, check_report
from tests.games.lost_cities.support import GAME

#: Games per setting, and fewer for the bots that weigh their cards, which are slow.
GAMES = 800
SLOW_GAMES = 400


def tally(setting: statistics.Setting, games: int) -> statistics.Tally:
    return list(statistics.run(GAME, setting, games))[-1]


@pytest.mark.parametrize("setting", statistics.SETTINGS[:5], ids=lambda s: s.name)
def test_random_play_agrees_with_the_simulated_figures(
    setting: statistics.Setting,
) -> None:
    slow = setting.bot is statistics.RandomCards
    found = tally(setting, SLOW_GAMES if slow else GAMES)
    turns, turns_error = found.mean_turns()
    points, points_error = found.mean_points()
    assert found.capped == 0
    for known in setting.references:
        if known.games != statistics.SIMULATED_GAMES:
            # How that file chose at random is not known: a wider margin.
            assert known.points is not None
            assert abs(points - known.points) < 3
            assert abs(found.deviation_of_points() - 20.2) < 1.5
        elif known.points is not None:
            assert abs(points - known.points) < 4 * points_error * 1.2 + 0.5
        if known.turns is not None:
            assert abs(turns - known.turns) < 4 * turns_error * 1.2 + 0.5
        if known.first is not None:
            assert abs(found.first / found.games - known.first) < 0.08


def test_the_report_names_every_setting(capsys: pytest.CaptureFixture[str]) -> None:
    check_report(statistics, capsys)


def test_an_interrupt_prints_what_there_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    check_interrupt(statistics, "uniform, 5 colours", capsys, monkeypatch)
