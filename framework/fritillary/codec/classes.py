"""Functions that build and dump attrs classes, generated from their fields.

A generic function asks every field again what it is; a generated one has the
answers in its text. That makes restoring a state several times faster.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

import attrs

from fritillary.codec import kinds
from fritillary.codec.paths import at_step, key_step, say
from fritillary.core.errors import CodecError
from fritillary.core.text import sentence

#: ``(annotation) -> function`` that builds or dumps a value of that type.
HookOf: TypeAlias = Callable[[Any], Callable[..., Any]]

_INDENT: Final = " " * 8


def make_build(
    cls: type, hook_of: HookOf, options: type | None, *, tagged: bool = False
) -> Callable[..., Any]:
    """Return ``(data, ignored=None, options=None) -> instance``.

    Args:
        cls: the class.
        hook_of: gives the function that builds a field.
        options: the class held by reference in a field ``options``, if any.
        tagged: the data have the tag of a union besides the fields.

    The function raises `CodecError` naming the path of the bad field.
    """
    maker = _Maker(cls, hook_of, options, tagged=tagged)
    scope: dict[str, Any] = {
        "cls": cls,
        "partial": maker.partial,
        "failed": maker.failed,
        "rejected": maker.rejected,
        "CodecError": CodecError,
    }
    lines = [
        "def build(data, _=None, options=None):",
        f"    if type(data) is not dict or len(data) != {len(maker.keys)}:",
        "        return partial(data, options)",
        "    at = ''",
        "    try:",
        "        pass",
    ]
    arguments = []
    given = []
    for index, field in enumerate(maker.fields):
        value = "options" if field.name in maker.referred else f"v{index}"
        if field.name not in maker.referred:
            lines += [
                f"{_INDENT}at = {field.name!r}",
                f"{_INDENT}{value} = data[at]",
                *_check(field.type, value, hook_of, scope),
            ]
        arguments.append(f"{field.alias}={value}" if field.kw_only else value)
        given.append(f"{field.name!r}: {value}")
    lines += [
        "    except (CodecError, KeyError) as error:",
        "        raise failed(error, at, data) from error",
        "    try:",
        f"        return cls({', '.join(arguments)})",
        "    except Exception as error:",
        f"        raise rejected({{{', '.join(given)}}}, error) from error",
    ]
    build: Callable[..., Any] = _compiled("\n".join(lines), scope, "build", cls)
    return build


def make_dump(
    cls: type, hook_of: HookOf, options: type | None, *, tagged: bool = False
) -> Callable[[Any], dict[str, Any]]:
    """Return ``(instance) -> data``; the keys are in the order of the fields.

    Args:
        cls: the class.
        hook_of: gives the function that dumps a field.
        options: the class held by reference in a field ``options``, if any.
        tagged: put the tag of a union in front.
    """
    scope: dict[str, Any] = {}
    items = [f"{kinds.TAG!r}: {kinds.tag_of(cls)!r}"] if tagged else []
    for name, annotation in kinds.fields_of(cls):
        if name == kinds.OPTIONS_FIELD and annotation is options:
            continue
        value = f"value.{name}"
        kind = kinds.kind_of(annotation)
        if isinstance(kind, kinds.Nullable):
            # Nothing is nothing, whatever else the field may hold.
            inner = kinds.kind_of(kind.inner)
            kind = inner if isinstance(inner, kinds.Primitive) else kind
        if not isinstance(kind, kinds.Primitive):
            scope[f"dump_{name}"] = hook_of(annotation)
            value = f"dump_{name}({value})"
        items.append(f"{name!r}: {value}")
    text = f"def dump(value):\n    return {{{', '.join(items)}}}"
    dump: Callable[[Any], dict[str, Any]] = _compiled(text, scope, "dump", cls)
    return dump


def _compiled(text: str, scope: dict[str, Any], name: str, cls: type) -> Any:
    code = compile(text, f"<{name} of {cls.__qualname__}>", "exec")
    exec(code, scope)  # noqa: S102 - our own text, made from field names
    return scope[name]


def _check(
    annotation: Any, name: str, hook_of: HookOf, scope: dict[str, Any], indent: int = 8
) -> list[str]:
    """Return the lines that turn the data in a variable into the field's value."""
    margin = " " * indent
    kind = kinds.kind_of(annotation)
    if isinstance(kind, kinds.Nullable):
        inner = _check(kind.inner, name, hook_of, scope, indent + 4)
        return [f"{margin}if {name} is not None:", *inner]
    scope[f"hook_{name}"] = hook_of(annotation)
    call = f"{name} = hook_{name}({name}, None)"
    if isinstance(kind, kinds.Primitive):
        # In the good case no call is needed: the hook is there for its message.
        return [
            f"{margin}if type({name}) is not {kind.type.__name__}:",
            f"{margin}    {call}",
        ]
    return [f"{margin}{call}"]


class _Maker:
    """The careful side of a generated function: gaps, defaults and errors."""

    def __init__(
        self, cls: type, hook_of: HookOf, options: type | None, *, tagged: bool
    ) -> None:
        attrs.resolve_types(cls)
        self.cls = cls
        self.fields: list[attrs.Attribute[Any]] = [
            field for field in attrs.fields(cls) if field.init
        ]
        self.referred = {
            field.name
            for field in self.fields
            if field.name == kinds.OPTIONS_FIELD and field.type is options
        }
        self.hooks = {
            field.name: hook_of(field.type)
            for field in self.fields
            if field.name not in self.referred
        }
        self.keys = {*self.hooks, kinds.TAG} if tagged else set(self.hooks)

    def partial(self, data: Any, options: Any) -> Any:
        """Build from data that leave out fields with defaults."""
        if type(data) is not dict:
            msg = f"expected a map, got {say(data)}"
            raise CodecError(msg)
        self._check_keys(data)
        given: dict[str, Any] = dict.fromkeys(self.referred, options)
        for field in self.fields:
            name = field.name
            if name in data:
                try:
                    given[name] = self.hooks[name](data[name], None)
                except CodecError as error:
                    raise at_step(error, f".{name}") from error
        try:
            return self.cls(
                **{
                    field.alias or field.name: given[field.name]
                    for field in self.fields
                    if field.name in given
                }
            )
        except Exception as error:
            raise self.rejected(given, error) from error

    def failed(self, error: Exception, at: str, data: dict[Any, Any]) -> CodecError:
        """Return the error of a field that is bad, or not there."""
        if isinstance(error, CodecError):
            return at_step(error, f".{at}")
        self._check_keys(data)
        # As many keys as there should be, and one of them missing: one is unknown.
        raise AssertionError  # pragma: no cover

    def _check_keys(self, data: dict[Any, Any]) -> None:
        for key in data:
            if key not in self.keys:
                if key in self.referred:
                    msg = "options do not travel inside; they are known already"
                    raise CodecError(msg, path=f"${key_step(key)}")
                msg = f"unknown field {say(key)}"
                raise CodecError(msg)
        for field in self.fields:
            if (
                field.name in self.hooks
                and field.name not in data
                and field.default is attrs.NOTHING
            ):
                msg = f"field {field.name!r} is missing"
                raise CodecError(msg)

    def rejected(self, given: Mapping[str, Any], error: Exception) -> CodecError:
        """Return the error of a class that does not take the values of its fields."""
        name = self._culprit(given)
        path = f"$.{name}" if name else "$"
        return CodecError(sentence(error), path=path)

    def _culprit(self, given: Mapping[str, Any]) -> str:
        """Find the field whose converter or validator raises, or return nothing."""
        instance: Any = object.__new__(self.cls)
        values = dict(given)
        for field in self.fields:
            convert: Any = field.converter
            if field.name in values and callable(convert):
                try:
                    values[field.name] = convert(values[field.name])
                except Exception:  # noqa: BLE001 - a stranger's converter
                    return field.name
        for name, value in values.items():
            object.__setattr__(instance, name, value)
        for field in self.fields:
            if field.name in values and callable(field.validator):
                try:
                    field.validator(instance, field, values[field.name])
                except Exception:  # noqa: BLE001 - a stranger's validator
                    return field.name
        return ""
