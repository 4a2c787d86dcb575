# ruff: noqa: ANN401 - states and actions of every game pass through
"""The enumerating dealer: every outcome of a random function, with its weight.

The function is run again and again, each time with the next sequence of draws, so
that it may be any code that takes its chance from a dealer: a deal, a sampler, a
whole match. It must depend on nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, MutableSequence, Sequence
from fractions import Fraction
from typing import Any, Final, TypeAlias, TypeVar

from fritillary.core.dealer import Dealer, Label
from fritillary.core.errors import FritillaryError, GameError, UsageError
from fritillary.core.points import Act, Over
from fritillary.testing.scene import AnyGame

T = TypeVar("T")
H = TypeVar("H", bound=Hashable)

#: A function with more sequences of draws than this is refused.
MAX_OUTCOMES: Final = 1_000_000

#: A function that draws more often than this seems to draw for ever.
MAX_DRAWS: Final = 10_000

#: A behaviour policy: from an observation and the legal actions to the
#: probability of each, in order; they add up to 1.
Policy: TypeAlias = Callable[[Any, Sequence[Any]], Sequence[Fraction]]

#: What a draw asks for: equal keys mean the same kind of draw.
_Key: TypeAlias = tuple[Hashable, ...]

#: Equal items of these types cannot be told apart, so that they share branches.
_PLAIN: Final = (int, str)


class EnumerationError(FritillaryError):
    """A function whose outcomes cannot be enumerated."""

    code = "testing.enumeration"


class TooManyOutcomesError(EnumerationError):
    """A function with more outcomes than one is ready to go through."""


class _Node:
    """One draw on the present path."""

    __slots__ = ("branches", "index", "key", "total", "weights")

    def __init__(self, key: _Key, branches: int, weights: Sequence[int] | None) -> None:
        self.key = key
        self.branches = branches
        self.weights = weights
        self.total = branches if weights is None else sum(weights)
        self.index = 0

    @property
    def weight(self) -> int:
        return 1 if self.weights is None else self.weights[self.index]


class _Walk:
    """The present path through the tree of draws, shared by all streams."""

    def __init__(self) -> None:
        self.nodes: list[_Node] = []
        self.depth = 0
        self.logs: dict[Hashable, list[tuple[_Key, int]]] = {}

    def choose(self, key: _Key, branches: int, weights: Sequence[int] | None) -> int:
        if self.depth == len(self.nodes):
            if self.depth >= MAX_DRAWS:
                msg = f"more than {MAX_DRAWS} draws; it must not draw until it fits"
                raise EnumerationError(msg)
            self.nodes.append(_Node(key, branches, weights))
        node = self.nodes[self.depth]
        if node.key != key:
            raise EnumerationError(_NOT_REPEATABLE)
        self.depth += 1
        return node.index

    def weight(self) -> Fraction:
        """Return the probability of the present path."""
        if self.depth != len(self.nodes):
            raise EnumerationError(_NOT_REPEATABLE)
        return Fraction(
            math.prod(node.weight for node in self.nodes),
            math.prod(node.total for node in self.nodes),
        )

    def advance(self) -> bool:
        """Go to the next path; say whether there is one."""
        while self.nodes and self.nodes[-1].index + 1 == self.nodes[-1].branches:
            self.nodes.pop()
        if not self.nodes:
            return False
        self.nodes[-1].index += 1
        self.depth = 0
        self.logs = {}
        return True


_NOT_REPEATABLE: Final = (
    "the same draws led the function another way; it must depend on the dealer alone"
)


class EnumeratingDealer(Dealer):
    """A dealer that takes one path through all draws; see `enumerate_outcomes`.

    A stream that is opened twice under one name gives the same draws twice, as
    long as it is asked for the same draws.
    """

    __slots__ = ("_cursor", "_log", "_name", "_walk")

    def __init__(self, walk: _Walk, name: tuple[tuple[Label, ...], ...] = ()) -> None:
        self._walk = walk
        self._name = name
        self._log = walk.logs.setdefault(name, [])
        self._cursor = 0

    def below(self, n: int) -> int:
        """Return the integer of this path in ``0 <= x < n``."""
        if n < 1:
            msg = f"below() needs at least 1, not {n}"
            raise ValueError(msg)
        return 0 if n == 1 else self._draw(("below", n), n, None)

    def stream(self, *labels: Label) -> EnumeratingDealer:
        """Return the stream of that name; equal names give equal draws."""
        return EnumeratingDealer(self._walk, (*self._name, labels))

    def shuffle(self, items: MutableSequence[T]) -> None:
        """Shuffle in place; equal integers or strings are not told apart."""
        if not _are_plain(items):
            super().shuffle(items)
            return
        for last in range(len(items) - 1, 0, -1):
            rest = list(items[: last + 1])
            place = rest.index(self._pick(rest))
            items[last], items[place] = items[place], items[last]

    def choice(self, items: Sequence[T]) -> T:
        """Return one item; equal integers or strings are not told apart."""
        if not items or not _are_plain(items):
            return super().choice(items)
        return self._pick(items)

    def weighted(self, weights: Sequence[int]) -> int:
        """Return an index of positive weight."""
        if not weights or min(weights) < 0 or not any(weights):
            # Raises the errors of every dealer.
            return super().weighted(weights)
        places = [index for index, weight in enumerate(weights) if weight]
        if len(places) == 1:
            return places[0]
        positive = tuple(weights[place] for place in places)
        return places[self._draw(("weighted", *weights), len(places), positive)]

    def _pick(self, items: Sequence[T]) -> T:
        distinct = list(dict.fromkeys(items))
        if len(distinct) == 1:
            return distinct[0]
        pattern = tuple(distinct.index(item) for item in items)
        counts = [pattern.count(index) for index in range(len(distinct))]
        return distinct[self._draw(("pick", *pattern), len(distinct), counts)]

    def _draw(self, key: _Key, branches: int, weights: Sequence[int] | None) -> int:
        if self._cursor < len(self._log):
            known, index = self._log[self._cursor]
            if known != key:
                name = "/".join(str(label) for part in self._name for label in part)
                msg = f"stream {name!r} was opened twice and drawn from differently"
                raise EnumerationError(msg)
        else:
            index = self._walk.choose(key, branches, weights)
            self._log.append((key, index))
        self._cursor += 1
        return index


def enumerate_outcomes(
    function: Callable[[Dealer], T], *, limit: int = MAX_OUTCOMES
) -> Iterator[tuple[T, Fraction]]:
    """Yield what a function returns for every sequence of draws, with its weight.

    Equal results are not merged; the weights add up to 1. See `distribution`.

    Args:
        function: takes its chance from the dealer alone; run once per sequence.
        limit: the most sequences that are gone through.

    Raises:
        EnumerationError: if there are more, if the function does not end its
            draws, or if the same draws lead it different ways.
    """
    walk = _Walk()
    for _ in range(limit):
        result = function(EnumeratingDealer(walk))
        yield result, walk.weight()
        if not walk.advance():
            return
    msg = f"more than {limit} sequences of draws"
    raise TooManyOutcomesError(msg)


def distribution(
    function: Callable[[Dealer], H], *, limit: int = MAX_OUTCOMES
) -> dict[H, Fraction]:
    """Return the exact probability of each result of a function.

    Raises:
        EnumerationError: see `enumerate_outcomes`.
    """
    weights: dict[H, Fraction] = {}
    for result, weight in enumerate_outcomes(function, limit=limit):
        weights[result] = weights.get(result, Fraction(0)) + weight
    return weights


def chance_distribution(
    game: AnyGame, state: Any, *, limit: int = MAX_OUTCOMES
) -> list[tuple[Any, Fraction]]:
    """Return the chance actions at a `Chance` with their probabilities.

    Args:
        game: the rules.
        state: where chance is to act.
        limit: the most sequences of draws, where the game only samples.

    Raises:
        EnumerationError: if the game only samples, from too many.
    """
    try:
        pairs = game.chance_outcomes(state)
    except GameError:
        drawn = distribution(
            lambda dealer: game.draw_chance(state, dealer), limit=limit
        )
        return list(drawn.items())
    total = sum(weight for _, weight in pairs)
    return [(action, Fraction(weight, total)) for action, weight in pairs]


def exact_values(
    game: AnyGame,
    policies: Sequence[Policy],
    *,
    options: Any = None,
    limit: int = MAX_OUTCOMES,
) -> tuple[Fraction, ...]:
    """Return the expected score of every seat, exactly.

    Walks through every deal, chance outcome and action of positive probability;
    a state that occurs again is not walked through again.

    Args:
        game: the rules.
        policies: one per seat; they decide how many seats there are.
        options: of the match; ``None`` for the defaults.
        limit: the most deals that are gone through.

    Raises:
        UsageError: if the probabilities of a policy are no distribution.
        EnumerationError: if there are too many deals or chance outcomes.
    """
    seats = len(policies)
    known: dict[bytes, tuple[Fraction, ...]] = {}

    def value(state: Any) -> tuple[Fraction, ...]:
        point = game.decision_point(state)
        if isinstance(point, Over):
            return tuple(Fraction(score) for score in point.outcome.scores)
        raw = game.codec.encode_state(state)
        if raw not in known:
            if isinstance(point, Act):
                branches = _behave(game, state, point.seat, policies[point.seat])
            else:
                branches = chance_distribution(game, state)
            sums = [Fraction(0)] * seats
            for action, weight in branches:
                after = game.copy(state)
                game.apply(after, action)
                for seat, score in enumerate(value(after)):
                    sums[seat] += weight * score
            known[raw] = tuple(sums)
        return known[raw]

    totals = [Fraction(0)] * seats
    for state, weight in enumerate_outcomes(
        lambda dealer: game.new(dealer, options, seats), limit=limit
    ):
        for seat, score in enumerate(value(state)):
            totals[seat] += weight * score
    return tuple(totals)


def _behave(
    game: AnyGame, state: Any, seat: int, policy: Policy
) -> list[tuple[Any, Fraction]]:
    legal = game.legal_actions(state)
    chances = [Fraction(chance) for chance in policy(game.observe(state, seat), legal)]
    if len(chances) != len(legal) or sum(chances) != 1 or min(chances) < 0:
        texts = ", ".join(game.format_action(action) for action in legal)
        shown = ", ".join(str(chance) for chance in chances)
        msg = f"the policy of seat {seat} gave ({shown}) for {texts}, not in all 1"
        raise UsageError(msg)
    return [pair for pair in zip(legal, chances, strict=True) if pair[1]]


def _are_plain(items: Sequence[Any]) -> bool:
    return all(type(item) in _PLAIN for item in items)
