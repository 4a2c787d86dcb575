"""Published figures: fastchess, fishtest, cutechess and OpenBench, recomputed.

Counts go from losses to wins: (losses, draws, wins) for single matches; for pairs from
two losses to two wins, with a win and a loss beside two draws in the middle.
"""

from __future__ import annotations

import pytest

from fritillary.statistics import (
    Blocks,
    Hypotheses,
    Unit,
    elo_of_score,
    estimate,
    log_likelihood_ratio,
    normalised_elo,
    score_of_elo,
)

#: Of the self-test of fishtest.
SAMPLE = (10789, 19328, 33806, 19402, 10543)

RATIOS = [
    ((36027, 68692, 36433), Unit.NORMALISED, 0, 2, 0.923293, 0.92),
    ((365, 16618, 36229, 16974, 390), Unit.NORMALISED, 0, 2, 2.250368, 2.25),
    ((10650, 20431, 10871), Unit.NORMALISED, -1.75, 0.25, 2.297500, 2.30),
    ((39, 8843, 26675, 9240, 44), Unit.NORMALISED, 0.5, 2.5, 2.941675, None),
    ((39, 2226, 31451, 2412, 40), Unit.NORMALISED, 0.764, 3.439, 2.162941, 2.1629409),
    (SAMPLE, Unit.NORMALISED, 0.764, 3.439, -12.701292, -12.701291984),
    ((13, 37, 50, 25, 3), Unit.NORMALISED, 0, 4, -0.549125, -0.54912),
    ((21184, 40708, 21404), Unit.ELO, 0.5, 2.5, -1.571889, -1.57),
    ((871, 26175, 55983, 26678, 821), Unit.ELO, 0, 2, -4.978673, -4.98),
    ((759, 1863, 880), Unit.ELO, 0, 5, 2.947224, 2.95),
    (SAMPLE, Unit.ELO, -3, 1, 2.131068, 2.1310678),
    ((39, 2226, 31451, 2412, 40), Unit.ELO, 0.2, 0.9, 2.162543, 2.16254258),
]


def blocks_of(counts: tuple[int, ...]) -> Blocks:
    return Blocks.of_counts(counts, len(counts) // 2)


def digits(value: float) -> float:
    """Return half a unit of the last digit that is printed, and a little."""
    return 0.5001 * 10.0 ** -len(str(value).partition(".")[2])


@pytest.mark.parametrize(
    ("counts", "unit", "low", "high", "computed", "published"), RATIOS
)
def test_log_likelihood_ratios_are_those_published(
    counts: tuple[int, ...],
    unit: Unit,
    low: float,
    high: float,
    computed: float,
    published: float | None,
) -> None:
    found = log_likelihood_ratio(blocks_of(counts), Hypotheses(low, high, unit))
    assert found == pytest.approx(computed, abs=1e-6)
    if published is not None:
        assert abs(found - published) <= digits(published)


@pytest.mark.parametrize(
    ("counts", "high", "computed", "published"),
    [((0, 0, 4250), 10, 120.548, 120.56), ((0, 0, 0, 0, 5550), 5, 111.798, 111.82)],
)
def test_ratios_of_wins_alone_depend_on_what_fills_the_empty_cells(
    counts: tuple[int, ...], high: float, computed: float, published: float
) -> None:
    hypotheses = Hypotheses(0, high, Unit.NORMALISED)
    found = log_likelihood_ratio(blocks_of(counts), hypotheses)
    assert found == pytest.approx(computed, abs=0.001)
    assert found == pytest.approx(published, rel=3e-4)


def test_logistic_hypotheses_are_scores_told_otherwise() -> None:
    blocks = blocks_of((13, 37, 50, 25, 3))
    as_elo = log_likelihood_ratio(blocks, Hypotheses(0, 2.716, Unit.ELO))
    scores = Hypotheses(0.5, score_of_elo(2.716))
    assert log_likelihood_ratio(blocks, scores) == pytest.approx(as_elo, abs=1e-9)
    # Printed by the same page as the exact logistic ratio.
    assert as_elo == pytest.approx(-0.53772, abs=2e-4)


def test_a_page_of_statistics_of_256_games() -> None:
    blocks = blocks_of((13, 37, 50, 25, 3))
    assert blocks.number == 128
    assert blocks.mean == 0.4375
    assert blocks.variance == pytest.approx(0.05762, abs=5e-6)
    assert blocks.matches * blocks.variance == pytest.approx(0.11523, abs=5e-6)
    assert normalised_elo(blocks)[0] == pytest.approx(-63.97, abs=0.005)
    found = estimate(blocks, normal=True)
    assert found.elo == pytest.approx(-43.6578, abs=5e-5)
    assert found.elo_low == pytest.approx(-73.397, abs=5e-4)
    assert found.elo_high == pytest.approx(-14.543, abs=5e-4)


@pytest.mark.parametrize(
    ("counts", "score", "elo", "half", "normalised", "normalised_half"),
    [
        ((89, 123, 76), 0.477431, -15.69, 30.46, -20.76, 40.13),
        ((356, 0, 34), 0.087179, -407.99, 63.16, -508.44, 34.48),
        ((34, 54, 63, 64, 75), 0.579310, 55.58, 27.65, 57.94, 28.28),
    ],
)
def test_elo_and_normalised_elo_with_their_intervals(
    counts: tuple[int, ...],
    score: float,
    elo: float,
    half: float,
    normalised: float,
    normalised_half: float,
) -> None:
    blocks = blocks_of(counts)
    found = estimate(blocks, normal=True)
    assert found.score == pytest.approx(score, abs=5e-7)
    assert found.elo == pytest.approx(elo, abs=0.005)
    # The published half width is half of the whole.
    assert (found.elo_high - found.elo_low) / 2 == pytest.approx(half, abs=0.006)
    assert normalised_elo(blocks) == pytest.approx(
        (normalised, normalised_half), abs=0.006
    )


@pytest.mark.parametrize(
    ("percent", "elo"),
    [
        (55, 34.860),
        (60, 70.437),
        (64, 99.951),
        (75, 190.849),
        (76, 200.241),
        (90, 381.697),
    ],
)
def test_scores_and_elo(percent: int, elo: float) -> None:
    assert elo_of_score(percent / 100) == pytest.approx(elo, abs=5e-4)
    assert score_of_elo(elo) == pytest.approx(percent / 100, abs=1e-6)
    assert elo_of_score(1 - percent / 100) == pytest.approx(-elo, abs=5e-4)
