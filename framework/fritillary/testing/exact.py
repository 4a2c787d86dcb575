# ruff: noqa: ANN401 - states and actions of every game pass through
"""Exact laws of the sampler and its witness, on games small enough to go through.

The whole tree of deals, actions and chance outcomes is walked. Under one sequence
of actions of the seats, a world weighs what its deal and the chance outcomes
weigh; how likely the seats were to act so does not count. Worlds that a viewer
observes alike must be sampled, and shuffled, in proportion to these weights.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Final, TypeAlias

from attrs import Factory, define

from fritillary.codec.packing import unpack
from fritillary.core.dealer import Dealer
from fritillary.core.errors import UsageError
from fritillary.core.points import Act, Over
from fritillary.testing.checks import (
    NotApplicableError,
    Subject,
    needs_hidden,
    whole,
)
from fritillary.testing.enumerating import (
    TooManyOutcomesError,
    chance_distribution,
    distribution,
    enumerate_outcomes,
)
from fritillary.testing.laws import LawError
from fritillary.testing.scene import (
    AnyGame,
    Viewer,
    first_difference,
    law_error,
    setups,
)

#: The most positions that are gone through, the same one in several deals apart.
MAX_POSITIONS: Final = 200_000

#: Longer matches are not gone through.
_DEEPEST: Final = 300

_Weights: TypeAlias = dict[bytes, Fraction]


@define
class ExactReport:
    """What was gone through.

    Args:
        worlds: different states.
        observations: different observations, of all viewers.
    """

    worlds: int = 0
    observations: int = 0


@define
class _Tree:
    """All worlds of a small game.

    Args:
        states: one state for each of its bytes.
        weights: what each world weighs.
    """

    states: dict[bytes, Any] = Factory(dict)
    weights: _Weights = Factory(dict)


def check_sampler_exact(
    game: AnyGame,
    *,
    options: Any = None,
    seats: int | None = None,
    plies: int | None = None,
    limit: int = MAX_POSITIONS,
) -> ExactReport:
    """Compare ``sample_state`` and ``shuffle_hidden`` with the deal, exactly.

    Args:
        game: the rules, with hidden information.
        options: of the match, making it small; ``None`` for the defaults.
        seats: how many; ``None`` for the fewest.
        plies: how far to go; ``None`` for to the end.
        limit: the most positions to go through.

    Raises:
        LawError: ``sampler.worlds``, ``sampler.weights``, or the same of
            ``witness``.
        UsageError: if the game hides nothing.
        EnumerationError: if the game is too large.
    """
    if game.sample_state is None or game.shuffle_hidden is None:
        msg = f"{game.id} has no sampler with a witness: nothing is hidden"
        raise UsageError(msg)
    options = game.info.options() if options is None else options
    seats = game.info.min_seats if seats is None else seats
    tree = _grow(game, options, seats, plies, limit)
    return _go_through(game, tree, options, seats, _agree)


#: Compares weights found with those expected; raises if they differ.
_Judge: TypeAlias = Callable[[str, AnyGame, Viewer, bytes, _Weights, _Weights], None]


def _go_through(
    game: AnyGame, tree: _Tree, options: Any, seats: int, judge: _Judge
) -> ExactReport:
    """Compare sampler and witness with the deal, at every observation."""
    sample_state: Any = game.sample_state
    shuffle_hidden: Any = game.shuffle_hidden
    encode = game.codec.encode_state
    report = ExactReport(worlds=len(tree.states))
    viewers: tuple[Viewer, ...] = (None, *range(seats))
    for viewer in viewers:
        for raw, worlds in _by_observation(game, tree, viewer).items():
            report.observations += 1
            expected = {
                world: weight / sum(worlds.values()) for world, weight in worlds.items()
            }
            observation = game.codec.decode_observation(raw, options)

            def draw(dealer: Dealer, observation: Any = observation) -> bytes:
                return encode(sample_state(observation, dealer))

            judge("sampler", game, viewer, raw, expected, distribution(draw))
            for truth in worlds:

                def shuffle(
                    dealer: Dealer, truth: bytes = truth, viewer: Viewer = viewer
                ) -> bytes:
                    world = game.copy(tree.states[truth])
                    shuffle_hidden(world, viewer, dealer)
                    return encode(world)

                judge("witness", game, viewer, raw, expected, distribution(shuffle))
    return report


def _grow(
    game: AnyGame, options: Any, seats: int, plies: int | None, limit: int
) -> _Tree:
    tree = _Tree()
    # By the sequence of seats' actions: the worlds it leads to, with weights.
    sequences: dict[tuple[Any, ...], _Weights] = {}
    encode = game.codec.encode_state
    left = limit

    def walk(
        state: Any, weight: Fraction, sequence: tuple[Any, ...], depth: int
    ) -> None:
        nonlocal left
        left -= 1
        # Whoever plays that deep has more positions than anybody goes through.
        if left < 0 or depth > _DEEPEST:
            msg = f"{game.id} has more than {limit} positions; give small options"
            raise TooManyOutcomesError(msg)
        raw = encode(state)
        tree.states.setdefault(raw, state)
        weights = sequences.setdefault(sequence, {})
        weights[raw] = weights.get(raw, Fraction(0)) + weight
        point = game.decision_point(state)
        if isinstance(point, Over) or depth == plies:
            return
        acts = isinstance(point, Act)
        branches = (
            [(action, Fraction(1)) for action in game.legal_actions(state)]
            if acts
            else chance_distribution(game, state)
        )
        for action, share in branches:
            after = game.copy(state)
            game.apply(after, action)
            longer = (*sequence, action) if acts else sequence
            walk(after, weight * share, longer, depth + 1)

    for state, weight in enumerate_outcomes(
        lambda dealer: game.new(dealer, options, seats), limit=limit
    ):
        walk(state, weight, (), 0)
    for weights in sequences.values():
        for raw, weight in weights.items():
            # Several sequences may lead to a world; that makes it no likelier.
            tree.weights[raw] = max(weight, tree.weights.get(raw, Fraction(0)))
    return tree


def _by_observation(
    game: AnyGame, tree: _Tree, viewer: Viewer
) -> Mapping[bytes, _Weights]:
    groups: dict[bytes, _Weights] = {}
    for world, state in tree.states.items():
        seen = game.codec.encode_observation(game.observe(state, viewer))
        groups.setdefault(seen, {})[world] = tree.weights[world]
    return groups


def _agree(
    who: str,
    game: AnyGame,
    viewer: Viewer,
    observation: bytes,
    expected: _Weights,
    found: _Weights,
) -> None:
    if found == expected:
        return
    lines = [
        f"seat: {'spectator' if viewer is None else viewer}",
        f"observation: {unpack(observation)}",
    ]
    impossible = [world for world in found if world not in expected]
    missing = [world for world in expected if world not in found]
    if impossible:
        likely = max(expected, key=lambda world: expected[world])
        where = first_difference(unpack(impossible[0]), unpack(likely))
        what = f"a world that cannot be; against one that can: {where}"
        lines = [what, str(unpack(impossible[0])), *lines]
        raise law_error(f"{who}.worlds", lines, game.id)
    if missing:
        what = f"{len(missing)} of {len(expected)} worlds are never reached"
        lines = [what, str(unpack(missing[0])), *lines]
        raise law_error(f"{who}.worlds", lines, game.id)
    world = next(world for world in expected if found[world] != expected[world])
    what = f"a world has weight {found[world]}, not {expected[world]}"
    raise law_error(f"{who}.weights", [what, str(unpack(world)), *lines], game.id)


# ----------------------------------------------------------------- as laws, one by one


def _first_of_each(subject: Subject) -> dict[str, LawError | int]:
    """Return the first breach of each of the four laws; gone through once."""
    if "exact" in subject.cache:
        known: dict[str, LawError | int] = subject.cache["exact"]
        return known
    game, plan = subject.game, subject.plan
    # The fewest seats that each of the options goes with.
    pairs: list[tuple[Any, int]] = []
    for choice, seats in setups(game, plan.options, plan.seats):
        if not any(choice == known for known, _ in pairs):
            pairs.append((choice, seats))
    found: dict[str, LawError | int] = {}

    def judge(who: str, *case: Any) -> None:
        try:
            _agree(who, *case)
        except LawError as error:
            found.setdefault(error.law.id, error)

    through = 0
    stop = time.monotonic() + plan.seconds
    for options, seats in pairs:
        if time.monotonic() > stop:
            break
        try:
            tree = _grow(game, options, seats, None, plan.worlds)
            report = _go_through(game, tree, options, seats, judge)
        except TooManyOutcomesError:
            continue
        through += report.worlds
    found["worlds"] = through
    subject.cache["exact"] = found
    return found


def _law(law: str) -> None:
    def run(subject: Subject) -> int:
        found = _first_of_each(subject)
        error = found.get(law)
        if isinstance(error, LawError):
            raise error
        if not found["worlds"]:
            msg = (
                f"too large to go through as a whole: more than {subject.plan.worlds} "
                "positions; give options that make it small"
            )
            raise NotApplicableError(msg)
        return int(found["worlds"])  # type: ignore[arg-type]

    whole(law, needs=needs_hidden)(run)


for _name in ("sampler.worlds", "sampler.weights", "witness.worlds", "witness.weights"):
    _law(_name)
