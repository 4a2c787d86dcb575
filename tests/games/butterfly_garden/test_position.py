"""Positions as text."""

from __future__ import annotations

import pytest
from tests.games.butterfly_garden.support import (
    GAME,
    SETUPS,
    action,
    states,
    taken,
    waiting,
)

from fritillary import InvalidPositionError
from fritillary_games.butterfly_garden.model import Edition, End, Options
from fritillary_games.butterfly_garden.position import format_position, parse_position
from fritillary_games.butterfly_garden.tables import kinds_in

MIDDLE = """
    # Comments and empty lines are left out.

    Seats: 3                          # case does not matter
    tiles: b2 lane 0,   b1 knot 2
    tiles: a2 arch 2
    hand 1: star   leaf
    to move: 0
"""


def test_the_start() -> None:
    state = parse_position("")
    assert (len(state.hands), state.to_move, state.last) == (2, 0, None)
    # Named nowhere: in the order of the kinds, first the hands, then the stack.
    assert [kinds_in(hand) for hand in state.hands] == [[0, 0], [0, 0]]
    assert state.stack[::-1] == [0] * 10 + [1] * 6 + [2] * 14 + [3] * 14 + [4] * 6


def test_the_middle_of_a_match() -> None:
    state = parse_position(MIDDLE)
    assert state.to_move == 0
    assert kinds_in(state.hands[1]) == [1, 4]
    assert len(state.stack) == 54 - 6 - 3
    assert taken(state) == [(1, 0, 0), (0, 0, 0), (0, 0, 0)]
    assert len(waiting(state)) == 5
    assert state.last == action("a2 arch 2")


def test_the_stack_is_named_from_the_next_tile_on() -> None:
    rest = ["arch"] * 14 + ["star"] * 6 + ["lane"] * 14 + ["knot"] * 13 + ["leaf"]
    state = parse_position(
        f"""
        hand 0: leaf leaf
        hand 1: leaf leaf
        stack: leaf, knot {" ".join(rest)}
        """
    )
    GAME.play(state, action("c3 leaf 0"))
    assert kinds_in(state.hands[0]) == [4, 4]
    GAME.play(state, action("c4 leaf 0"))
    assert kinds_in(state.hands[1]) == [3, 4]


@pytest.mark.parametrize("setup", SETUPS)
def test_every_state_of_a_match_comes_back_from_its_text(setup: str) -> None:
    options, _ = SETUPS[setup]
    for state in states(setup, 3):
        assert parse_position(format_position(state), options) == state


def test_the_text_of_a_state_is_stable() -> None:
    lines = format_position(parse_position(MIDDLE)).splitlines()
    assert lines[:5] == [
        "seats: 3",
        "tiles: b1 knot 2, b2 lane 0, a2 arch 2",
        "hand 0: arch arch",
        "hand 1: star leaf",
        "hand 2: arch arch",
    ]
    assert lines[5].startswith("stack: arch arch")
    assert lines[6:] == ["to move: 0"]


STARS = ", ".join(f"c{place} star 0" for place in range(1, 8))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a butterfly", "line 1: 'a butterfly' is no fact of a position"),
        ("\nhand 4: star", "line 2: 'hand 4: star' is no fact of a position"),
        ("seats: 2\nseats: 2", "line 2: 'seats' is there twice"),
        ("seats: 6", "seats: '6'; say 2, 3 or 4"),
        ("hand 2: star lane", "hand 2: there are 2 seats"),
        ("tiles: c3", "tiles: 'c3' is no placement, such as c4 knot 2"),
        ("tiles: c3 rose 1", "tiles: 'c3 rose 1' is no placement, such as c4 knot 2"),
        ("tiles: a9 knot 1", "tiles: 'a9 knot 1' is no placement, such as c4 knot 2"),
        ("tiles: c3 star 1", "tiles: a star has turn 0, not 1"),
        (
            "tiles: e5 star 0",
            "tiles: e5 is a treasure tile, which nothing is placed on",
        ),
        (
            "tiles: a3 leaf 1",
            (
                "tiles: a3 leaf 1 would join two exits of gateway 1 with one curve: "
                "turn the tile to 0"
            ),
        ),
        (
            "tiles: c3 star 0, c3 lane 1",
            "tiles: c3 star 0 and c3 lane 1 lie on one cell",
        ),
        (
            f"tiles: {STARS}",
            "7 tiles of the kind star are named; there are 6",
        ),
        (
            "hand 0: rose star",
            (
                "hand 0: 'rose' is no kind of tile; say arch, star, lane, knot, "
                "leaf or none"
            ),
        ),
        ("hand 0: star", "hand 0: 1 tile is named, but it has 2"),
        ("hand 1: star star star", "hand 1: 3 tiles are named, but it has 2"),
        ("hand 1: none", "hand 1: 0 tiles are named, but it has 2"),
        ("stack: star", "stack: 1 tile is named, but it has 50"),
        ("to move: 1", "to move: '1', but after 0 tiles it is seat 0"),
        ("to move: none", "to move: 'none', but after 0 tiles it is seat 0"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(InvalidPositionError) as caught:
        parse_position(text)
    assert caught.value.message == message
    assert caught.value.code == "position.invalid"


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", Options(starter=2), "seat 2 starts, but there are 2 seats"),
        (
            "hand 0: star star",
            Options(edition=Edition.INDIGO),
            "hand 0: 2 tiles are named, but it has 1",
        ),
        (
            "tiles: c3 star 0, c4 star 0, c5 star 0",
            Options(max_rounds=1),
            "the match is over after 2 tiles (rounds): c5 star 0 cannot be placed",
        ),
        (
            "tiles: c3 star 0, c4 star 0\nto move: 0",
            Options(max_rounds=1),
            "to move: '0', but the match is over after 2 tiles (rounds)",
        ),
    ],
)
def test_options_decide_what_can_be(text: str, options: Options, message: str) -> None:
    with pytest.raises(InvalidPositionError) as caught:
        parse_position(text, options)
    assert caught.value.message == message


def test_a_match_that_is_over_can_be_written() -> None:
    options = Options(max_rounds=1, end=End.STACK_EMPTY)
    state = parse_position("tiles: c3 star 0, c4 star 0\nto move: none", options)
    assert GAME.outcome_of(state).reason == "rounds"
