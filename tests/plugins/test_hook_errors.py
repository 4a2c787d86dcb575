"""Hooks that break the contract: the error names plugin, hook and mend."""

# ruff: noqa: ARG005 - hooks have all their arguments, used or not

from __future__ import annotations

import functools
import types
from typing import Any

import pytest
from tests.plugins import nim
from tests.plugins.load_errors import error_of, expect

from fritillary import Game, Information, Plugin, hookimpl


def test_the_unchanged_games_load() -> None:
    assert Game(nim.plugin()).id == "nim"
    assert Game(nim.hidden()).info.information is Information.HIDDEN


# ---------------------------------------------------------------------- arguments


@pytest.mark.parametrize(
    "function",
    [
        lambda action, state: None,
        lambda state: None,
        lambda: None,
        lambda state, action, dealer: None,
        lambda state, move: None,
        lambda state, action=None: None,
        lambda state, *action: None,
        lambda state, **action: None,
        lambda state, *, action: None,
        lambda state, action, /: None,
        lambda state, action, **more: None,
    ],
    ids=range(11),
)
def test_arguments_are_exactly_those_of_the_hook(function: Any) -> None:
    error = error_of(nim.plugin("my-nim", apply_action=function))
    expect(
        error,
        "plugin.wrong-arguments",
        "my-nim: apply_action(",
        "has the wrong arguments",
        "write apply_action(state, action), in this order, without defaults",
    )


def test_wrappers_have_the_arguments_of_the_hook_as_well() -> None:
    def legal_actions(position: Any):
        return (yield)

    error = error_of(nim.plugin(), nim.variant(legal_actions=legal_actions))
    expect(error, "plugin.wrong-arguments", "twist-plugin: legal_actions(position)")


# --------------------------------------------------------------- names and markers


def test_a_function_named_like_a_hook_needs_the_marker() -> None:
    bare = nim.Unmarked(lambda state, seat: 0.0)
    error = error_of(nim.plugin("my-nim", evaluate=bare))
    expect(
        error,
        "plugin.unmarked-hook",
        "my-nim: evaluate() is named like a hook but not marked",
        "put @hookimpl before it, or rename it",
    )


@pytest.mark.parametrize("value", [functools.partial(print), Plugin, len])
def test_any_callable_named_like_a_hook_counts(value: Any) -> None:
    error = error_of(nim.plugin(bots=nim.Unmarked(value)))
    expect(error, "plugin.unmarked-hook", "bots()")


def test_a_helper_imported_under_the_name_of_a_hook_counts() -> None:
    def observe(whatever: int) -> int:
        return whatever

    error = error_of(nim.plugin(observe=nim.Unmarked(observe)))
    expect(error, "plugin.unmarked-hook", "nim: observe()", "rename it")


def test_values_and_private_names_may_be_called_as_hooks() -> None:
    plugin = nim.plugin(
        evaluate=nim.Unmarked(3),
        bots=nim.Unmarked(types.ModuleType("bots")),
        _observe=nim.Unmarked(lambda: None),
        helper=nim.Unmarked(lambda: None),
    )
    game = Game(plugin)
    assert game.evaluate is None
    assert game.bots == {}


@pytest.mark.parametrize(
    ("name", "mend"),
    [
        ("legal_action", "did you mean legal_actions()?"),
        ("on_fire", "remove the marker"),
        ("_observe", "did you mean observe()?"),
    ],
)
def test_a_marked_function_is_a_hook(name: str, mend: str) -> None:
    hook: dict[str, Any] = {name: lambda state: None}
    error = error_of(nim.plugin("my-nim", **hook))
    expect(error, "plugin.unknown-hook", f"my-nim: there is no hook {name}()", mend)


def test_a_hook_may_be_imported_from_another_module() -> None:
    own = {name: value for name, value in nim.HOOKS.items() if name != "describe"}
    module = types.SimpleNamespace(**own, describe=nim.describe)
    assert Game(Plugin("importing", module)).info is nim.INFO


def test_a_hook_may_have_another_name_in_the_module() -> None:
    marked = hookimpl(specname="evaluate")(lambda state, seat: 0.5)
    game = Game(nim.plugin(guess=marked))
    assert game.evaluate is not None
    assert game.evaluate(None, 0) == 0.5


def test_two_implementations_of_one_hook_are_refused() -> None:
    marked = hookimpl(specname="legal_actions")(lambda state: ())
    error = error_of(nim.plugin("my-nim", other=marked))
    expect(
        error,
        "plugin.two-implementations",
        "my-nim: legal_actions() has two implementations",
        "other(specname='legal_actions')",
        "keep one",
    )


# -------------------------------------------------------------------- must-hooks


@pytest.mark.parametrize(
    ("hook", "arguments"),
    [
        ("describe", ""),
        ("new_state", "options, seats, dealer"),
        ("decision_point", "state"),
        ("legal_actions", "state"),
        ("apply_action", "state, action"),
        ("format_action", "action"),
        ("draw_text", "observation"),
    ],
)
def test_a_missing_must_hook_is_named_with_its_arguments(
    hook: str, arguments: str
) -> None:
    gap: dict[str, Any] = {hook: None}
    error = error_of(nim.plugin("my-nim", **gap))
    expect(
        error,
        "plugin.missing-hook",
        f"my-nim: the hook {hook}() is missing",
        f"add '@hookimpl def {hook}({arguments})'",
    )


@pytest.mark.parametrize("hook", ["observe", "sample_state", "shuffle_hidden"])
def test_hidden_information_needs_three_hooks_more(hook: str) -> None:
    error = error_of(nim.hidden(**{hook: None}))
    expect(
        error, "plugin.missing-hook", f"{hook}() is missing", "information is hidden"
    )


def test_chance_needs_a_hook_that_draws() -> None:
    error = error_of(nim.plugin(**nim.described(chance=True)))
    expect(
        error,
        "plugin.missing-hook",
        "nim: the hook chance_outcomes() is missing (GameInfo.chance is true)",
    )


def test_without_observe_the_observation_is_the_state() -> None:
    error = error_of(nim.plugin(**nim.described(observation=nim.Seen)))
    expect(error, "plugin.missing-hook", "without observe()", "or add the hook")


@pytest.mark.parametrize(
    ("hook", "function"),
    [
        ("chance_outcomes", lambda state: []),
        ("sample_chance", lambda state, dealer: None),
    ],
)
def test_a_hook_of_chance_without_chance_is_refused(hook: str, function: Any) -> None:
    error = error_of(nim.plugin(**{hook: function}))
    expect(
        error, "plugin.useless-hook", f"nim: {hook}() is never asked", "set GameInfo"
    )


def test_a_parser_besides_a_table_is_refused() -> None:
    error = error_of(nim.plugin(parse_action=lambda text: None))
    expect(error, "plugin.useless-hook", "parse_action() is never asked", "remove one")


# ------------------------------------------------------------------ kinds of hooks


def test_games_have_no_wrappers() -> None:
    @hookimpl(wrapper=True)
    def legal_actions(state: Any):
        return (yield)

    error = error_of(nim.plugin("my-nim", legal_actions=legal_actions))
    expect(
        error,
        "plugin.wrapper-in-game",
        "my-nim: legal_actions() is a wrapper, but this plugin is a game",
        "fritillary.variants",
    )


def test_old_style_wrappers_are_refused() -> None:
    @hookimpl(hookwrapper=True)
    def legal_actions(state: Any):
        yield

    error = error_of(nim.plugin(), nim.variant(legal_actions=legal_actions))
    expect(error, "plugin.old-wrapper", "legal_actions()", "@hookimpl(wrapper=True)")


def test_a_variant_has_wrappers_only() -> None:
    plain = hookimpl(lambda state: ())
    error = error_of(nim.plugin(), nim.variant(legal_actions=plain))
    expect(
        error,
        "plugin.two-implementations",
        "twist-plugin: legal_actions() of a variant would be a second plain",
        "mark it @hookimpl(wrapper=True)",
    )


def test_a_wrapper_yields() -> None:
    error = error_of(nim.plugin(), nim.variant(legal_actions=lambda state: ()))
    expect(error, "plugin.no-yield", "legal_actions() never yields", "result = yield")


async def _async(state: Any) -> Any:
    return ()


async def _async_yield(state: Any) -> Any:
    yield ()


def _yields(state: Any):
    yield ()


@pytest.mark.parametrize("function", [_async, _async_yield, _yields])
def test_a_hook_of_a_game_is_a_plain_function(function: Any) -> None:
    error = error_of(nim.plugin(legal_actions=function))
    expect(error, "plugin.no-function", "nim: legal_actions()")


def test_a_hook_is_a_function_and_no_other_callable() -> None:
    partial = functools.partial(lambda state: ())
    error = error_of(nim.plugin(legal_actions=hookimpl(partial)))
    expect(error, "plugin.no-function", "legal_actions must be a function")


@pytest.mark.parametrize("order", ["tryfirst", "trylast"])
def test_nobody_asks_for_a_place_in_the_order(order: str) -> None:
    place: dict[str, Any] = {order: True}

    @hookimpl(wrapper=True, **place)
    def legal_actions(state: Any):
        return (yield)

    error = error_of(nim.plugin(), nim.variant(legal_actions=legal_actions))
    expect(error, "plugin.order", "legal_actions()", "in the order of their ids")


def test_a_game_does_not_describe_a_variant() -> None:
    error = error_of(nim.plugin(describe_variant=lambda: None))
    expect(
        error, "plugin.not-a-variant", "describe_variant()", "has describe() instead"
    )
