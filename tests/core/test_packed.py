from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fritillary.core.packed import CARD_SET, MAX_ITEMS, Packed


@st.composite
def packings(draw: st.DrawFn) -> Packed:
    return Packed(
        bits=draw(st.integers(1, 5)),
        lowest=draw(st.integers(-5, 5)),
        size=draw(st.none() | st.integers(1, 600)),
    )


@st.composite
def packings_with_items(draw: st.DrawFn) -> tuple[Packed, list[int]]:
    packed = draw(packings())
    most = (1 << packed.bits) - 1
    high = packed.lowest + min(packed.items, 700) - 1
    items = draw(st.lists(st.integers(packed.lowest, high), max_size=30))
    counts = Counter(items)
    kept = {item: min(count, most) for item, count in counts.items()}
    return packed, list(Counter(kept).elements())


@given(packings_with_items())
def test_packing_keeps_every_item_and_unpacking_sorts(
    case: tuple[Packed, list[int]],
) -> None:
    packed, items = case
    number = packed.pack(items)
    assert packed.unpack(number) == sorted(items)
    assert packed.pack_sorted(sorted(items)) == number
    for item in items:
        count = number >> (item - packed.lowest) * packed.bits
        assert count & ((1 << packed.bits) - 1) == items.count(item)


@given(packings(), st.lists(st.integers(-10, 700), max_size=30))
def test_both_ways_to_pack_agree_on_rising_lists(
    packed: Packed, items: list[int]
) -> None:
    items.sort()
    try:
        expected: int | str = packed.pack(items)
    except ValueError as error:
        expected = str(error)
    try:
        found: int | str = packed.pack_sorted(items)
    except ValueError as error:
        found = str(error)
    assert found == expected


@given(st.sets(st.integers(0, 60)))
def test_a_card_set_is_a_bitmask(items: set[int]) -> None:
    assert CARD_SET.pack(items) == sum(1 << item for item in items)


@pytest.mark.parametrize(
    ("packed", "items", "message"),
    [
        (Packed(), [3, 3], "3 occurs too often"),
        (Packed(bits=2), [3, 3, 3, 3], "3 occurs too often"),
        (Packed(lowest=1, size=10), [0], "0 is out of range"),
        (Packed(lowest=1, size=10), [11], "11 is out of range"),
        (Packed(), [-1], "-1 is out of range"),
        (Packed(), [MAX_ITEMS], f"{MAX_ITEMS} is out of range"),
        (Packed(), [2**53 - 1], "is out of range"),
    ],
)
def test_items_out_of_range_or_too_many_are_refused(
    packed: Packed, items: list[int], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        packed.pack(items)
    with pytest.raises(ValueError, match=message):
        packed.pack_sorted(items)


def test_a_falling_list_is_refused_where_order_matters() -> None:
    with pytest.raises(ValueError, match="rising order"):
        CARD_SET.pack_sorted([2, 1])
    assert CARD_SET.pack([2, 1]) == 6


@pytest.mark.parametrize("packed", [Packed(), Packed(bits=2)])
@pytest.mark.parametrize("items", [[True], [0, True], ["1"], [1, None], [2, 1.0]])
def test_only_integers_are_packed_in_order(packed: Packed, items: list[int]) -> None:
    with pytest.raises(TypeError, match="expected integers, got"):
        packed.pack_sorted(items)


def test_the_highest_item_there_can_be_packs_as_well() -> None:
    items = [0, 255, 256, MAX_ITEMS - 1]
    assert CARD_SET.unpack(CARD_SET.pack_sorted(items)) == items


@pytest.mark.parametrize(
    ("packed", "number"),
    [(Packed(), -1), (Packed(size=4), 16), (Packed(bits=3, size=2), 64)],
)
def test_a_number_that_stands_for_no_items_is_refused(
    packed: Packed, number: int
) -> None:
    with pytest.raises(ValueError, match="out of range"):
        packed.unpack(number)


@pytest.mark.parametrize("arguments", [{"bits": 0}, {"bits": 17}, {"size": 0}])
def test_a_packing_needs_bits_and_items(arguments: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=next(iter(arguments))):
        Packed(**arguments)


def test_equal_packings_are_equal() -> None:
    assert Packed(2, 1, 9) == Packed(bits=2, lowest=1, size=9)
    assert hash(Packed()) == hash(CARD_SET)
    assert repr(Packed()) == "Packed(bits=1, lowest=0, size=None)"
