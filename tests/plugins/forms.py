"""The two forms of a wrapper, and what comes of calling them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fritillary.plugins import binding
from fritillary.plugins.straight import straightened

Wrapper = Callable[..., Any]


def inner(state: Any) -> Any:
    if isinstance(state, BaseException):
        raise state
    return [state, 1]


def as_generator(
    wrapper: Wrapper, wrapped: Callable[..., Any] = inner
) -> Callable[..., Any]:
    """Return a wrapped hook whose wrapper kept its generator."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(binding, "straightened", lambda *_: None)
        return binding._wrapped("legal_actions", "odd", wrapper, wrapped)


def as_function(
    wrapper: Wrapper, wrapped: Callable[..., Any] = inner
) -> Callable[..., Any]:
    """Return a wrapped hook whose wrapper became a function."""
    assert straightened(wrapper, wrapped) is not None
    return binding._wrapped("legal_actions", "odd", wrapper, wrapped)


def chain(error: BaseException | None) -> Any:
    """Return what a traceback would tell of an error and of those behind it."""
    if error is None:
        return None
    return (
        type(error),
        str(error),
        chain(error.__cause__),
        chain(error.__context__),
        error.__suppress_context__,
    )


def outcome(call: Callable[..., Any], state: Any) -> Any:
    """Return the result, or the error, of a call while another error is handled."""
    try:
        raise LookupError
    except LookupError:
        try:
            return call(state)
        except BaseException as error:  # noqa: BLE001 - any is what is compared
            return chain(error)
