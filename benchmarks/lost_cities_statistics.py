"""Statistics of Lost Cities between bots, beside published and simulated figures.

Plays many single games between two equal bots and prints how long they are, what the
players score and who wins, with standard errors, beside two sets of figures of the
rules summary that this project was made from: a published file of 11,303 games of
random play, and an own simulation of 3,000 games per setting.

Random play is not one thing. Here equal wagers are one action, so the uniform bot
plays them less often than one that chooses among the cards in its hand, as the
simulation did; that costs a point on average (rows "random cards"). How the published
file chose is not known; its mean lies a point above ours.

    python -m benchmarks.lost_cities_statistics --games 3000

Ctrl-C prints what there is so far.
"""

from __future__ import annotations

import argparse
import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from attrs import define, frozen

from benchmarks.statistics import deviation, measure_all, positive
from fritillary import Ask, Clock, FastDealer, Game, Outcome, Plugin, UniformBot
from fritillary_games import lost_cities
from fritillary_games.lost_cities.actions import Action, Draw
from fritillary_games.lost_cities.cards import NUMBERS
from fritillary_games.lost_cities.cautious import CautiousBot
from fritillary_games.lost_cities.model import Options

#: The published file and the own simulation have so many games.
PUBLISHED_GAMES = 11_303
SIMULATED_GAMES = 3_000


class RandomCards(UniformBot):
    """Chooses among the cards in its hand, so that two equal wagers count twice."""

    def decide(self, ask: Ask) -> Action:
        legal: Sequence[Action] = ask.legal
        hand = ask.observation.hand
        copies = [
            1
            if isinstance(action, Draw)
            else hand[NUMBERS[action.colour]].count(action.rank)
            for action in legal
        ]
        return ask.rng.choices(legal, copies)[0]


class DrawPileOnly(RandomCards):
    """Chooses among its cards, and always draws from the draw pile."""

    def decide(self, ask: Ask) -> Action:
        first: Action = ask.legal[0]
        return first if isinstance(first, Draw) else super().decide(ask)


@frozen
class Reference:
    """Figures of the rules summary, section 3.5; shares are fractions."""

    games: int
    turns: float | None = None
    points: float | None = None
    first: float | None = None
    second: float | None = None


@frozen
class Setting:
    """One row: who plays, with how many colours, and what the references say."""

    name: str
    bot: Callable[[], Any]
    options: Options
    references: tuple[Reference, ...] = ()


FIVE = Options(games=1)
SIX = Options(games=1, colours=6)

SETTINGS = (
    Setting(
        "uniform, 5 colours",
        UniformBot,
        FIVE,
        (
            # Means of -32.7 and -33.2 for the first and the second player.
            Reference(PUBLISHED_GAMES, points=-32.95, first=0.502, second=0.487),
            Reference(SIMULATED_GAMES, turns=143),
        ),
    ),
    Setting(
        "random cards, 5 colours",
        RandomCards,
        FIVE,
        (Reference(SIMULATED_GAMES, turns=143, points=-35),),
    ),
    Setting(
        "random cards, draw pile only, 5 colours",
        DrawPileOnly,
        FIVE,
        (Reference(SIMULATED_GAMES, turns=44, points=-71),),
    ),
    Setting(
        "uniform, 6 colours",
        UniformBot,
        SIX,
        (Reference(SIMULATED_GAMES, turns=214),),
    ),
    Setting(
        "random cards, draw pile only, 6 colours",
        DrawPileOnly,
        SIX,
        (Reference(SIMULATED_GAMES, turns=56, first=0.470, second=0.517),),
    ),
    Setting("cautious, 5 colours", CautiousBot, FIVE),
    Setting("cautious, 6 colours", CautiousBot, SIX),
)


@define
class Tally:
    """Sums over the games of one setting; points are those of both players."""

    games: int = 0
    turns: int = 0
    turns_squared: int = 0
    shortest: int = 0
    longest: int = 0
    points: int = 0
    points_squared: int = 0
    pairs_squared: int = 0
    first: int = 0
    ties: int = 0
    capped: int = 0
    branching: int = 0
    plies: int = 0
    seconds: float = 0.0

    def add(self, outcome: Outcome, turns: int, starter: int) -> None:
        self.games += 1
        self.turns += turns
        self.turns_squared += turns * turns
        self.shortest = min(self.shortest or turns, turns)
        self.longest = max(self.longest, turns)
        total = sum(outcome.scores)
        self.points += total
        self.points_squared += sum(score * score for score in outcome.scores)
        self.pairs_squared += total * total
        tied = len(outcome.winners) == 2
        self.ties += tied
        self.first += not tied and outcome.winners == (starter,)
        self.capped += outcome.reason == "turn-cap"

    def mean_turns(self) -> tuple[float, float]:
        """Return the mean and its standard error."""
        mean = self.turns / self.games
        variance = max(0.0, self.turns_squared / self.games - mean * mean)
        return mean, math.sqrt(variance / self.games)

    def mean_points(self) -> tuple[float, float]:
        """Return the mean of a player's points and its standard error.

        The players of a game share a pack, so that the game is the sample.
        """
        mean = self.points / (2 * self.games)
        variance = max(0.0, self.pairs_squared / 4 / self.games - mean * mean)
        return mean, math.sqrt(variance / self.games)

    def deviation_of_points(self) -> float:
        """Return the standard deviation of a player's points."""
        mean = self.points / (2 * self.games)
        return math.sqrt(self.points_squared / (2 * self.games) - mean * mean)


def play(game: Game, setting: Setting, number: int, tally: Tally) -> None:
    """Play one game with its own seed and add it to the tally."""
    state = game.new(FastDealer(number), setting.options)
    bots = [setting.bot(), setting.bot()]
    rngs = [random.Random(2 * number + seat) for seat in (0, 1)]
    clock = Clock()
    while (seat := game.decision_point(state).seat) is not None:
        legal = game.legal_actions(state)
        tally.plies += 1
        tally.branching += len(legal)

        def observation(seat: int = seat) -> Any:
            return game.observe(state, seat)

        ask = Ask(game, seat, observation, legal, rngs[seat], clock)
        game.play(state, bots[seat].decide(ask), legal)
    tally.add(game.outcome_of(state), state.turns, setting.options.starter)


def run(game: Game, setting: Setting, games: int) -> Iterator[Tally]:
    """Yield the tally of a setting after each game."""
    tally = Tally()
    begin = time.perf_counter()
    for number in range(games):
        play(game, setting, number, tally)
        tally.seconds = time.perf_counter() - begin
        yield tally


def against(
    value: float, error: float, games: int, figure: float | None, known: Reference
) -> str:
    """Return a figure of a reference, and how far ours is from it.

    The reference has a standard error of its own, that of as many of its games, and
    whole numbers are rounded.
    """
    if figure is None:
        return ""
    rounding = 0.3 if error and float(figure).is_integer() else 0.0
    spread = math.hypot(error * math.sqrt(1 + games / known.games), rounding)
    return f"  ({figure:g} in {known.games:,}: {deviation(value - figure, spread)})"


def report(setting: Setting, tally: Tally) -> None:
    games = tally.games
    turns, turns_error = tally.mean_turns()
    points, points_error = tally.mean_points()
    print(f"{setting.name}: {games:,} games in {tally.seconds:.1f} s")
    line = f"  turns         {turns:6.1f} +- {turns_error:.2f}"
    for known in setting.references:
        line += against(turns, turns_error, games, known.turns, known)
    print(f"{line}; {tally.shortest} to {tally.longest}, {tally.capped} capped")
    line = f"  points        {points:6.1f} +- {points_error:.2f}"
    for known in setting.references:
        line += against(points, points_error, games, known.points, known)
    print(f"{line}; sd {tally.deviation_of_points():.1f}")
    second = games - tally.first - tally.ties
    for name, count, figures in (
        ("starter wins", tally.first, [known.first for known in setting.references]),
        ("second wins", second, [known.second for known in setting.references]),
    ):
        value = count / games
        error = math.sqrt(value * (1 - value) / games)
        line = f"  {name:<13} {100 * value:6.1f} +- {100 * error:.1f} %"
        for figure, known in zip(figures, setting.references, strict=True):
            line += against(value, error, games, figure, known)
        print(line)
    print(
        f"  ties {100 * tally.ties / games:.1f} %, legal actions "
        f"{tally.branching / tally.plies:.1f} on average"
    )


def measure(games: int) -> None:
    """Run every setting of Lost Cities and print its row."""
    game: Game = Game(Plugin("lost-cities", lost_cities))
    measure_all(SETTINGS, lambda setting: run(game, setting, games), report, games)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Statistics of Lost Cities.")
    parser.add_argument(
        "--games", type=positive, default=3_000, help="games per setting (3000)"
    )
    measure(parser.parse_args(arguments).games)


if __name__ == "__main__":
    main()
