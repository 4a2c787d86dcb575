"""``fritillary perft``."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from fritillary.app.application import Application
from fritillary.cli.interrupted import leave
from fritillary.cli.output import print_json
from fritillary.cli.values import (
    GameId,
    Json,
    Options,
    Preset,
    Seats,
    game_and_options,
    hex_bytes,
)
from fritillary.core.dealer import Dealer, FastDealer, SealedDealer
from fritillary.core.errors import UsageError
from fritillary.testing.counting import perft as count


def perft(
    game_id: GameId,
    depth: Annotated[
        int, typer.Option("--depth", metavar="N", min=0, help="The most plies.")
    ],
    seats: Seats = None,
    seed: Annotated[
        str,
        typer.Option(
            "--seed",
            metavar="SEED",
            help="Of the deal: a number, or the 64 hex digits of a match's seed.",
        ),
    ] = "0",
    option: Options = None,
    preset: Preset = "",
    as_json: Json = False,
) -> None:
    """Count the sequences of actions from a deal, ply by ply.

    Chance outcomes count as plies, whatever their weight. Sequences that end the
    match early are not counted at greater depths. Ctrl-C gives the counts so far.

    Example: fritillary perft lepidoptery --depth 4
    """
    game, options = game_and_options(Application(), game_id, option, preset)
    state = game.new(_dealer(seed), options, seats)
    numbers: list[int] = []
    begin = time.monotonic()
    interrupted = False
    try:
        for number in count(game, state, depth):
            if not as_json:
                seconds = time.monotonic() - begin
                print(f"{len(numbers):3}  {number:>16,}  {seconds:8.2f} s", flush=True)
            numbers.append(number)
    except KeyboardInterrupt:
        interrupted = True
    if as_json:
        print_json({"game": game.id, "seed": seed, "counts": numbers})
    if interrupted:
        leave(f"{len(numbers)} of {depth + 1} depths were counted")


def _dealer(seed: str) -> Dealer:
    if len(seed) == 64:
        # As in a match, whose deal has a stream of its own.
        return SealedDealer(hex_bytes(seed, "seed")).stream("deal")
    try:
        return FastDealer(int(seed)).stream("deal")
    except ValueError as error:
        msg = f"the seed {seed[:70]!r} is neither a number nor 64 hex digits"
        raise UsageError(msg, code="usage.seed") from error
