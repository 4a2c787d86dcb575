"""Variants that break the contract: the error names plugin, hook and mend."""

from __future__ import annotations

import types
from typing import Any

import pytest
from attrs import evolve
from tests.plugins import nim
from tests.plugins.load_errors import error_of, expect

from fritillary import Plugin, hookimpl


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
