"""What a search says of a decision, and of those that were made in a match.

It starts from an observation and nothing else. That of a record goes through its bytes
first: what a bot at the seat would have received is all that gets in.
"""
# ruff: noqa: ANN401, TID251 - values of any game; searches have generators of their own

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from attrs import frozen

from fritillary.bots.protocol import Ask, Clock, MatchStart
from fritillary.bots.search.bots import SearchBot
from fritillary.bots.search.budget import Budget
from fritillary.bots.search.found import Candidate, Found
from fritillary.bots.search.worlds import worlds
from fritillary.core.errors import (
    FritillaryError,
    InvalidPositionError,
    PluginError,
    UsageError,
)
from fritillary.core.text import show, told
from fritillary.plugins.game import Game
from fritillary.plugins.playout import playout
from fritillary.record.events import ActionTaken
from fritillary.record.replay import Replay, failed
from fritillary.record.terms import Source

#: Is told which share of a search is done, from 0 to 1; says whether it goes on.
GoOn = Callable[[float], bool]


@frozen
class Position:
    """A decision, as the seat that is to make it knows it.

    Args:
        game: the rules.
        options: of the match.
        seats: how many there are.
        seat: that is to act.
        observation: all that it knows.
        legal: what it may do.
    """

    game: Game[Any, Any, Any]
    options: Any
    seats: int
    seat: int
    observation: Any
    legal: tuple[Any, ...]


def position_of(
    game: Game[Any, Any, Any], observation: Any, seats: int | None = None
) -> Position:
    """Return the decision of an observation.

    Who is to act and what is legal are looked up in a world that fits it: both are
    the same in all of them.

    Args:
        game: the rules.
        observation: of the seat that is to act.
        seats: how many there are; ``None``: it is found out by a playout.

    Raises:
        InvalidPositionError: if it cannot arise, or is not that of the seat to act.
        MatchOverError: after the end.
        GameError: where chance is to act, or if the game cannot be searched.
    """
    rng = random.Random(0)
    try:
        world = worlds(game, observation, rng)()
        legal = game.legal(world)
        seat = game.decision_point(world).seat
        if seat is None or game.seen(world, seat) != observation:
            msg = f"it is not what seat {seat}, who is to act, can see"
            raise InvalidPositionError(msg)
        if seats is None:
            seats = len(playout(game, world, rng).placing)
    except FritillaryError:
        raise
    except Exception as error:
        msg = f"it cannot arise in {game.id}: {told(error)}"
        raise InvalidPositionError(msg) from error
    return Position(game, observation.options, seats, seat, observation, legal)


def as_received(game: Game[Any, Any, Any], state: Any, seat: int) -> Any:
    """Return what a seat sees, as a bot would build it from bytes.

    Args:
        game: the rules.
        state: the truth, of which nothing else is looked at.
        seat: that looks.

    Raises:
        FritillaryError: if the game fails to build it.
    """
    raw = game.codec.encode_observation(game.seen(state, seat))
    return game.codec.decode_observation(raw, state.options)


# ------------------------------------------------------------------ what was decided


@frozen
class Taken:
    """A decision of a match, with what was decided.

    Args:
        ply: of the action, from 1.
        position: before it.
        action: that was chosen.
        source: who chose it.
    """

    ply: int
    position: Position
    action: Any
    source: Source


def taken_in(replay: Replay) -> list[Taken]:
    """Return the decisions of a match in order.

    Args:
        replay: at its start; it is at its end afterwards.

    Raises:
        RecordError: naming the first event that the rules do not allow.
    """
    taken: list[Taken] = []
    steps = replay.steps()
    for number, event in enumerate(replay.record.events):
        seen = None
        if isinstance(event, ActionTaken) and replay.state is not None:
            try:
                seen = as_received(replay.game, replay.state, event.seat)
            except FritillaryError as error:
                raise failed(number, error) from error
        step = next(steps)
        if isinstance(event, ActionTaken):
            position = position_of(replay.game, seen, replay.seats)
            taken.append(Taken(step.ply, position, step.action, event.source))
    return taken


def chosen(
    taken: Iterable[Taken], plies: int, *, ply: int | None, seat: int | None
) -> list[Taken]:
    """Return the decisions that are asked for, at least one.

    Args:
        taken: all of a match.
        plies: of the match, those of chance included.
        ply: of the only one; ``None`` for any.
        seat: that made them; ``None`` for any.

    Raises:
        UsageError: if there is none.
    """
    of_seat = [each for each in taken if seat in {None, each.position.seat}]
    if ply is None:
        if not of_seat:
            who = "nobody" if seat is None else f"seat {seat} never"
            raise UsageError(f"{who} decided anything in this match", code="usage.ply")
        return of_seat
    if not 1 <= ply <= plies:
        msg = f"there is no ply {ply}; the match has plies 1 to {plies}"
        if not plies:
            msg = f"there is no ply {ply}; nothing was played in the match"
        raise UsageError(msg, code="usage.ply")
    found = [each for each in taken if each.ply == ply]
    if not found:
        msg = f"ply {ply} was chance's turn: nobody decided there"
        raise UsageError(msg, code="usage.ply")
    if found[0] not in of_seat:
        msg = f"seat {found[0].position.seat} decided at ply {ply}, not seat {seat}"
        raise UsageError(msg, code="usage.seat")
    return found


# --------------------------------------------------------------------- what is found


@frozen
class Judgement:
    """What a search says of a decision that was made.

    Args:
        taken: the decision.
        found: all that was found; ``None`` where one action alone was legal.
        played: the action that was chosen.
        best: what the search would have chosen; ``played`` if that is as good.
        apart: whether both were searched again, each alone.
    """

    taken: Taken
    found: Found | None
    played: Candidate
    best: Candidate
    apart: bool = False

    @property
    def loss(self) -> float:
        """The value given away, from 0 to 1."""
        return max(self.best.value - self.played.value, 0.0)


def worst(judgements: Iterable[Judgement], count: int) -> list[Judgement]:
    """Return the decisions that lost most, the worst first; none that lost nothing."""
    losing = [each for each in judgements if each.loss > 0]
    return sorted(losing, key=lambda each: (-each.loss, each.taken.ply))[:count]


def _always(share: float) -> bool:
    return True


class Analyst:
    """Searches decision after decision, each by itself.

    Args:
        bot: gives the searches.
        budget: of one search.
        seed: of each search: with the same seed and iterations all is the same.
        go_on: asked after each iteration.
        apart: whether values of two searches can be compared; see `Payoff`.

    Attributes:
        stopped: whether a search was broken off by ``go_on``.
    """

    def __init__(
        self,
        bot: SearchBot,
        budget: Budget,
        seed: int,
        go_on: GoOn = _always,
        *,
        apart: bool = True,
    ) -> None:
        self._bot = bot
        self._budget = budget
        self._seed = seed
        self._go_on = go_on
        self._apart = apart
        self.stopped = False

    def search(self, position: Position) -> Found:
        """Return what is found of a decision, as far as the search went.

        Raises:
            FritillaryError: if the game fails.
        """
        return self._searched(position, position.game, position.legal, self._budget)

    def judge(self, taken: Taken, found: Found | None = None) -> Judgement:
        """Return what is found of a decision that was made.

        A search looks little at what it takes to be bad, and what comes out as its
        best has had luck as well. So the action that was chosen and the best one are
        each searched again, alone, in half of the budget.

        Args:
            taken: the decision.
            found: of its position, if it was searched already; else it is searched,
                unless one action alone is legal.

        Raises:
            FritillaryError: if the game fails.
        """
        position = taken.position
        if found is None:
            if len(position.legal) == 1:
                only = Candidate(taken.action, 0, 0.5, (taken.action,))
                return Judgement(taken, None, only, only)
            found = self.search(position)
        best = found.best
        played = next((c for c in found.candidates if c.action == taken.action), None)
        if played is None:
            msg = (
                f"{position.game.id}: sample_state() gives worlds in which "
                f"{show(taken.action)} is not legal, though it is; mend the hook"
            )
            raise PluginError(msg, code="plugin.legal")
        if self._apart and not self.stopped:
            best_too = played.action == best.action
            played = self._alone(position, played)
            if not best_too:
                best = self._alone(position, best)
            if best_too or played.value >= best.value:
                best = played
        return Judgement(taken, found, played, best, self._apart)

    def _alone(self, position: Position, one: Candidate) -> Candidate:
        """Return what is found of an action where nothing else is looked at."""
        iterations, seconds = self._budget.iterations, self._budget.seconds
        half = Budget(
            iterations=None if iterations is None else max(iterations // 2, 1),
            seconds=None if seconds is None else seconds / 2,
        )
        narrow = _narrowed(position, one.action)
        again = self._searched(position, narrow, (one.action,), half).best
        return one if self.stopped else again

    def _searched(
        self,
        position: Position,
        game: Game[Any, Any, Any],
        legal: Sequence[Any],
        budget: Budget,
    ) -> Found:
        rng = random.Random(str(self._seed))
        bot, seat = self._bot, position.seat
        try:
            # Rollouts begin below the root, where the rules are what they are.
            rules, options = position.game, position.options
            bot.start(MatchStart("analysis", rules, options, seat, position.seats))
            search = bot.searching(
                Ask(game, seat, position.observation, legal, rng, Clock()), rng
            )
            iterations, stop_at = budget.until(Clock())
            begun = budget.now()
            made, share = 0, 0.0
            while share < 1.0:
                if not self._go_on(share):
                    self.stopped = True
                    break
                search.iterate()
                made += 1
                share = 0.0 if iterations is None else made / iterations
                if stop_at is not None:
                    passed = budget.now() - begun
                    share = max(share, passed / max(stop_at - begun, 1e-9))
            return search.found()
        except FritillaryError:
            raise
        except Exception as error:
            msg = f"{game.id}: a hook failed in a search: {told(error)}"
            raise PluginError(msg, code="plugin.failed") from error


def _narrowed(position: Position, action: Any) -> Game[Any, Any, Any]:
    """Return rules by which nothing but an action is legal where a search begins."""
    game, observation = position.game, position.observation
    narrow = copy.copy(game)
    root: Any = None

    def rooted(state: Any) -> Any:
        nonlocal root
        root = state
        return state

    def legal_actions(state: Any) -> Sequence[Any]:
        return (action,) if state is root else game.legal_actions(state)

    def apply(state: Any, chosen: Any) -> None:
        nonlocal root
        root = None
        game.apply(state, chosen)

    def copied(state: Any) -> Any:
        # Rollouts may copy as well, though never from the root.
        new = game.copy(state)
        return rooted(new) if state is observation else new

    sample = game.sample_state
    if sample is not None:
        narrow.sample_state = lambda seen, dealer: rooted(sample(seen, dealer))
    narrow.copy = copied
    narrow.legal_actions = legal_actions
    narrow.apply = apply
    return narrow
