"""Statistics of Butterfly Garden between bots, beside simulated figures.

Plays many games between equal bots and prints how long they are, what is collected
and who wins, with standard errors, beside the figures of the rules summary that this
project was made from: random play, 1,500 games per setting. Greedy bots have no
reference; their rows show how the game is when somebody wants something.

    python -m benchmarks.butterfly_garden_statistics --games 1500

Ctrl-C prints what there is so far.
"""

from __future__ import annotations

import argparse
import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from attrs import Factory, define, frozen

from benchmarks.statistics import (
    REFERENCE_GAMES,
    deviation,
    measure_all,
    positive,
    share,
)
from fritillary import Ask, Clock, FastDealer, Game, Outcome, Plugin, UniformBot
from fritillary_games import butterfly_garden
from fritillary_games.butterfly_garden.actions import Place
from fritillary_games.butterfly_garden.greedy import GreedyBot
from fritillary_games.butterfly_garden.model import Edition, Options, State
from fritillary_games.butterfly_garden.running import MET, RELEASE_BITS, runs


@frozen
class Reference:
    """Figures of the rules summary, section 2.5, for random play; means."""

    tiles: float = 53.7
    collisions: float = 1.6
    points: float = 6.5


@frozen
class Setting:
    """One row: who plays, how many, by which options, and what is expected."""

    name: str
    bot: Callable[[], Any]
    seats: int
    options: Options
    reference: Reference | None
    first: float | None = None


INDIGO = Options(edition=Edition.INDIGO)
RANDOM = Reference()

SETTINGS = (
    Setting("uniform, 2 seats, indigo", UniformBot, 2, INDIGO, RANDOM, 0.497),
    Setting("uniform, 3 seats, indigo", UniformBot, 3, INDIGO, RANDOM, 1 / 3),
    Setting("uniform, 4 seats, indigo", UniformBot, 4, INDIGO, RANDOM, 1 / 4),
    Setting("uniform, 2 seats", UniformBot, 2, Options(), RANDOM, 0.497),
    Setting("uniform, 3 seats", UniformBot, 3, Options(), RANDOM, 1 / 3),
    Setting("uniform, 4 seats", UniformBot, 4, Options(), RANDOM, 1 / 4),
    Setting("greedy, 2 seats", GreedyBot, 2, Options(), None),
    Setting("greedy, 4 seats", GreedyBot, 4, Options(), None),
)


@define
class Series:
    """A sum and a sum of squares, for a mean with its error."""

    count: int = 0
    total: int = 0
    squares: int = 0

    def add(self, value: int) -> None:
        self.count += 1
        self.total += value
        self.squares += value * value

    def mean(self) -> tuple[float, float]:
        """Return the mean and its standard error."""
        mean = self.total / self.count
        variance = max(0.0, self.squares / self.count - mean * mean)
        return mean, math.sqrt(variance / self.count)


@define
class Tally:
    """Sums over the games of one setting."""

    games: int = 0
    tiles: Series = Factory(Series)
    collisions: Series = Factory(Series)
    #: Of the first seat of each game: the seats of one game are not independent.
    points: Series = Factory(Series)
    all_points: int = 0
    shortest: int = 99
    longest: int = 0
    wins: list[float] = Factory(lambda: [0.0] * 4)
    shared: int = 0
    branching: int = 0
    widest: int = 0
    seconds: float = 0.0

    def add(self, outcome: Outcome, tiles: int, collisions: int) -> None:
        self.games += 1
        self.tiles.add(tiles)
        self.collisions.add(collisions)
        self.points.add(outcome.scores[0])
        self.all_points += sum(outcome.scores)
        self.shortest = min(self.shortest, tiles)
        self.longest = max(self.longest, tiles)
        for seat in outcome.winners:
            self.wins[seat] += 1 / len(outcome.winners)
        self.shared += len(outcome.winners) > 1


def meetings(state: State, place: Place) -> int:
    """Return how many pairs of treasures will meet because of a placement."""
    board = [*state.board]
    board[place.cell] = place.orientation
    ones, twos, threes = state.waiting
    every = ones | twos | threes | RELEASE_BITS[place.cell]
    return [end for _, end in runs(board, every, place.cell)].count(MET) // 2


def play(game: Game, setting: Setting, number: int, tally: Tally) -> None:
    """Play one game with its own seed and add it to the tally."""
    state = game.new(FastDealer(number), setting.options, setting.seats)
    bots = [setting.bot() for _ in range(setting.seats)]
    rngs = [random.Random(4 * number + seat) for seat in range(setting.seats)]
    clock = Clock()
    tiles = collisions = 0
    while (seat := game.decision_point(state).seat) is not None:
        legal = game.legal_actions(state)
        tally.branching += len(legal)
        tally.widest = max(tally.widest, len(legal))

        def observation(seat: int = seat) -> Any:
            return game.observe(state, seat)

        ask = Ask(game, seat, observation, legal, rngs[seat], clock)
        action = bots[seat].decide(ask)
        collisions += meetings(state, action)
        game.play(state, action, legal)
        tiles += 1
    tally.add(game.outcome_of(state), tiles, collisions)


def run(game: Game, setting: Setting, games: int) -> Iterator[Tally]:
    """Yield the tally of a setting after each game."""
    tally = Tally()
    begin = time.perf_counter()
    for number in range(games):
        play(game, setting, number, tally)
        tally.seconds = time.perf_counter() - begin
        yield tally


def compared(series: Series, reference: float | None, rounded: float) -> str:
    """Return a mean with its error, and how far the reference is off.

    Args:
        series: ours.
        reference: the figure, of `REFERENCE_GAMES` games of about the same spread.
        rounded: the standard error of its rounding.
    """
    mean, error = series.mean()
    text = f"{mean:5.2f} +- {error:.2f}"
    if reference is None:
        return text
    spread = math.hypot(error * math.sqrt(1 + series.count / REFERENCE_GAMES), rounded)
    return f"{text}  ({reference:g}, {deviation(mean - reference, spread)})"


def report(setting: Setting, tally: Tally) -> None:
    known = setting.reference
    games = tally.games
    tiles = compared(tally.tiles, known.tiles if known else None, 0.03)
    collisions = compared(tally.collisions, known.collisions if known else None, 0.03)
    points = compared(tally.points, known.points if known else None, 0.15)
    first = share(round(tally.wins[0]), games, setting.first)
    seats = " ".join(f"{100 * w / games:.1f}" for w in tally.wins[: setting.seats])
    everyone = tally.all_points / games / setting.seats
    print(f"{setting.name}: {games:,} games in {tally.seconds:.1f} s")
    print(f"  tiles          {tiles}; {tally.shortest} to {tally.longest}")
    print(f"  collisions     {collisions}")
    print(f"  points, seat 0 {points}; {everyone:.2f} over all seats")
    print(f"  seat 0 wins    {first}; all seats {seats} %")
    shared = share(tally.shared, games, None).partition("  (")[0]
    print(f"  shared wins    {shared}" + ("  (6 to 10 %)" if known else ""))
    print(
        f"  legal actions {tally.branching / tally.tiles.total:.1f} on average, "
        f"at most {tally.widest}"
    )


def measure(games: int) -> None:
    """Run every setting of Butterfly Garden and print its row."""
    game: Game = Game(Plugin("butterfly-garden", butterfly_garden))
    measure_all(SETTINGS, lambda setting: run(game, setting, games), report, games)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Statistics of Butterfly Garden.")
    parser.add_argument(
        "--games", type=positive, default=1_500, help="games per setting (1500)"
    )
    measure(parser.parse_args(arguments).games)


if __name__ == "__main__":
    main()
