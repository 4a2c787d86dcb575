"""Wrappers that a function could not do for keep their generators."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.plugins.forms import Wrapper, as_generator, inner, outcome
from tests.plugins.texts import defined

from fritillary.plugins import binding
from fritillary.plugins.straight import straightened


def listing_names(state: Any) -> Any:
    result = yield
    return [result, sorted(locals())]


def listing_variables(state: Any) -> Any:
    result = yield
    return [result, sorted(vars())]


def listing(state: Any) -> Any:
    result = yield
    return [result, dir()]


def evaluating(state: Any) -> Any:
    result = yield
    return [result, eval("state")]  # noqa: S307 - a text of ours


def executing(state: Any) -> Any:
    result = yield
    exec("state = 1")  # noqa: S102 - a text of ours
    return [result, state]


def asking_for_the_frame(state: Any) -> Any:
    yield
    return [sys._getframe().f_code.co_flags & inspect.CO_GENERATOR]


def asking_inspect(state: Any) -> Any:
    from inspect import currentframe as here

    yield
    return [here().f_code.co_flags & inspect.CO_GENERATOR]  # type: ignore[union-attr]


def asking_inside(state: Any) -> Any:
    def names() -> Any:
        return [state, sorted(locals())]

    yield
    return names()


class Parent:
    @staticmethod
    def make() -> Any:
        class Odd:
            __hidden = 1

            def mangled(state: Any) -> Any:  # noqa: N805 - called as a function
                result = yield
                return [result, Odd.__hidden]

            def knowing_its_class(state: Any) -> Any:  # noqa: N805
                result = yield
                return [result, super.__name__, __class__.__name__]  # type: ignore[name-defined]

        return Odd


Odd = Parent.make()


def with_a_class(state: Any) -> Any:
    class Inside:
        pass

    yield
    return [Inside.__qualname__]


def with_async(state: Any) -> Any:
    async def inside() -> None:
        pass

    yield
    return [inside.__name__]


def with_a_default(state: Any, more: int = 3) -> Any:
    return [(yield), more]


def with_any_number(*states: Any) -> Any:
    return [(yield), len(states)]


def with_any_names(state: Any, **more: Any) -> Any:
    return [(yield), more]


def with_a_keyword(state: Any, *, more: int = 3) -> Any:
    return [(yield), more]


def without_a_name(state: Any, /) -> Any:
    return [(yield)]


def described_otherwise(state: Any) -> Any:
    return [(yield)]


described_otherwise.__signature__ = inspect.signature(inner)  # type: ignore[attr-defined]


@functools.wraps(inner)
def decorated(state: Any) -> Any:
    return [(yield)]


FALLING_BACK = (
    listing_names,
    listing_variables,
    listing,
    evaluating,
    executing,
    asking_for_the_frame,
    asking_inspect,
    asking_inside,
    Odd.mangled,
    Odd.knowing_its_class,
    with_a_class,
    with_async,
    with_a_default,
    with_any_number,
    with_any_names,
    with_a_keyword,
    without_a_name,
    described_otherwise,
    decorated,
)


@pytest.mark.parametrize("wrapper", FALLING_BACK, ids=lambda wrapper: wrapper.__name__)
def test_what_could_differ_keeps_its_generator(wrapper: Wrapper) -> None:
    assert straightened(wrapper, inner) is None
    bound = binding._wrapped("legal_actions", "odd", wrapper, inner)
    assert outcome(bound, 7) == outcome(as_generator(wrapper), 7)


def _branches(count: int) -> Iterable[str]:
    yield "def wrapper(state):\n    result = yield"
    yield "    if state == 0:\n        return 0"
    for value in range(1, count):
        yield f"    elif state == {value}:\n        return [{value}]"
    yield "    return result\n"


def _terms(count: int) -> Iterable[str]:
    yield "def wrapper(state):\n    yield"
    yield f"    return [{' + '.join(['state'] * count)}]\n"


def _loops(count: int) -> Iterable[str]:
    yield "def wrapper(state):\n    found = []"
    for depth in range(count):
        yield f"{'    ' * (depth + 1)}for _ in (1,):"
    yield f"{'    ' * (count + 1)}found.append(state)"
    yield "    return [(yield), found]\n"


@pytest.mark.parametrize(
    ("lines", "count"),
    [(_branches, 600), (_branches, 900), (_terms, 600), (_terms, 900), (_loops, 20)],
)
def test_wrappers_too_long_for_it_keep_their_generators(
    lines: Callable[[int], Iterable[str]], count: int, tmp_path: Path
) -> None:
    wrapper = defined(tmp_path / "long.py", "\n".join(lines(count)))
    assert straightened(wrapper, inner) is None
    bound = binding._wrapped("legal_actions", "long", wrapper, inner)
    assert outcome(bound, 5) == outcome(as_generator(wrapper), 5)
