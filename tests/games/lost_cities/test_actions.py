"""The action table and its notation."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from tests.games.checks import check_notations
from tests.games.lost_cities.support import GAME, OPTIONS, SINGLE, SIX, states

from fritillary import InvalidActionError
from fritillary_games.lost_cities.actions import Action, Discard, Draw, Play
from fritillary_games.lost_cities.cards import Colour

FIVE: Any = GAME.table(SINGLE, 2)
LONG: Any = GAME.table(SIX, 2)


def test_there_are_106_actions_and_127_with_six_colours() -> None:
    for table, colours in ((FIVE, 5), (LONG, 6)):
        kinds = [type(each) for each in table.actions]
        cards = 10 * colours
        assert kinds == [Play] * cards + [Discard] * cards + [Draw] * (colours + 1)
    assert (len(FIVE), len(LONG)) == (106, 127)
    assert not any("purple" in text for text in FIVE.texts)


@pytest.mark.parametrize("name", OPTIONS)
def test_the_table_depends_on_the_number_of_colours_alone(name: str) -> None:
    table = LONG if OPTIONS[name].colours == 6 else FIVE
    assert GAME.table(OPTIONS[name], 2).digest() == table.digest()


@pytest.mark.parametrize("table", [FIVE, LONG])
def test_every_notation_names_its_action_again(table: Any) -> None:
    check_notations(table, len(table))


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (Play(Colour.RED, 7), "play red 7"),
        (Play(Colour.RED, 0), "play red wager"),
        (Discard(Colour.BLUE, 10), "discard blue 10"),
        (Discard(Colour.PURPLE, 0), "discard purple wager"),
        (Draw(), "draw"),
        (Draw(Colour.RED), "take red"),
    ],
)
def test_notation(action: Action, text: str) -> None:
    assert GAME.format_action(action) == text
    assert LONG.parse(text) == action


@pytest.mark.parametrize("text", ["play purple 7", "play red 1", "play red W", "take"])
def test_what_is_no_action_is_refused(text: str) -> None:
    with pytest.raises(InvalidActionError):
        FIVE.parse(text)


def test_every_action_survives_data() -> None:
    for each in LONG.actions:
        assert LONG.structure(GAME.codec.action_to_data(each)) is each
    data = GAME.codec.action_to_data(Draw(Colour.RED))
    assert data == {"type": "draw", "source": "red"}
    data = GAME.codec.action_to_data(Play(Colour.BLUE, 7))
    assert data == {"type": "play", "colour": "blue", "rank": 7}


@pytest.mark.parametrize(
    "data",
    [
        {"type": "play", "colour": "red", "rank": 1},
        {"type": "play", "colour": "red", "rank": 11},
        {"type": "discard", "colour": "red", "rank": -3},
        {"type": "play", "colour": "purple", "rank": 7},
        {"type": "play", "colour": "pink", "rank": 7},
        {"type": "draw", "source": "purple"},
        {"type": "draw", "source": "deck"},
    ],
)
def test_what_is_no_card_does_not_get_in(data: dict[str, object]) -> None:
    with pytest.raises(InvalidActionError):
        FIVE.structure(data)


def test_an_action_that_is_not_from_the_table_does_the_same() -> None:
    for state in itertools.islice(states(SINGLE, 2), 0, None, 3):
        if GAME.outcome_of(state) is None:
            for legal in GAME.legal_actions(state):
                data = GAME.codec.action_to_data(legal)
                twin = GAME.codec.action_from_data(data)
                assert twin is not legal
                first, second = GAME.copy(state), GAME.copy(state)
                GAME.play(first, legal)
                GAME.play(second, twin)
                assert first == second


def test_legal_actions_stand_in_table_order_without_repeats() -> None:
    for options in OPTIONS.values():
        table = GAME.table(options, 2)
        for state in states(options, 2):
            if GAME.outcome_of(state) is None:
                legal = GAME.legal_actions(state)
                assert type(legal) is tuple
                indices = [table.index[each] for each in legal]
                assert indices == sorted(set(indices))
                assert indices
