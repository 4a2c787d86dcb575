"""``fritillary check-bot``."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Final

import typer

from fritillary.app.application import Application
from fritillary.cli.codes import CHECK
from fritillary.cli.interrupted import leave
from fritillary.cli.loop import breathe
from fritillary.cli.loop import run as run_loop
from fritillary.cli.output import (
    print_error,
    print_json,
    print_note,
    say,
)
from fritillary.cli.players import check_players
from fritillary.cli.tables import print_table
from fritillary.cli.together import leave_out
from fritillary.cli.values import Json
from fritillary.core.errors import UsageError
from fritillary.referee.lineup import parse_player
from fritillary.sparring.verdicts import Finding, Report, Shown, Verdict

if TYPE_CHECKING:
    from fritillary.sparring.check import Listener
    from fritillary.sparring.items import Item

#: So long a bot has for one thing, unless somebody says otherwise.
_PATIENCE_S: Final = 10.0

_CUT: Final = "the check was cut short"

_COLOURS = {
    Verdict.PASSED: "green",
    Verdict.FAILED: "bold red",
    Verdict.NOT_CHECKED: "dim",
}


def check_bot(
    player: Annotated[
        str,
        typer.Argument(
            metavar="PLAYER",
            help="exec:COMMAND, stdio:COMMAND, remote:NAME, python:module:Class, or a "
            "bot of a game.",
        ),
    ] = "",
    game: Annotated[
        list[str] | None,
        typer.Option(
            "--game",
            metavar="GAME",
            help="To be played; may be repeated. Default: all that the bot announces "
            "and that are installed.",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="ITEM", help="This item only; may be repeated."),
    ] = None,
    listing: Annotated[
        bool, typer.Option("--list", help="Tell what is checked; check nothing.")
    ] = False,
    timeout: Annotated[
        float | None,
        typer.Option(
            "--timeout",
            min=0.5,
            max=3600,
            metavar="SECONDS",
            help="That the bot has for one thing; waits that last longer by their "
            f"nature take multiples of it. Default: {_PATIENCE_S:g}.",
        ),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Print every message to stderr.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Play against a bot to find out whether it keeps the protocol.

    It is timed out, told of errors, cut off and left in silence; each item gets a
    verdict, with what was expected, what was seen and the messages before it.

    Exit code 3 if an item has failed. Ctrl-C tells what was found so far.

    Example: fritillary check-bot "exec:python3 my_bot.py"
    """
    if listing:
        others = {
            "PLAYER": player,
            "--game": game,
            "--only": only,
            "--timeout": timeout,
            "--verbose": verbose,
        }
        leave_out("--list checks nothing", others)
        _list(as_json=as_json)
        return
    if not player:
        msg = "name a bot, such as exec:./my-bot; --list tells what is checked"
        raise UsageError(msg, code="usage.player")
    check_players([player])
    _check_local(player, game)
    report = Report(player)
    try:
        run_loop(
            _check(
                player,
                game or [],
                only or [],
                _PATIENCE_S if timeout is None else timeout,
                verbose,
                as_json,
                report,
            )
        )
    except (KeyboardInterrupt, asyncio.CancelledError):
        if as_json:
            print_json(report.to_data())
        leave(f"{_CUT}, {len(report.findings)} items were judged")
    except SystemExit:
        _tell(report, as_json=as_json)
        raise
    _tell(report, as_json=as_json)
    if not report.holds:
        raise typer.Exit(CHECK)


def _check_local(player: str, games: list[str] | None) -> None:
    """Check that a bot of a game is one.

    Raises:
        FritillaryError: if no game has it, or one of those that are named has not.
    """
    spec = parse_player(player)
    if spec.kind == "local":
        from fritillary.cli.bot import offered_by

        offered_by(spec, Application(), games)


async def _check(
    player: str,
    games: list[str],
    only: list[str],
    timeout: float,
    verbose: bool,
    as_json: bool,
    report: Report,
) -> None:
    from fritillary.sparring.check import check

    await breathe()
    await check(
        player,
        Application().registry,
        games=games,
        only=only,
        patience_s=timeout,
        listener=_listener(verbose=verbose, as_json=as_json),
        report=report,
    )


def _listener(*, verbose: bool, as_json: bool) -> Listener:
    from fritillary.sparring.check import Listener

    passed = _passed if verbose else None
    if as_json:
        return Listener(invited=print_note, passed=passed)
    return Listener(
        begun=_begun,
        judged=_judged,
        remark=print_note,
        invited=print_note,
        passed=passed,
    )


def _begun(item: Item) -> None:
    print_note(f"checking {item.id}")


def _passed(shown: Shown) -> None:
    print_note(shown.line())


def _judged(finding: Finding) -> None:
    verdict = finding.verdict
    word = (f"{verdict.value:11}", _COLOURS[verdict])
    if verdict is not Verdict.FAILED:
        say(word, f"  {finding.item:9} {finding.seen}")
        return
    say(word, f"  {finding.item:9} expected: {finding.expected}")
    for what, text in (("seen", finding.seen), ("mend", finding.mend)):
        say(f"{'':22} {what}: {text}")
    for shown in finding.messages:
        say((f"{'':22} {shown.line()}", "dim"))


def _tell(report: Report, *, as_json: bool) -> None:
    if as_json:
        print_json(report.to_data())
        return
    counts = ", ".join(
        f"{len(report.of(verdict))} {verdict.value}"
        for verdict in Verdict
        if report.of(verdict)
    )
    if not report.whole:
        print_error(_CUT)
    elif report.holds:
        say(("the bot keeps the protocol", "bold green"), f" ({counts})")
    else:
        say(("the bot does not keep the protocol", "bold red"), f" ({counts})")


def _list(*, as_json: bool) -> None:
    from fritillary.sparring.items import ITEMS

    if as_json:
        print_json(
            [
                {"item": one.id, "what": one.what, "needs_start": one.starts}
                for one in ITEMS
            ]
        )
        return
    print_table(("item", "what is checked"), ((one.id, one.what) for one in ITEMS))
