"""UCT for games of perfect information, with chance and for any number of seats.

Each seat maximises its own payoff (max-n); at an inner node the next action follows
from UCB1 (Kocsis and Szepesvari 2006), at a chance node it is drawn. One node is added
in each iteration.
"""
# ruff: noqa: ANN401, TID251 - values of any game; the generator is the search's

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from math import log, sqrt
from typing import Any, Final

from fritillary.bots.search.found import Candidate, Found
from fritillary.bots.search.payoffs import Payoff, Payoffs
from fritillary.bots.search.rollouts import Rollout
from fritillary.core.dealer import FastDealer
from fritillary.core.points import Over
from fritillary.plugins.game import Game

#: More nodes are not kept; the search then goes on from the leaves it has.
MOST_NODES: Final = 1_000_000

#: A principal line is no longer.
LONGEST_LINE: Final = 20


class _Node:
    """One position; what concerns its actions is made when it is met again.

    The lists have an entry for each action that was tried, in the order in which they
    were. Means and rarities are kept rather than worked out: every iteration that comes
    by reads them all and changes one.
    """

    __slots__ = (
        "by_chance",
        "children",
        "legal",
        "means",
        "payoffs",
        "rarities",
        "seat",
        "untried",
        "visited",
        "visits",
    )

    seat: int | None
    payoffs: Payoffs | None
    by_chance: dict[Any, _Node] | None
    #: Not set before `UctTree._open`, as is what follows.
    legal: Any
    untried: list[Any] | None
    children: list[tuple[Any, _Node]]
    visits: list[int]
    #: Of the payoffs of the seat to act.
    means: list[float]
    #: One over the square root of the visits.
    rarities: list[float]
    #: Sum of the visits.
    visited: int


class UctTree:
    """One tree, from the position a seat sees.

    Args:
        game: the rules.
        draw_world: gives a state of the root, the caller's to change.
        rollout: judges a state.
        payoff: judges outcomes.
        rng: chooses between what is equal.
        exploration: weight of what was looked at little; payoffs are from 0 to 1.
    """

    def __init__(
        self,
        game: Game[Any, Any, Any],
        draw_world: Callable[[], Any],
        rollout: Rollout,
        payoff: Payoff,
        rng: random.Random,
        exploration: float,
    ) -> None:
        self._game = game
        self._draw_world = draw_world
        self._rollout = rollout
        self._payoff = payoff
        self._rng = rng
        self._dealer = FastDealer(rng)
        self._exploration = exploration
        self._nodes = 1
        state = draw_world()
        self._root = self._node(state)
        if self._root.seat is not None:
            self._open(self._root, state)

    def _node(self, state: Any) -> _Node:
        node = _Node()
        point = self._game.decision_point(state)
        node.seat = seat = point.seat
        node.payoffs = node.by_chance = node.untried = None
        if seat is None:
            if type(point) is Over:
                node.payoffs = self._payoff(point.outcome)
            else:
                node.by_chance = {}
        return node

    def _open(self, node: _Node, state: Any) -> list[Any]:
        """Prepare the node of a seat for the first action, and return the untried."""
        node.legal = legal = self._game.legal_actions(state)
        node.untried = untried = list(legal)
        node.children = []
        node.visits = []
        node.means = []
        node.rarities = []
        node.visited = 0
        return untried

    def iterate(self) -> None:
        """Play one line through the tree and from its leaf, and learn from it."""
        apply, c = self._game.apply, self._exploration
        state = self._draw_world()
        node = self._root
        path: list[tuple[_Node, int]] = []
        payoffs: Payoffs | None
        while True:
            seat = node.seat
            if seat is not None:
                untried = node.untried
                if untried is None:
                    untried = self._open(node, state)
                if untried and self._nodes < MOST_NODES:
                    action = untried.pop(int(self._rng.random() * len(untried)))
                    apply(state, action)
                    child = self._node(state)
                    payoffs = child.payoffs or self._rollout(state)
                    self._nodes += 1
                    node.children.append((action, child))
                    node.visits.append(1)
                    node.means.append(payoffs[seat])
                    node.rarities.append(1.0)
                    node.visited += 1
                    break
                if not node.visited:
                    payoffs = self._rollout(state)
                    break
                width = c * sqrt(log(node.visited))
                rarities = node.rarities
                most, i = -1.0, 0
                for at, mean in enumerate(node.means):
                    bound = mean + width * rarities[at]
                    if bound > most:
                        most, i = bound, at
                path.append((node, i))
                action, node = node.children[i]
                apply(state, action)
            elif node.by_chance is None:
                payoffs = node.payoffs or ()
                break
            else:
                action = self._game.draw_chance(state, self._dealer)
                apply(state, action)
                child_ = node.by_chance.get(action)
                if child_ is None:
                    if self._nodes >= MOST_NODES:
                        payoffs = self._rollout(state)
                        break
                    child_ = node.by_chance[action] = self._node(state)
                    self._nodes += 1
                node = child_
        for node, i in path:
            node.visited += 1
            node.visits[i] = n = node.visits[i] + 1
            mean = node.means[i]
            node.means[i] = mean + (payoffs[node.seat] - mean) / n  # type: ignore[index]
            node.rarities[i] = 1.0 / sqrt(n)

    def advance(self, actions: Iterable[Any], draw_world: Callable[[], Any]) -> bool:
        """Make what follows the actions the root, with what is known of it.

        Args:
            actions: of seats and of chance, in order.
            draw_world: gives a state of the new root.

        Returns:
            Whether the tree knows that position; if not, it is of no more use.
        """
        node: _Node | None = self._root
        for action in actions:
            if node is None:
                return False
            if node.by_chance is not None:
                node = node.by_chance.get(action)
            else:
                tried = () if node.untried is None else node.children
                node = next((one for a, one in tried if a == action), None)
        if node is None or node.seat is None:
            return False
        if node.untried is None:
            self._open(node, draw_world())
        self._root, self._draw_world = node, draw_world
        self._nodes = _count(node)
        return True

    def found(self) -> Found:
        """Return what is known of the actions at the root."""
        root = self._root
        at = {id(action): i for i, (action, _) in enumerate(root.children)}
        return Found(
            [
                self._candidate(root, action, at.get(id(action)))
                for action in root.legal
            ],
            root.visited,
        )

    def _candidate(self, node: _Node, action: Any, i: int | None) -> Candidate:
        if i is None:
            return Candidate(action, 0, 0.5, (action,))
        line = [action]
        below = node.children[i][1]
        while below.untried is not None and below.visited and len(line) < LONGEST_LINE:
            best = max(range(len(below.visits)), key=below.visits.__getitem__)
            chosen, below = below.children[best]
            line.append(chosen)
        return Candidate(action, node.visits[i], node.means[i], tuple(line))


def _count(root: _Node) -> int:
    """Return how many nodes hang together."""
    count, waiting = 0, [root]
    while waiting:
        node = waiting.pop()
        count += 1
        if node.untried is not None:
            waiting += [child for _, child in node.children]
        waiting += (node.by_chance or {}).values()
    return count
