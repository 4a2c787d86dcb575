"""What ``fritillary analyse`` is given: a record, a position, a search."""

from __future__ import annotations

import importlib
import importlib.util
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from fritillary.bots.search import SearchBot
from fritillary.bots.search.analysis import Position, as_received, position_of
from fritillary.bots.search.budget import Budget
from fritillary.codec.packing import from_json, unpack
from fritillary.core.errors import (
    CodecError,
    FritillaryError,
    InvalidPositionError,
    StorageError,
    UsageError,
)
from fritillary.core.info import Information
from fritillary.plugins.checks import called
from fritillary.plugins.game import Game
from fritillary.record.chain import MAGIC
from fritillary.record.reader import MAX_BYTES
from fritillary.record.terms import parse_duration
from fritillary.referee.lineup import BUILT_IN, make_bot, parse_player

#: Iterations of one search: where there is one decision, and where there are many.
ONE: Final = 10_000
MANY: Final = 1_000

_SEARCHES: Final = tuple(
    name
    for name, made in BUILT_IN.items()
    if isinstance(made, type) and issubclass(made, SearchBot)
)


# ------------------------------------------------------------------------- the file


def bytes_of(path: Path) -> tuple[bytes, str]:
    """Return what is in a file, and how to call it; ``-`` is standard input.

    Raises:
        StorageError: if it cannot be read, or is too large.
    """
    try:
        if str(path) == "-":
            name = "standard input"
            raw = sys.stdin.buffer.read(MAX_BYTES + 1)
        else:
            name = str(path)
            # Others may be endless, or block.
            if not stat.S_ISREG(path.stat().st_mode):
                raise StorageError(f"{path}: not a regular file", code="storage.file")
            with path.open("rb") as file:
                raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        msg = f"{path}: {error.strerror}"
        raise StorageError(msg, code="storage.file") from error
    if len(raw) > MAX_BYTES:
        msg = f"{name}: more than {MAX_BYTES} bytes are neither record nor position"
        raise StorageError(msg, code="storage.file")
    return raw, name


def check_kind(raw: bytes, name: str, *, game: bool) -> None:
    """Check that a game is named with a position, and with a position only.

    Raises:
        UsageError: saying which it is.
    """
    if not raw.strip():
        raise UsageError(f"{name}: it is empty", code="usage.file")
    if raw.startswith(MAGIC):
        if game:
            msg = f"{name}: a match record names its game; leave out --game and options"
            raise UsageError(msg, code="usage.game")
    elif not game:
        msg = f"{name}: no match record; for a position, name its game with --game"
        raise UsageError(msg, code="usage.game")


# ---------------------------------------------------------------------- the position


def position_in(
    raw: bytes, name: str, game: Game[Any, Any, Any], options: Any, seat: int | None
) -> Position:
    """Return the decision that a file asks about.

    Args:
        raw: an observation as JSON or msgpack, or a position in the game's notation.
        name: of the file.
        game: the rules.
        options: of the match.
        seat: that is to act; ``None``: whoever it is.

    Raises:
        FritillaryError: naming the file, and why there is nothing to be analysed.
    """
    try:
        position = position_of(game, _observation(raw, game, options))
    except FritillaryError as error:
        error.args = (f"{name}: {error.message}",)
        raise
    if seat not in {None, position.seat}:
        msg = f"{name}: seat {position.seat} is to act; seat {seat} decides nothing"
        raise UsageError(msg, code="usage.seat")
    return position


def _observation(raw: bytes, game: Game[Any, Any, Any], options: Any) -> Any:
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        # No map in msgpack is text.
        return _from_data(game, unpack(raw), options)
    if text.lstrip().startswith("{"):
        return _from_data(game, from_json(text), options)
    parse = _notation_of(game)
    if parse is None:
        msg = f"{game.id} has no notation of positions; give an observation as JSON"
        raise InvalidPositionError(msg)
    state = called(game.id, "parse_position", parse, text, options)
    game.legal(state)
    seat = game.decision_point(state).seat
    # What else stands there is what nobody who decides may look at.
    return as_received(game, state, 0 if seat is None else seat)


def _from_data(game: Game[Any, Any, Any], data: Any, options: Any) -> Any:
    try:
        return game.codec.observation_from_data(data, options)
    except CodecError as error:
        msg = f"no observation of {game.id}: {error.message}"
        raise InvalidPositionError(msg) from error


def _notation_of(game: Game[Any, Any, Any]) -> Callable[[str, Any], Any] | None:
    """Return what reads the notation of positions, if the game's package has it."""
    package = game.info.state.__module__.rpartition(".")[0]
    name = f"{package}.position"
    if not package or importlib.util.find_spec(name) is None:
        return None
    return getattr(importlib.import_module(name), "parse_position", None)


# ------------------------------------------------------------------------ the search


@frozen
class Searching:
    """How to search.

    Args:
        text: the bot with all that was asked for, as players are named.
        bot: itself.
        budget: of one decision.
        objective: what values mean; see `Payoff`.
        seed: of every search.
    """

    text: str
    bot: SearchBot
    budget: Budget
    objective: str
    seed: int


def searching(
    game: Game[Any, Any, Any],
    player: str,
    *,
    iterations: int | None,
    time: str,
    seed: int | None,
    usual: int,
) -> Searching:
    """Return the search that was asked for.

    Args:
        game: the rules.
        player: a search bot; empty for the one that fits the game.
        iterations: of one decision, over those of the bot.
        time: of one decision, over that of the bot.
        seed: of every search, over that of the bot; else 0.
        usual: iterations if neither they nor a time are asked for.

    Raises:
        UsageError: if it cannot be had.
    """
    perfect = game.info.information is Information.PERFECT
    spec = parse_player(player or ("mcts" if perfect else "ismcts"))
    if spec.kind != "local" or spec.name not in _SEARCHES:
        msg = f"--bot names one of {', '.join(_SEARCHES)}; not {spec.text[:80]!r}"
        raise UsageError(msg, code="usage.player")
    parameters = {"objective": "place", **spec.parameters}
    own_seed = parameters.pop("seed", 0)
    if iterations is not None:
        parameters["iterations"] = iterations
    if time:
        parameters["time"] = time
    if not {"iterations", "time"} & parameters.keys():
        parameters["iterations"] = usual
    words = ",".join(f"{name}={_word(value)}" for name, value in parameters.items())
    text = f"{spec.name}:{words}"
    full = parse_player(f"{text},seed={own_seed if seed is None else seed}")
    bot = make_bot(full, game)
    if not isinstance(bot, SearchBot):
        msg = f"{game.id} has a bot {spec.name!r} of its own, which is no search"
        raise UsageError(msg, code="usage.player")
    allowed = parameters.get("time")
    seconds = None if allowed is None else parse_duration(str(allowed)) / 1000
    return Searching(
        text,
        bot,
        Budget(iterations=parameters.get("iterations"), seconds=seconds),
        parameters["objective"],
        full.parameters["seed"],
    )


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
