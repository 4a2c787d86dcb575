"""Random play has the statistics that an independent simulation had."""

from __future__ import annotations

import pytest
from benchmarks import butterfly_garden_statistics as statistics
from tests.games.butterfly_garden.support import GAME
from tests.games.checks import check_interrupt, check_report

RANDOM = [each for each in statistics.SETTINGS if each.reference is not None]


@pytest.mark.parametrize("setting", RANDOM, ids=lambda setting: setting.name)
def test_uniform_play_agrees_with_the_reference(setting: statistics.Setting) -> None:
    known = setting.reference
    assert known is not None
    found = list(statistics.run(GAME, setting, 500))[-1]
    # The reference is a sample of 1,500 games; its figures are rounded.
    for series, figure, rounding in (
        (found.tiles, known.tiles, 0.05),
        (found.collisions, known.collisions, 0.05),
        (found.points, known.points, 0.25),
    ):
        mean, error = series.mean()
        assert abs(mean - figure) < 4 * 1.16 * error + rounding
    assert found.longest <= GAME.info.max_plies
    assert found.shortest >= 44
    assert setting.first is not None
    assert abs(found.wins[0] / found.games - setting.first) < 0.1
    assert sum(found.wins) == pytest.approx(found.games)
    assert 0.02 < found.shared / found.games < 0.14


def test_the_report_names_every_setting(capsys: pytest.CaptureFixture[str]) -> None:
    check_report(statistics, capsys)


def test_an_interrupt_prints_what_there_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    check_interrupt(statistics, "uniform, 2 seats, indigo", capsys, monkeypatch)
