"""Batches of playouts, and what came of them."""
# ruff: noqa: TID251 - the generator is the call's

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from typing import Any

from attrs import define, field, frozen

from fritillary.api.v1 import simulator_pb2 as pb
from fritillary.bots.protocol import MatchStart
from fritillary.bots.search.payoffs import Payoff, Payoffs, by_place
from fritillary.bots.search.rollouts import Rollout, check_rollout, rollout_of
from fritillary.core.errors import (
    GameError,
    InvalidPositionError,
    ServiceError,
    UsageError,
)
from fritillary.core.outcome import Outcome
from fritillary.service.simulator_calls import Calls, Opened, check_count
from fritillary.service.simulator_limits import SimulatorLimits, Watch

_MATCH_ID = "simulation"


class _Noting(Payoff):
    """Pays by place, and notes the outcome that was paid for.

    Attributes:
        outcome: the last one; ``None``: none since it was set to that.
    """

    def __init__(self) -> None:
        super().__init__("place")
        self.outcome: Outcome | None = None

    def __call__(self, outcome: Outcome) -> Payoffs:
        """See `Payoff`."""
        self.outcome = outcome
        return by_place(outcome)


@define(eq=False)
class Totals:
    """What came of the playouts of one task; see `PlayOutTotals`.

    Args:
        seats: how many there are.
    """

    seats: int
    playouts: int = 0
    ended: int = 0
    payoffs: list[float] = field(factory=list)
    wins: list[int] = field(factory=list)
    shared: list[int] = field(factory=list)
    scores: list[int] = field(factory=list)
    squares: list[int] = field(factory=list)

    def __attrs_post_init__(self) -> None:
        self.payoffs = [0.0] * self.seats
        for counts in (self.wins, self.shared, self.scores, self.squares):
            counts.extend([0] * self.seats)

    def add(self, payoffs: Payoffs, outcome: Outcome | None) -> None:
        """Count a playout.

        Args:
            payoffs: by seat.
            outcome: ``None`` if the match was not over.

        Raises:
            InvalidPositionError: if the world has another number of seats.
        """
        if len(payoffs) != self.seats:
            msg = f"a world with {len(payoffs)} seats; the game has {self.seats}"
            raise InvalidPositionError(msg)
        self.playouts += 1
        for seat, payoff in enumerate(payoffs):
            self.payoffs[seat] += payoff
        if outcome is None:
            return
        self.ended += 1
        placing = outcome.placing
        first = self.wins if placing.count(1) == 1 else self.shared
        for seat, score in enumerate(outcome.scores):
            first[seat] += placing[seat] == 1
            self.scores[seat] += score
            self.squares[seat] += score * score

    def to_proto(self) -> pb.PlayOutTotals:
        """Return it as it is answered."""
        n = self.playouts
        return pb.PlayOutTotals(
            playouts=n,
            ended=self.ended,
            mean_payoffs=[total / n for total in self.payoffs] if n else (),
            wins=self.wins,
            shared_wins=self.shared,
            score_sums=self.scores,
            score_square_sums=self.squares,
        )


@frozen
class _Task:
    """Playouts that begin alike.

    Args:
        index: of the action that comes first; ``None``: none does.
        count: playouts in each world.
        totals: what came of them.
    """

    index: int | None
    count: int
    totals: Totals


class _Batch:
    """The playouts of one call.

    Args:
        opened: the game.
        states: of the worlds.
        watch: over the call.
    """

    def __init__(self, opened: Opened, states: Sequence[Any], watch: Watch) -> None:
        self._opened = opened
        self._states = states
        self._watch = watch
        self._tasks: list[_Task] = []
        # By world: the tasks that are played there.
        self._there: list[list[_Task]] = [[] for _ in states]
        # By world: what is legal, where something comes first.
        self._legal: dict[int, tuple[Any, ...]] = {}
        self._playouts = 0

    def add(self, task: pb.PlayOutTask, limits: SimulatorLimits) -> None:
        """Add a task.

        Raises:
            UsageError: if it names no world, or no playout.
            ServiceError: ``limit.playouts`` if all come to too many.
            GameError: if its first action is not legal.
        """
        check_count(task.count)
        count = len(self._states)
        worlds = sorted(set(task.worlds)) or range(count)
        if worlds and worlds[-1] >= count:
            msg = f"there is no world {worlds[-1]}; {count} were given"
            raise UsageError(msg, code="simulator.position")
        self._playouts += task.count * len(worlds)
        if self._playouts > limits.max_playouts:
            msg = (
                f"{self._playouts} playouts in one call; {limits.max_playouts} at most"
            )
            raise ServiceError(msg, code="limit.playouts")
        index = task.index if task.HasField("index") else None
        added = _Task(index, task.count, Totals(self._opened.seats))
        self._tasks.append(added)
        for world in worlds:
            if index is not None:
                self._check_first(world, index)
            self._there[world].append(added)

    def _check_first(self, world: int, index: int) -> None:
        """Check that an action can come first in a world."""
        game, state = self._opened.game, self._states[world]
        legal = self._legal.get(world)
        if legal is None:
            legal = self._legal[world] = game.legal(state)
        action = self._opened.table.at(index, legal)
        if action not in legal:
            # It is refused, with the reason.
            game.play(game.copy(state), action, legal)

    def play(self, rollout: Rollout, noting: _Noting, stop_at: float | None) -> bool:
        """Play all; return whether there was time for it.

        Args:
            rollout: plays on.
            noting: notes the outcomes of ``rollout``.
            stop_at: by the monotonic clock, in seconds; ``None``: it is an error if
                there is not time for all.

        Raises:
            ServiceError: ``limit.time``.
        """
        watch, states = self._watch, self._states
        table, legal = self._opened.table, self._legal
        copy, apply = self._opened.game.copy, self._opened.game.apply
        now = time.monotonic
        for world, task in self._order():
            if stop_at is None or watch.given_up:
                watch.check()
            elif now() >= stop_at:
                return False
            state = copy(states[world])
            if task.index is not None:
                apply(state, table.at(task.index, legal[world]))
            noting.outcome = None
            payoffs = rollout(state)
            task.totals.add(payoffs, noting.outcome)
        return True

    def _order(self) -> Iterator[tuple[int, _Task]]:
        """Yield each playout: round after round, world after world, task after task."""
        for played in range(max((task.count for task in self._tasks), default=0)):
            for world, tasks in enumerate(self._there):
                for task in tasks:
                    if played < task.count:
                        yield world, task

    def totals(self) -> list[pb.PlayOutTotals]:
        """Return what came of each task."""
        return [task.totals.to_proto() for task in self._tasks]


def play_out(
    calls: Calls, request: pb.PlayOutRequest, watch: Watch
) -> pb.PlayOutResponse:
    """Play what a request asks for.

    Args:
        calls: know the games and the limits.
        request: what is to be played.
        watch: over the call.

    Raises:
        FritillaryError: see ``simulator.proto``.
    """
    opened, limits = calls.opened(request.game), calls.limits
    limits.check_worlds(len(request.worlds))
    limits.check_worlds(len(request.tasks), "tasks")
    states = []
    for number, world in enumerate(request.worlds):
        watch.check()
        with opened.blaming(f"world {number}"):
            states.append(opened.state(world))
    batch = _Batch(opened, states, watch)
    for number, task in enumerate(request.tasks or (pb.PlayOutTask(count=1),)):
        watch.check()
        with opened.blaming(f"task {number}"):
            batch.add(task, limits)
    # An answer that is cut short is not late.
    stop_at = None
    if request.HasField("within_ms"):
        stop_at = min(time.monotonic() + request.within_ms / 1000, watch.deadline)
    noting = _Noting()
    with opened.blaming(""):
        rollout = _rollout(opened, request, limits, noting)
        complete = batch.play(rollout, noting, stop_at)
    return pb.PlayOutResponse(totals=batch.totals(), complete=complete)


def _rollout(
    opened: Opened, request: pb.PlayOutRequest, limits: SimulatorLimits, noting: _Noting
) -> Rollout:
    """Return the rollout that a request asks for.

    Raises:
        GameError: ``rollout.policy`` or ``rollout.plies``.
        UsageError: ``rollout.plies`` if there are too many.
    """
    game = opened.game
    policy = request.policy or "uniform"
    plies = request.plies if request.HasField("plies") else None
    for code, which, depth in (
        ("rollout.policy", policy, None),
        ("rollout.plies", "uniform", plies),
    ):
        try:
            check_rollout(game, which, depth)
        except GameError as error:
            raise GameError(error.message, code=code) from error
    if plies is not None and plies > limits.max_plies:
        msg = f"{plies} plies of one playout; {limits.max_plies} at most"
        raise UsageError(msg, code="rollout.plies")
    start = MatchStart(_MATCH_ID, game, opened.options, 0, opened.seats)
    rng = random.Random(request.seed)
    return rollout_of(game, start, noting, rng, policy=policy, depth=plies)
