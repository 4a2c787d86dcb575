# ruff: noqa: TID251 - seeds the global generator, to see that nobody cares
"""Laws of purity: hooks change nothing, remember nothing, reach for nothing."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, Final

from fritillary.core.dealer import Dealer
from fritillary.core.points import Act
from fritillary.testing.calls import Call, calls, plain
from fritillary.testing.checks import Plan, position
from fritillary.testing.scene import Scene, first_difference, next_action
from fritillary.testing.watch import CLOCK, IO, RANDOM, Watch


@position("pure.arguments", thin=2)
def arguments_are_left_alone(scene: Scene, plan: Plan) -> int:
    """Compare the arguments of every hook before and after."""
    game = scene.game
    count = 0
    for call in calls(scene):
        before = [plain(game, argument) for argument in call.arguments]
        call.run()
        count += 1
        for place, argument in enumerate(call.arguments):
            if place == call.changes or isinstance(argument, Dealer):
                continue
            found = first_difference(before[place], plain(game, argument))
            if found:
                what = f"{call.hook}() changes its argument {place + 1}: {found}"
                raise scene.broken("pure.arguments", what, call.viewer, call.action)
    _check_legal_list(scene)
    return count


def _check_legal_list(scene: Scene) -> None:
    """Look whether legal actions that somebody holds change under their hands."""
    game = scene.game
    if not isinstance(scene.point, Act):
        return
    state = game.copy(scene.state)
    legal = game.legal_actions(state)
    kept = list(legal)
    action = kept[scene.dealer("legal").below(len(kept))]
    game.apply(state, action)
    if list(legal) != kept:
        what = "apply_action() changes the legal actions that were handed out"
        raise scene.broken("pure.arguments", what, action=action)


def _answers(scene: Scene) -> Iterator[tuple[Call, Any]]:
    for call in calls(scene):
        yield call, plain(scene.game, call.run())


def _ahead(scene: Scene) -> Scene:
    """Return another position that is near."""
    game = scene.game
    state = game.copy(scene.state)
    action = next_action(game, state, scene.point, scene.dealer("elsewhere"))
    if action is not None:
        game.apply(state, action)
    other = Scene(
        game,
        scene.options,
        scene.seats,
        scene.deal,
        scene.match,
        list(scene.actions),
        state,
        game.decision_point(state),
    )
    if action is None:
        # After the end: the beginning.
        other = next(scene.retrace())
    return other


@position("pure.memory", thin=3)
def hooks_answer_alike_again(scene: Scene, plan: Plan) -> int:
    """Ask every hook, ask about another position, and ask again."""
    first = list(_answers(scene))
    for call in calls(_ahead(scene)):
        call.run()
    for (call, one), (_, two) in zip(first, _answers(scene), strict=True):
        found = first_difference(one, two)
        if found:
            what = f"{call.hook}() answers otherwise the second time: {found}"
            raise scene.broken("pure.memory", what, call.viewer, call.action)
    return len(first)


#: What was found at positions, since three laws look at the same; kept for a while.
_found: dict[Any, list[tuple[str, Call, str]]] = {}

_KEPT: Final = 500


def _watched(scene: Scene, kind: str) -> Iterator[tuple[Call, str]]:
    """Run every hook under watch; yield what it does that is of a kind."""
    options = scene.game.codec.encode_options(scene.options)
    key = (scene.game, options, scene.seats, scene.deal, *scene.actions)
    if key not in _found:
        if len(_found) >= _KEPT:
            _found.clear()
        found = []
        for call in calls(scene):
            with Watch() as watch:
                call.run()
            found += [(seen, call, what) for seen, what in watch.found]
        _found[key] = found
    for seen, call, what in _found[key]:
        if seen == kind:
            yield call, what


@position("pure.random", thin=3)
def hooks_draw_from_the_dealer(scene: Scene, plan: Plan) -> int:
    """Watch for other generators, and seed the global one differently."""
    for call, what in _watched(scene, RANDOM):
        raise scene.broken(
            "pure.random", f"{call.hook}() uses {what}", call.viewer, call.action
        )
    kept = random.getstate()
    try:
        random.seed(1)
        first = list(_answers(scene))
        random.seed(1)
        again = list(_answers(scene))
        random.seed(2)
        second = list(_answers(scene))
    finally:
        random.setstate(kept)
    for (call, one), (_, same), (_, two) in zip(first, again, second, strict=True):
        found = first_difference(one, two)
        # What differs with the same seed as well has another cause.
        if found and not first_difference(one, same):
            what = f"{call.hook}() differs with the seed of random: {found}"
            raise scene.broken("pure.random", what, call.viewer, call.action)
    return len(first)


@position("pure.clock", thin=3)
def hooks_look_at_no_clock(scene: Scene, plan: Plan) -> None:
    """Watch for clocks."""
    for call, what in _watched(scene, CLOCK):
        raise scene.broken(
            "pure.clock", f"{call.hook}() calls {what}", call.viewer, call.action
        )


@position("pure.io", thin=3)
def hooks_read_and_write_nothing(scene: Scene, plan: Plan) -> None:
    """Watch for files, sockets, the environment, the terminal."""
    for call, what in _watched(scene, IO):
        raise scene.broken(
            "pure.io", f"{call.hook}() uses {what}", call.viewer, call.action
        )
