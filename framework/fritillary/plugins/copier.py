"""Copiers of states, generated from their attrs fields.

What cannot change is shared; lists and dicts are copied, as deep as they go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from fritillary.codec import kinds


def make_copier(cls: type) -> Callable[[Any], Any]:
    """Return a function that copies instances of an attrs class.

    Raises:
        TypeError: if a field has a type that the codec does not allow.
    """
    scope: dict[str, Any] = {"new": cls.__new__, "cls": cls}
    attrs.resolve_types(cls, include_extras=True)
    lines = ["def copy_state(old):", "    state = new(cls)"]
    for field in attrs.fields(cls):
        source = f"old.{field.name}"
        if field.init:
            source = _expression(field.type, source, scope)
        # Fields with init=False are derived from what is shared.
        lines.append(f"    state.{field.name} = {source}")
    lines.append("    return state")
    code = compile("\n".join(lines), f"<copier of {cls.__qualname__}>", "exec")
    exec(code, scope)  # noqa: S102 - our own text, made from field names
    copier: Callable[[Any], Any] = scope["copy_state"]
    return copier


def is_frozen(cls: type) -> bool:
    """Say whether an attrs class is frozen."""
    return bool(attrs.has(cls) and attrs.inspect(cls).is_frozen)


def _expression(annotation: Any, source: str, scope: dict[str, Any]) -> str:
    if _immutable(annotation):
        return source
    match kinds.kind_of(annotation):
        case kinds.Items(item=item, factory=factory):
            if factory is list and _immutable(item):
                return f"{source}.copy()"
            inner = _expression(item, "item", scope)
            loop = f"{inner} for item in {source}"
            return f"[{loop}]" if factory is list else f"tuple([{loop}])"
        case kinds.Mapped(value=value):
            if _immutable(value):
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
                cls: (lambda value: value) if is_frozen(cls) else make_copier(cls)
                for cls in members
            }
            scope[name] = lambda value: copiers[type(value)](value)
            return f"{name}({source})"
    return source  # pragma: no cover - the other kinds are immutable


def _immutable(annotation: Any) -> bool:
    match kinds.kind_of(annotation):
        case kinds.Primitive() | kinds.PackedInt() | kinds.Enumeration():
            return True
        case kinds.Nullable(inner=inner):
            return _immutable(inner)
        case kinds.Items(item=item, factory=factory):
            return factory is tuple and _immutable(item)
        case kinds.FixedTuple(items=items):
            return all(_immutable(item) for item in items)
        case kinds.Record(type=cls):
            return is_frozen(cls)
        case kinds.Union(members=members):
            return all(is_frozen(member) for member in members)
    return False
