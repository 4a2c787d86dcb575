"""Wrappers that are called like plain functions do what their generators did."""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fritillary.plugins.straight import straightened

LIMIT = 2


def inner(state: Any, action: Any) -> Any:
    if action == "bad":
        msg = "inside"
        raise ValueError(msg)
    if action == "nothing":
        return None
    return [state, action]


def driven(wrapper: Callable[..., Any]) -> Callable[..., Any]:
    """Return what a wrapper does, by its generator."""

    def call(*arguments: Any) -> Any:
        running = wrapper(*arguments)
        next(running)
        try:
            result = inner(*arguments)
        except ValueError as error:
            running.throw(error)
            raise AssertionError from None
        with pytest.raises(StopIteration) as stop:
            running.send(result)
        return stop.value.value

    return call


# ------------------------------------------------------------------- straight ones


def returned(state: Any, action: Any) -> Any:
    return (yield)


def kept(state: Any, action: Any) -> Any:
    """Say something."""
    result: Any = yield
    if len(result) > LIMIT:
        return result[:LIMIT]
    return [*result, "kept"]


def forgotten(state: Any, action: Any) -> Any:
    yield


def returned_bare(state: Any, action: Any) -> Any:
    result = yield
    if result:
        return
    return result


def in_a_call(state: Any, action: Any) -> Any:
    return sorted(map(str, (yield)), key=action.find)


def in_text(state: Any, action: Any) -> Any:
    return f"{(yield)} by {state}"


def in_a_comprehension(state: Any, action: Any) -> Any:
    return [(state, part) for part in (yield) if part != action]


def in_a_list(state: Any, action: Any) -> Any:
    return [*(yield), {"more": action}]


def refusing(state: Any, action: Any) -> Any:
    if action == "never":
        msg = "never"
        raise KeyError(msg)
    return (yield)


def renaming(state: Any, action: Any) -> Any:
    state, action = "other", "bad"
    result = yield
    return [state, action, result]


def with_functions_inside(state: Any, action: Any) -> Any:
    def doubled(value: Any) -> Any:
        if value is None:
            return None
        return [value, value]

    nothing = lambda: None  # noqa: E731 - a lambda is the subject
    result = yield
    return [doubled(result), doubled(nothing()), state]


def _enclosed(more: str) -> Callable[..., Any]:
    def enclosed(state: Any, action: Any) -> Any:
        nonlocal more
        more += "!"
        result = yield
        return [result, more]

    return enclosed


STRAIGHT = (
    returned,
    kept,
    forgotten,
    returned_bare,
    in_a_call,
    in_text,
    in_a_comprehension,
    in_a_list,
    refusing,
    renaming,
    with_functions_inside,
)


def outcome(call: Callable[..., Any], action: str) -> Any:
    try:
        return call("state", action)
    except (KeyError, TypeError, ValueError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("action", ["good", "bad", "never", "nothing"])
@pytest.mark.parametrize("wrapper", STRAIGHT, ids=lambda wrapper: wrapper.__name__)
def test_a_straight_wrapper_does_what_its_generator_does(
    wrapper: Callable[..., Any], action: str
) -> None:
    straight = straightened(wrapper, inner)
    assert straight is not None
    assert outcome(straight, action) == outcome(driven(wrapper), action)
    assert straight.__name__ == wrapper.__name__
    assert straight.__doc__ == wrapper.__doc__


def test_a_wrapper_shares_what_it_encloses_with_its_plain_function() -> None:
    wrapper = _enclosed("well")
    straight = straightened(wrapper, inner)
    assert straight is not None
    assert straight(1, 2) == [[1, 2], "well!"]
    assert driven(wrapper)(1, 2) == [[1, 2], "well!!"]
    assert straight(1, 2) == [[1, 2], "well!!!"]


def test_two_hooks_with_one_wrapper_do_not_mix() -> None:
    one = straightened(returned, lambda *_: 1)
    two = straightened(returned, lambda *_: 2)
    assert one is not None
    assert two is not None
    assert (one("s", "a"), two("s", "a")) == (1, 2)


def test_globals_are_looked_up_when_it_is_called(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    straight = straightened(kept, inner)
    assert straight is not None
    monkeypatch.setitem(globals(), "LIMIT", 1)
    assert straight(1, 2) == [1]


@pytest.mark.parametrize("wrapper", [forgotten, returned_bare])
def test_a_result_that_is_missing_is_refused(wrapper: Callable[..., Any]) -> None:
    straight = straightened(wrapper, inner, lambda: RuntimeError("no result"))
    assert straight is not None
    with pytest.raises(RuntimeError, match="no result"):
        straight(1, 2)


def test_a_result_that_is_false_is_a_result() -> None:
    straight = straightened(returned, lambda *_: (), lambda: RuntimeError("none"))
    assert straight is not None
    assert straight(1, 2) == ()


def test_a_traceback_shows_the_line_of_the_wrapper() -> None:
    straight = straightened(returned, inner)
    assert straight is not None
    with pytest.raises(ValueError, match="inside") as caught:
        straight("state", "bad")
    frame = traceback.extract_tb(caught.value.__traceback__)[-2]
    assert frame.filename == __file__
    assert frame.name == "returned"
    assert frame.line == "return (yield)"


# ----------------------------------------------------------------- all the others


def under_a_condition(state: Any, action: Any) -> Any:
    result = None
    if action:
        result = yield
    return result


def in_a_loop(state: Any, action: Any) -> Any:
    result = None
    for _ in range(1):
        result = yield
    return result


def twice(state: Any, action: Any) -> Any:
    yield
    return (yield)


def either_way(state: Any, action: Any) -> Any:
    if action:
        return (yield)
    return [(yield)]


def after_a_return(state: Any, action: Any) -> Any:
    if not action:
        return None
    return (yield)


def in_a_choice(state: Any, action: Any) -> Any:
    return (yield) if action else state


def in_a_short_cut(state: Any, action: Any) -> Any:
    return action and (yield)


def in_a_comparison(state: Any, action: Any) -> Any:
    return 1 < action < (yield)


def handed_over(state: Any, action: Any) -> Any:
    return (yield action)


def tried(state: Any, action: Any) -> Any:
    try:
        result = yield
    except ValueError:
        return "mended"
    return result


def within(state: Any, action: Any) -> Any:
    with pytest.raises(ValueError, match="x"):
        yield


def passed_on(state: Any, action: Any) -> Any:
    return (yield from returned(state, action))


def in_a_lambda(state: Any, action: Any) -> Any:
    function = lambda: (yield)  # noqa: E731 - a lambda is the subject
    yield
    return function


OTHERS = (
    under_a_condition,
    in_a_loop,
    twice,
    either_way,
    after_a_return,
    in_a_choice,
    in_a_short_cut,
    in_a_comparison,
    handed_over,
    tried,
    within,
    passed_on,
    in_a_lambda,
)


@pytest.mark.parametrize("wrapper", OTHERS, ids=lambda wrapper: wrapper.__name__)
def test_any_other_wrapper_keeps_its_generator(wrapper: Callable[..., Any]) -> None:
    assert straightened(wrapper, inner) is None


def test_a_wrapper_without_source_keeps_its_generator() -> None:
    scope: dict[str, Any] = {}
    exec("def wrapper(state):\n    return (yield)\n", scope)  # noqa: S102 - no file
    assert straightened(scope["wrapper"], inner) is None


def test_a_method_keeps_its_generator() -> None:
    class Variant:
        def wrapper(self, state: Any) -> Any:
            return (yield)

    assert straightened(Variant().wrapper, inner) is None


TEXT = "def wrapper(state):\n    return [(yield), 1]\n"


def loaded(file: Path, text: str) -> Callable[..., Any]:
    """Return the wrapper of a text while a file holds another."""
    scope: dict[str, Any] = {}
    exec(compile(TEXT, file, "exec"), scope)  # noqa: S102 - ours
    file.write_text(text, encoding="utf-8")
    linecache.checkcache()
    wrapper: Callable[..., Any] = scope["wrapper"]
    return wrapper


@pytest.mark.parametrize(
    "text",
    [
        TEXT.replace("1", "2"),
        TEXT.replace("wrapper", "another"),
        "wrapper = None\n",
        "def wrapper(state):\n    return [(yield\n",
        'def wrapper(state):\n    return """[(yield), 1]\n',
        "def wrapper(state):\n    nonlocal more\n    return [(yield), 1]\n",
        "# nothing\n",
        "",
    ],
)
def test_source_that_was_changed_is_not_taken_for_the_wrapper(
    text: str, tmp_path: Path
) -> None:
    wrapper = loaded(tmp_path / "variant.py", text)
    found = straightened(wrapper, lambda state: state)
    assert found is None or found(5) == [5, 1]
    same = straightened(loaded(tmp_path / "same.py", TEXT), lambda state: state)
    assert same is not None
    assert same(5) == [5, 1]
