"""``fritillary play``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fritillary.app.application import Application
from fritillary.cli.match import play_out
from fritillary.cli.values import (
    Data,
    GameId,
    Options,
    Preset,
    Seats,
    check_seat,
    game_and_options,
)
from fritillary.cli.wish import Wish, seat_clocks


def play(
    game_id: GameId,
    opponent: Annotated[
        str,
        typer.Option(
            "--opponent",
            metavar="PLAYER",
            help="Who plays the other seats; default: the game's own bot, or uniform.",
        ),
    ] = "",
    seat: Annotated[
        int, typer.Option("--seat", metavar="K", help="Your seat, from 0.")
    ] = 0,
    seats: Seats = None,
    option: Options = None,
    preset: Preset = "",
    clock: Annotated[
        str, typer.Option("--clock", metavar="CLOCK", help="Such as '5min+2s'.")
    ] = "none",
    record: Annotated[
        Path | None,
        typer.Option("--record", metavar="FILE", help="Copy the record there."),
    ] = None,
    data: Data = None,
) -> None:
    """Play against bots, here in the terminal.

    Example: fritillary play lepidoptery --opponent greedy
    """
    app = Application(data)
    game, options = game_and_options(app, game_id, option, preset)
    number = game.info.min_seats if seats is None else seats
    game.check_seats(number)
    check_seat(seat, number)
    other = opponent or next(iter(sorted(game.bots)), "uniform")
    players = ["human" if each == seat else other for each in range(number)]
    wish = Wish(
        players=tuple(players), clocks=seat_clocks([clock], number), record=record
    )
    raise typer.Exit(play_out(app, game, options, wish))
