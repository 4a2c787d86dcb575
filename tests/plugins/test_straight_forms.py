"""The two forms of a wrapper compared where a function and a generator could differ."""

from __future__ import annotations

import functools
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from tests.plugins.forms import Wrapper, as_function, as_generator, outcome
from tests.plugins.texts import defined

LIMIT = 2


class OddStopError(StopIteration):
    """A subclass is what it is derived from."""


def passing(state: Any) -> Any:
    return (yield)


def stopping_after(state: Any) -> Any:
    result = yield
    return next(action for action in result if action == "none")


def stopping_before(state: Any) -> Any:
    next(iter(()))
    return (yield)


def stopping_oddly(state: Any) -> Any:
    yield
    raise OddStopError(3)


def stopping_and_returning(state: Any) -> Any:
    return StopIteration((yield)).value


def stopping_inside(state: Any) -> Any:
    return list(next(iter(())) for _ in (yield))  # noqa: C400 - the subject


def raising_again(state: Any) -> Any:
    yield
    raise  # noqa: PLE0704 - raises what the caller handles


def raising_from(state: Any) -> Any:
    result = yield
    raise KeyError(result) from ValueError(state)


def deleting(state: Any) -> Any:
    del state
    result = yield
    state = result
    return state


def unbound(state: Any) -> Any:
    result = yield
    del state
    return [result, state]  # noqa: F821 - what that raises is compared


def matching(state: Any) -> Any:
    match state:
        case int():
            kind = "number"
        case _:
            kind = "other"
    result = yield
    match result:
        case [first, *_]:
            return [first, kind]
        case _:
            return [kind]


def looping(state: Any) -> Any:
    count = 0
    while count < LIMIT:
        count += 1
        if count > LIMIT:
            break
    else:
        count += 10
    result = yield
    for action in result:
        if action == "none":
            break
        count += 1
    else:
        return [count]
    return [0]


def naming_in_a_comprehension(state: Any) -> Any:
    found = [last := action for action in (yield)]
    return [found, last]


def calling_what_is_imported(state: Any) -> Any:
    return [functools.reduce(lambda one, other: [one, other], (yield)), state]


def quoting_names(state: Any) -> Any:
    def helper() -> Any:
        return lambda: None

    result = yield
    return [result, helper.__qualname__, helper().__qualname__]


def miscalling(state: Any) -> Any:
    def helper() -> None:
        pass

    yield
    return helper(state)  # type: ignore[call-arg]


def storing_in_order(state: Any) -> Any:
    order: list[Any] = []

    def note(what: Any) -> Any:
        order.append(what)
        return what

    places: dict[Any, Any] = {}
    places[note("key")] = [note("before"), (yield), note("after")]
    return [order, places]


def interpolating(state: Any) -> Any:
    """Docstrings are no lines that run."""
    return [f"{state!r:>{len((yield))}}"]


def on_one_line(state: Any) -> Any: return (yield)  # fmt: skip


STRAIGHT = (
    passing,
    stopping_after,
    stopping_before,
    stopping_oddly,
    stopping_and_returning,
    stopping_inside,
    raising_again,
    raising_from,
    deleting,
    unbound,
    matching,
    looping,
    naming_in_a_comprehension,
    calling_what_is_imported,
    quoting_names,
    miscalling,
    storing_in_order,
    interpolating,
    on_one_line,
)


def _caused() -> KeyError:
    error = KeyError("caused")
    error.__cause__ = ValueError("cause")
    return error


#: What the wrapped hook is given: a value that it returns, or an error that it raises.
STATES: dict[str, Callable[[], Any]] = {
    "value": lambda: 7,
    "stop": lambda: StopIteration(5),
    "odd stop": lambda: OddStopError(5),
    "exit": GeneratorExit,
    "interrupt": KeyboardInterrupt,
    "caused": _caused,
    "group": lambda: ExceptionGroup("some", [StopIteration(1), ValueError(2)]),
}


@pytest.mark.parametrize("state", STATES.values(), ids=STATES)
@pytest.mark.parametrize("wrapper", STRAIGHT, ids=lambda wrapper: wrapper.__name__)
def test_both_forms_return_and_raise_the_same(
    wrapper: Wrapper, state: Callable[[], Any]
) -> None:
    one = outcome(as_function(wrapper), state())
    assert one == outcome(as_generator(wrapper), state())


def test_both_forms_fail_the_same_assertion(tmp_path: Path) -> None:
    # From a text, since asserts of tests are rewritten before they are compiled.
    text = "def wrapper(state):\n    found = yield\n    assert not found, state\n"
    wrapper = defined(tmp_path / "asserting.py", text)
    one = outcome(as_function(wrapper), 7)
    assert one == outcome(as_generator(wrapper), 7)
    assert one[:2] == (AssertionError, "7")


def test_a_stop_of_the_wrapped_hook_does_not_end_the_loop_of_a_caller() -> None:
    def never(state: Any) -> Any:
        raise StopIteration

    with pytest.raises(RuntimeError, match="generator raised StopIteration") as caught:
        list(map(as_function(passing, never), [1, 2]))
    assert isinstance(caught.value.__cause__, StopIteration)
    lines = traceback.extract_tb(caught.value.__cause__.__traceback__)
    assert [line.name for line in lines] == ["passing", "never"]


def traced(call: Callable[..., Any], name: str) -> list[int]:
    """Return the lines that a function of that name runs, as tracers see them."""
    lines: list[int] = []

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        if frame.f_code.co_name != name:
            return None
        if event == "line" and lines[-1:] != [frame.f_lineno]:
            lines.append(frame.f_lineno)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call(7)
    finally:
        sys.settrace(before)
    return lines


@pytest.mark.parametrize(
    "wrapper", [passing, deleting, matching, looping, interpolating, on_one_line]
)
def test_tracers_see_the_same_lines(wrapper: Wrapper) -> None:
    name = wrapper.__name__
    lines = traced(as_function(wrapper), name)
    assert lines == traced(as_generator(wrapper), name)
    assert lines


def test_a_wrapper_that_ran_before_can_still_be_made_a_function() -> None:
    call = as_generator(looping)
    for _ in range(200):
        call(7)
    assert as_function(looping)(7) == call(7)


def test_code_that_is_replaced_is_looked_at_again() -> None:
    def first(state: Any) -> Any:
        return [(yield), "first"]

    def second(state: Any) -> Any:
        return [(yield), "second"]

    assert as_function(first)(7) == [[7, 1], "first"]
    first.__code__ = second.__code__
    assert as_function(first)(7) == [[7, 1], "second"]
