# ruff: noqa: ANN401 - options of every game pass through
"""One check for each law: how it is run, and where it looks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

from attrs import Factory, define, evolve, frozen

from fritillary.core.dealer import FastDealer
from fritillary.core.errors import FritillaryError
from fritillary.core.points import Act, Chance, Over
from fritillary.testing.laws import LAWS, Law, LawError
from fritillary.testing.scene import AnyGame, Scene, random_match, setups
from fritillary.testing.shrink import smallest


class NotApplicableError(FritillaryError):
    """A law that has nothing to say of a game; the message says why."""

    code = "testing.not-applicable"


@frozen(kw_only=True)
class Plan:
    """How thoroughly to look.

    Args:
        options: of the matches; ``None`` for the defaults and every preset.
        seats: how many; ``None`` for several numbers.
        seed: of everything that is drawn.
        matches: random matches; each setup gets at least one.
        positions: looked at in a match, from the first to the last.
        least: positions in all; of short matches more are played.
        refusals: the most actions tried at one position.
        shuffles: worlds compared with the truth, at one position, for one viewer.
        sampler_matches: random matches that judge the sampler.
        spots: positions at which sampler and witness are compared in distribution.
        draws: states drawn by each of them there.
        sampling: seconds for that comparison, whatever other laws have used up.
        worlds: the most positions of a game that is gone through as a whole.
        processes: matches that are played again in other processes.
        seconds: after which a law looks no further; a limit for slow games.
        total: seconds in which all laws should be done.
        shrinking: seconds for the search for a smaller case.
    """

    options: Any = None
    seats: int | None = None
    seed: int = 0
    matches: int = 6
    positions: int = 16
    least: int = 90
    refusals: int = 150
    shuffles: int = 2
    sampler_matches: int = 30
    spots: int = 8
    draws: int = 1000
    sampling: float = 3.0
    worlds: int = 4_000
    processes: int = 2
    seconds: float = 1.5
    total: float = 12.0
    shrinking: float = 3.0


QUICK: Final = Plan()

THOROUGH: Final = Plan(
    matches=60,
    positions=120,
    least=1_000,
    refusals=100_000,
    shuffles=4,
    sampler_matches=150,
    spots=24,
    draws=4000,
    sampling=40.0,
    worlds=60_000,
    processes=12,
    seconds=20.0,
    total=200.0,
    shrinking=15.0,
)

PROFILES: Final = {"quick": QUICK, "thorough": THOROUGH}


@define
class Subject:
    """A game under examination.

    Args:
        game: the rules.
        plan: how thoroughly to look.
        source: how another process finds the game: an id, or
            ``python:module:attribute``; empty if it cannot.
        golden: where the golden playthrough is; ``None`` if nobody says.
        update_golden: write it instead of comparing.
        cache: what several checks share, by name.
    """

    game: AnyGame
    plan: Plan = QUICK
    source: str = ""
    golden: Any = None
    update_golden: bool = False
    cache: dict[str, Any] = Factory(dict)


#: Looks at one position; may return how many things it has looked at.
PositionCheck: TypeAlias = Callable[[Scene, Plan], int | None]

#: Says why a law has nothing to say of a game; empty if it has.
Needs: TypeAlias = Callable[[AnyGame], str]


def _always(game: AnyGame) -> str:
    return ""


def needs_hidden(game: AnyGame) -> str:
    """Say that nothing is hidden, if so."""
    return "" if game.shuffle_hidden is not None else "nothing is hidden"


@frozen
class Check:
    """The check of one law.

    Args:
        law: the law.
        run: looks; returns how much it has looked at.
        needs: whether the law applies.
        at: where it looks, for a check of positions.
        look: looks at one position, for a check of positions.
        thin: looks at one of so many positions only, being slow; see `is_due`.
    """

    law: Law
    run: Callable[[Subject], int]
    needs: Needs = _always
    at: str = ""
    look: PositionCheck | None = None
    thin: int = 1


#: The check of every law, by its id.
CHECKS: Final[dict[str, Check]] = {}


def position(
    law: str, *, at: str = "any", thin: int = 1, needs: Needs = _always
) -> Callable[[PositionCheck], PositionCheck]:
    """Make a function the check of a law that holds at every position.

    Args:
        law: its id.
        at: ``any`` position, ``start``, ``act``, ``chance`` or ``end``.
        thin: look at one of so many positions only.
        needs: whether the law applies.
    """

    def register(look: PositionCheck) -> PositionCheck:
        def run(subject: Subject) -> int:
            return _run(CHECKS[law], subject)

        CHECKS[law] = Check(LAWS[law], run, needs, at, look, thin)
        return look

    return register


def whole(
    law: str, *, needs: Needs = _always
) -> Callable[[Callable[[Subject], int]], Callable[[Subject], int]]:
    """Make a function the check of a law that needs more than single positions."""

    def register(run: Callable[[Subject], int]) -> Callable[[Subject], int]:
        CHECKS[law] = Check(LAWS[law], run, needs)
        return run

    return register


def is_at(scene: Scene, at: str) -> bool:
    """Say whether a position is one of those that a check looks at."""
    match at:
        case "any":
            return True
        case "start":
            return not scene.actions
        case "act":
            return isinstance(scene.point, Act)
        case "chance":
            return isinstance(scene.point, Chance)
        case _:
            return isinstance(scene.point, Over)


def walk(game: AnyGame, plan: Plan, *, matches: int | None = None) -> Iterator[Scene]:
    """Yield positions of random matches: some of each, the first and the last too."""
    pairs = setups(game, plan.options, plan.seats)
    few = max(matches or plan.matches, len(pairs))
    looked = 0
    for match in range(10 * few):
        if match >= few and looked >= plan.least:
            return
        setup = pairs[match % len(pairs)]
        plies = _length(game, setup, match, plan.seed)
        chosen = _chosen(plies, plan.positions, match)
        for scene in random_match(game, *setup, match, plan.seed):
            if scene.ply in chosen:
                looked += 1
                yield scene


def _length(game: AnyGame, setup: tuple[Any, int], match: int, seed: int) -> int:
    """Return how many plies a match has; up to the first that cannot be played."""
    plies = -1
    try:
        for _ in random_match(game, *setup, match, seed):
            plies += 1
    except LawError:
        # Whoever looks at the positions before may see why; else it comes again.
        return max(plies, 0)
    return plies


def _chosen(plies: int, most: int, match: int) -> set[int]:
    if plies < most:
        return set(range(plies + 1))
    # Other ones in every match, so that all parts of a long match have their turn.
    step = plies / (most - 1)
    shift = (match * 0.618) % 1
    inner = {int((index + shift) * step) for index in range(most - 2)}
    return {0, 1, *inner, plies - 1, plies}


def is_due(check: Check, seen: int) -> bool:
    """Say whether a slow check looks at a position.

    Every second or third of them would be the same plies of every match, in a game
    whose matches have all one length; so they are drawn, always the same ones.

    Args:
        check: the check.
        seen: how many positions came before at which it might have looked.
    """
    return not seen or FastDealer(f"thin/{seen}").below(check.thin) == 0


def _run(check: Check, subject: Subject) -> int:
    game, plan = subject.game, subject.plan
    assert check.look is not None  # noqa: S101 - position() has set it
    stop = time.monotonic() + plan.seconds
    looked = seen = 0
    for scene in walk(game, plan):
        if not is_at(scene, check.at):
            continue
        seen += 1
        if not is_due(check, seen - 1):
            continue
        looked += look_at(check, scene, plan)
        if time.monotonic() > stop:
            break
    return looked


def look_at(check: Check, scene: Scene, plan: Plan) -> int:
    """Look at one position; return at how many things.

    Raises:
        LawError: for the smallest case that is found within the time of the plan.
    """
    look = check.look
    assert look is not None  # noqa: S101 - a check of positions
    try:
        count = look(scene, plan)
    except LawError as error:
        if error.law is not check.law:
            raise
        raise smallest(
            error,
            scene,
            lambda smaller: look(smaller, plan) if is_at(smaller, check.at) else None,
            plan.shrinking,
        ) from error
    return 1 if count is None else count


def plan_of(
    options: Any, seats: int | None, matches: int, seed: int, **more: Any
) -> Plan:
    """Return a plan from the arguments that the single checks take."""
    plan = Plan(options=options, seats=seats, matches=matches, seed=seed)
    return evolve(plan, **more)
