"""The action table and its notation."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import pytest
from tests.games.checks import check_notations
from tests.games.lepidoptery.support import GAME, OPTIONS, states

from fritillary import InvalidActionError
from fritillary_games.lepidoptery.actions import ACTIONS, ranks_of
from fritillary_games.lepidoptery.model import COMBOS, Combo, Options, Pass, Play
from fritillary_games.lepidoptery.tables import ranks_in

TABLE: Any = GAME.table(Options(), 2)


def test_there_are_110_actions() -> None:
    plays = Counter(each.combo for each in ACTIONS if isinstance(each, Play))
    assert plays == dict(zip(COMBOS, (10, 20, 20, 27, 32), strict=True))
    assert len(ACTIONS) == len(TABLE) == 110
    assert ACTIONS[-1] == Pass()


@pytest.mark.parametrize("name", OPTIONS)
def test_the_table_does_not_depend_on_the_options(name: str) -> None:
    assert GAME.table(OPTIONS[name], 2).digest() == TABLE.digest()


def test_every_notation_names_its_action_again() -> None:
    check_notations(TABLE, 110)


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (Play(Combo.SINGLE, 7), "single 7"),
        (Play(Combo.PAIR, 7), "pair 7"),
        (Play(Combo.PAIR, 7, 7), "pair 7*"),
        (Play(Combo.TRIPLE, 1, 1), "triple 1*"),
        (Play(Combo.RUN2, 7), "run2 7-8"),
        (Play(Combo.RUN2, 7, 7), "run2 7*-8"),
        (Play(Combo.RUN2, 9, 10), "run2 9-10*"),
        (Play(Combo.RUN3, 4, 5), "run3 4-5*-6"),
        (Pass(), "pass"),
    ],
)
def test_notation(action: Play | Pass, text: str) -> None:
    assert GAME.format_action(action) == text


def test_every_action_survives_data() -> None:
    for each in TABLE.actions:
        assert TABLE.structure(GAME.codec.action_to_data(each)) is each


@pytest.mark.parametrize(
    "data",
    [
        {"type": "play", "combo": "single", "rank": 7, "joker": 7},
        {"type": "play", "combo": "single", "rank": 11, "joker": 0},
        {"type": "play", "combo": "pair", "rank": 0, "joker": 0},
        {"type": "play", "combo": "run3", "rank": 9, "joker": 0},
        {"type": "play", "combo": "run2", "rank": 4, "joker": 6},
        {"type": "play", "combo": "run2", "rank": -4, "joker": -6},
        {"type": "play", "combo": "pair", "rank": 7, "joker": 8},
        {"type": "play", "combo": "run4", "rank": 1, "joker": 0},
    ],
)
def test_what_is_no_combination_does_not_get_in(data: dict[str, object]) -> None:
    with pytest.raises(InvalidActionError):
        TABLE.structure(data)


def test_an_action_takes_the_cards_it_shows_but_the_joker() -> None:
    for each in ACTIONS[:-1]:
        assert isinstance(each, Play)
        shown = Counter(ranks_of(each))
        if each.joker:
            shown[each.joker] -= 1
        assert +shown == Counter(ranks_in(each.cost))


def test_an_action_that_is_not_from_the_table_does_the_same() -> None:
    for state in itertools.islice(states(Options(), 3), 80):
        if GAME.outcome_of(state) is None:
            legal = GAME.legal_actions(state)[0]
            twin = GAME.codec.action_from_data(GAME.codec.action_to_data(legal))
            assert twin is not legal
            first, second = GAME.copy(state), GAME.copy(state)
            GAME.play(first, legal)
            GAME.play(second, twin)
            assert first == second


def test_legal_actions_stand_in_table_order_without_repeats() -> None:
    for options in OPTIONS.values():
        for state in states(options, 5):
            if GAME.outcome_of(state) is None:
                indices = [TABLE.index[each] for each in GAME.legal_actions(state)]
                assert indices == sorted(set(indices))
                assert indices
