"""Which annotations the codec allows, and what it says of the others."""

from __future__ import annotations

import enum
import typing
from typing import Any

import cattrs
import pytest
from attrs import define, evolve, field, frozen, make_class
from tests.codec import zoo

from fritillary.codec import kinds
from fritillary.codec.converter import make_converter
from fritillary.codec.values import ValueCodec
from fritillary.core.packed import CardSet, Packed


class Empty(enum.Enum):
    pass


class Floats(enum.Enum):
    HALF = 0.5


class Flags(enum.Flag):
    ONE = 1
    TWO = 2


@frozen
class Leaf:
    number: int


@frozen
class Other:
    number: int


class Plain:
    pass


def class_with(annotation: Any, name: str = "thing") -> type:
    return make_class("Made", {name: field(type=annotation)}, slots=True)


@pytest.mark.parametrize(
    ("annotation", "kind"),
    [
        (int, kinds.Primitive(int)),
        (bool, kinds.Primitive(bool)),
        (str, kinds.Primitive(str)),
        (CardSet, kinds.PackedInt(Packed())),
        (typing.Annotated[int, "cards"], kinds.Primitive(int)),
        (typing.Annotated[str, Packed()], kinds.Primitive(str)),
        (zoo.Colour, kinds.Enumeration(zoo.Colour)),
        (list[int], kinds.Items(int, list)),
        (tuple[Leaf, ...], kinds.Items(Leaf, tuple)),
        (tuple[int, str], kinds.FixedTuple((int, str))),
        (dict[str, int], kinds.Mapped(int)),
        (typing.Dict[str, int], kinds.Mapped(int)),  # noqa: UP006 - games may say so
        (Leaf, kinds.Record(Leaf)),
        (Leaf | Other, kinds.Union((Leaf, Other))),
        (int | None, kinds.Nullable(int)),
        (typing.Optional[Leaf], kinds.Nullable(Leaf)),  # noqa: UP045 - likewise
        (Leaf | Other | None, kinds.Nullable(Leaf | Other)),
    ],
    ids=str,
)
def test_allowed_annotations(annotation: Any, kind: kinds.Kind) -> None:
    assert kinds.kind_of(annotation) == kind
    kinds.check_class(class_with(annotation))


FORBIDDEN = [
    float,
    bytes,
    set,
    set[int],
    frozenset[int],
    list,
    tuple,
    tuple[()],
    dict,
    dict[int, int],
    dict[str],  # type: ignore[misc]
    list[int, int],  # type: ignore[misc]
    Any,
    object,
    None,
    int | str,
    Leaf | int,
    typing.Literal["a"],
    typing.Sequence[int],
    typing.Callable[[], int],
    Empty,
    Floats,
    Flags,
    Plain,
]


@pytest.mark.parametrize("annotation", FORBIDDEN, ids=str)
def test_forbidden_annotations_say_where_and_what_to_use(annotation: Any) -> None:
    for wrapped in (
        annotation,
        list[annotation],
        tuple[int, annotation],
        dict[str, annotation],
        list[dict[str, tuple[annotation, ...]]],
    ):
        with pytest.raises(TypeError) as caught:
            kinds.check_class(class_with(wrapped))
        said = str(caught.value)
        assert said.startswith("Made.thing: ")
        assert "is not allowed: use int, bool, str, an enum, tuple[...]" in said


def test_the_place_in_an_inner_class_is_named() -> None:
    inner: Any = class_with(set[int], "inner")
    outer = class_with(list[inner], "outer")
    with pytest.raises(TypeError, match=r"Made\.outer: Made\.inner: set\[int\] is not"):
        kinds.check_class(outer)


def test_the_name_type_is_kept_for_unions() -> None:
    with pytest.raises(TypeError, match=r"Made\.type: the name 'type' is kept"):
        kinds.check_class(class_with(int, "type"))


def test_only_attrs_classes_are_coded() -> None:
    with pytest.raises(TypeError, match=r"Plain is not an attrs class; decorate"):
        kinds.check_class(Plain)


@define
class Tree:
    children: list[Tree]


@define
class Ping:
    pong: Pong | None


@define
class Pong:
    ping: Ping | None


@pytest.mark.parametrize("cls", [Tree, Ping])
def test_a_class_that_contains_itself_is_refused(cls: type) -> None:
    with pytest.raises(TypeError, match=f"{cls.__name__} contains itself"):
        kinds.check_class(cls)


@define
class Unresolved:
    thing: Missing  # type: ignore[name-defined]  # noqa: F821 - that is the point


def test_a_name_that_cannot_be_resolved_says_how_to_mend_it() -> None:
    with pytest.raises(TypeError, match=r"Unresolved: cannot resolve .*'Missing'.*top"):
        kinds.check_class(Unresolved)


def test_classes_of_a_union_have_different_names() -> None:
    twin = make_class("Leaf", {"other": field(type=int)})
    with pytest.raises(TypeError, match=r"Made\.thing: .*need different names"):
        kinds.check_class(class_with(Leaf | twin))


@pytest.mark.parametrize(
    "annotation", [list[int], dict[str, int], tuple[list[int], ...], list[int] | None]
)
def test_actions_and_options_hold_only_what_cannot_change(annotation: Any) -> None:
    cls = make_class("Made", {"thing": field(type=annotation)}, frozen=True)
    kinds.check_class(cls)
    with pytest.raises(TypeError, match=r"Made\.thing: lists and dicts can be changed"):
        kinds.check_class(cls, immutable=True)


@define
class Loose:
    number: int


@frozen(eq=False)
class Identical:
    number: int


@pytest.mark.parametrize("cls", [Loose, Identical])
def test_actions_and_options_are_frozen_all_the_way_down(cls: type) -> None:
    with pytest.raises(TypeError, match=r"@attrs\.frozen"):
        kinds.check_class(cls, immutable=True)
    outer = make_class("Made", {"thing": field(type=cls)}, frozen=True)
    with pytest.raises(TypeError, match=rf"Made\.thing: {cls.__name__} can be changed"):
        kinds.check_class(outer, immutable=True)


@pytest.mark.parametrize(
    ("annotation", "immutable"),
    [
        (int, True),
        (zoo.Colour, True),
        (CardSet, True),
        (tuple[int, ...], True),
        (tuple[int, zoo.Move], True),
        (zoo.Move | zoo.Swap | None, True),
        (list[int], False),
        (tuple[list[int], ...], False),
        (tuple[int, list[int]], False),
        (dict[str, int], False),
        (zoo.Heap, False),
        (zoo.Heap | None, False),
        (zoo.Move | zoo.Heap, False),
        (make_class("F", {"a": field(type=list[int])}, frozen=True), False),
    ],
    ids=str,
)
def test_immutability_is_judged_all_the_way_down(
    annotation: Any, *, immutable: bool
) -> None:
    assert kinds.is_immutable(annotation) is immutable


# ------------------------------------------------------------- the codec of a game


@define
class NoOptions:
    number: int


@define
class OtherOptions:
    options: Leaf


@frozen
class Inner:
    options: zoo.Options


@define
class Nested:
    options: zoo.Options
    inner: Inner


@pytest.mark.parametrize("cls", [NoOptions, OtherOptions])
@pytest.mark.parametrize("where", ["state", "observation"])
def test_states_and_observations_refer_to_the_options(cls: Any, where: str) -> None:
    with pytest.raises(TypeError, match=f"{cls.__name__} needs a field 'options: Opti"):
        ValueCodec(evolve(zoo.INFO, **{where: cls}))


@pytest.mark.parametrize("where", ["state", "observation", "actions"])
def test_nothing_else_refers_to_the_options(where: str) -> None:
    cls: Any = (Inner,) if where == "actions" else Nested
    with pytest.raises(TypeError, match=r"Inner\.options: only the state and the obs"):
        ValueCodec(evolve(zoo.INFO, **{where: cls}))


def test_action_classes_have_different_names() -> None:
    twin = make_class("Move", {"other": field(type=int)}, frozen=True)
    with pytest.raises(TypeError, match="different names, not move, swap, move"):
        ValueCodec(evolve(zoo.INFO, actions=(zoo.Move, zoo.Swap, twin)))


@pytest.mark.parametrize(
    ("name", "tag"), [("Play", "play"), ("GiveUp", "give-up"), ("X2Y", "x2-y")]
)
def test_tags_are_lower_case_words(name: str, tag: str) -> None:
    assert kinds.tag_of(type(name, (), {})) == tag


def test_the_converter_serves_classes_outside_of_games() -> None:
    converter = make_converter()
    union: Any = zoo.Move | zoo.Swap
    data = {"type": "move", "piece": 1, "by": 1}
    assert converter.structure(data, union) == zoo.Move(1)
    assert converter.unstructure(zoo.Move(1), union) == data
    assert converter.structure([1], list[int]) == [1]
    assert converter.structure("red", zoo.Colour) is zoo.Colour.RED
    assert converter.unstructure(zoo.Colour.RED, zoo.Colour) == "red"


def test_the_converter_leaves_what_it_does_not_know_to_cattrs() -> None:
    with pytest.raises(cattrs.StructureHandlerNotFoundError):
        make_converter().structure(1, Plain)
