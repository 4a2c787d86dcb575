"""Copies are independent, as deep as anything can change, and share the rest."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from attrs import define, field, frozen
from hypothesis import given
from tests.codec import zoo

from fritillary.plugins.copier import make_copier

copy_zoo = make_copier(zoo.State)


@given(zoo.states)
def test_a_copy_is_equal_and_survives_any_change_of_the_original(
    state: zoo.State,
) -> None:
    reference = copy.deepcopy(state)
    copied = copy_zoo(state)
    assert copied == state
    assert copied.derived == state.derived
    state.hands.append(1)
    state.flags.clear()
    state.rows.append((1,))
    state.scores["new"] = 1
    for heaps in state.heaps.values():
        for heap in heaps:
            heap.cards.append(9)
            heap._hidden = not heap._hidden
        heaps.append(zoo.Heap([], True))
    state.heaps["new"] = []
    state.moves.append(zoo.GiveUp())
    state.to_move = state.to_move + 1
    assert copied == reference


def test_what_cannot_change_is_shared() -> None:
    state = zoo.some_state()
    copied = copy_zoo(state)
    for name in ("options", "deck", "cages", "spare", "pair", "last", "note"):
        assert getattr(copied, name) is getattr(state, name)
    for name in ("hands", "flags", "rows", "scores", "heaps", "moves"):
        assert getattr(copied, name) is not getattr(state, name)


@frozen
class Box:
    """Frozen, but what is in it can change."""

    items: list[int]


@define
class Slot:
    number: int


@define
class Shelf:
    box: Box
    maybe: Box | None
    either: Slot | zoo.Move
    fixed: tuple[Slot, int]
    many: tuple[Box, ...]
    nested: list[list[int]]
    tables: dict[str, dict[str, list[int]]]
    slots: dict[str, Slot]
    none: list[int] | None = None
    shared: list[int] = field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self.shared = [1, 2]


def shelf() -> Shelf:
    return Shelf(
        box=Box([1]),
        maybe=Box([2]),
        either=Slot(3),
        fixed=(Slot(4), 5),
        many=(Box([6]),),
        nested=[[7]],
        tables={"a": {"b": [8]}},
        slots={"a": Slot(9)},
    )


def test_a_frozen_class_that_holds_a_list_is_copied() -> None:
    one = shelf()
    two = make_copier(Shelf)(one)
    assert two == one
    one.box.items.append(0)
    one.maybe.items.append(0)  # type: ignore[union-attr]
    assert isinstance(one.either, Slot)
    one.either.number = 0
    one.fixed[0].number = 0
    one.many[0].items.append(0)
    one.nested[0].append(0)
    one.tables["a"]["b"].append(0)
    one.slots["a"].number = 0
    assert two == shelf()
    assert two.shared is one.shared


def test_members_of_a_union_are_copied_as_what_they_are() -> None:
    one = shelf()
    one.either = zoo.Move(1)
    one.maybe = None
    two = make_copier(Shelf)(one)
    assert two.either is one.either
    assert two.maybe is None


@define
class Wrong:
    number: float


@pytest.mark.parametrize("cls", [Wrong])
def test_a_field_that_cannot_be_coded_cannot_be_copied(cls: Any) -> None:
    with pytest.raises(TypeError, match="float is not allowed"):
        make_copier(cls)
