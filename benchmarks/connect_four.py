"""The calibrator: random playouts of a bare Connect Four, without the framework.

Rates of this project are given as ratios against it, measured in the same run,
sample beside sample, because machines differ and are noisy. A plain class with
slots and bitboards: what a careful author writes by hand, no tables, no caches.

    python -m benchmarks.connect_four
"""

from __future__ import annotations

import random
import time

#: A column is seven bits, six cells and an empty one on top.
_HEIGHT = 7
_COLUMNS = range(7)
_TOPS = tuple(1 << (_HEIGHT * column + 6) for column in _COLUMNS)


class ConnectFour:
    """A position: the stones of both sides, the next free bit of each column."""

    __slots__ = ("free", "plies", "stones", "won")

    def __init__(self) -> None:
        self.stones = [0, 0]
        self.free = [1 << _HEIGHT * column for column in _COLUMNS]
        self.plies = 0
        self.won = False

    def is_over(self) -> bool:
        return self.won or self.plies == 42

    def legal_actions(self) -> list[int]:
        free = self.free
        return [column for column in _COLUMNS if free[column] != _TOPS[column]]

    def apply(self, column: int) -> None:
        side = self.plies & 1
        cell = self.free[column]
        stones = self.stones[side] | cell
        self.stones[side] = stones
        self.free[column] = cell << 1
        self.plies += 1
        pairs = stones & stones >> 1
        if pairs & pairs >> 2:
            self.won = True
            return
        pairs = stones & stones >> 7
        if pairs & pairs >> 14:
            self.won = True
            return
        pairs = stones & stones >> 6
        if pairs & pairs >> 12:
            self.won = True
            return
        pairs = stones & stones >> 8
        if pairs & pairs >> 16:
            self.won = True


def playout(position: ConnectFour, rng: random.Random) -> int:
    """Play random moves to the end and return how many they were."""
    draw = rng.random
    while not position.is_over():
        legal = position.legal_actions()
        position.apply(legal[int(draw() * len(legal))])
    return position.plies


def rate(games: int, rng: random.Random) -> float:
    """Return plies per second over so many games."""
    begin = time.perf_counter()
    plies = sum(playout(ConnectFour(), rng) for _ in range(games))
    return plies / (time.perf_counter() - begin)


def main() -> None:
    rng = random.Random(1)
    rates = sorted(rate(2_000, rng) for _ in range(7))
    print(f"bare Connect Four: {rates[3] / 1000:,.0f} k plies/s (median of 7)")
    print(f"range {rates[0] / 1000:,.0f} to {rates[-1] / 1000:,.0f} k plies/s")


if __name__ == "__main__":
    main()
