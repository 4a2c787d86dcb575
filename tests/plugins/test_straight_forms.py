"""The two forms of a wrapper compared where a function and a generator could differ."""

from __future__ import annotations

import functools
import inspect
import sys
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from tests.plugins.texts import defined

from fritillary.plugins import binding
from fritillary.plugins.straight import straightened

Wrapper = Callable[..., Any]

LIMIT = 2


class OddStopError(StopIteration):
    """A subclass is what it is derived from."""


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


# ----------------------------------------------------------------------- straight ones


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


# ---------------------------------------------------------------------- what falls back


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


def test_code_that_is_replaced_is_looked_at_again() -> None:
    def first(state: Any) -> Any:
        return [(yield), "first"]

    def second(state: Any) -> Any:
        return [(yield), "second"]

    assert as_function(first)(7) == [[7, 1], "first"]
    first.__code__ = second.__code__
    assert as_function(first)(7) == [[7, 1], "second"]
