"""Statistics of Lepidoptery between bots, beside published and simulated figures.

Plays many games between two equal bots and prints how long they are, how often the
starter wins and how often by four in a line, with standard errors, beside the
figures of the rules summary that this project was made from, 1,500 games per setting.
Its greedy player shed most cards; ours builds lines as well and so ends games sooner
and oftener by four: only the uniform rows are expected to agree.

    python -m benchmarks.statistics --games 1500

Ctrl-C prints what there is so far.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from attrs import define, field, frozen

from fritillary import Ask, Clock, FastDealer, Game, Outcome, Plugin, UniformBot
from fritillary_games import lepidoptery
from fritillary_games.lepidoptery.greedy import GreedyBot
from fritillary_games.lepidoptery.model import Observation, Options, Pass

#: The reference played so many games per setting.
REFERENCE_GAMES = 1_500


@frozen
class Reference:
    """Figures of the rules summary, section 1.4; shares are fractions."""

    turns: float
    starter: float | None
    four: float


@frozen
class Setting:
    """One row: who plays, on which board, and what the reference says."""

    name: str
    bot: Callable[[], Any]
    options: Options
    reference: Reference | None


SETTINGS = (
    Setting("uniform, 6 rows", UniformBot, Options(), Reference(28, 0.52, 0.95)),
    Setting(
        "uniform, 5 rows", UniformBot, Options((5,) * 5), Reference(30, None, 0.93)
    ),
    Setting(
        "uniform, 6 rows, bga",
        UniformBot,
        Options(same_type_may_beat=False),
        # "Shorter by 1 to 1.5 turns".
        Reference(26.75, None, 0.95),
    ),
    Setting("greedy, 6 rows", GreedyBot, Options(), Reference(26, 0.57, 0.82)),
    Setting("greedy, 5 rows", GreedyBot, Options((5,) * 5), Reference(26, None, 0.79)),
)


@define
class Tally:
    """Sums over the games of one setting."""

    games: int = 0
    turns: int = 0
    turns_squared: int = 0
    longest: int = 0
    passes: int = 0
    starter: int = 0
    four: int = 0
    branching: int = 0
    widest: int = 0
    seconds: float = field(default=0.0)

    def add(self, outcome: Outcome, turns: int, passes: int, starter: int) -> None:
        self.games += 1
        self.turns += turns
        self.turns_squared += turns * turns
        self.longest = max(self.longest, turns)
        self.passes += passes
        self.starter += outcome.scores[starter]
        self.four += outcome.reason == "four-in-line"

    def mean_turns(self) -> tuple[float, float]:
        """Return the mean and its standard error."""
        mean = self.turns / self.games
        variance = self.turns_squared / self.games - mean * mean
        return mean, math.sqrt(variance / self.games)


def play(game: Game, setting: Setting, number: int, tally: Tally) -> None:
    """Play one game with its own seed and add it to the tally."""
    state = game.new(FastDealer(number), setting.options)
    bots = [setting.bot(), setting.bot()]
    rngs = [random.Random(2 * number + seat) for seat in (0, 1)]
    clock = Clock()
    turns = passes = 0
    while (seat := game.decision_point(state).seat) is not None:
        legal = game.legal_actions(state)
        tally.branching += len(legal)
        tally.widest = max(tally.widest, len(legal))

        def observation(seat: int = seat) -> Observation:
            return game.observe(state, seat)

        ask = Ask(game, seat, observation, legal, rngs[seat], clock)
        action = bots[seat].decide(ask)
        passes += isinstance(action, Pass)
        game.play(state, action, legal)
        turns += 1
    tally.add(game.outcome_of(state), turns, passes, setting.options.starter)


def run(game: Game, setting: Setting, games: int) -> Iterator[Tally]:
    """Yield the tally of a setting after each game."""
    tally = Tally()
    begin = time.perf_counter()
    for number in range(games):
        play(game, setting, number, tally)
        tally.seconds = time.perf_counter() - begin
        yield tally


def share(count: int, games: int, reference: float | None) -> str:
    """Return a share with its standard error and how far the reference is off."""
    value = count / games
    error = math.sqrt(value * (1 - value) / games)
    text = f"{100 * value:5.1f} +- {100 * error:3.1f} %"
    if reference is None:
        return f"{text}  (no figure)   "
    spread = math.sqrt(
        value * (1 - value) / games + reference * (1 - reference) / REFERENCE_GAMES
    )
    return f"{text}  ({100 * reference:.0f} %, {deviation(value - reference, spread)})"


def deviation(difference: float, error: float) -> str:
    """Return a difference in standard errors."""
    return f"{difference / error:+.1f} se" if error else "no spread"


def report(setting: Setting, tally: Tally) -> None:
    mean, error = tally.mean_turns()
    known = setting.reference
    # The reference ran as many games of about the same spread; it is rounded to 1.
    spread = math.hypot(error * math.sqrt(1 + tally.games / REFERENCE_GAMES), 0.3)
    turns = f"{mean:5.1f} +- {error:.2f}"
    if known is not None:
        turns += f"   ({known.turns:g}, {deviation(mean - known.turns, spread)})"
    games = tally.games
    starter = share(tally.starter, games, known.starter if known else None)
    print(f"{setting.name}: {games:,} games in {tally.seconds:.1f} s")
    print(f"  turns         {turns}; longest {tally.longest}")
    print(f"  starter wins  {starter}")
    print(f"  wins by four  {share(tally.four, games, known.four if known else None)}")
    print(
        f"  passes {tally.passes / games:.1f} a game, legal actions "
        f"{tally.branching / tally.turns:.1f} on average, at most {tally.widest}"
    )


def measure(games: int) -> None:
    """Run every setting of Lepidoptery and print its row."""
    game: Game = Game(Plugin("lepidoptery", lepidoptery))
    measure_all(SETTINGS, lambda setting: run(game, setting, games), report, games)


def measure_all(
    settings: Sequence[Any],
    tallies: Callable[[Any], Iterator[Any]],
    tell: Callable[[Any, Any], None],
    games: int,
) -> None:
    """Run settings one after the other; Ctrl-C ends with what there is.

    Args:
        settings: what to run; each has a name.
        tallies: yields the tally of a setting after each game.
        tell: prints the row of a setting.
        games: how many games a setting has.
    """
    show = sys.stderr.isatty()
    print("in brackets: figure of the rules summary, and how far ours is from it")
    for setting in settings:
        tally = None
        try:
            for tally in tallies(setting):
                if show and tally.games % 20 == 0:
                    sys.stderr.write(f"\r{setting.name}: {tally.games}/{games} ")
                    sys.stderr.flush()
        except KeyboardInterrupt:
            clear(show=show)
            if tally is not None:
                tell(setting, tally)
            print("interrupted")
            return
        clear(show=show)
        tell(setting, tally)


def clear(*, show: bool) -> None:
    """Wipe the line of the progress display."""
    if show:
        sys.stderr.write("\r" + " " * 60 + "\r")
        sys.stderr.flush()


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return value


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Statistics of Lepidoptery.")
    parser.add_argument(
        "--games", type=positive, default=1_500, help="games per setting (1500)"
    )
    measure(parser.parse_args(arguments).games)


if __name__ == "__main__":
    main()
