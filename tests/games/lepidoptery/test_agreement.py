"""Random play against the naive second implementation: 20,000 plies and more."""

from __future__ import annotations

import random
from typing import Any, Final

import pytest
from tests.games.lepidoptery.naive import NaiveLepidoptery
from tests.games.lepidoptery.support import GAME, OPTIONS

from fritillary import FastDealer
from fritillary_games.lepidoptery.model import Action, Options, Play, State
from fritillary_games.lepidoptery.rules import played
from fritillary_games.lepidoptery.tables import ranks_in

#: For each of the option sets.
PLIES: Final = 3_000

REASONS: Final = {"four": "four-in-line", "shed": "all-shed", None: None}


def naive_twin(state: State) -> NaiveLepidoptery:
    options: Options = state.options
    return NaiveLepidoptery(
        [
            [*ranks_in(state.hands[seat]), *map(rank_of, state.decks[seat])]
            for seat in (0, 1)
        ],
        starter=options.starter,
        heights=options.heights,
        order=tuple(combo.value for combo in options.order),
        same_type_may_beat=options.same_type_may_beat,
        draw_at_twelve=options.draw_at_twelve,
    )


def rank_of(card: int) -> int:
    return ranks_in(card)[0]


def plain(action: Action) -> tuple[Any, ...]:
    if isinstance(action, Play):
        return ("play", action.combo.value, action.rank, action.joker)
    return ("pass",)


def assert_equal(state: State, naive: NaiveLepidoptery) -> None:
    for seat in (0, 1):
        seen = GAME.observe(state, seat)
        assert seen.hand == tuple(sorted(naive.hands[seat]))
        assert seen.hand_sizes == tuple(map(len, naive.hands))
        assert seen.deck_sizes == tuple(map(len, naive.decks))
        assert seen.played == tuple(tuple(sorted(each)) for each in naive.played)
        assert [each and each.value for each in seen.markers] == naive.markers
        assert list(seen.jokers) == naive.joker_ready
        assert [list(each) for each in seen.columns] == naive.columns
        assert (seen.table and plain(seen.table)) == naive.table
        assert seen.winner == naive.winner
        assert seen.to_move == (naive.to_move if naive.winner is None else None)
        assert seen.reason == REASONS[naive.reason]
        assert list(map(rank_of, state.decks[seat])) == naive.decks[seat]
        assert ranks_in(played(state, seat)) == tuple(sorted(naive.played[seat]))


@pytest.mark.parametrize("name", OPTIONS)
def test_both_implementations_agree(name: str) -> None:
    rng = random.Random(name)
    plies = 0
    while plies < PLIES:
        state = GAME.new(FastDealer(plies), OPTIONS[name])
        naive = naive_twin(state)
        # Long games and crowded columns come from passing rarely or often.
        patience = rng.choice((0.0, 0.5, 1.0))
        while GAME.outcome_of(state) is None:
            legal = GAME.legal_actions(state)
            assert {plain(action) for action in legal} == naive.legal()
            action = rng.choice(legal)
            if rng.random() < patience and len(legal) > 1:
                action = rng.choice([each for each in legal if isinstance(each, Play)])
            GAME.apply(state, action)
            naive.apply(plain(action))
            assert_equal(state, naive)
            plies += 1
        assert GAME.outcome_of(state).winners == (naive.winner,)


def test_the_agreement_covers_twenty_thousand_plies() -> None:
    assert PLIES * len(OPTIONS) >= 20_000
