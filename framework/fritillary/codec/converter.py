"""The one cattrs converter: canonical output, strict input."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import attrs
import cattrs
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from fritillary.codec import kinds
from fritillary.codec.packing import MAX_INT, check_plain
from fritillary.core.errors import CodecError


def make_converter(*, options: type | None, detailed: bool) -> cattrs.Converter:
    """Build a converter.

    Args:
        options: a class that states and observations hold by reference in the
            field ``options``; it is left out of their data.
        detailed: collect the path of an error, at some cost.
    """
    converter = cattrs.Converter(detailed_validation=detailed, forbid_extra_keys=True)
    for primitive in (int, bool, str):
        converter.register_structure_hook(primitive, _PRIMITIVES[primitive])
    add_structure = converter.register_structure_hook_factory
    add_unstructure = converter.register_unstructure_hook_factory

    # The last registered factory is asked first; the general ones come first here.
    add_structure(attrs.has)(lambda cls: _structure_class(cls, converter, options))
    add_unstructure(attrs.has)(lambda cls: _unstructure_class(cls, converter, options))
    add_structure(_is(kinds.Items))(lambda t: _structure_items(t, converter))
    add_unstructure(_is(kinds.Items))(lambda t: _unstructure_items(t, converter))
    add_structure(_is(kinds.FixedTuple))(lambda t: _structure_fixed(t, converter))
    add_unstructure(_is(kinds.FixedTuple))(lambda t: _unstructure_fixed(t, converter))
    add_structure(_is(kinds.Mapped))(lambda t: _structure_map(t, converter))
    add_unstructure(_is(kinds.Mapped))(lambda t: _unstructure_map(t, converter))
    add_structure(_is(kinds.Enumeration))(_structure_enum)
    add_structure(_is(kinds.Union))(lambda t: _structure_union(t, converter))
    add_unstructure(_is(kinds.Union))(lambda t: _unstructure_union(t, converter))
    add_structure(_is(kinds.Nullable))(lambda t: _structure_nullable(t, converter))
    add_unstructure(_is(kinds.Nullable))(lambda t: _unstructure_nullable(t, converter))
    add_structure(_is(kinds.PackedInt))(_structure_packed)
    add_unstructure(_is(kinds.PackedInt))(_unstructure_packed)
    return converter


Hook = Callable[[Any, Any], Any]


def _is(kind: type) -> Callable[[Any], bool]:
    def predicate(annotation: Any) -> bool:
        try:
            return isinstance(kinds.kind_of(annotation), kind)
        except (TypeError, AttributeError):
            return False

    return predicate


def _say(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _int(value: Any, _: Any) -> int:
    if type(value) is not int:
        msg = f"expected an integer, got {_say(value)}"
        raise CodecError(msg)
    if not -MAX_INT <= value <= MAX_INT:
        msg = "integers have at most 53 bits"
        raise CodecError(msg)
    return value


def _bool(value: Any, _: Any) -> bool:
    if type(value) is not bool:
        msg = f"expected true or false, got {_say(value)}"
        raise CodecError(msg)
    return value


def _str(value: Any, _: Any) -> str:
    if type(value) is not str:
        msg = f"expected text, got {_say(value)}"
        raise CodecError(msg)
    if not value.isascii():
        check_plain(value)
    return value


_PRIMITIVES: dict[type, Hook] = {int: _int, bool: _bool, str: _str}


def _structure_class(
    cls: type, converter: cattrs.Converter, options: type | None
) -> Hook:
    attrs.resolve_types(cls, include_extras=True)
    build = make_dict_structure_fn(cls, converter)

    def structure(value: Any, type_: Any) -> Any:
        # A class of options arrives ready-made inside a state or an observation.
        if type(value) is not dict:
            if cls is options and type(value) is cls:
                return value
            msg = f"expected a map, got {_say(value)}"
            raise CodecError(msg)
        return build(value, type_)

    return structure


def _unstructure_class(
    cls: type, converter: cattrs.Converter, options: type | None
) -> Callable[[Any], Any]:
    attrs.resolve_types(cls, include_extras=True)
    leave_out = {
        field.name: override(omit=True)
        for field in attrs.fields(cls)
        if field.name == kinds.OPTIONS_FIELD and field.type is options
    }
    return make_dict_unstructure_fn(cls, converter, **leave_out)  # type: ignore[arg-type]


def _structure_items(annotation: Any, converter: cattrs.Converter) -> Hook:
    kind = kinds.kind_of(annotation)
    factory = kind.factory  # type: ignore[union-attr]
    item: Any = kind.item  # type: ignore[union-attr]
    if item is int:
        return functools.partial(_int_items, factory)
    build = converter.get_structure_hook(item)

    def structure(value: Any, _: Any) -> Any:
        _expect_list(value)
        items = []
        for index, part in enumerate(value):
            try:
                items.append(build(part, item))
            except Exception as error:
                raise _at(error, f"[{index}]") from error
        return items if factory is list else tuple(items)

    return structure


def _int_items(factory: type, value: Any, _: Any) -> Any:
    _expect_list(value)
    for index, part in enumerate(value):
        if type(part) is not int or not -MAX_INT <= part <= MAX_INT:
            try:
                _int(part, None)
            except CodecError as error:
                raise _at(error, f"[{index}]") from error
    return value if factory is list else tuple(value)


def _expect_list(value: Any) -> None:
    if type(value) is not list:
        msg = f"expected a list, got {_say(value)}"
        raise CodecError(msg)


def _unstructure_items(
    annotation: Any, converter: cattrs.Converter
) -> Callable[[Any], Any]:
    item: Any = kinds.kind_of(annotation).item  # type: ignore[union-attr]
    if item in (int, bool, str):
        return list
    dump = converter.get_unstructure_hook(item)
    return lambda value: [dump(part) for part in value]


def _structure_fixed(annotation: Any, converter: cattrs.Converter) -> Hook:
    items: Any = kinds.kind_of(annotation).items  # type: ignore[union-attr]
    builders = [(converter.get_structure_hook(item), item) for item in items]

    def structure(value: Any, _: Any) -> Any:
        _expect_list(value)
        if len(value) != len(builders):
            msg = f"expected {len(builders)} items, got {len(value)}"
            raise CodecError(msg)
        built = []
        for index, (part, (build, item)) in enumerate(
            zip(value, builders, strict=True)
        ):
            try:
                built.append(build(part, item))
            except Exception as error:
                raise _at(error, f"[{index}]") from error
        return tuple(built)

    return structure


def _unstructure_fixed(
    annotation: Any, converter: cattrs.Converter
) -> Callable[[Any], Any]:
    items: Any = kinds.kind_of(annotation).items  # type: ignore[union-attr]
    if all(item in (int, bool, str) for item in items):
        return list
    dumps = [converter.get_unstructure_hook(item) for item in items]
    return lambda value: [
        dump(part) for dump, part in zip(dumps, value, strict=True)
    ]


def _structure_map(annotation: Any, converter: cattrs.Converter) -> Hook:
    inner: Any = kinds.kind_of(annotation).value  # type: ignore[union-attr]
    build = converter.get_structure_hook(inner)

    def structure(value: Any, _: Any) -> Any:
        if type(value) is not dict:
            msg = f"expected a map, got {_say(value)}"
            raise CodecError(msg)
        built = {}
        for key, part in value.items():
            try:
                built[_str(key, None)] = build(part, inner)
            except Exception as error:
                raise _at(error, f".{key}") from error
        return built

    return structure


def _unstructure_map(
    annotation: Any, converter: cattrs.Converter
) -> Callable[[Any], Any]:
    inner: Any = kinds.kind_of(annotation).value  # type: ignore[union-attr]
    dump = converter.get_unstructure_hook(inner)
    return lambda value: {key: dump(value[key]) for key in sorted(value)}


def _structure_enum(cls: Any) -> Hook:
    members = {member.value: member for member in cls}

    def structure(value: Any, _: Any) -> Any:
        member = members.get(value) if type(value) in (int, str) else None
        if member is None:
            known = ", ".join(str(name) for name in members)
            msg = f"expected one of {known}; got {_say(value)}"
            raise CodecError(msg)
        return member

    return structure


def _structure_union(annotation: Any, converter: cattrs.Converter) -> Hook:
    members: Any = kinds.kind_of(annotation).members  # type: ignore[union-attr]
    builders = {
        kinds.tag_of(cls): (converter.get_structure_hook(cls), cls) for cls in members
    }

    def structure(value: Any, _: Any) -> Any:
        tag = value.get(kinds.TAG) if type(value) is dict else None
        found = builders.get(tag) if type(tag) is str else None
        if found is None:
            known = ", ".join(builders)
            msg = f"expected a map with {kinds.TAG!r} one of {known}; got {_say(value)}"
            raise CodecError(msg)
        build, cls = found
        return build({k: v for k, v in value.items() if k != kinds.TAG}, cls)

    return structure


def _unstructure_union(
    annotation: Any, converter: cattrs.Converter
) -> Callable[[Any], Any]:
    members: Any = kinds.kind_of(annotation).members  # type: ignore[union-attr]
    dumps = {
        cls: (kinds.tag_of(cls), converter.get_unstructure_hook(cls)) for cls in members
    }

    def unstructure(value: Any) -> Any:
        tag, dump = dumps[type(value)]
        return {kinds.TAG: tag, **dump(value)}

    return unstructure


def _structure_nullable(annotation: Any, converter: cattrs.Converter) -> Hook:
    inner: Any = kinds.kind_of(annotation).inner  # type: ignore[union-attr]
    build = converter.get_structure_hook(inner)
    return lambda value, _: None if value is None else build(value, inner)


def _unstructure_nullable(
    annotation: Any, converter: cattrs.Converter
) -> Callable[[Any], Any]:
    inner: Any = kinds.kind_of(annotation).inner  # type: ignore[union-attr]
    dump = converter.get_unstructure_hook(inner)
    return lambda value: None if value is None else dump(value)


def _structure_packed(annotation: Any) -> Hook:
    packed = kinds.kind_of(annotation).packed  # type: ignore[union-attr]

    def structure(value: Any, _: Any) -> int:
        items = _int_items(list, value, None)
        if any(a > b for a, b in zip(items, items[1:], strict=False)):
            msg = "expected a list in rising order"
            raise CodecError(msg)
        try:
            return int(packed.pack(items))
        except ValueError as error:
            raise CodecError(str(error)) from error

    return structure


def _unstructure_packed(annotation: Any) -> Callable[[Any], Any]:
    packed = kinds.kind_of(annotation).packed  # type: ignore[union-attr]
    return lambda value: list(packed.unpack(value))


def _at(error: Exception, step: str) -> CodecError:
    """Return the error with one more step in front of its path."""
    path, reason = locate(error)
    return CodecError(reason, path=f"${step}{path[1:]}")


def locate(error: BaseException) -> tuple[str, str]:
    """Return path and reason of the first thing wrong in a cattrs error."""
    if isinstance(error, CodecError):
        return error.path, error.reason
    if isinstance(error, cattrs.ForbiddenExtraKeysError):
        names = ", ".join(sorted(map(str, error.extra_fields)))
        return "$", f"unknown field {names}"
    if isinstance(error, cattrs.ClassValidationError):
        with_notes, without = error.group_exceptions()
        if with_notes:
            inner, note = with_notes[0]
            path, reason = locate(inner)
            if isinstance(inner, KeyError):
                return "$", f"field {note.name!r} is missing"
            return f"$.{note.name}{path[1:]}", reason
        return locate(without[0])
    if isinstance(error, KeyError):
        return "$", f"field {error.args[0]!r} is missing"
    return "$", str(error) or type(error).__name__
