"""Every breach of the contract is an error that names plugin, hook and mend."""

# ruff: noqa: ARG005 - hooks have all their arguments, used or not

from __future__ import annotations

import enum
import functools
import types
from typing import Any

import pytest
from attrs import define, evolve, field, frozen, make_class
from tests.plugins import nim

from fritillary import Game, Information, Plugin, PluginError, hookimpl


def error_of(plugin: Plugin, *variants: Plugin) -> PluginError:
    with pytest.raises(PluginError) as caught:
        Game(plugin, variants)
    return caught.value


def expect(error: PluginError, code: str, *words: str) -> None:
    for word in words:
        assert word in error.message
    assert error.code == code


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


# ------------------------------------------------------------------------ describe


@pytest.mark.parametrize("rubbish", [None, {}, "nim", nim.Options()], ids=str)
def test_describe_returns_game_info(rubbish: Any) -> None:
    error = error_of(nim.plugin("my-nim", describe=lambda: rubbish))
    expect(error, "plugin.describe", "my-nim: describe() must return a GameInfo, not")


@pytest.mark.parametrize("raised", [ValueError, TypeError, KeyError, RuntimeError])
def test_describe_that_raises_is_an_error_of_the_plugin(
    raised: type[Exception],
) -> None:
    def describe() -> Any:
        raise raised("no idea")

    error = error_of(nim.plugin("my-nim", describe=describe))
    expect(error, "plugin.describe", "my-nim: describe() failed: no idea", "GameInfo")


def test_wrong_values_in_the_description_are_named() -> None:
    def describe() -> Any:
        return evolve(nim.INFO, information="hidden")  # type: ignore[arg-type]

    error = error_of(nim.plugin(describe=describe))
    expect(error, "plugin.describe", "nim: describe() failed: 'information' must be")


# ------------------------------------------------------------------------- classes


def with_state_field(name: str, annotation: Any) -> Plugin:
    cls = make_class("Wider", {name: field(type=annotation)}, bases=(nim.State,))
    return nim.plugin("my-nim", **nim.described(state=cls, observation=cls))


class Enumeration(enum.Enum):
    HALF = 0.5


@pytest.mark.parametrize(
    "annotation",
    [float, set[int], list, Any, bytes, dict[int, int], list[Any], Enumeration],
    ids=str,
)
def test_forbidden_field_types_are_named_with_what_to_use(annotation: Any) -> None:
    error = error_of(with_state_field("extra", annotation))
    expect(error, "plugin.class", "my-nim: Wider.extra: ", "is not allowed: use int,")


def test_no_field_is_called_type() -> None:
    error = error_of(with_state_field("type", int))
    expect(error, "plugin.class", "my-nim: Wider.type: ", "rename the field")


@define
class Bare:
    matches: int


@pytest.mark.parametrize("which", ["state", "observation"])
def test_state_and_observation_refer_to_the_options(which: str) -> None:
    error = error_of(nim.hidden(**nim.described(**{which: Bare})))
    expect(error, "plugin.class", "Bare needs a field 'options: Options'")


@define
class LooseOptions:
    matches: int = 5


@frozen
class ListOptions:
    piles: list[int] = field(factory=list)


@frozen
class NeedyOptions:
    matches: int


@define
class LooseTake:
    number: int


@frozen(eq=False)
class IdentityTake:
    number: int


@frozen
class ListTake:
    numbers: list[int]


def with_options(options: type) -> Plugin:
    state = make_class("S", {"options": field(type=options)}, slots=True)
    info = nim.described(options=options, state=state, observation=state, presets={})
    return nim.plugin("my-nim", **info)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (LooseOptions, "LooseOptions can be changed"),
        (ListOptions, "ListOptions.piles: lists and dicts can be changed; use tuple"),
        (NeedyOptions, "NeedyOptions() failed"),
    ],
)
def test_options_are_frozen_and_have_defaults(options: type, words: str) -> None:
    expect(error_of(with_options(options)), "plugin.class", "my-nim: ", words)


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (LooseTake, "LooseTake can be changed, or compares by identity"),
        (IdentityTake, "decorate it with @attrs.frozen"),
        (ListTake, "ListTake.numbers: lists and dicts can be changed; use tuple"),
        (int, "int is not an attrs class"),
    ],
)
def test_actions_are_frozen_values(action: type, words: str) -> None:
    error = error_of(nim.plugin("my-nim", **nim.described(actions=(action,))))
    expect(error, "plugin.class", "my-nim: ", words)


@frozen
class FrozenState:
    options: nim.Options


@define(slots=False)
class WideState:
    options: nim.Options


@pytest.mark.parametrize("state", [FrozenState, WideState])
def test_the_state_is_mutable_and_has_slots(state: type) -> None:
    plugin = nim.plugin(**nim.described(state=state, observation=state))
    expect(
        error_of(plugin),
        "plugin.class",
        f"nim: the state class {state.__name__} must be a mutable class with slots",
        "@attrs.define",
    )


def test_presets_are_options() -> None:
    error = error_of(nim.plugin(**nim.described(presets={"short": {"matches": 2}})))
    expect(error, "plugin.class", "the preset 'short' must be an instance of Options")


@pytest.mark.parametrize(
    "bots", [None, [nim.Options], {"a": 1}, {1: nim.Options}], ids=str
)
def test_bots_are_factories_by_name(bots: Any) -> None:
    error = error_of(nim.plugin(bots=lambda: bots))
    expect(error, "plugin.bots", "nim: bots() must return a mapping from names")


@pytest.mark.parametrize("name", ["", "Bad", "bad name", "x\x1b[31m", "a:b", "é"])
def test_bots_have_names_that_can_be_typed(name: str) -> None:
    error = error_of(nim.plugin(bots=lambda: {name: nim.Options}))
    expect(error, "plugin.bots", "nim: bots() names a bot ", "use lower-case letters")
    assert str(error).isprintable()


# ------------------------------------------------------------------------ variants


def test_a_variant_describes_itself() -> None:
    plugin = Plugin("odd", types.SimpleNamespace())
    error = error_of(nim.plugin(), plugin)
    expect(error, "plugin.missing-hook", "odd: the hook describe_variant() is missing")


def test_a_variant_describes_itself_with_variant_info() -> None:
    module = types.SimpleNamespace(describe_variant=hookimpl(lambda: nim.INFO))
    error = error_of(nim.plugin(), Plugin("odd", module))
    expect(
        error, "plugin.describe", "odd: describe_variant() must return a VariantInfo"
    )


def test_a_variant_is_for_this_game() -> None:
    error = error_of(nim.plugin(), nim.variant("no-pass", ["chess", "go"]))
    expect(
        error,
        "plugin.wrong-game",
        "variant no-pass is not for nim, but for chess, go",
        "VariantInfo.games",
    )


def test_a_variant_applies_once() -> None:
    error = error_of(nim.plugin(), nim.variant("a"), nim.variant("b"), nim.variant("a"))
    expect(error, "plugin.variant-twice", "variant a is named twice; name it once")


@pytest.mark.parametrize(
    "hook", ["evaluate", "draw_svg", "sample_state", "parse_action", "bots"]
)
def test_a_wrapper_wraps_something(hook: str) -> None:
    wrappers: dict[str, Any] = {
        "evaluate": _wrap_evaluate,
        "draw_svg": _wrap_observation,
        "sample_state": _wrap_sample,
        "parse_action": _wrap_text,
        "bots": _wrap_nothing,
    }
    wrapper: dict[str, Any] = {hook: wrappers[hook]}
    error = error_of(nim.plugin(), nim.variant(**wrapper))
    expect(
        error,
        "plugin.nothing-to-wrap",
        f"twist-plugin: wraps {hook}(), which nim does not implement",
    )


def _wrap_evaluate(state: Any, seat: int):
    return (yield)


def _wrap_observation(observation: Any):
    return (yield)


def _wrap_sample(observation: Any, dealer: Any):
    return (yield)


def _wrap_text(text: str):
    return (yield)


def _wrap_nothing():
    return (yield)


@pytest.mark.parametrize("change", [{"id": "mine"}, {"rules_version": 2}], ids=str)
def test_a_variant_leaves_the_identity_of_the_game_alone(
    change: dict[str, Any],
) -> None:
    def describe():
        return evolve((yield), **change)

    error = error_of(nim.plugin(), nim.variant(describe=describe))
    expect(
        error, "plugin.describe", "nim: a variant changes the id or the rules version"
    )
