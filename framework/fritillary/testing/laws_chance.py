"""Laws of chance in play: declared, listed once, weighed, sampled as weighed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from fritillary.core.errors import GameError, PluginError
from fritillary.core.points import Chance
from fritillary.testing.calls import some
from fritillary.testing.checks import Plan, position
from fritillary.testing.enumerating import TooManyOutcomesError, distribution
from fritillary.testing.scene import AnyGame, Scene
from fritillary.testing.statistics import two_sample_test

#: Draws of chance where its outcomes are too many to enumerate.
_DRAWS: Final = 3_000

#: Probability that a faithful ``sample_chance`` fails.
_FALSE_ALARM: Final = 1e-9


def no_chance(game: AnyGame) -> str:
    """Say that there is no chance in play, if so."""
    return "" if game.info.chance else "there is no chance in play"


@position("chance.declared")
def chance_is_declared(scene: Scene, plan: Plan) -> None:
    """Compare with ``GameInfo.chance``."""
    if isinstance(scene.point, Chance) and not scene.game.info.chance:
        what = "a Chance, but GameInfo.chance is false"
        raise scene.broken("chance.declared", what)


def outcomes(scene: Scene) -> list[Any]:
    """Return the chance outcomes; one draw where the game does not list them."""
    try:
        return [action for action, _ in scene.game.chance_outcomes(scene.state)]
    except GameError:
        return [scene.game.draw_chance(scene.state, scene.dealer("chance"))]


@position("chance.outcomes", at="chance", needs=no_chance)
def chance_outcomes_are_listed_once(scene: Scene, plan: Plan) -> int:
    """List the outcomes and apply each to a copy."""
    game = scene.game
    actions = outcomes(scene)
    for action in actions:
        if type(action) not in game.info.actions:
            what = f"{action}: its class is not in GameInfo.actions"
            raise scene.broken("chance.outcomes", what)
    if len(set(actions)) < len(actions):
        raise scene.broken("chance.outcomes", "an outcome is listed twice")
    for action in some(actions, plan.refusals, scene.dealer("outcomes")):
        after = game.copy(scene.state)
        try:
            game.apply(after, action)
            game.decision_point(after)
        except Exception as error:
            what = f"it cannot be applied: {type(error).__name__}: {error}"
            raise scene.broken("chance.outcomes", what, action=action) from error
    return len(actions)


@position("chance.weights", at="chance", needs=no_chance)
def chance_weights_are_positive(scene: Scene, plan: Plan) -> None:
    """Ask for weights."""
    try:
        scene.game.chance_outcomes(scene.state)
    except PluginError as error:
        raise scene.broken("chance.weights", error.message) from error
    except GameError:
        return


@position("chance.sampled", at="chance", thin=4, needs=no_chance)
def chance_is_sampled_as_declared(scene: Scene, plan: Plan) -> None:
    """Compare draws with weights: exactly, or in distribution if they are many."""
    game = scene.game
    weights: dict[Any, int] = {}
    try:
        for action, weight in game.chance_outcomes(scene.state):
            weights[action] = weights.get(action, 0) + weight
    except GameError:
        return
    total = sum(weights.values())
    try:
        found = distribution(
            lambda dealer: game.draw_chance(scene.state, dealer), limit=plan.worlds
        )
    except TooManyOutcomesError:
        _compare_draws(scene, weights, total)
        return
    for action, weight in weights.items():
        if found.get(action, 0) * total != weight:
            what = f"drawn with {found.get(action, 0)}, not {weight}/{total}"
            raise scene.broken("chance.sampled", what, action=action)
    for action in found:
        if action not in weights:
            raise scene.broken("chance.sampled", f"{action} is not listed")


def _compare_draws(scene: Scene, weights: Mapping[Any, int], total: int) -> None:
    game, dealer = scene.game, scene.dealer("draws")
    listed = list(weights)
    drawn: dict[Any, int] = {}
    expected: dict[Any, int] = {}
    for _ in range(_DRAWS):
        action = game.draw_chance(scene.state, dealer)
        drawn[action] = drawn.get(action, 0) + 1
        other = listed[dealer.weighted(list(weights.values()))]
        expected[other] = expected.get(other, 0) + 1
    p = two_sample_test(drawn, expected)
    if p < _FALSE_ALARM:
        what = f"{_DRAWS} draws do not fit the weights of {total} (p = {p:.1e})"
        raise scene.broken("chance.sampled", what)
