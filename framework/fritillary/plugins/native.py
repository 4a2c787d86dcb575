"""Native twins: what a compiled class takes over from the attrs class it is made of.

The compiled build makes a plain class of each state, see ``hatch_build.py``. To
everybody else it is the attrs class: fields, annotations, comparison, text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import attrs

#: The attribute of a twin that copies its instances.
COPY: Final = "__fritillary_copy__"

_TAKEN: Final = (
    "__annotations__",
    "__attrs_attrs__",
    "__attrs_props__",
    "__doc__",
    "__eq__",
    "__hash__",
    "__match_args__",
    "__ne__",
    "__repr__",
)


def adopt(twin: type, fields: type, copy: Callable[[Any], Any]) -> None:
    """Make a compiled class the attrs class it was made from, to all who ask.

    Args:
        twin: the compiled class; its module ends in ``_native``.
        fields: the attrs class, whose annotations are whole.
        copy: copies an instance of the twin.
    """
    for name in _TAKEN:
        if name in fields.__dict__:
            setattr(twin, name, fields.__dict__[name])
    twin.__module__ = twin.__module__.removesuffix("_native")
    names = [field.name for field in attrs.fields(fields) if field.init]

    def reduce(state: Any) -> tuple[Any, ...]:
        return twin, tuple([getattr(state, name) for name in names])

    setattr(twin, "__reduce__", reduce)  # noqa: B010 - mypy knows it as a method
    setattr(twin, COPY, staticmethod(copy))
