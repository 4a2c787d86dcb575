"""The worked examples of the rules, by number."""

from __future__ import annotations

import pytest
from tests.games.butterfly_garden.support import (
    GAME,
    action,
    at,
    left,
    position,
    taken,
    waiting,
)

from fritillary import InvalidActionError
from fritillary_games.butterfly_garden.actions import Place, Tile
from fritillary_games.butterfly_garden.board import NUMBERS, ORIENTATIONS
from fritillary_games.butterfly_garden.geometry import OFFSETS
from fritillary_games.butterfly_garden.model import NO_TREASURES, VALUE_BITS


@pytest.mark.rule("IND-01")
def test_the_first_tile_next_to_the_centre_releases_an_emerald() -> None:
    state = position(at("T1", 1, -1))
    assert waiting(state)[1, -1, 1] == 2
    assert GAME.observe(state, None).centre == (2, 2, 2, 2, 3)


@pytest.mark.rule("IND-02")
def test_the_sixth_tile_next_to_the_centre_releases_the_sapphire() -> None:
    ring = [at("T1", *offset) for offset in OFFSETS]
    state = position(*ring[:5])
    assert GAME.observe(state, None).centre == (3,)
    assert GAME.observe(state, None).released is None
    state = position(*ring)
    q, r = OFFSETS[-1]
    assert waiting(state)[q, r, 5] == 3
    assert GAME.observe(state, None).centre == ()
    assert GAME.observe(state, None).released == (q, r)
    assert left(state) == 12


@pytest.mark.rule("IND-03")
def test_a_tile_at_a_corner_takes_its_amber() -> None:
    state = position(at("T1", 0, -3))
    assert (0, -4, 3) not in waiting(state)
    assert waiting(state)[0, -3, 3] == 1


@pytest.mark.rule("IND-04")
def test_a_leaf_may_not_join_two_exits() -> None:
    allowed = action(at("T4", 2, -4))
    assert ORIENTATIONS[allowed.orientation] == ((0, 5), (1, 2), (3, 4))
    banned = Place(Tile.LEAF, 2, -4, 1)
    assert ORIENTATIONS[banned.orientation] == ((0, 1), (2, 3), (4, 5))
    with pytest.raises(InvalidActionError):
        action(at("T4", 2, -4, 1))
    seen = GAME.observe(position(), 0)
    assert "would join two exits of gateway 1" in GAME.explain(seen, banned)


def amber_leaves(seats: int):
    before = position(at("T2", 0, -3), seats=seats)
    assert ORIENTATIONS[before.board[NUMBERS[0, -3]]] == ((0, 5), (1, 4), (2, 3))
    assert waiting(before)[0, -3, 5] == 1
    return position(at("T2", 0, -3), at("T1", -1, -3), seats=seats)


@pytest.mark.rule("IND-06")
def test_an_amber_leaves_through_the_gateway_of_one_seat() -> None:
    state = amber_leaves(2)
    assert taken(state) == [(0, 0, 0), (1, 0, 0)]
    assert GAME.observe(state, None).scores == (0, 1)
    assert left(state) == 11


@pytest.mark.rule("IND-07")
@pytest.mark.parametrize(("seats", "owners"), [(3, (1, 2)), (4, (2, 3))])
def test_both_owners_of_a_shared_gateway_get_an_amber(
    seats: int, owners: tuple[int, int]
) -> None:
    state = amber_leaves(seats)
    assert taken(state) == [
        (1, 0, 0) if seat in owners else (0, 0, 0) for seat in range(seats)
    ]
    assert left(state) == 11


@pytest.mark.rule("IND-09")
def test_a_released_emerald_meets_an_amber() -> None:
    state = position(at("T1", 0, -3), at("T1", 0, -2), at("T1", 0, -1))
    assert GAME.observe(state, None).centre == (2, 2, 2, 2, 3)
    assert left(state) == 10
    assert waiting(state).keys() == {
        (4, -4, 4),
        (4, 0, 5),
        (0, 4, 0),
        (-4, 4, 1),
        (-4, 0, 2),
    }
    assert taken(state) == [(0, 0, 0), (0, 0, 0)]


@pytest.mark.rule("IND-12")
def test_a_tile_that_links_two_waiting_treasures_removes_both() -> None:
    # Two ambers come towards b4, one from the left and one from the right.
    tiles = ("b2 arch 0", "b5 arch 2", "b3 star 0")
    before = waiting(position(*tiles))
    assert before[1, -3, 2] == before[3, -3, 5] == 1
    for last, removed in (("b4 star 0", 2), ("b4 lane 0", 0)):
        after = position(*tiles, last)
        assert left(after) == 12 - removed
        assert taken(after) == [(0, 0, 0), (0, 0, 0)]


@pytest.mark.rule("IND-13")
@pytest.mark.parametrize(
    ("counts", "winners"),
    [(((0, 5, 0), (2, 4, 0)), (1,)), (((0, 5, 0), (1, 3, 1)), (0, 1))],
)
def test_equal_points_are_decided_by_the_number_of_treasures(
    counts: tuple[tuple[int, int, int], ...], winners: tuple[int, ...]
) -> None:
    state = position()
    state.taken = [
        sum(count << VALUE_BITS * place for place, count in enumerate(each))
        for each in counts
    ]
    state.reason = NO_TREASURES
    outcome = GAME.outcome_of(state)
    assert outcome.scores == (10, 10)
    assert outcome.winners == winners
