# ruff: noqa: ANN401 - states and actions of every game pass through
"""The leak gate: nothing that a seat is given may depend on what it cannot know.

A state and the same state after ``shuffle_hidden`` for a seat are two worlds that
this seat cannot tell apart. So everything built for it must be equal in both:
whose turn it is, observation, legal actions, actions as seen, pictures,
explanations.

The gate is as good as its witness. ``shuffle_hidden`` that leaves too much in
place hides leaks; `check_leaks` refuses one that moves next to nothing, and
`check_sampler_exact` shows on a small game that it reaches every world.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Final, TypeAlias

from attrs import Factory, define

from fritillary.codec.packing import unpack
from fritillary.core.errors import UsageError
from fritillary.core.points import Act, Over
from fritillary.testing.calls import illegal, some
from fritillary.testing.checks import (
    CHECKS,
    Plan,
    Subject,
    look_at,
    needs_hidden,
    plan_of,
    position,
    walk,
    whole,
)
from fritillary.testing.enumerating import EnumerationError, chance_distribution
from fritillary.testing.scene import (
    AnyGame,
    Scene,
    Viewer,
    first_difference,
    law_error,
    scenes,
)

#: So many illegal actions are explained at a position, drawn from the table.
_EXPLAINED: Final = 12

#: So many actions are shown to the others at a position.
_SEEN: Final = 24

#: Chance outcomes that a game only samples are listed up to so many draws.
_LISTED: Final = 1000

#: Share of the pairs, from 0 to 1, that must differ in truth, for each viewer.
LEAST: Final = 0.1

#: Builds something for a viewer, from a state, an observation of it, and the actions
#: that are shown.
_Part: TypeAlias = Callable[[Scene, Any, Any, Viewer, Sequence[Any]], Any]


@define
class LeakReport:
    """What the leak gate went through.

    Args:
        matches: random matches played.
        positions: positions in them.
        pairs: worlds compared with the truth, for each viewer.
        different: how many of those differed in truth, for each viewer.
    """

    matches: int = 0
    positions: int = 0
    pairs: dict[Viewer, int] = Factory(dict)
    different: dict[Viewer, int] = Factory(dict)

    def __str__(self) -> str:
        return (
            f"{self.matches} matches, {self.positions} positions, "
            f"{sum(self.pairs.values())} pairs, "
            f"{sum(self.different.values())} different in truth"
        )


def check_leaks(
    game: AnyGame,
    *,
    options: Any = None,
    seats: int | None = None,
    matches: int = 20,
    shuffles: int = 2,
    seed: int = 0,
    least: float = LEAST,
    all_knowing: Collection[Viewer] = (),
) -> LeakReport:
    """Play random matches and look for leaks at every position, for every viewer.

    An action is taken to mean the same in every world: one that reveals what it
    moves names it (``Discard(card=3)``, not ``Discard(place=0)``).

    Args:
        game: the rules, with hidden information.
        options: of the matches; ``None`` for the defaults and every preset.
        seats: how many; ``None`` for several numbers.
        matches: how many random matches; each setup gets at least one.
        shuffles: worlds compared with the truth at each position and viewer.
        seed: of everything that is drawn.
        least: share of the pairs, from 0 to 1, that must differ in truth, for
            each viewer by itself.
        all_knowing: viewers from whom nothing is hidden; ``None`` is a spectator.

    Raises:
        LawError: a law whose id begins with ``leak.``; the message shows how to
            get there again.
        UsageError: if the game hides nothing.
    """
    if game.shuffle_hidden is None:
        msg = f"{game.id} has no shuffle_hidden(): nothing is hidden, nothing can leak"
        raise UsageError(msg)
    plan = plan_of(options, seats, matches, seed, shuffles=shuffles)
    checks = [c for law, c in CHECKS.items() if law.startswith("leak.") and c.look]
    report = LeakReport()
    for scene in scenes(game, options=options, seats=seats, matches=matches, seed=seed):
        report.matches = scene.match + 1
        report.positions += 1
        for check in checks:
            look_at(check, scene, plan)
        _count(scene, plan, report)
    _judge(game, report, least, all_knowing)
    return report


def _worlds(scene: Scene, viewer: Viewer, plan: Plan) -> Iterator[Any]:
    """Yield worlds that a viewer cannot tell from the truth."""
    game = scene.game
    dealer = scene.dealer("worlds", -1 if viewer is None else viewer)
    for _ in range(plan.shuffles):
        world = game.copy(scene.state)
        if game.shuffle_hidden is not None:
            game.shuffle_hidden(world, viewer, dealer)
        yield world


def _count(scene: Scene, plan: Plan, report: LeakReport) -> None:
    encode = scene.game.codec.encode_state
    truth = encode(scene.state)
    for viewer in scene.viewers:
        for world in _worlds(scene, viewer, plan):
            report.pairs[viewer] = report.pairs.get(viewer, 0) + 1
            if encode(world) != truth:
                report.different[viewer] = report.different.get(viewer, 0) + 1


def _judge(
    game: AnyGame, report: LeakReport, least: float, all_knowing: Collection[Viewer]
) -> None:
    for viewer, pairs in report.pairs.items():
        different = report.different.get(viewer, 0)
        if viewer not in all_knowing and different < least * pairs:
            who = "a spectator" if viewer is None else f"seat {viewer}"
            what = f"for {who}, {different} of {pairs} worlds differ from the truth"
            raise law_error("leak.vacuous", [what], game.id)


@whole("leak.vacuous", needs=needs_hidden)
def the_witness_moves_something(subject: Subject) -> int:
    """Count worlds that differ from the truth."""
    report = LeakReport()
    for scene in walk(subject.game, subject.plan):
        _count(scene, subject.plan, report)
    _judge(subject.game, report, LEAST, ())
    return sum(report.different.values())


# --------------------------------------------------------------------------- the parts


def _part(law: str, *, thin: int = 1) -> Callable[[_Part], _Part]:
    """Make a function that builds something for a viewer the check of a law."""

    def register(build: _Part) -> _Part:
        def look(scene: Scene, plan: Plan) -> int:
            count = 0
            shown = _shown(scene) if law == "leak.seen-actions" else ()
            for viewer in scene.viewers:
                for world in _worlds(scene, viewer, plan):
                    count += 1
                    _compare(law, build, scene, world, viewer, shown)
            return count

        position(law, thin=thin, needs=needs_hidden)(look)
        return build

    return register


def _compare(
    law: str,
    build: _Part,
    scene: Scene,
    world: Any,
    viewer: Viewer,
    shown: Sequence[Any],
) -> None:
    # All of one world before any of the other: what a plugin keeps aside while it
    # observes must not go unnoticed.
    game = scene.game
    truth = scene.state
    one = build(scene, truth, game.observe(truth, viewer), viewer, shown)
    two = build(scene, world, game.observe(world, viewer), viewer, shown)
    if shown and one != two:
        # What is impossible in the other world says nothing.
        known = _possible(scene, world, shown)
        one = [part for part, possible in zip(one, known, strict=True) if possible]
        two = [part for part, possible in zip(two, known, strict=True) if possible]
    found = first_difference(one, two)
    if found:
        name = law.removeprefix("leak.")
        what = f"truth and shuffled world differ in {name}: {found}"
        raise scene.broken(law, what, viewer)


@_part("leak.decision-point")
def _decision_point(
    scene: Scene, state: Any, _: Any, viewer: Viewer, shown: Sequence[Any]
) -> Any:
    return repr(scene.game.decision_point(state))


@_part("leak.observation")
def _observation(
    scene: Scene, state: Any, seen: Any, viewer: Viewer, shown: Sequence[Any]
) -> Any:
    return unpack(scene.game.codec.encode_observation(seen))


@_part("leak.legal-actions")
def _legal_actions(
    scene: Scene, state: Any, _: Any, viewer: Viewer, shown: Sequence[Any]
) -> Any:
    if not _acts(scene, viewer) or not _acts(scene, viewer, state):
        return []
    return [scene.game.format_action(a) for a in scene.game.legal_actions(state)]


@_part("leak.seen-actions")
def _seen_actions(
    scene: Scene, state: Any, _: Any, viewer: Viewer, shown: Sequence[Any]
) -> Any:
    if _acts(scene, viewer):
        # To its own seat an action is shown as it is.
        return [None] * len(shown)
    return [_seen(scene, state, action, viewer) for action in shown]


@_part("leak.text")
def _text(
    scene: Scene, state: Any, seen: Any, viewer: Viewer, shown: Sequence[Any]
) -> Any:
    return scene.game.draw_text(seen)


@_part("leak.svg", thin=3)
def _svg(
    scene: Scene, state: Any, seen: Any, viewer: Viewer, shown: Sequence[Any]
) -> Any:
    return scene.game.draw_svg(seen) if scene.game.draw_svg else ""


@_part("leak.explanation")
def _explanations(
    scene: Scene, state: Any, seen: Any, viewer: Viewer, shown: Sequence[Any]
) -> Any:
    if not _acts(scene, viewer):
        return []
    return [scene.game.explain(seen, a) for a in illegal(scene, _EXPLAINED)]


def _acts(scene: Scene, viewer: Viewer, state: Any = None) -> bool:
    point = scene.point if state is None else scene.game.decision_point(state)
    return isinstance(point, Act) and point.seat == viewer


def _shown(scene: Scene) -> Sequence[Any]:
    """Return the actions and chance outcomes that the others are shown."""
    game = scene.game
    if isinstance(scene.point, Over):
        return ()
    if isinstance(scene.point, Act):
        possible: Any = game.legal_actions(scene.state)
    else:
        possible = _outcomes(game, scene.state)
        if possible is None:
            possible = [game.draw_chance(scene.state, scene.dealer("shown"))]
    return some(possible, _SEEN, scene.dealer("shown"))


def _outcomes(game: AnyGame, state: Any) -> list[Any] | None:
    """Return the chance outcomes; ``None`` if there are too many to list."""
    try:
        pairs = chance_distribution(game, state, limit=_LISTED)
    except EnumerationError:
        return None
    return [action for action, _ in pairs]


def _seen(scene: Scene, state: Any, action: Any, viewer: Viewer) -> Any:
    try:
        seen = scene.game.observe_action(state, action, viewer)
    except Exception:
        if state is scene.state:
            raise
        # The action may be impossible in that world; `_possible` decides.
        return None
    # Nothing: the viewer does not see that anything happens.
    return None if seen is None else scene.game.codec.action_to_data(seen)


def _possible(scene: Scene, world: Any, shown: Sequence[Any]) -> list[bool]:
    """Say of each action that is shown whether it can happen in a world."""
    game = scene.game
    point = game.decision_point(world)
    if isinstance(point, Over):
        return [False] * len(shown)
    if isinstance(point, Act):
        actions: Any = game.legal_actions(world)
    else:
        actions = _outcomes(game, world)
        if actions is None:
            return [True] * len(shown)
    return [action in actions for action in shown]
