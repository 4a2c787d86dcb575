"""What is played for the tables of strength, and one match of it."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Iterator
from typing import Any, Final

from attrs import frozen

from benchmarks.playing import game_of
from fritillary import Game
from fritillary.bots.search.payoffs import by_place
from fritillary.cli.values import option_data
from fritillary.core.errors import UsageError
from fritillary.record.signing import Signer
from fritillary.record.terms import EndKind
from fritillary.record.writer import MemorySink
from fritillary.referee.lineup import local_player, parse_player
from fritillary.referee.match import Match
from fritillary.referee.setup import MatchSetup

#: Matches of a block: one for each seat that the player takes.
SEATINGS: Final = 2

#: No record is kept, so that nobody has to trust its signature.
_SIGNER: Final = Signer(bytes(32))


class StrengthError(Exception):
    """Something cannot be played, read or written; the message is one line."""


@frozen
class Pairing:
    """One row: a player, whom it plays, and how often at most.

    Args:
        game: its id.
        player: the one whose score is told.
        against: the other one.
        cap: blocks at most.
        options: of the game, as ``name=value``.
        pace: blocks of each turn that it gets beside other pairings.
    """

    game: str
    player: str
    against: str
    cap: int
    options: tuple[str, ...] = ()
    pace: float = 1.0

    @property
    def key(self) -> str:
        """What is played, in one line; results are kept under it."""
        game = " ".join((self.game, *self.options))
        return f"{game}: {self.player} - {self.against}"

    @property
    def name(self) -> str:
        """A short name: only what differs where both are the same bot."""
        bot, _, settings = self.player.partition(":")
        other, _, others = self.against.partition(":")
        if bot == other and settings and others:
            own, less = settings.rpartition("=")[2], others.rpartition("=")[2]
            return f"{self.game}/{less}-{own}"
        return f"{self.game}/{other}-{settings.rpartition('=')[2] or bot}"


#: A match of three games of Lost Cities takes three times as long.
_SINGLE: Final = ("games=1",)


def _heuristic(
    game: str, bot: str, turns: dict[int, tuple[int, float]], *options: str
) -> Iterator[Pairing]:
    """Return pairings of `ismcts` with a bot that knows the game."""
    for iterations, (cap, pace) in turns.items():
        player = f"ismcts:iterations={iterations}"
        yield Pairing(game, player, bot, cap, options, pace)


def _ladder(
    game: str, bot: str, turns: dict[tuple[int, int], tuple[int, float]], *options: str
) -> Iterator[Pairing]:
    """Return pairings of a bot with itself at fewer iterations."""
    for (fewer, more), (cap, pace) in turns.items():
        player, against = (f"{bot}:iterations={number}" for number in (more, fewer))
        yield Pairing(game, player, against, cap, options, pace)


#: Iterations with cap and pace: the dearer a block, the fewer there are.
PAIRINGS: Final = (
    *_heuristic("lepidoptery", "greedy", {200: (160, 10), 1000: (60, 6)}),
    *_ladder(
        "lepidoptery",
        "ismcts",
        {(100, 300): (160, 10), (300, 1000): (60, 6), (1000, 3000): (40, 3)},
    ),
    *_heuristic("butterfly-garden", "greedy", {200: (40, 4), 1000: (24, 2)}),
    *_ladder(
        "butterfly-garden",
        "ismcts",
        {(100, 300): (40, 3), (300, 1000): (24, 1), (1000, 3000): (20, 0.4)},
    ),
    *_ladder(
        "connect-four",
        "mcts",
        {(100, 300): (160, 10), (300, 1000): (60, 6), (1000, 3000): (40, 3)},
    ),
    *_heuristic("lost-cities", "cautious", {200: (24, 3), 1000: (20, 1)}, *_SINGLE),
    *_ladder("lost-cities", "ismcts", {(100, 300): (20, 2)}, *_SINGLE),
)


@frozen
class Task:
    """One match of a pairing.

    Args:
        seed: of the whole schedule.
        block: which deal, counted from 0.
        seating: the seat that the player takes.
    """

    pairing: Pairing
    seed: int
    block: int
    seating: int


@frozen
class Played:
    """What came of a task.

    Args:
        score: of the player: 1 for a win, 1/2 for a draw, 0 for a loss.
        plies: of the match.
        seconds: that it took, on the wall.
    """

    score: float
    plies: int
    seconds: float


def options_of(game: Game[Any, Any, Any], pairing: Pairing) -> Any:
    """Return the options of a pairing's game.

    Raises:
        FritillaryError: if there are no such options.
    """
    return game.options(option_data(list(pairing.options)))


def check(pairing: Pairing) -> None:
    """Check that a pairing can be played.

    Raises:
        FritillaryError: naming what is wrong.
    """
    game = game_of(pairing.game)
    game.check_seats(SEATINGS)
    options_of(game, pairing)
    for text in (pairing.player, pairing.against):
        spec = parse_player(text)
        if spec.kind != "local":
            msg = f"player {text[:80]!r}: only bots that play in process are compared"
            raise UsageError(msg, code="usage.player")
        local_player(spec, game)


def deal_seed(task: Task) -> bytes:
    """Return the seed of a task's match: that of all matches of the game and block.

    So all pairings of a game play the same deals, and their results can be compared.
    """
    text = f"strength/{task.seed}/{task.pairing.game}/{task.block}"
    return hashlib.sha256(text.encode()).digest()


def play(task: Task) -> Played:
    """Play a match by the referee, without clocks.

    Raises:
        StrengthError: if it does not end by the rules of the game.
        FritillaryError: if it cannot be played.
    """
    pairing = task.pairing
    game = game_of(pairing.game)
    texts = (pairing.player, pairing.against)
    # A fresh bot for each match: nobody remembers the deal.
    players = [local_player(parse_player(text), game) for text in texts]
    if task.seating:
        players.reverse()
    setup = MatchSetup(
        game=game,
        players=players,
        options=options_of(game, pairing),
        match_id="strength",
        seed=deal_seed(task),
        salt=bytes(32),
    )
    begin = time.perf_counter()
    result = asyncio.run(Match(setup, MemorySink(), _SIGNER).run())
    finish = result.finish
    if finish.kind is not EndKind.PLAYED or finish.outcome is None:
        msg = (
            f"{pairing.key}: block {task.block}, seating {task.seating} did not end by "
            f"the rules: {finish.message or finish.code}"
        )
        raise StrengthError(msg)
    score = by_place(finish.outcome)[task.seating]
    return Played(score, result.plies, time.perf_counter() - begin)
