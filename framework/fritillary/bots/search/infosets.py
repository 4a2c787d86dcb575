"""Information-set MCTS for games with hidden information.

Each iteration draws a world that fits what the seat knows and plays one line through
trees whose nodes are what a seat has seen, not what is the case (Cowling, Powley and
Whitehouse 2012). Where every action is seen by all, one tree serves all seats
(SO-ISMCTS and MO-ISMCTS are then the same); else each seat has its own, in which the
actions of the others are as that seat sees them (MO-ISMCTS). What is not legal in all
worlds of a node is held against the iterations in which it was.

In both forms as published, the other seats choose without looking at what they hold,
which is hidden from the root. Where they can hold few things only, as in Kuhn poker,
each of their roots is therefore split by what that seat would see; where they can hold
many, the parts would be too small to learn anything in, and it is not.
"""
# ruff: noqa: ANN401, TID251 - values of any game; the generator is the search's

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from math import log, sqrt
from typing import Any, Final

from fritillary.bots.search.found import Candidate, Found
from fritillary.bots.search.payoffs import Payoff, Payoffs
from fritillary.bots.search.rollouts import Rollout
from fritillary.bots.search.uct import LONGEST_LINE, MOST_NODES
from fritillary.codec.packing import pack
from fritillary.core.dealer import FastDealer
from fritillary.core.info import Information
from fritillary.core.points import Over
from fritillary.plugins.game import Game

#: The roots of another seat are split if it can see so many different things at most.
_FEW: Final = 8

#: Worlds that are drawn to find out.
_PROBES: Final = 40


class _Edge:
    """What one seat knows of one of its actions at one node."""

    __slots__ = ("available", "node", "total", "visits")

    def __init__(self) -> None:
        self.visits = 0
        self.total = 0.0
        self.available = 1
        self.node: _Node | None = None


class _Node:
    """What a seat has seen since the root."""

    __slots__ = ("edges", "seat", "seen")

    def __init__(self) -> None:
        #: Who acts in all worlds met so far; edges of other seats are in ``seen``.
        self.seat: int | None = None
        self.edges: dict[Any, _Edge] = {}
        self.seen: dict[Any, _Node] = {}


class InformationSets:
    """The trees of one decision.

    Args:
        game: the rules.
        seat: that decides.
        legal: its legal actions.
        seats: how many there are.
        draw_world: gives a state that the seat may be in, the caller's to change.
        rollout: judges a state.
        payoff: judges outcomes.
        rng: chooses between what is equal.
        exploration: weight of what was looked at little; payoffs are from 0 to 1.
        most: edges and nodes that are kept in all; the search then goes on from the
            leaves it has.
    """

    def __init__(
        self,
        game: Game[Any, Any, Any],
        seat: int,
        legal: Sequence[Any],
        seats: int,
        draw_world: Callable[[], Any],
        rollout: Rollout,
        payoff: Payoff,
        rng: random.Random,
        exploration: float,
        most: int = MOST_NODES,
    ) -> None:
        self._game = game
        self._seat = seat
        self._legal = legal
        self._draw_world = draw_world
        self._rollout = rollout
        self._payoff = payoff
        self._rng = rng
        self._dealer = FastDealer(rng)
        self._exploration = exploration
        self._split = self._few_views(seats)
        self._own_trees = game.masks_actions or self._split
        self._roots = [_Node() for _ in range(seats if self._own_trees else 1)]
        self._nodes = 0
        self._most = most
        self._made = 0

    def _few_views(self, seats: int) -> bool:
        """Say whether other seats can see more than one thing at the root, but few."""
        if self._game.info.information is Information.PERFECT:
            return False
        others = [seat for seat in range(seats) if seat != self._seat]
        views: list[set[bytes]] = [set() for _ in others]
        for _ in range(_PROBES):
            state = self._draw_world()
            for seen, seat in zip(views, others, strict=True):
                seen.add(self._view(state, seat))
                if len(seen) > _FEW:
                    return False
        return any(len(seen) > 1 for seen in views)

    def _view(self, state: Any, seat: int) -> bytes:
        game = self._game
        return pack(game.codec.observation_to_data(game.observe(state, seat)))

    def iterate(self) -> None:
        """Draw a world, play one line, and learn from it."""
        game = self._game
        state = self._draw_world()
        nodes: list[_Node | None] = list(self._roots)
        if self._split:
            for at, node in enumerate(nodes):
                if at != self._seat:
                    nodes[at] = self._below(node, self._view(state, at), None)
        # A tree that may not grow ends here for its seat; the others go on.
        path: list[tuple[int, _Edge]] = []
        self._made += 1
        payoffs: Payoffs = ()
        while True:
            point = game.decision_point(state)
            seat = point.seat
            if seat is None:
                if type(point) is Over:
                    payoffs = self._payoff(point.outcome)
                    break
                action = game.draw_chance(state, self._dealer)
                edge, fresh = None, False
            else:
                chosen = self._choose(
                    nodes[seat if self._own_trees else 0],
                    seat,
                    game.legal_actions(state),
                )
                if chosen is None:
                    payoffs = self._rollout(state)
                    break
                action, edge, fresh = chosen
                path.append((seat, edge))
            if fresh:
                game.apply(state, action)
                payoffs = self._rollout(state)
                break
            if not self._own_trees:
                nodes[0] = self._below(nodes[0], action, edge)
            else:
                for at, node in enumerate(nodes):
                    nodes[at] = (
                        self._below(node, action, edge)
                        if at == seat
                        else self._below(
                            node, game.observe_action(state, action, at), None
                        )
                    )
            game.apply(state, action)
        for seat, edge in path:
            edge.visits += 1
            edge.total += payoffs[seat]

    def _choose(
        self, node: _Node | None, seat: int, legal: Any
    ) -> tuple[Any, _Edge, bool] | None:
        """Return an action, its edge, and whether it was never tried here.

        ``None`` if none is known, and none may be added.
        """
        if node is not None and node.seat != seat:
            if node.seat is not None:
                node = self._below(node, (None, seat), None)
            if node is not None:
                node.seat = seat
        if node is None:
            return None
        edges = node.edges
        known = []
        untried = []
        for action in legal:
            edge = edges.get(action)
            if edge is None:
                untried.append(action)
            else:
                edge.available += 1
                known.append((action, edge))
        if untried and self._nodes < self._most:
            action = untried[int(self._rng.random() * len(untried))]
            edges[action] = edge = _Edge()
            self._nodes += 1
            return action, edge, True
        if not known:
            return None
        if len(known) == 1:
            action, edge = known[0]
            return action, edge, False
        c = self._exploration
        best, chosen = -1.0, known[0]
        for pair in known:
            edge = pair[1]
            n = edge.visits
            bound = edge.total / n + c * sqrt(log(edge.available) / n)
            if bound > best:
                best, chosen = bound, pair
        return *chosen, False

    def _below(self, node: _Node | None, seen: Any, edge: _Edge | None) -> _Node | None:
        """Return what follows for a seat that acted by ``edge``, or saw ``seen``.

        ``None`` if that is not known, and may not be added.
        """
        if node is None:
            return None
        below = node.seen.get(seen) if edge is None else edge.node
        if below is None and self._nodes < self._most:
            below = _Node()
            self._nodes += 1
            if edge is None:
                node.seen[seen] = below
            else:
                edge.node = below
        return below

    def found(self) -> Found:
        """Return what is known of the legal actions at the root."""
        root = self._roots[self._seat if self._own_trees else 0]
        return Found(
            [self._candidate(action, root.edges.get(action)) for action in self._legal],
            self._made,
        )

    def _candidate(self, action: Any, edge: _Edge | None) -> Candidate:
        if edge is None or not edge.visits:
            return Candidate(action, 0, 0.5, (action,))
        line = [action]
        below = edge.node
        while below is not None and below.edges and len(line) < LONGEST_LINE:
            chosen, next_ = max(below.edges.items(), key=lambda one: one[1].visits)
            line.append(chosen)
            below = next_.node
        return Candidate(action, edge.visits, edge.total / edge.visits, tuple(line))
