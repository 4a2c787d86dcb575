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
    """One position. ``order`` lists the actions not yet tried, the next one last."""

    __slots__ = (
        "by_chance",
        "children",
        "legal",
        "order",
        "payoffs",
        "seat",
        "totals",
        "visits",
    )

    def __init__(self) -> None:
        self.seat: int | None = None
        self.payoffs: Payoffs | None = None
        self.by_chance: dict[Any, _Node] | None = None
        self.legal: Any = ()
        self.order: list[int] = []
        # In the order in which the actions were tried, as are the children.
        self.children: list[tuple[Any, _Node]] = []
        self.visits: list[int] = []
        self.totals: list[float] = []


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
        self._root = self._node(draw_world())

    def _node(self, state: Any) -> _Node:
        node = _Node()
        point = self._game.decision_point(state)
        node.seat = seat = point.seat
        if seat is not None:
            node.legal = legal = self._game.legal_actions(state)
            node.order = order = list(range(len(legal)))
            if len(order) > 1:
                self._rng.shuffle(order)
        elif type(point) is Over:
            node.payoffs = self._payoff(point.outcome)
        else:
            node.by_chance = {}
        return node

    def iterate(self) -> None:
        """Play one line through the tree and from its leaf, and learn from it."""
        game, c = self._game, self._exploration
        apply = game.apply
        state = self._draw_world()
        node = self._root
        path: list[tuple[_Node, int]] = []
        payoffs: Payoffs = ()
        while True:
            if node.seat is not None:
                if node.order and self._nodes < MOST_NODES:
                    action = node.legal[node.order.pop()]
                    apply(state, action)
                    child = self._node(state)
                    self._nodes += 1
                    path.append((node, len(node.children)))
                    node.children.append((action, child))
                    node.visits.append(0)
                    node.totals.append(0.0)
                    payoffs = child.payoffs or self._rollout(state)
                    break
                visits = node.visits
                if not visits:
                    payoffs = self._rollout(state)
                    break
                width = c * sqrt(log(sum(visits)))
                bounds = [
                    total / n + width / sqrt(n)
                    for total, n in zip(node.totals, visits, strict=True)
                ]
                i = bounds.index(max(bounds))
                path.append((node, i))
                action, node = node.children[i]
                apply(state, action)
            elif node.by_chance is None:
                payoffs = node.payoffs or ()
                break
            else:
                action = game.draw_chance(state, self._dealer)
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
            node.visits[i] += 1
            node.totals[i] += payoffs[node.seat]  # type: ignore[index]

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
                node = next((one for a, one in node.children if a == action), None)
        if node is None or node.seat is None:
            return False
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
            sum(root.visits),
        )

    def _candidate(self, node: _Node, action: Any, i: int | None) -> Candidate:
        if i is None or not node.visits[i]:
            return Candidate(action, 0, 0.5, (action,))
        line = [action]
        below = node.children[i][1]
        while below.children and len(line) < LONGEST_LINE:
            best = max(range(len(below.visits)), key=below.visits.__getitem__)
            chosen, below = below.children[best]
            line.append(chosen)
        n = node.visits[i]
        return Candidate(action, n, node.totals[i] / n, tuple(line))


def _count(root: _Node) -> int:
    """Return how many nodes hang together."""
    count, waiting = 0, [root]
    while waiting:
        node = waiting.pop()
        count += 1
        waiting += [child for _, child in node.children]
        waiting += (node.by_chance or {}).values()
    return count
