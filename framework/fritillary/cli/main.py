"""The command ``fritillary``."""

from __future__ import annotations

import sys
import traceback
from typing import Annotated, Final

import typer

import fritillary
from fritillary.cli import streams
from fritillary.cli.codes import FAILED, error_text, exit_code
from fritillary.cli.commands import add_commands
from fritillary.cli.helps import unfolded
from fritillary.cli.interrupted import TellingGroup
from fritillary.cli.logs import said, told
from fritillary.cli.output import one_line, print_error, print_note
from fritillary.core import interrupts
from fritillary.core.build import compiled_modules
from fritillary.core.errors import FritillaryError, UsageError

app = typer.Typer(
    name="fritillary",
    cls=TellingGroup,
    help=unfolded(
        "Turn-based games as plugins, and an arena for bots written in any language."
        "\n\nExample: fritillary play lepidoptery"
    ),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        build = ", compiled" if compiled_modules() else ""
        typer.echo(f"fritillary {fritillary.__version__}{build}")
        raise typer.Exit


@app.callback()
def _common(
    debug: Annotated[
        bool, typer.Option("--debug", help="Show a traceback when something fails.")
    ] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Tell the version."
        ),
    ] = False,
) -> None:
    del debug, version  # main() looks for --debug itself, also behind the command


add_commands(app)


#: What goes wrong with a stream itself; files are named by their errors.
_OUTPUT: Final = "cannot write the output"


def main(arguments: list[str] | None = None) -> None:
    """Run a command; exit with its code.

    Whatever goes wrong is told in one line on stderr, with a traceback only if that
    is asked for.
    """
    interrupts.quiet_at_exit()
    try:
        code = _main(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:
        # Before a command has begun, or while it ends.
        code = interrupts.INTERRUPTED
    interrupts.over()
    sys.exit(code)


def _main(words: list[str]) -> int:
    """Run a command, and let out what it has printed; return its exit code."""
    debug = "--debug" in words
    words = [word for word in words if word != "--debug"]
    streams.prepare()
    with told(debug=debug):
        code = _run(words, debug=debug)
        try:
            streams.drain()
        except BrokenPipeError:
            code = code or FAILED
        except OSError as error:
            # If it had been told already, the command would have failed.
            if not code:
                print_error(f"{_OUTPUT}: {error.strerror}")
            code = code or FAILED
    return code


def _run(words: list[str], *, debug: bool) -> int:
    """Run a command; return its exit code."""
    try:
        # Until here it has ended the program in one line.
        interrupts.loaded()
        _check_empty(words)
        return app(words, standalone_mode=False) or 0
    except KeyboardInterrupt:
        interrupts.over()
        print_note("interrupted")
        return interrupts.INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has enough.
        return FAILED
    except typer.Abort:
        return FAILED
    except typer.TyperException as error:
        return _wrong_words(error)
    except Exception as error:  # noqa: BLE001 - the last to know
        if debug:
            print(one_traceback(error), end="", file=sys.stderr)
        print_error(_sentence(error))
        return exit_code(error) if isinstance(error, FritillaryError) else FAILED


def _check_empty(words: list[str]) -> None:
    """Refuse an empty word: a variable of a shell, as a rule, that is not set.

    It would count as if nothing had been said, and somebody has tried to.

    Raises:
        UsageError: ``usage.empty``, naming the place.
    """
    for number, word in enumerate(words):
        option, equals, value = word.partition("=")
        if equals and option.startswith("--") and not value:
            before = option
        elif word:
            continue
        else:
            before = words[number - 1] if number else "fritillary"
        msg = f"after {before[:60]!r} stands an empty word; write one, or leave it out"
        raise UsageError(msg, code="usage.empty")


def one_traceback(error: Exception) -> str:
    """Return a traceback that a terminal can show."""
    lines = "".join(traceback.format_exception(error)).splitlines()
    return "".join(f"{one_line(line)}\n" for line in lines)


def _wrong_words(error: typer.TyperException) -> int:
    """Tell what is wrong with the words of the command; return the exit code."""
    message = _plain(error.format_message())
    # Where there is no word at all, the help has been printed.
    if message:
        ending = "" if message.endswith("?") else ";"
        print_error(f"{message}{ending} --help tells what there is [usage]")
    return error.exit_code


def _plain(message: str) -> str:
    """Return what Typer says of a word, without how it has found out."""
    message = message.rstrip(".").partition(", unable to parse")[0]
    message = message.replace("Input should be", "it must be")
    return message.replace("Value error, ", "")


def _sentence(error: Exception) -> str:
    """Return what went wrong in one line."""
    if isinstance(error, FritillaryError):
        return error_text(error)
    if isinstance(error, OSError) and error.strerror:
        if error.filename is None:
            return f"{_OUTPUT}: {error.strerror}"
        return f"{error.filename}: {error.strerror}"
    return f"internal error: {said(error)}; run again with --debug"
