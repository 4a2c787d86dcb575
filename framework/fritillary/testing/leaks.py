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

from collections.abc import Collection, Iterator
from typing import Any, Final, TypeAlias

from attrs import Factory, define, frozen

from fritillary.codec.packing import unpack
from fritillary.core.dealer import Dealer, FastDealer
from fritillary.core.errors import UsageError
from fritillary.core.points import Act, Over
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

#: What is compared: the id of the law, and data.
_Part: TypeAlias = tuple[str, Any]


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


@frozen
class _Subjects:
    """The actions that are shown and explained at one position, in both worlds."""

    actor: int | None
    seen: tuple[Any, ...]
    illegal: tuple[Any, ...]


def check_leaks(
    game: AnyGame,
    *,
    options: Any = None,
    seats: int | None = None,
    matches: int = 20,
    shuffles: int = 2,
    seed: int = 0,
    least: float = 0.1,
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
    shuffle_hidden = game.shuffle_hidden
    if shuffle_hidden is None:
        msg = f"{game.id} has no shuffle_hidden(): nothing is hidden, nothing can leak"
        raise UsageError(msg)
    report = LeakReport()
    root = FastDealer(f"leaks/{seed}")
    encode = game.codec.encode_state
    for scene in scenes(game, options=options, seats=seats, matches=matches, seed=seed):
        report.matches = scene.match + 1
        report.positions += 1
        dealer = root.stream(scene.match, scene.ply)
        subjects = _subjects(scene, dealer)
        truth = encode(scene.state)
        for viewer in scene.viewers:
            for _ in range(shuffles):
                world = game.copy(scene.state)
                shuffle_hidden(world, viewer, dealer)
                report.pairs[viewer] = report.pairs.get(viewer, 0) + 1
                if encode(world) != truth:
                    report.different[viewer] = report.different.get(viewer, 0) + 1
                _compare(scene, world, viewer, subjects)
    for viewer, pairs in report.pairs.items():
        different = report.different.get(viewer, 0)
        if viewer not in all_knowing and different < least * pairs:
            who = "a spectator" if viewer is None else f"seat {viewer}"
            what = f"for {who}, {different} of {pairs} worlds differ from the truth"
            raise law_error("leak.vacuous", [what, f"game: {game.id}"])
    return report


def _subjects(scene: Scene, dealer: Dealer) -> _Subjects:
    game = scene.game
    if isinstance(scene.point, Act):
        legal = game.legal_actions(scene.state)
        table = game.table(scene.options, scene.seats).actions
        illegal = [action for action in table if action not in legal]
        return _Subjects(
            scene.point.seat,
            tuple(_some(legal, _SEEN, dealer)),
            tuple(_some(illegal, _EXPLAINED, dealer)),
        )
    if isinstance(scene.point, Over):
        return _Subjects(None, (), ())
    outcomes = _outcomes(game, scene.state)
    if outcomes is None:
        outcomes = [game.draw_chance(scene.state, dealer)]
    return _Subjects(None, tuple(_some(outcomes, _SEEN, dealer)), ())


def _outcomes(game: AnyGame, state: Any) -> list[Any] | None:
    """Return the chance outcomes; ``None`` if there are too many to list."""
    try:
        pairs = chance_distribution(game, state, limit=_LISTED)
    except EnumerationError:
        return None
    return [action for action, _ in pairs]


def _some(items: Any, most: int, dealer: Dealer) -> list[Any]:
    if len(items) <= most:
        return list(items)
    return [dealer.choice(items) for _ in range(most)]


def _compare(scene: Scene, world: Any, viewer: Viewer, subjects: _Subjects) -> None:
    # All of one world before any of the other: what a plugin keeps aside while
    # it observes must not go unnoticed.
    truth = list(_shown(scene, scene.state, viewer, subjects))
    other = list(_shown(scene, world, viewer, subjects))
    possible = _possible(scene, world, subjects)
    for (law, one), (_, two) in zip(truth, other, strict=True):
        if one and law == "leak.seen-actions":
            # What is impossible in the other world says nothing.
            pairs = [
                (a, b) for a, b, known in zip(one, two, possible, strict=True) if known
            ]
            one, two = [a for a, _ in pairs], [b for _, b in pairs]  # noqa: PLW2901
        found = first_difference(one, two)
        if found:
            what = f"truth and shuffled world differ in {law.removeprefix('leak.')}"
            raise scene.broken(law, f"{what}: {found}", viewer)


def _shown(
    scene: Scene, state: Any, viewer: Viewer, subjects: _Subjects
) -> Iterator[_Part]:
    """Yield everything that is built for a viewer, as plain data."""
    game, codec = scene.game, scene.game.codec
    point = game.decision_point(state)
    yield "leak.decision-point", repr(point)
    observation = game.observe(state, viewer)
    yield "leak.observation", unpack(codec.encode_observation(observation))
    acts = subjects.actor is not None and viewer == subjects.actor
    legal = game.legal_actions(state) if acts and isinstance(point, Act) else ()
    yield "leak.legal-actions", [game.format_action(action) for action in legal]
    seen = [] if acts else [_seen(scene, state, a, viewer) for a in subjects.seen]
    yield "leak.seen-actions", seen
    yield "leak.text", game.draw_text(observation)
    yield "leak.svg", game.draw_svg(observation) if game.draw_svg else ""
    explained = [game.explain(observation, a) for a in subjects.illegal] if acts else []
    yield "leak.explanation", explained


def _seen(scene: Scene, state: Any, action: Any, viewer: Viewer) -> Any:
    try:
        seen = scene.game.observe_action(state, action, viewer)
    except Exception:
        if state is scene.state:
            raise
        # The action may be impossible in that world; `_possible` decides.
        return None
    return scene.game.codec.action_to_data(seen)


def _possible(scene: Scene, world: Any, subjects: _Subjects) -> list[bool]:
    """Say of each action that is shown whether it can happen in a world."""
    if not subjects.seen:
        return []
    game = scene.game
    if isinstance(game.decision_point(world), Act):
        actions = game.legal_actions(world)
    else:
        outcomes = _outcomes(game, world)
        if outcomes is None:
            return [True] * len(subjects.seen)
        actions = outcomes
    return [action in actions for action in subjects.seen]
