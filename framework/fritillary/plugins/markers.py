"""The two markers; a leaf module, so that a plugin costs one light import."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, Final, TypeVar, overload

import pluggy

#: The project name under which pluggy keeps our hooks apart from others.
PROJECT: Final = "fritillary"

F = TypeVar("F", bound=Callable[..., Any])

_PLUGGY: Final = pluggy.HookimplMarker(PROJECT)

#: The attribute in which pluggy keeps what a function was marked with.
_MARK: Final = f"{PROJECT}_impl"

#: What compiled functions were marked with: they take no attributes.
_COMPILED: Final[dict[Callable[..., Any], Any]] = {}


@overload
def hookimpl(function: F) -> F: ...
@overload
def hookimpl(
    function: None = None,
    *,
    hookwrapper: bool = False,
    optionalhook: bool = False,
    tryfirst: bool = False,
    trylast: bool = False,
    specname: str | None = None,
    wrapper: bool = False,
) -> Callable[[F], F]: ...
def hookimpl(function: Any = None, **marks: Any) -> Any:
    """Mark a function of a plugin module as the implementation of a hook.

    Args:
        function: the implementation, named as the hook.
        marks: as pluggy has them; ``@hookimpl(wrapper=True)`` marks a wrapper in a
            variant.
    """
    if function is None:
        return lambda marked: hookimpl(marked, **marks)
    if type(function) is not types.BuiltinFunctionType:
        return _PLUGGY(function, **marks)

    def stand_in() -> None: ...

    _COMPILED[function] = getattr(_PLUGGY(stand_in, **marks), _MARK)
    return function


def marks_of(value: Any) -> dict[str, Any] | None:
    """Return what a function of a plugin was marked with; nothing if it was not."""
    marks = getattr(value, _MARK, None)
    if marks is None and type(value) is types.BuiltinFunctionType:
        marks = _COMPILED.get(value)
    return marks if type(marks) is dict else None


hookspec: Final = pluggy.HookspecMarker(PROJECT)
