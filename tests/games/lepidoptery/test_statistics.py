"""Random play has the statistics that independent simulations of the rules had."""

from __future__ import annotations

import pytest
from benchmarks import statistics
from tests.games.checks import check_interrupt, check_report
from tests.games.lepidoptery.support import GAME


def tally(setting: statistics.Setting, games: int) -> statistics.Tally:
    return list(statistics.run(GAME, setting, games))[-1]


def test_uniform_play_agrees_with_the_published_figures() -> None:
    for setting in statistics.SETTINGS[:3]:
        known = setting.reference
        assert known is not None
        found = tally(setting, 1_500)
        mean, error = found.mean_turns()
        # Both are samples of the same size; the figures are rounded to 1.
        assert abs(mean - known.turns) < 4 * 2**0.5 * error + 0.5
        assert abs(found.four / found.games - known.four) < 0.035
        if known.starter is not None:
            assert abs(found.starter / found.games - known.starter) < 0.075
        assert found.longest <= GAME.info.max_plies


def test_the_report_names_every_setting(capsys: pytest.CaptureFixture[str]) -> None:
    check_report(statistics, capsys)


def test_an_interrupt_prints_what_there_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    check_interrupt(statistics, "uniform, 6 rows", capsys, monkeypatch)
