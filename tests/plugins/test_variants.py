"""Variants wrap hooks: in order, outside of the hot path, and safely."""

# ruff: noqa: ARG005 - hooks have all their arguments, used or not

from __future__ import annotations

import functools
import random
from typing import Any

import pytest
from attrs import evolve
from tests.plugins import nim
from tests.plugins.nim import Take

from fritillary import (
    FastDealer,
    Game,
    IllegalActionError,
    Plugin,
    PluginError,
    hookimpl,
    playout,
)
from fritillary.core.errors import MatchOverError

DEALER = FastDealer(1)


def wrapping(mark: str) -> Any:
    """Return a wrapper of `format_action` that leaves its mark."""

    def format_action(action: Any):
        text = yield
        return f"{mark}({text})"

    return format_action


def at_most(most: int) -> Any:
    """Return a wrapper that takes large actions away."""

    def legal_actions(state: Any):
        legal = yield
        return tuple(action for action in legal if action.number <= most)

    return legal_actions


# ----------------------------------------------------------------- the hot path


@pytest.mark.parametrize(
    ("attribute", "hook"),
    [
        ("decision_point", "decision_point"),
        ("legal_actions", "legal_actions"),
        ("apply", "apply_action"),
        ("format_action", "format_action"),
        ("draw_text", "draw_text"),
        ("_new_state", "new_state"),
    ],
)
def test_a_hook_that_nothing_wraps_is_the_plain_function(
    attribute: str, hook: str
) -> None:
    game = Game(nim.plugin())
    assert getattr(game, attribute) is nim.HOOKS[hook]


def test_only_the_wrapped_hook_is_another_function() -> None:
    game = Game(nim.plugin(), [nim.variant(legal_actions=at_most(1))])
    assert game.legal_actions is not nim.legal_actions
    assert game.apply is nim.apply_action
    assert game.decision_point is nim.decision_point
    assert game.legal_actions(game.new(DEALER)) == (Take(1),)


def test_a_variant_without_wrappers_changes_only_the_name() -> None:
    game = Game(nim.plugin(), [nim.variant("house")])
    assert game.id == "nim+house"
    assert game.legal_actions is nim.legal_actions


def test_a_cached_function_is_a_hook_like_any_other() -> None:
    cached = hookimpl(functools.cache(lambda options, seats: [Take(1), Take(2)]))
    game = Game(nim.plugin(all_actions=cached))
    assert len(game.table(nim.Options(), 2)) == 2

    def all_actions(options: Any, seats: int):
        return [*(yield), Take(9)]

    wide = Game(nim.plugin(all_actions=cached), [nim.variant(all_actions=all_actions)])
    assert len(wide.table(nim.Options(), 2)) == 3


class Shelf:
    """A plugin that is an object with methods, not a module."""

    def __init__(self) -> None:
        vars(self).update(
            {name: hook for name, hook in nim.HOOKS.items() if name != "format_action"}
        )

    @hookimpl
    def format_action(self, action: Any) -> str:
        return f"shelf {action.number}"


class Twist:
    """A variant that is an object as well."""

    describe_variant = staticmethod(nim.variant("twist").module.describe_variant)

    @hookimpl(wrapper=True)
    def format_action(self, action: Any):
        text = yield
        return f"({text})"


def test_objects_with_methods_are_plugins_as_well() -> None:
    shelf, twist = Plugin("shelf", Shelf()), Plugin("twist", Twist())
    assert Game(shelf).format_action(Take(1)) == "shelf 1"
    assert Game(shelf, [twist]).format_action(Take(1)) == "(shelf 1)"


# -------------------------------------------------------------------- the order


@pytest.mark.parametrize("order", ["abc", "cba", "bca"])
def test_variants_apply_in_the_order_of_their_ids_the_first_innermost(
    order: str,
) -> None:
    variants = [nim.variant(name, format_action=wrapping(name)) for name in order]
    game = Game(nim.plugin(), variants)
    assert game.id == "nim+a+b+c"
    assert [info.id for info in game.variants] == ["a", "b", "c"]
    assert game.format_action(Take(1)) == "c(b(a(take 1)))"


def test_variants_with_the_same_plugin_name_do_not_clash() -> None:
    one, two = (
        evolve(nim.variant(name, format_action=wrapping(name)), name="nim")
        for name in "ab"
    )
    assert Game(nim.plugin(), [one, two]).format_action(Take(1)) == "b(a(take 1))"


def test_a_game_and_its_variants_do_not_affect_other_games() -> None:
    plain = Game(nim.plugin())
    Game(nim.plugin(), [nim.variant(format_action=wrapping("x"))])
    assert plain.format_action(Take(1)) == "take 1"
    assert Game(nim.plugin()).format_action is nim.format_action


# ----------------------------------------------------------- refusing and failing


def test_a_wrapper_that_refuses_before_it_yields_leaves_the_state_alone() -> None:
    def apply_action(state: Any, action: Any):
        if action.number == 2:
            msg = "never two"
            raise IllegalActionError(msg)
        return (yield)

    game = Game(nim.plugin(), [nim.variant(apply_action=apply_action)])
    state = game.new(DEALER)
    before = game.copy(state)
    with pytest.raises(IllegalActionError, match="never two"):
        game.play(state, Take(2))
    assert state == before
    game.play(state, Take(1))
    assert state.matches == before.matches - 1


def test_what_a_variant_takes_away_cannot_be_played() -> None:
    game = Game(nim.plugin(), [nim.variant(legal_actions=at_most(1))])
    state = game.new(DEALER)
    with pytest.raises(IllegalActionError):
        game.play(state, Take(2))
    assert playout(game, state, random.Random(1)).scores == (1, 0)
    with pytest.raises(MatchOverError, match="the match is over"):
        game.play(state, Take(1))


@pytest.mark.parametrize(
    "variant_ids", [["forgetful"], ["a-good-one", "forgetful"]], ids=len
)
def test_a_wrapper_that_forgets_to_return_is_caught(variant_ids: list[str]) -> None:
    def format_action(action: Any):
        yield

    variants = [
        nim.variant(
            name,
            format_action=format_action if name == "forgetful" else wrapping(name),
        )
        for name in variant_ids
    ]
    game = Game(nim.plugin(), variants)
    with pytest.raises(PluginError) as caught:
        game.format_action(Take(1))
    assert caught.value.code == "plugin.no-result"
    assert "format_action() came back without a result" in caught.value.message
    assert "forgetful-plugin" in caught.value.message
    assert "must end with 'return result'" in caught.value.message


def test_a_wrapper_that_yields_twice_is_caught() -> None:
    def format_action(action: Any):
        yield
        return (yield)

    game = Game(nim.plugin(), [nim.variant("twice", format_action=format_action)])
    with pytest.raises(PluginError, match="yielded twice") as caught:
        game.format_action(Take(1))
    assert "twice-plugin" in caught.value.message


def test_a_wrapper_that_ends_before_its_yield_is_caught() -> None:
    def format_action(action: Any):
        if action.number > 1:
            yield
        return "early"

    game = Game(nim.plugin(), [nim.variant("early", format_action=format_action)])
    with pytest.raises(PluginError, match="did not yield"):
        game.format_action(Take(1))


def test_a_wrapper_may_answer_for_what_fails_inside() -> None:
    def inner(action: Any):
        raise ValueError
        yield

    def outer(action: Any):
        try:
            return (yield)
        except ValueError:
            return "mended"

    variants = [
        nim.variant("a", format_action=inner),
        nim.variant("b", format_action=outer),
    ]
    assert Game(nim.plugin(), variants).format_action(Take(1)) == "mended"
    with pytest.raises(ValueError):  # noqa: PT011 - as it was raised
        Game(nim.plugin(), variants[:1]).format_action(Take(1))


def test_hooks_without_a_result_may_return_nothing() -> None:
    def apply_action(state: Any, action: Any):
        yield

    def shuffle_hidden(state: Any, seat: Any, dealer: Any):
        yield

    variant = nim.variant(apply_action=apply_action, shuffle_hidden=shuffle_hidden)
    game = Game(nim.hidden(), [variant])
    state = game.new(DEALER)
    game.play(state, Take(1))
    assert state.taken == [1]
    assert game.shuffle_hidden is not None
    game.shuffle_hidden(state, 0, DEALER)


def test_errors_of_the_game_pass_through_wrappers() -> None:
    def new_state(options: Any, seats: int, dealer: Any):
        return (yield)

    game = Game(nim.plugin(), [nim.variant(new_state=new_state)])
    with pytest.raises(ValueError, match="most is far more"):
        game._new_state(nim.Options(1, 20), 2, DEALER)


# --------------------------------------------------- wrapping what the game lacks


def test_hooks_with_a_default_can_be_wrapped() -> None:
    def copy_state(state: Any):
        copied = yield
        copied.taken.append(99)
        return copied

    def observe(state: Any, seat: Any):
        seen = yield
        seen.matches = -1
        return seen

    def observe_action(state: Any, action: Any, seat: Any):
        return Take((yield).number + 10)

    def explain_illegal(observation: Any, action: Any):
        return f"{(yield)}!"

    variant = nim.variant(
        copy_state=copy_state,
        observe=observe,
        observe_action=observe_action,
        explain_illegal=explain_illegal,
    )
    game = Game(nim.plugin(), [variant])
    state = game.new(DEALER)
    assert game.copy(state).taken == [99]
    seen = game.observe(state, 0)
    assert (seen.matches, seen.taken) == (-1, [99])
    assert game.observe_action(state, Take(1), None) == Take(11)
    assert game.explain(seen, Take(1)).endswith("is not among the legal actions!")
    assert (state.matches, state.taken) == (5, [])


def test_a_variant_may_change_the_description_but_not_the_identity() -> None:
    def describe():
        return evolve((yield), max_plies=7)

    game = Game(nim.plugin(), [nim.variant(describe=describe)])
    assert (game.info.max_plies, game.info.id) == (7, "nim")
    assert Game(nim.plugin()).info.max_plies == 50


def test_a_description_that_a_variant_loses_is_an_error() -> None:
    def describe():
        yield

    with pytest.raises(PluginError, match=r"describe\(\) came back without a result"):
        Game(nim.plugin(), [nim.variant(describe=describe)])


def test_the_table_is_that_of_the_variant() -> None:
    def all_actions(options: Any, seats: int):
        return [*(yield), Take(40)]

    game = Game(nim.plugin(), [nim.variant(all_actions=all_actions)])
    assert game.table(nim.Options(), 2).actions[-1] == Take(40)
    assert len(Game(nim.plugin()).table(nim.Options(), 2)) == 3
