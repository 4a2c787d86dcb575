"""Copiers of states, generated from their attrs fields.

What cannot change is shared; lists and dicts are copied, as deep as they go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from fritillary.codec import kinds
from fritillary.plugins.native import COPY


def make_copier(cls: type) -> Callable[[Any], Any]:
    """Return a function that copies instances of an attrs class.

    Fields with ``init=False`` are derived from what is shared, and shared as well. A
    native twin brings a copier of its own.

    Raises:
        TypeError: if a field has a type that the codec does not allow.
    """
    native: Callable[[Any], Any] | None = getattr(cls, COPY, None)
    if native is not None:
        return native
    scope: dict[str, Any] = {"new": cls.__new__, "cls": cls, "put": object.__setattr__}
    attrs.resolve_types(cls)
    lines = ["def copy_state(state):", "    copy = new(cls)"]
    for field in attrs.fields(cls):
        source = f"state.{field.name}"
        if field.init:
            source = _expression(field.type, source, scope)
        # A frozen class that holds something that can change is set by force.
        lines.append(
            f"    put(copy, {field.name!r}, {source})"
            if kinds.is_frozen(cls)
            else f"    copy.{field.name} = {source}"
        )
    lines.append("    return copy")
    code = compile("\n".join(lines), f"<copier of {cls.__qualname__}>", "exec")
    exec(code, scope)  # noqa: S102 - our own text, made from field names
    copier: Callable[[Any], Any] = scope["copy_state"]
    return copier


def _expression(annotation: Any, source: str, scope: dict[str, Any]) -> str:
    if kinds.is_immutable(annotation):
        return source
    match kinds.kind_of(annotation):
        case kinds.Items(item=item, factory=factory):
            if factory is list and kinds.is_immutable(item):
                return f"{source}.copy()"
            inner = _expression(item, "item", scope)
            loop = f"{inner} for item in {source}"
            return f"[{loop}]" if factory is list else f"tuple([{loop}])"
        case kinds.Mapped(value=value):
            if kinds.is_immutable(value):
                return f"{source}.copy()"
            inner = _expression(value, "item", scope)
            return f"{{key: {inner} for key, item in {source}.items()}}"
        case kinds.FixedTuple(items=items):
            parts = [
                _expression(item, f"{source}[{index}]", scope)
                for index, item in enumerate(items)
            ]
            return f"({', '.join(parts)},)"
        case kinds.Nullable(inner=inner):
            copied = _expression(inner, source, scope)
            return f"(None if {source} is None else {copied})"
        case kinds.Record(type=cls):
            name = f"copy_{len(scope)}"
            scope[name] = make_copier(cls)
            return f"{name}({source})"
        case kinds.Union(members=members):
            name = f"copy_{len(scope)}"
            copiers = {
                cls: _share if kinds.is_immutable(cls) else make_copier(cls)
                for cls in members
            }
            scope[name] = lambda value: copiers[type(value)](value)
            return f"{name}({source})"
    raise AssertionError  # pragma: no cover - the other kinds are immutable


def _share(value: Any) -> Any:
    return value
