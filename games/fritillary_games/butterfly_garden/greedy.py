"""The greedy bot: takes what it can, and likes treasures near its own gateways."""

from __future__ import annotations

import functools
from typing import Final

from fritillary import Ask, BaseBot
from fritillary_games.butterfly_garden.actions import TILE_NUMBERS, Place
from fritillary_games.butterfly_garden.board import (
    CELLS,
    EMPTY,
    ENTRIES,
    EXIT,
    FIRST,
    NUMBERS,
    PLACES,
    entry_of,
)
from fritillary_games.butterfly_garden.geometry import GATEWAYS, Cell
from fritillary_games.butterfly_garden.model import Observation
from fritillary_games.butterfly_garden.running import RELEASE_BITS, runs

#: How much of its value a treasure counts for a gateway whose cell it is about to
#: enter, and how much of that is left with each cell further away. Tuned by hand.
_NEAR: Final = 0.55
_DECAY: Final = 0.6


class GreedyBot(BaseBot):
    """Looks one placement ahead and at nothing but the board.

    A treasure counts its points if it leaves through a gateway, less what the other
    seats get for it; while it waits it counts a part of that for every gateway, the
    more the nearer. Two treasures that meet are worth nothing any more.
    """

    light = True

    def decide(self, ask: Ask) -> Place:
        """Return the legal action it likes best; the first of equals."""
        observation: Observation = ask.observation
        board = _Board(observation)

        def liking(action: Place) -> float:
            return board.liking(action) if board.busy >> action.cell & 1 else 0.0

        best: Place = max(ask.legal, key=liking)
        return best


class _Board:
    """What the observer sees, ready to try placements on.

    Raises:
        ValueError: if the observer is not to move.

    Attributes:
        busy: the empty cells where a placement moves something, as a bitmask.
    """

    def __init__(self, observation: Observation) -> None:
        if observation.seat is None or observation.seat != observation.to_move:
            msg = "a bot decides only when it is to move"
            raise ValueError(msg)
        self.worth = _worth(observation.owners, observation.seat)
        self.board = [EMPTY] * PLACES
        for tile, q, r, turn in observation.placed:
            self.board[NUMBERS[q, r]] = FIRST[TILE_NUMBERS[tile]] + turn
        self.values: dict[int, int] = {}
        self.waiting = 0
        self.busy = 0
        for each in observation.waiting:
            entry = entry_of((each.q, each.r), each.edge)
            self.values[entry] = each.value
            self.waiting |= 1 << entry
            self.busy |= 1 << entry // 6
        self.next = observation.centre[0] if observation.centre else 0
        for cell, bit in enumerate(RELEASE_BITS):
            if bit and self.board[cell] == EMPTY:
                self.busy |= 1 << cell

    def liking(self, action: Place) -> float:
        """Say how much better the board looks after a placement."""
        cell = action.cell
        self.board[cell] = action.orientation
        released = RELEASE_BITS[cell]
        liking = 0.0
        for start, end in runs(self.board, self.waiting | released, cell):
            if released >> start & 1:
                value = self.next
            else:
                value = self.values[start]
                liking -= value * self.worth[start]
            if end >= 0:
                liking += value * self.worth[end]
        self.board[cell] = EMPTY
        return liking


@functools.cache
def _worth(owners: tuple[tuple[int, ...], ...], seat: int) -> tuple[float, ...]:
    """Return what a point is worth to a seat at every entry, then at every exit."""
    others = {owner for each in owners for owner in each} - {seat}
    share = [
        (seat in each) - sum(owner in each for owner in others) / len(others)
        for each in owners
    ]
    entries = [
        sum(
            part
            * _NEAR
            * _DECAY ** min(_distance(CELLS[cell], goal) for goal in gateway.cells)
            for part, gateway in zip(share, GATEWAYS, strict=True)
        )
        for cell in range(PLACES)
    ]
    worth = [entries[entry // 6] for entry in range(ENTRIES)]
    assert len(worth) == EXIT  # noqa: S101 - exits follow the entries
    return (*worth, *share)


def _distance(one: Cell, other: Cell) -> int:
    """Return how many steps lie between two cells."""
    q, r = one[0] - other[0], one[1] - other[1]
    return max(abs(q), abs(r), abs(q + r))
