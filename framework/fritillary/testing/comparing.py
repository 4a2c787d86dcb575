# ruff: noqa: ANN401 - states of every game pass through
"""Sampler and witness compared in distribution, where exact weights are too many."""

from __future__ import annotations

import itertools
import math
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from fritillary.codec.packing import unpack
from fritillary.core.dealer import Dealer, FastDealer
from fritillary.testing.checks import Subject, needs_hidden, whole
from fritillary.testing.laws import LawError
from fritillary.testing.sampler import (
    SamplerReport,
    from_bytes,
    need_sampler,
    sample,
    shuffled,
)
from fritillary.testing.scene import AnyGame, Scene, Viewer, random_match, setups
from fritillary.testing.statistics import most_different, two_sample_test

#: The features of a state whose distributions are compared, by name.
Features: TypeAlias = Callable[[Any], Mapping[str, Hashable]]

#: Probability that a faithful sampler fails `check_sampler_statistics`.
FALSE_ALARM: Final = 1e-9

#: States drawn by each side for a viewer, however slow the game is.
_FEWEST: Final = 150


@whole("sampler.distribution", needs=needs_hidden)
def samples_are_distributed_as_worlds(subject: Subject) -> int:
    """Put every feature of a state to a test, at some positions."""
    plan = subject.plan
    report = check_sampler_statistics(
        subject.game,
        options=plan.options,
        seats=plan.seats,
        positions=plan.spots,
        draws=plan.draws,
        seed=plan.seed,
        seconds=plan.sampling,
    )
    return report.tests


def check_sampler_statistics(
    game: AnyGame,
    *,
    options: Any = None,
    seats: int | None = None,
    positions: int = 4,
    draws: int = 400,
    seed: int = 0,
    features: Features | None = None,
    seconds: float = math.inf,
) -> SamplerReport:
    """Compare sampler and witness in distribution, at random positions.

    Each feature of the state is put to a chi-square test, for every viewer; the
    smallest p-value counts, corrected for the number of tests.

    Args:
        game: the rules, with hidden information.
        options: of the matches; ``None`` for the defaults and every preset.
        seats: how many; ``None`` for several numbers.
        positions: how many, each from a match of its own; at least one for each
            pair of options and seats.
        draws: states drawn by each side, for each position and viewer; fewer where
            time runs out.
        seed: of everything that is drawn.
        features: of a state; by default every value in the state's data by its
            path, each with its right neighbour, and the state as a whole.
        seconds: shared by positions and viewers alike; after that, each pair of
            options and seats still gets a few draws.

    Raises:
        LawError: ``sampler.distribution``.
        UsageError: if the game hides nothing.
    """
    need_sampler(game)
    report = SamplerReport()
    root = FastDealer(f"statistics/{seed}")
    worst: tuple[float, LawError] | None = None
    stop = time.monotonic() + seconds
    pairs = setups(game, options, seats)
    positions = max(positions, len(pairs))
    for scene in _spread(game, pairs, positions, seed):
        now = time.monotonic()
        if scene.match >= len(pairs) and now > stop:
            break
        share = max(stop - now, 0.0) / (positions - scene.match) / len(scene.viewers)
        report.matches = report.positions = scene.match + 1
        dealer = root.stream(scene.match)
        for viewer in scene.viewers:
            until = time.monotonic() + share
            counts, drawn = _count(scene, viewer, dealer, draws, features, until)
            report.samples += drawn
            for name, (ours, theirs) in counts.items():
                if len(ours) == 1 and ours.keys() == theirs.keys():
                    continue
                for side in (ours, theirs):
                    # A place in a list that is sometimes shorter.
                    side["(absent)"] = drawn - sum(side.values())
                report.tests += 1
                p = two_sample_test(ours, theirs)
                if worst is None or p < worst[0]:
                    value, often, expected = most_different(ours, theirs)
                    what = (
                        f"{name}: {value!r} in {often} of {drawn} samples, in "
                        f"{expected} worlds of the witness (p = {p:.1e})"
                    )
                    error = scene.broken("sampler.distribution", what, viewer)
                    worst = (p, error)
    if worst is not None and worst[0] * report.tests < FALSE_ALARM:
        raise worst[1]
    return report


def _spread(
    game: AnyGame, pairs: list[tuple[Any, int]], positions: int, seed: int
) -> Iterator[Scene]:
    """Yield one position each of several matches, late ones as often as early."""
    for match in range(positions):
        setup = pairs[match % len(pairs)]
        plies = sum(1 for _ in random_match(game, *setup, match, seed)) - 1
        wanted = plies * (2 * match + 1) // (2 * positions)
        for scene in random_match(game, *setup, match, seed):
            if scene.ply == wanted:
                yield scene
                break


_Counts: TypeAlias = dict[str, tuple[Counter[Hashable], Counter[Hashable]]]


def _count(
    scene: Scene,
    viewer: Viewer,
    dealer: Dealer,
    draws: int,
    features: Features | None,
    until: float,
) -> tuple[_Counts, int]:
    """Return the counts, and how many states each side has drawn."""
    game = scene.game
    observation = from_bytes(scene, viewer)
    counts: _Counts = {}

    def add(state: Any, side: int) -> None:
        found = _data_features(game, state) if features is None else features(state)
        for name, value in found.items():
            pair = counts.get(name)
            if pair is None:
                pair = counts[name] = (Counter(), Counter())
            pair[side][value] += 1

    drawn = 0
    # The clock knows nothing of what is drawn: to stop by it favours neither side.
    while drawn < draws and (drawn < _FEWEST or time.monotonic() < until):
        add(sample(game, observation, dealer), 0)
        add(shuffled(game, scene.state, viewer, dealer), 1)
        drawn += 1
    return counts, drawn


def _data_features(game: AnyGame, state: Any) -> dict[str, Hashable]:
    raw = game.codec.encode_state(state)
    leaves: dict[str, Hashable] = {}
    _flatten(unpack(raw), "$", leaves)
    found = dict(leaves)
    names = list(leaves)
    for one, other in itertools.pairwise(names):
        found[f"{one} with {other}"] = (leaves[one], leaves[other])
    # Bytes, since the rest of a large state is nobody's business.
    found["the whole state"] = raw
    return found


def _flatten(data: Any, path: str, leaves: dict[str, Hashable]) -> None:
    if isinstance(data, dict):
        for key, part in data.items():
            _flatten(part, f"{path}.{key}", leaves)
    elif isinstance(data, list):
        leaves[f"{path} length"] = len(data)
        for index, part in enumerate(data):
            _flatten(part, f"{path}[{index}]", leaves)
    else:
        leaves[path] = data
