"""The one cattrs converter: canonical output, strict input.

cattrs finds the function for a type; the functions themselves are ours, one kind
of type each (see ``kinds``), since the ready-made ones take ``"7"`` for an integer
and write sets in the order of the hash. They expect plain data, which ``unpack``,
``from_json`` and ``check_plain`` see to, and raise `CodecError` alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import cattrs

from fritillary.codec import kinds
from fritillary.codec.classes import make_build, make_dump
from fritillary.codec.paths import at_step, key_step, say
from fritillary.core.errors import CodecError

#: ``(data, ignored) -> value``, the signature of cattrs.
Build: TypeAlias = Callable[..., Any]

#: ``(value) -> data``.
Dump: TypeAlias = Callable[[Any], Any]


def make_converter(options: type | None = None) -> cattrs.Converter:
    """Build a converter for everything that :func:`kinds.kind_of` allows.

    Args:
        options: a class that states and observations hold by reference in their
            field ``options``; it is left out of their data, and the function that
            builds one takes it as the keyword argument ``options``.
    """
    converter = cattrs.Converter()
    for primitive, build in ((int, _int), (bool, _bool), (str, _str)):
        converter.register_structure_hook(primitive, build)
    converter.register_structure_hook_factory(
        _is_allowed, lambda annotation: _build_for(annotation, converter, options)
    )
    converter.register_unstructure_hook_factory(
        _is_allowed, lambda annotation: _dump_for(annotation, converter, options)
    )
    return converter


def _is_allowed(annotation: Any) -> bool:
    try:
        kinds.kind_of(annotation)
    except TypeError:
        return False
    return True


def _build_for(
    annotation: Any, converter: cattrs.Converter, options: type | None
) -> Build:
    def hook(inner: Any) -> Build:
        # cattrs would take an enum of integers for a kind of integer.
        kind = kinds.kind_of(inner)
        if isinstance(kind, kinds.Enumeration):
            return _build_enum(kind.type)
        return converter.get_structure_hook(inner)

    match kinds.kind_of(annotation):
        case kinds.Items(item=item, factory=factory):
            kind = kinds.kind_of(item)
            if isinstance(kind, kinds.Primitive):
                return _build_primitives(kind.type, hook(item), factory)
            return _build_items(hook(item), factory)
        case kinds.FixedTuple(items=items):
            exact = [*items] if all(_passes(item) for item in items) else None
            return _build_fixed([hook(item) for item in items], exact)
        case kinds.Mapped(value=value):
            return _build_map(hook(value))
        case kinds.Enumeration(type=enumeration):
            return _build_enum(enumeration)
        case kinds.Nullable(inner=inner):
            return _build_nullable(hook(inner))
        case kinds.PackedInt(packed=packed):
            return _build_packed(packed.pack_sorted)
        case kinds.Union(members=members):
            return _build_union(
                {
                    kinds.tag_of(cls): make_build(cls, hook, options, tagged=True)
                    for cls in members
                }
            )
        case kinds.Record(type=cls):
            return make_build(cls, hook, options)
        case kinds.Primitive():  # pragma: no cover - registered by themselves
            raise AssertionError


def _dump_for(
    annotation: Any, converter: cattrs.Converter, options: type | None
) -> Dump:
    def hook(inner: Any) -> Dump:
        # As above, for an enum of strings.
        if isinstance(kinds.kind_of(inner), kinds.Enumeration):
            return _dump_enum
        return converter.get_unstructure_hook(inner)

    match kinds.kind_of(annotation):
        case kinds.Items(item=item):
            return list if _passes(item) else _dump_items(hook(item))
        case kinds.FixedTuple(items=items):
            if all(_passes(item) for item in items):
                return list
            return _dump_fixed([hook(item) for item in items])
        case kinds.Mapped(value=value):
            return _dump_map(hook(value))
        case kinds.Enumeration():
            return _dump_enum
        case kinds.Nullable(inner=inner):
            return _dump_nullable(hook(inner))
        case kinds.PackedInt(packed=packed):
            return _dump_packed(packed.unpack)
        case kinds.Union(members=members):
            return _dump_union(
                {cls: make_dump(cls, hook, options, tagged=True) for cls in members}
            )
        case kinds.Record(type=cls):
            return make_dump(cls, hook, options)
        case kinds.Primitive():  # pragma: no branch - nothing else is left
            return _as_it_is


def _dump_enum(value: Any) -> Any:
    # What ``value`` is, at a fraction of the cost.
    return value._value_


def _passes(annotation: Any) -> bool:
    return isinstance(kinds.kind_of(annotation), kinds.Primitive)


def _as_it_is(value: Any) -> Any:
    return value


# -------------------------------------------------------------------- primitives


def _int(value: Any, _: Any = None) -> int:
    if type(value) is not int:
        msg = f"expected an integer, got {say(value)}"
        raise CodecError(msg)
    return value


def _bool(value: Any, _: Any = None) -> bool:
    if type(value) is not bool:
        msg = f"expected true or false, got {say(value)}"
        raise CodecError(msg)
    return value


def _str(value: Any, _: Any = None) -> str:
    if type(value) is not str:
        msg = f"expected text, got {say(value)}"
        raise CodecError(msg)
    return value


# ------------------------------------------------------------------ what is built


def _no_list(value: Any) -> CodecError:
    return CodecError(f"expected a list, got {say(value)}")


def _build_primitives(primitive: type, build: Build, factory: type) -> Build:
    slowly = _build_items(build, factory)

    def structure(value: Any, _: Any = None) -> Any:
        # The quickest way to ask for the exact types (a bool is an int otherwise).
        if type(value) is list and [*map(type, value)].count(primitive) == len(value):
            return value if factory is list else tuple(value)
        return slowly(value)

    return structure


def _build_items(build: Build, factory: type) -> Build:
    def structure(value: Any, _: Any = None) -> Any:
        if type(value) is not list:
            raise _no_list(value)
        items: list[Any] = []
        append = items.append
        try:
            for part in value:
                append(build(part, None))
        except CodecError as error:
            raise at_step(error, f"[{len(items)}]") from error
        return items if factory is list else tuple(items)

    return structure


def _build_fixed(builders: list[Build], primitives: list[type] | None) -> Build:
    # Where all parts are primitives, their types are all there is to ask.
    def structure(value: Any, _: Any = None) -> Any:
        if type(value) is not list:
            raise _no_list(value)
        if [*map(type, value)] == primitives:
            return tuple(value)
        if len(value) != len(builders):
            msg = f"expected {len(builders)} items, got {len(value)}"
            raise CodecError(msg)
        items: list[Any] = []
        try:
            for build, part in zip(builders, value, strict=True):
                items.append(build(part, None))
        except CodecError as error:
            raise at_step(error, f"[{len(items)}]") from error
        return tuple(items)

    return structure


def _build_map(build: Build) -> Build:
    def structure(value: Any, _: Any = None) -> Any:
        if type(value) is not dict:
            msg = f"expected a map, got {say(value)}"
            raise CodecError(msg)
        built: dict[str, Any] = {}
        for key, part in value.items():
            try:
                built[key] = build(part, None)
            except CodecError as error:
                raise at_step(error, key_step(key)) from error
        return built

    return structure


def _build_enum(cls: type) -> Build:
    members = {member.value: member for member in cls}  # type: ignore[attr-defined]

    def structure(value: Any, _: Any = None) -> Any:
        member = members.get(value) if type(value) in {int, str} else None
        if member is None:
            known = ", ".join(str(name) for name in members)
            msg = f"expected one of {known}; got {say(value)}"
            raise CodecError(msg)
        return member

    return structure


def _build_nullable(build: Build) -> Build:
    return lambda value, _=None: None if value is None else build(value, None)


def _build_packed(pack_sorted: Callable[[list[int]], int]) -> Build:
    slowly = _build_items(_int, list)

    def structure(value: Any, _: Any = None) -> Any:
        if type(value) is not list:
            raise _no_list(value)
        try:
            return pack_sorted(value)
        except TypeError:
            pass
        except ValueError as error:
            raise CodecError(str(error)) from error
        return slowly(value)  # raises, and says which part is no integer

    return structure


def _build_union(builders: dict[str, Build]) -> Build:
    def structure(value: Any, _: Any = None) -> Any:
        tag = value.get(kinds.TAG) if type(value) is dict else None
        build = builders.get(tag) if type(tag) is str else None
        if build is None:
            known = ", ".join(builders)
            what = say(value) if tag is None else f"{kinds.TAG} {say(tag)}"
            msg = f"expected a map with {kinds.TAG!r} one of {known}; got {what}"
            raise CodecError(msg)
        return build(value)

    return structure


# ----------------------------------------------------------------- what is dumped


def _dump_items(dump: Dump) -> Dump:
    return lambda value: [*map(dump, value)]


def _dump_fixed(dumps: list[Dump]) -> Dump:
    return lambda value: [dump(part) for dump, part in zip(dumps, value, strict=True)]


def _dump_map(dump: Dump) -> Dump:
    def unstructure(value: Any) -> Any:
        for key in value:
            if type(key) is not str:
                msg = f"map keys are strings, not {type(key).__name__}"
                raise CodecError(msg)
        return {key: dump(value[key]) for key in sorted(value)}

    return unstructure


def _dump_nullable(dump: Dump) -> Dump:
    return lambda value: None if value is None else dump(value)


def _dump_packed(unpack: Callable[[int], list[int]]) -> Dump:
    def unstructure(value: Any) -> Any:
        try:
            return unpack(value)
        except ValueError as error:
            raise CodecError(str(error)) from error

    return unstructure


def _dump_union(dumps: dict[type, Dump]) -> Dump:
    def unstructure(value: Any) -> Any:
        dump = dumps.get(type(value))
        if dump is None:
            known = ", ".join(cls.__name__ for cls in dumps)
            msg = f"{type(value).__name__} is none of {known}"
            raise CodecError(msg)
        return dump(value)

    return unstructure
