"""The search bots, as the referee and the client know bots."""
# ruff: noqa: ANN401, TID251 - values of any game; searches have generators of their own

from __future__ import annotations

import math
import random
from typing import Any, Final, Protocol

from fritillary.bots.protocol import Ask, BaseBot, Decision, MatchStart
from fritillary.bots.search.budget import Budget, Pace
from fritillary.bots.search.flat import Flat
from fritillary.bots.search.found import Candidate, Found
from fritillary.bots.search.infosets import InformationSets
from fritillary.bots.search.payoffs import Payoff
from fritillary.bots.search.rollouts import (
    Policy,
    Rollout,
    check_rollout,
    policy_of,
    rollout_of,
)
from fritillary.bots.search.turns import TURN, TURNS
from fritillary.bots.search.uct import UctTree
from fritillary.bots.search.worlds import worlds
from fritillary.core.errors import GameError
from fritillary.core.info import Information
from fritillary.core.text import show
from fritillary.plugins.game import Game
from fritillary.record.terms import parse_duration

#: sqrt(2) / 2: UCB1's constant where payoffs are from 0 to 1, see Kocsis and
#: Szepesvari (2006).
_EXPLORATION: Final = 0.7


class Search(Protocol):
    """A search under way; it can be stopped after any iteration."""

    def iterate(self) -> None:
        """Learn a little more."""

    def found(self) -> Found:
        """Return what is known so far."""


def _whole(name: str, value: object, least: int | None) -> int | None:
    if value is None or (type(value) is int and (least is None or value >= least)):
        return value
    span = "" if least is None else f" from {least}"
    msg = f"{name} must be an integer{span}, not {show(value)}"
    raise ValueError(msg)


def _number(name: str, value: float | str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if 0 <= number < math.inf:
        return number
    msg = f"{name} must be a number from 0, such as 0.7; not {show(value)}"
    raise ValueError(msg)


def _flag(name: str, value: object) -> bool:
    if isinstance(value, bool):
        return value
    msg = f"{name} must be true or false, not {show(value)}"
    raise ValueError(msg)


class SearchBot(BaseBot):
    """What the search bots have in common.

    Args:
        iterations: of one decision; default: 1,000, unless ``time`` is given.
        time: of one decision, such as ``1s`` or ``250ms``. The clock that the bot is
            given always counts too: it never uses more than a share of it.
        exploration: weight of actions that were looked at little, such as 0.7.
        rollout: ``uniform``, or the name of one of the game's bots.
        depth: plies of a rollout, after which the game's ``evaluate`` judges; default:
            to the end.
        objective: ``place``, ``score`` or ``both``; see `Payoff`.
        seed: of the choices; default: the bot's own seed, which follows from the
            match. With the same seed and iterations the choices are the same.
        probabilities: tell with each decision the share of each action.

    Raises:
        ValueError: if one is out of range.
    """

    def __init__(
        self,
        *,
        iterations: int | None = None,
        time: str | None = None,
        exploration: float | str = _EXPLORATION,
        rollout: str = "uniform",
        depth: int | None = None,
        objective: str = "both",
        seed: int | None = None,
        probabilities: bool = False,
    ) -> None:
        seconds = None if time is None else parse_duration(str(time)) / 1000
        self._budget = Budget(
            iterations=_whole("iterations", iterations, 1), seconds=seconds
        )
        self._exploration = _number("exploration", exploration)
        self._rollout = str(rollout)
        self._depth = _whole("depth", depth, 0)
        Payoff(objective)
        self._objective = objective
        self._seed = _whole("seed", seed, None)
        self._probabilities = _flag("probabilities", probabilities)
        self._decisions = 0
        self._pace = Pace()
        self._policy: Policy | None = None
        self._start: MatchStart

    def check(self, game: Game[Any, Any, Any]) -> None:
        """Check that the bot can play a game as it was set.

        Raises:
            GameError: saying what the game lacks.
        """
        check_rollout(game, self._rollout, self._depth)

    def start(self, info: MatchStart) -> None:
        """Prepare for a match.

        Raises:
            GameError: if the bot cannot play the game.
        """
        self.check(info.game)
        self._start = info
        self._decisions = 0
        self._pace = Pace()
        self._policy = None

    def decide(self, ask: Ask) -> Decision:
        """Search, and return what was found best.

        Without a search where one action is legal, or no time is left for it.
        """
        clock, pace, now = ask.clock, self._pace, self._budget.now
        pace.asked(clock)
        waited = 0.0
        if (left_ms := ask.time_left_ms()) is not None and clock.move_ms is not None:
            waited = (clock.move_ms - left_ms) / 1000
        begun = now()
        limits = self._budget.until(
            clock, waited=waited, late=pace.late, reserve=pace.reserve
        )
        rng = self._generator(ask)
        if len(ask.legal) == 1:
            self.passed_over(ask)
            return self._decision(Found([Candidate(ask.legal[0], 1, 0.5)], 1))
        stop_at = limits[1]
        found = None
        if stop_at is None or pace.fits(stop_at - begun, clock):
            found = self._found(ask, rng, *limits)
        if found is None:
            pace.unsearched()
            self.passed_over(ask)
            return Decision(self._at_once(ask, rng))
        pace.searched(now() - begun)
        decision = self._decision(found)
        if stop_at is not None:
            pace.overruns.append(max(now() - stop_at, 0.0))
        return decision

    def passed_over(self, ask: Ask) -> None:
        """Be told of a decision that is made without a search."""

    def searching(self, ask: Ask, rng: random.Random) -> Search:
        """Return a search that starts from what the seat knows, and nothing else.

        Args:
            ask: what the seat is asked.
            rng: makes all its choices.
        """
        raise NotImplementedError

    # ------------------------------------------------------------------------ inside

    def _found(
        self,
        ask: Ask,
        rng: random.Random,
        iterations: int | None,
        stop_at: float | None,
    ) -> Found | None:
        """Search; ``None`` if time ran out before anything was found."""
        now, pace, turns = self._budget.now, self._pace, TURNS
        mine = turns.take(None if stop_at is None else stop_at - now())
        if not mine and stop_at is not None and now() >= stop_at:
            return None
        try:
            begun = at = now()
            search = self.searching(ask, rng)
            iterate = search.iterate
            made, before, at = 0, at, now()
            pace.builds.append(at - before)
            while made != iterations:
                if stop_at is not None:
                    # The next one may take longer than usual.
                    took = 2 * pace.iteration if made else 0.0
                    if at + took >= stop_at:
                        break
                if mine and turns.wanted and at - begun >= TURN:
                    turns.give()
                    mine = turns.take(None if stop_at is None else stop_at - now())
                    begun = at = now()
                    continue
                iterate()
                made += 1
                before, at = at, now()
                pace.iterated(at - before)
            found = search.found()
        finally:
            if mine:
                turns.give()
        return found if found.iterations else None

    def _at_once(self, ask: Ask, rng: random.Random) -> Any:
        """Return an action without a search: that of the policy of rollouts."""
        if self._policy is None:
            self._policy = policy_of(self._start.game, self._start, self._rollout)
        return self._policy(ask, rng)

    def _decision(self, found: Found) -> Decision:
        shares = found.shares if self._probabilities else ()
        return Decision(found.best.action, probabilities=shares)

    def _generator(self, ask: Ask) -> random.Random:
        self._decisions += 1
        if self._seed is None:
            return ask.rng
        return random.Random(f"{self._seed}/{self._decisions}")

    def _rollout_with(self, rng: random.Random, payoff: Payoff) -> Rollout:
        return rollout_of(
            self._start.game,
            self._start,
            payoff,
            rng,
            policy=self._rollout,
            depth=self._depth,
        )


class FlatMcBot(SearchBot):
    """Flat Monte Carlo, for every game: the plain baseline; see `SearchBot`."""

    def searching(self, ask: Ask, rng: random.Random) -> Search:
        """See `SearchBot`."""
        rollout = self._rollout_with(rng, Payoff(self._objective))
        draw_world = worlds(ask.game, ask.observation, rng)
        return Flat(ask.game, ask.seat, ask.legal, draw_world, rollout)


class IsmctsBot(SearchBot):
    """Information-set MCTS, for every game; see `SearchBot`.

    Each iteration draws a world with the game's ``sample_state``. In a game of perfect
    information there is one world, and `MctsBot` is faster.
    """

    def searching(self, ask: Ask, rng: random.Random) -> Search:
        """See `SearchBot`."""
        payoff = Payoff(self._objective)
        return InformationSets(
            ask.game,
            ask.seat,
            ask.legal,
            self._start.seats,
            worlds(ask.game, ask.observation, rng),
            self._rollout_with(rng, payoff),
            payoff,
            rng,
            self._exploration,
        )


class MctsBot(SearchBot):
    """UCT, for games of perfect information; see `SearchBot`.

    Args:
        reuse: go on with what is left of the tree of the decision before.
        **common: of every search bot.
    """

    def __init__(self, *, reuse: bool = True, **common: Any) -> None:
        super().__init__(**common)
        self._reuse = _flag("reuse", reuse)
        self._tree: UctTree | None = None
        #: What was played since the tree was last moved on.
        self._played: list[Any] = []

    def check(self, game: Game[Any, Any, Any]) -> None:
        """See `SearchBot`.

        Raises:
            GameError: if something is hidden in the game.
        """
        if game.info.information is not Information.PERFECT:
            msg = f"mcts cannot play {game.id}: something is hidden in it; ismcts can"
            raise GameError(msg)
        super().check(game)

    def start(self, info: MatchStart) -> None:
        """See `SearchBot`."""
        super().start(info)
        self._tree = None
        self._played = []

    def passed_over(self, ask: Ask) -> None:
        """See `SearchBot`."""
        if self._tree is not None:
            self._played += _actions(ask)

    def searching(self, ask: Ask, rng: random.Random) -> Search:
        """See `SearchBot`."""
        draw_world = worlds(ask.game, ask.observation, rng)
        if self._tree is not None:
            tree = self._tree
            played, self._played = [*self._played, *_actions(ask)], []
            if played and tree.advance(played, draw_world):
                return tree
        payoff = Payoff(self._objective)
        tree = UctTree(
            ask.game,
            draw_world,
            self._rollout_with(rng, payoff),
            payoff,
            rng,
            self._exploration,
        )
        self._tree = tree if self._reuse else None
        return tree


def _actions(ask: Ask) -> list[Any]:
    """Return what was played since the bot was last asked."""
    bodies = (getattr(event, "body", None) for event in ask.events)
    actions = (getattr(body, "action", None) for body in bodies)
    return [action for action in actions if action is not None]
