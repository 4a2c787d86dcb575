"""``fritillary show``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from fritillary.app.application import Application
from fritillary.cli import output
from fritillary.cli.asked import notation, picture, text_of
from fritillary.cli.files import naming, record_of
from fritillary.cli.ledger import HEADING, Ledger
from fritillary.cli.output import (
    looks_on,
    print_json,
    print_note,
    print_table,
    print_text,
    say,
)
from fritillary.core.errors import StorageError, UsageError
from fritillary.record.events import (
    ActionTaken,
    Ended,
    Header,
    Paused,
    RecordEvent,
    Resigned,
    Restarted,
    Resumed,
    Ruling,
)
from fritillary.record.reader import Record
from fritillary.record.replay import Replay, Step, replayed
from fritillary.record.terms import Source

#: Columns of a line in which what was played stands, where times come after it.
_WIDE: Final = 32


def show(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A match record.")],
    ply: Annotated[
        int | None,
        typer.Option("--ply", metavar="N", help="The position after N plies."),
    ] = None,
    steps: Annotated[
        bool,
        typer.Option("--steps", help="Every position; Enter goes on, q leaves."),
    ] = False,
    seat: Annotated[
        int | None,
        typer.Option("--seat", metavar="K", help="As seat K sees it."),
    ] = None,
    svg: Annotated[
        Path | None,
        typer.Option("--svg", metavar="FILE", help="Write the picture as SVG."),
    ] = None,
    times: Annotated[
        bool,
        typer.Option(
            "--times", help="The time of each decision, and where it went by seat."
        ),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="With --times: print them as JSON.")
    ] = False,
) -> None:
    """Show a finished match: who played, what was played, the last position.

    With --times, in milliseconds: what was taken from the clock, what passed at the
    server, what the bot says that it thought, the round trip of the link as it was
    last measured, and the rest, which neither of them explains.

    Example: fritillary show match.frec --ply 12 --svg board.svg
    """
    if as_json and not times:
        msg = "--json goes with --times; 'fritillary export' writes the whole record"
        raise UsageError(msg, code="usage.json")
    record = record_of(file)
    with naming(file):
        replay = replayed(record, Application().registry)
        if as_json:
            print_json(_times_data(record, replay))
            return
        _show(record, replay, ply, steps=steps, seat=seat, svg=svg, times=times)


def _show(
    record: Record,
    replay: Replay,
    ply: int | None,
    *,
    steps: bool,
    seat: int | None,
    svg: Path | None,
    times: bool,
) -> None:
    if seat is not None and not 0 <= seat < replay.seats:
        msg = f"there is no seat {seat}; seats are 0 to {replay.seats - 1}"
        raise UsageError(msg, code="usage.seat")
    if ply is not None and ply < 0:
        msg = f"--ply counts from 0, not {ply}"
        raise UsageError(msg, code="usage.ply")
    if steps:
        _step_through(replay, seat)
        return
    _print_header(record)
    listed = [step for step in _until(replay, ply) if not _dull(step.event)]
    if ply is not None and replay.ply < ply:
        msg = f"the match has {replay.ply} plies, not {ply}"
        raise UsageError(msg, code="usage.ply")
    ledger = Ledger(record) if times else None
    if ledger is not None:
        say((f"{'':{_WIDE}}{HEADING}", "bold"))
    for step in listed:
        say(_line(replay, step, ledger))
    if ledger is not None:
        _print_times(ledger)
    if replay.state is None:
        print_note("the match ended before the deal")
        return
    print()
    observation = replay.game.observe(replay.state, seat)
    output.show(picture(replay.game, observation))
    if svg is not None:
        write_svg(replay.game, observation, svg)
        print_note(f"picture: {svg}")


def write_svg(game: Any, observation: Any, path: Path) -> None:
    """Write the SVG picture of an observation.

    Raises:
        UsageError: if the game draws none.
        PluginError: if it fails to.
        StorageError: if the file cannot be written.
    """
    if game.draw_svg is None:
        msg = f"{game.info.id} draws no SVG pictures"
        raise UsageError(msg, code="usage.svg")
    drawing = text_of(game, "draw_svg", game.draw_svg, observation)
    try:
        path.write_text(drawing, encoding="utf-8", errors="replace")
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror}") from error


def _until(replay: Replay, ply: int | None) -> list[Step]:
    steps = []
    for step in replay.steps():
        steps.append(step)
        if ply is not None and step.ply >= ply and replay.state is not None:
            break
    return steps


def _dull(event: RecordEvent) -> bool:
    return not isinstance(
        event, (ActionTaken, Ruling, Resigned, Paused, Resumed, Restarted, Ended)
    )


def _print_header(record: Record) -> None:
    header: Header = record.header
    say((header.game.full_id, "bold"), f"  match {header.match_id}")
    for number, seat in enumerate(header.seats):
        version = f" {seat.player.version}" if seat.player.version else ""
        say(f"seat {number}: {seat.player.name}{version}")
    print()


def _line(replay: Replay, step: Step, ledger: Ledger | None = None) -> str:
    event = step.event
    match event:
        case ActionTaken():
            text = notation(replay.game, step.action)
            source = (
                "" if event.source is Source.PLAYER else f"  ({event.source.value})"
            )
            line = f"{step.ply:4}  seat {event.seat}  {text}{source}"
            row = None if ledger is None else ledger.rows.get(step.number)
            if row is not None:
                line = f"{line:{_WIDE}}{row.text()}"
            return line + (f"  | {event.note}" if event.note else "")
        case Ruling():
            who = "" if event.seat is None else f"seat {event.seat}: "
            return (
                f"      ruling  {who}{event.fault.value} -> {event.consequence.value} "
                f"({event.message})"
            )
        case Resigned():
            return f"      seat {event.seat} resigns"
        case Paused():
            return f"      paused {event.message}"
        case Resumed():
            return "      resumed"
        case Restarted():
            return "      the server was restarted"
        case Ended():
            return f"      {end_text(event)}"
    raise TypeError  # pragma: no cover - the dull ones are left out


def end_text(event: Ended) -> str:
    """Return how a match ended, in one line."""
    outcome = event.outcome
    if outcome is None:
        return f"{event.kind.value}: {event.message}"
    scores = " ".join(
        f"seat {seat}: place {place}, score {score};"
        for seat, (place, score) in enumerate(
            zip(outcome.placing, outcome.scores, strict=True)
        )
    )
    return f"{event.kind.value} ({outcome.reason}). {scores.rstrip(';')}"


def _print_times(ledger: Ledger) -> None:
    """Print where the time of each seat went."""
    print()
    print_table(*ledger.table())
    if any(seat.figures["unexplained_ms"] for seat in ledger.seats):
        print()
        print_text(
            "rest = server - think - link: the referee, the machines, and whatever the "
            f"bot did not report. The margin was {ledger.margin_ms} ms a decision; it "
            "is not charged."
        )


def _times_data(record: Record, replay: Replay) -> dict[str, Any]:
    ledger = Ledger(record)
    decisions = [
        {
            "ply": step.ply,
            "text": notation(replay.game, step.action),
            **ledger.rows[step.number].data(),
        }
        for step in replay.steps()
        if step.number in ledger.rows
    ]
    return {
        "match_id": record.header.match_id,
        "game": record.header.game.full_id,
        "margin_ms": ledger.margin_ms,
        "seats": [seat.data() for seat in ledger.seats],
        "decisions": decisions,
    }


def _step_through(replay: Replay, seat: int | None) -> None:
    """Show position after position; wait for Enter where a person looks on."""
    waits = looks_on() and sys.stdin.isatty()
    for step in replay.steps():
        if not _dull(step.event):
            say(_line(replay, step), style="bold")
        elif step.number and step.action is None:
            continue
        if replay.state is None:
            continue
        output.show(picture(replay.game, replay.game.observe(replay.state, seat)))
        print()
        if waits and _leaves():
            return


def _leaves() -> bool:
    """Ask whether that was enough; so it is where there is no more input."""
    try:
        return input("Enter goes on, q leaves: ").strip().lower() == "q"
    except EOFError:
        return True
