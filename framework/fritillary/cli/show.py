"""``fritillary show``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from fritillary.app.application import Application
from fritillary.cli import output
from fritillary.cli.asked import notation, picture, text_of
from fritillary.cli.budget import MEMORY, TIME, Budget, MaxMemory, MaxTime
from fritillary.cli.files import naming, record_of, spare, write_text
from fritillary.cli.ledger import HEADING, Ledger
from fritillary.cli.output import (
    looks_on,
    print_json,
    print_note,
    print_text,
    say,
)
from fritillary.cli.tables import print_table
from fritillary.cli.together import leave_out
from fritillary.cli.values import RecordFile, check_seat
from fritillary.codec.kinds import tag_of
from fritillary.core.errors import UsageError
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
    file: RecordFile,
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
    max_time: MaxTime = TIME,
    max_memory: MaxMemory = MEMORY,
) -> None:
    """Show a finished match: who played, what was played, the last position.

    With --times, in milliseconds: what was taken from the clock, what passed at the
    server, what the bot says that it thought, the round trip of the link as it was
    last measured, and the rest, which neither of them explains. What was taken for
    faults, pauses and restarts has rows too: all of them add up to what was charged.

    Example: fritillary show match.frec --ply 12 --svg board.svg
    """
    if as_json and not times:
        msg = "--json goes with --times; 'fritillary export' writes the whole record"
        raise UsageError(msg, code="usage.json")
    if steps:
        others = {"--ply": ply, "--svg": svg, "--times": times}
        leave_out("--steps shows all positions", others, code="ply")
    if as_json:
        others = {"--ply": ply, "--seat": seat, "--svg": svg}
        leave_out("--json prints the times of the whole match", others, code="json")
    if svg is not None:
        spare(svg, file)
    budget = Budget.parse(max_time, max_memory)
    registry = Application().registry
    with naming(file), budget.spent_by():
        record = record_of(file)
        replay = replayed(record, registry)
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
    check_seat(seat, replay.seats)
    if ply is not None and ply < 0:
        msg = f"--ply counts from 0, not {ply}"
        raise UsageError(msg, code="usage.ply")
    if steps:
        _step_through(replay, seat)
        return
    listed = [step for step in _until(replay, ply) if not _dull(step.event)]
    if ply is not None and replay.ply < ply:
        msg = f"the match has {replay.ply} plies, not {ply}"
        raise UsageError(msg, code="usage.ply")
    _print_header(record)
    ledger = Ledger(record) if times else None
    if ledger is not None:
        say((f"{'':{_WIDE}}{HEADING}", "bold"))
    for step in listed:
        for line in _lines(replay, step, ledger):
            say(line)
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
    write_text(path, drawing)


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


def _lines(replay: Replay, step: Step, ledger: Ledger | None = None) -> list[str]:
    """Return what is told of a step: as a rule one line, with its times if wanted."""
    event = step.event
    row = None if ledger is None else ledger.rows.get(step.number)
    note = event.note if isinstance(event, ActionTaken) else ""
    note = f"  | {note}" if note else ""
    line = _line(replay, step, "" if row is None else f" (seat {row.seat})")
    if row is None:
        return [line + note]
    if len(line) < _WIDE:
        return [f"{line:{_WIDE}}{row.text()}{note}"]
    return [line, f"{'':{_WIDE}}{row.text()}{note}"]


def _line(replay: Replay, step: Step, charged: str) -> str:
    """Return what happened.

    Args:
        replay: of the match.
        step: of it.
        charged: names the seat that a pause or a restart has taken time from.
    """
    event = step.event
    match event:
        case ActionTaken():
            text = notation(replay.game, step.action)
            source = (
                "" if event.source is Source.PLAYER else f"  ({event.source.value})"
            )
            return f"{step.ply:4}  seat {event.seat}  {text}{source}"
        case Ruling():
            who = "" if event.seat is None else f"seat {event.seat}: "
            return (
                f"      ruling  {who}{event.fault.value} -> {event.consequence.value} "
                f"({event.message})"
            )
        case Resigned():
            return f"      seat {event.seat} resigns"
        case Paused():
            return f"      paused{charged} {event.message}".rstrip()
        case Resumed():
            return "      resumed"
        case Restarted():
            # Short enough to stand in one line with its times.
            if charged:
                return f"      server restart{charged}"
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
    notes = []
    if any(seat.figures["rest_ms"] for seat in ledger.seats):
        notes.append(
            "rest = server - think - link: the referee, the machines, and whatever the "
            "bot did not report. A lost link is in it too: records do not tell when "
            f"one was lost. The margin was {ledger.margin_ms} ms a decision; it is not "
            "charged."
        )
    if any(seat.others for seat in ledger.seats):
        notes.append(
            "other = charged for faults, and for decisions that were broken off by a "
            "pause or a restart."
        )
    for note in notes:
        print()
        print_text(note)


def _times_data(record: Record, replay: Replay) -> dict[str, Any]:
    ledger = Ledger(record)
    decisions = []
    others = []
    for step in replay.steps():
        row = ledger.rows.get(step.number)
        if row is None:
            continue
        if row.decision:
            text = notation(replay.game, step.action)
            decisions.append({"ply": step.ply, "text": text, **row.data()})
        else:
            others.append(
                {
                    "ply": step.ply,
                    "type": tag_of(type(step.event)),
                    "seat": row.seat,
                    "charged_ms": row.charged_ms,
                    "left_ms": row.left_ms,
                }
            )
    return {
        "match_id": record.header.match_id,
        "game": record.header.game.full_id,
        "margin_ms": ledger.margin_ms,
        "seats": [seat.data() for seat in ledger.seats],
        "decisions": decisions,
        "other_charges": others,
    }


def _step_through(replay: Replay, seat: int | None) -> None:
    """Show position after position; wait for Enter where a person looks on."""
    waits = looks_on() and sys.stdin.isatty()
    for step in replay.steps():
        if not _dull(step.event):
            for line in _lines(replay, step):
                say(line, style="bold")
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
