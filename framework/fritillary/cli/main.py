"""The command ``fritillary``."""

from __future__ import annotations

import os
import sys
import traceback
from typing import Annotated

import typer

import fritillary
from fritillary.cli import (
    bot,
    certify,
    export,
    game,
    games,
    match,
    new_game,
    perft,
    play,
    serve,
    show,
    token,
    verify,
)
from fritillary.cli.codes import FAILED, INTERRUPTED, exit_code
from fritillary.cli.output import print_error, print_note
from fritillary.core.errors import FritillaryError

app = typer.Typer(
    name="fritillary",
    help="Turn-based games as plugins, and an arena for bots written in any language.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"fritillary {fritillary.__version__}")
        raise typer.Exit


@app.callback()
def _common(
    debug: Annotated[
        bool, typer.Option("--debug", help="Show a traceback when something fails.")
    ] = False,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Say which."),
    ] = False,
) -> None:
    del debug, version  # main() looks for --debug itself, also behind the command


for command in (
    games.games,
    game.game,
    play.play,
    match.match,
    serve.serve,
    bot.bot,
    show.show,
    verify.verify,
    export.export,
    certify.certify,
    perft.perft,
    new_game.new_game,
):
    app.command()(command)
app.add_typer(token.app, name="token")


def main(arguments: list[str] | None = None) -> None:
    """Run a command; exit with its code."""
    words = sys.argv[1:] if arguments is None else arguments
    debug = "--debug" in words
    words = [word for word in words if word != "--debug"]
    try:
        code = app(words, standalone_mode=True)
    except KeyboardInterrupt:
        print_note("interrupted")
        code = INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has enough; say nothing when Python exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = FAILED
    except FritillaryError as error:
        if debug:
            traceback.print_exc()
        print_error(error.message)
        code = exit_code(error)
    sys.exit(code or 0)
