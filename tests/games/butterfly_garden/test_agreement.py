"""Random play against the naive second implementation: 20,000 plies and more."""

from __future__ import annotations

import random
from typing import Any, Final

import pytest
from tests.games.butterfly_garden.naive import NaiveButterflyGarden
from tests.games.butterfly_garden.support import (
    GAME,
    KINDS,
    SETUPS,
    left,
    taken,
    waiting,
)

from fritillary import FastDealer
from fritillary_games.butterfly_garden.actions import ACTIONS, TILES, Place
from fritillary_games.butterfly_garden.board import CELLS, EMPTY, FIRST, KIND_OF
from fritillary_games.butterfly_garden.model import End, State
from fritillary_games.butterfly_garden.tables import kinds_in

#: For each of the setups.
PLIES: Final = 2_000

VALUES: Final = {"amber": 1, "emerald": 2, "sapphire": 3}
NAIVE_KINDS: Final = {ours: kind for kind, ours in KINDS.items()}


def naive_kinds(kinds: list[int]) -> list[str]:
    return [NAIVE_KINDS[TILES[kind].value] for kind in kinds]


def naive_twin(state: State) -> NaiveButterflyGarden:
    options = state.options
    end, rounds = "no-gems", None
    if options.end is End.STACK_EMPTY:
        end = "stack-empty"
    elif options.max_rounds:
        end, rounds = "rounds", options.max_rounds
    kinds = [kind for hand in state.hands for kind in kinds_in(hand)]
    return NaiveButterflyGarden(
        naive_kinds([*kinds, *reversed(state.stack)]),
        len(state.hands),
        edition=options.edition.value,
        three=options.three_players.value,
        end=end,
        rounds=rounds,
        starter=options.starter,
    )


#: Every placement as the other implementation writes it.
PLAIN: Final[dict[Place, tuple[Any, ...]]] = {
    place: ("place", NAIVE_KINDS[place.tile.value], place.q, place.r, place.turn)
    for place in ACTIONS
}


def assert_equal(state: State, naive: NaiveButterflyGarden) -> None:
    outcome = GAME.outcome_of(state)
    assert (outcome is not None) == naive.over
    assert state.to_move == naive.to_move
    assert [sorted(naive_kinds(kinds_in(hand))) for hand in state.hands] == [
        sorted(hand) for hand in naive.hands
    ]
    assert naive_kinds(state.stack[::-1]) == list(naive.stack)
    assert naive.board == {
        CELLS[cell]: (
            naive_kinds([KIND_OF[tile]])[0],
            tile - FIRST[KIND_OF[tile]],
        )
        for cell, tile in enumerate(state.board)
        if tile != EMPTY
    }
    assert waiting(state) == {
        (*cell, edge): VALUES[kind] for (cell, edge), kind in naive.gems.items()
    }
    seen = GAME.observe(state, None)
    assert list(seen.centre) == [VALUES[kind] for kind in naive.centre]
    assert [sum(each) for each in taken(state)] == naive.gem_counts
    points = [a + 2 * b + 3 * c for a, b, c in taken(state)]
    assert points == naive.scores
    assert left(state) + len(naive.exits) + len(naive.collided) == 12
    if outcome is not None:
        assert naive.result is not None
        assert list(outcome.placing) == list(naive.result)
        assert list(outcome.winners) == list(naive.winners)
        assert list(outcome.scores) == naive.scores


@pytest.mark.parametrize("setup", SETUPS)
def test_both_implementations_agree(setup: str) -> None:
    options, seats = SETUPS[setup]
    rng = random.Random(setup)
    plies = 0
    while plies < PLIES:
        state = GAME.new(FastDealer(plies), options, seats)
        naive = naive_twin(state)
        while GAME.outcome_of(state) is None:
            legal = GAME.legal_actions(state)
            assert set(map(PLAIN.__getitem__, legal)) == naive.legal()
            place = rng.choice(legal)
            GAME.apply(state, place)
            naive.apply(PLAIN[place])
            assert_equal(state, naive)
            plies += 1


def test_the_agreement_covers_twenty_thousand_plies() -> None:
    assert PLIES * len(SETUPS) >= 20_000
