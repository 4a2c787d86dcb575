"""The conformance kit: contract, leak gate, sampler."""

from __future__ import annotations

import pytest
from tests.games.butterfly_garden.support import GAME

from fritillary.testing import (
    check_contract,
    check_leaks,
    check_sampler,
    check_sampler_statistics,
)
from fritillary_games.butterfly_garden.model import Edition, End, Options, Sharing

#: Short matches, since pictures and tables are large.
SHORT = Options(max_rounds=3)

WILD = Options(
    edition=Edition.INDIGO,
    three_players=Sharing.EXCLUSIVE,
    end=End.STACK_EMPTY,
    hide_scores=True,
    starter=1,
)

SEATS = pytest.mark.parametrize("seats", [2, 3, 4])


@SEATS
def test_the_contract_holds(seats: int) -> None:
    report = check_contract(GAME, options=SHORT, seats=seats, matches=1, refusals=5)
    assert report.positions == 3 * seats + 1


def test_the_contract_holds_under_other_options() -> None:
    options = Options(
        edition=Edition.INDIGO, max_rounds=3, hide_scores=True, open_hands=True
    )
    report = check_contract(GAME, options=options, seats=2, matches=1, refusals=5)
    assert report.refusals > 5


@SEATS
def test_nothing_leaks(seats: int) -> None:
    report = check_leaks(GAME, options=SHORT, seats=seats, matches=2, shuffles=1)
    assert report.positions == 2 * (3 * seats + 1)


def test_nothing_leaks_up_to_the_end() -> None:
    report = check_leaks(GAME, options=WILD, seats=3, matches=1, shuffles=1)
    assert report.positions > 40


def test_nothing_leaks_where_hands_are_open() -> None:
    options = Options(max_rounds=3, open_hands=True)
    assert check_leaks(GAME, options=options, seats=2, matches=2).positions == 14


@SEATS
def test_the_sampler_keeps_its_laws(seats: int) -> None:
    report = check_sampler(GAME, options=Options(), seats=seats, matches=1)
    assert report.positions > 40


def test_the_sampler_keeps_its_laws_where_scores_are_hidden() -> None:
    assert check_sampler(GAME, options=WILD, seats=3, matches=1).positions > 40


@SEATS
def test_the_sampler_draws_as_the_deal_does(seats: int) -> None:
    report = check_sampler_statistics(
        GAME, options=Options(), seats=seats, positions=2, draws=100
    )
    assert report.tests > 50
