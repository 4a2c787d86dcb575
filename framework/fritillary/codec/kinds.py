"""What an annotation means to the codec, decided in one place.

The converter, the JSON Schemas and the load-time check of a game's classes all
ask :func:`kind_of`, so that they cannot disagree about what is allowed.
"""

from __future__ import annotations

import enum
import types
import typing
from collections.abc import Iterator
from typing import Any, Final, TypeAlias

import attrs
from attrs import frozen

from fritillary.core.packed import Packed

#: The key that tells the members of a union apart.
TAG: Final = "type"

#: The field by which states and observations refer to their options.
OPTIONS_FIELD: Final = "options"


@frozen
class Primitive:
    """``int``, ``bool`` or ``str``."""

    type: type


@frozen
class PackedInt:
    """An integer that stands for a sorted list of integers."""

    packed: Packed


@frozen
class Enumeration:
    """An enum with string or integer values."""

    type: type[enum.Enum]


@frozen
class Items:
    """``list[X]`` or ``tuple[X, ...]``."""

    item: Any
    factory: type


@frozen
class FixedTuple:
    """``tuple[X, Y]``."""

    items: tuple[Any, ...]


@frozen
class Mapped:
    """``dict[str, X]``."""

    value: Any


@frozen
class Record:
    """One attrs class."""

    type: type


@frozen
class Union:
    """Several attrs classes told apart by their tags."""

    members: tuple[type, ...]


@frozen
class Nullable:
    """``X | None``."""

    inner: Any


Kind: TypeAlias = (
    Primitive
    | PackedInt
    | Enumeration
    | Items
    | FixedTuple
    | Mapped
    | Record
    | Union
    | Nullable
)

_HINT: Final = (
    "use int, bool, str, an enum, tuple[...], list[...], dict[str, ...], an attrs "
    "class, a union of attrs classes, CardSet, or any of them | None"
)


def kind_of(annotation: Any) -> Kind:
    """Return what an annotation means.

    Raises:
        TypeError: if the codec does not allow it; the message says what to use.
    """
    if annotation in (int, bool, str):
        return Primitive(annotation)
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        base, *marks = typing.get_args(annotation)
        for mark in marks:
            if isinstance(mark, Packed) and base is int:
                return PackedInt(mark)
        return kind_of(base)
    if origin in (types.UnionType, typing.Union):
        members = typing.get_args(annotation)
        others = tuple(member for member in members if member is not types.NoneType)
        if len(others) < len(members):
            inner = others[0] if len(others) == 1 else typing.Union[others]  # noqa: UP007
            kind_of(inner)
            return Nullable(inner)
        if all(attrs.has(member) for member in others):
            return Union(others)
    elif origin is list:
        items = typing.get_args(annotation)
        if len(items) == 1:
            return Items(items[0], list)
    elif origin is tuple:
        items = typing.get_args(annotation)
        if len(items) == 2 and items[1] is Ellipsis:
            return Items(items[0], tuple)
        if items:
            return FixedTuple(items)
    elif origin is dict:
        items = typing.get_args(annotation)
        if len(items) == 2 and items[0] is str:
            return Mapped(items[1])
    elif isinstance(annotation, type):
        if issubclass(annotation, enum.Flag):
            pass  # several flags together are no member that could be named
        elif issubclass(annotation, enum.Enum):
            values = {type(member.value) for member in annotation}
            if values and values <= {str, int}:
                return Enumeration(annotation)
        elif attrs.has(annotation):
            return Record(annotation)
    name = getattr(annotation, "__name__", None) or repr(annotation)
    msg = f"{name if origin is None else annotation} is not allowed: {_HINT}"
    raise TypeError(msg)


def tag_of(cls: type) -> str:
    """Return the union tag of a class: its name in lower-case words with hyphens."""
    name = cls.__name__
    words = [
        f"-{letter.lower()}" if letter.isupper() and index else letter.lower()
        for index, letter in enumerate(name)
    ]
    return "".join(words)


def fields_of(cls: type) -> list[tuple[str, Any]]:
    """Return name and resolved annotation of every field that goes into bytes.

    Fields with ``init=False`` are derived and left out.
    """
    attrs.resolve_types(cls, include_extras=True)
    return [(field.name, field.type) for field in attrs.fields(cls) if field.init]


def check_class(
    cls: type,
    *,
    options: type | None = None,
    refers: bool = False,
    immutable: bool = False,
) -> None:
    """Check that everything in an attrs class can be coded.

    Args:
        cls: the class.
        options: the options class of the game, which is only ever referred to by a
            field ``options``.
        refers: whether ``cls``, a state or an observation, has such a field.
        immutable: whether the values must be hashable: frozen classes and tuples
            all the way down.

    Raises:
        TypeError: naming class and field of the first that cannot.
    """
    if refers and dict(_fields_of(cls)).get(OPTIONS_FIELD) is not options:
        name = getattr(options, "__name__", options)
        msg = f"{cls.__name__} needs a field 'options: {name}' that refers to them"
        raise TypeError(msg)
    _check_class(cls, options, (), refers=refers, immutable=immutable)


def is_frozen(cls: type) -> bool:
    """Say whether a class is a frozen attrs class."""
    return bool(attrs.has(cls) and attrs.inspect(cls).is_frozen)


def is_immutable(annotation: Any) -> bool:
    """Say whether values of a type cannot change, all the way down."""
    match kind_of(annotation):
        case Primitive() | PackedInt() | Enumeration():
            return True
        case Nullable(inner=inner):
            return is_immutable(inner)
        case Items(item=item, factory=factory):
            return factory is tuple and is_immutable(item)
        case FixedTuple(items=items):
            return all(is_immutable(item) for item in items)
        case Mapped():
            return False
        case Union(members=members):
            return all(is_immutable(member) for member in members)
        case Record(type=cls):  # pragma: no branch - nothing else is left
            return is_frozen(cls) and all(
                is_immutable(inner) for _, inner in fields_of(cls)
            )


def _fields_of(cls: type) -> list[tuple[str, Any]]:
    if not attrs.has(cls):
        msg = f"{cls.__name__} is not an attrs class; decorate it with @attrs.define"
        raise TypeError(msg)
    try:
        return fields_of(cls)
    except NameError as error:
        msg = (
            f"{cls.__name__}: cannot resolve annotations ({error}); import the name at "
            "the top of the module, not under TYPE_CHECKING"
        )
        raise TypeError(msg) from error


def _check_class(
    cls: type,
    options: type | None,
    owners: tuple[type, ...],
    *,
    refers: bool,
    immutable: bool,
) -> None:
    if cls in owners:
        msg = f"{cls.__name__} contains itself; refer to other values by their number"
        raise TypeError(msg)
    fields = _fields_of(cls)
    by_identity = cls.__eq__ is object.__eq__  # type: ignore[comparison-overlap]
    if immutable and (by_identity or not is_frozen(cls)):
        msg = (
            f"{cls.__name__} can be changed, or compares by identity; decorate it with "
            "@attrs.frozen"
        )
        raise TypeError(msg)
    for name, annotation in fields:
        try:
            if name == TAG:
                msg = f"the name {TAG!r} is kept for unions; rename the field"
                raise TypeError(msg)
            if options is not None and name == OPTIONS_FIELD and annotation is options:
                if refers:
                    continue
                msg = "only the state and the observation themselves refer to options"
                raise TypeError(msg)
            for inner in _classes_in(annotation):
                _check_class(
                    inner, options, (*owners, cls), refers=False, immutable=immutable
                )
            if immutable and not is_immutable(annotation):
                msg = "lists and dicts can be changed; use tuple[...]"
                raise TypeError(msg)
        except TypeError as error:
            msg = f"{cls.__name__}.{name}: {error}"
            raise TypeError(msg) from error


def _classes_in(annotation: Any) -> Iterator[type]:
    """Yield the attrs classes of an annotation; raise where it is not allowed."""
    match kind_of(annotation):
        case Record(type=cls):
            yield cls
        case Union(members=members):
            tags = [tag_of(member) for member in members]
            if len(set(tags)) < len(tags):
                msg = f"the classes of a union need different names, not {tags}"
                raise TypeError(msg)
            yield from members
        case Nullable(inner=inner) | Items(item=inner) | Mapped(value=inner):
            yield from _classes_in(inner)
        case FixedTuple(items=items):
            for item in items:
                yield from _classes_in(item)
        case _:
            pass
