"""Descriptions and classes that break the contract: the error names the mend."""

from __future__ import annotations

import enum
from typing import Any

import pytest
from attrs import define, evolve, field, frozen, make_class
from tests.plugins import nim
from tests.plugins.load_errors import error_of, expect

from fritillary import Plugin

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
