from __future__ import annotations

from fritillary.core.outcome import Outcome
from fritillary.core.points import ACTS, CHANCE, MAX_SEATS, Act, Chance, Over


def test_one_attribute_tells_whether_a_seat_acts() -> None:
    assert [point.seat for point in ACTS] == list(range(MAX_SEATS))
    assert CHANCE.seat is None
    assert Over(Outcome.ranked("end", [1])).seat is None


def test_points_of_a_kind_are_equal() -> None:
    assert Act(3) == ACTS[3] != ACTS[2]
    assert Chance() == CHANCE
    assert Over(Outcome.ranked("end", [1])) == Over(Outcome.ranked("end", [1]))
    assert len({*ACTS, CHANCE}) == MAX_SEATS + 1
