"""Lost Cities keeps the laws of every game, and those of hidden information."""

from __future__ import annotations

import pytest
from tests.games.lost_cities.support import ALL_EXPLOITS, GAME, SINGLE

from fritillary.testing import (
    check_contract,
    check_leaks,
    check_sampler,
    check_sampler_statistics,
)
from fritillary_games.lost_cities.model import DiscardPiles, NextStarter, Options

#: Three short games each, so that the ends of games are gone through as well.
SHORT = {
    "open": Options(turn_cap=14),
    "top only": Options(
        colours=6,
        turn_cap=14,
        discard_piles=DiscardPiles.TOP_ONLY,
        next_starter=NextStarter.LAST_WINNER,
        exploits=ALL_EXPLOITS,
        tie_break=1,
        starter=1,
    ),
}


@pytest.mark.parametrize("name", SHORT)
def test_contract(name: str) -> None:
    report = check_contract(GAME, options=SHORT[name], matches=1, refusals=12)
    assert report.positions > 80


def test_contract_of_a_whole_game() -> None:
    report = check_contract(GAME, options=SINGLE, matches=1, refusals=3)
    assert report.positions > 170


@pytest.mark.parametrize("name", SHORT)
def test_leaks(name: str) -> None:
    report = check_leaks(GAME, options=SHORT[name], matches=2, shuffles=1, least=0.9)
    assert report.positions > 160


@pytest.mark.parametrize("name", SHORT)
def test_sampler(name: str) -> None:
    report = check_sampler(GAME, options=SHORT[name], matches=2)
    assert report.positions > 160


@pytest.mark.parametrize("visible", DiscardPiles)
def test_sampler_statistics(visible: DiscardPiles) -> None:
    options = Options(games=1, discard_piles=visible)
    report = check_sampler_statistics(GAME, options=options, positions=3, draws=300)
    assert report.tests > 100
