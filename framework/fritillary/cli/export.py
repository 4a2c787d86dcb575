"""``fritillary export``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fritillary.app.application import Application
from fritillary.cli.asked import text_of
from fritillary.cli.budget import MEMORY, TIME, Budget, MaxMemory, MaxTime
from fritillary.cli.files import naming, record_of, spare, write_text
from fritillary.cli.interrupted import telling_of_interrupts
from fritillary.cli.output import json_text, print_json
from fritillary.cli.values import RecordFile
from fritillary.codec.packing import to_json
from fritillary.plugins.discovery import Registry
from fritillary.record.events import event_to_data
from fritillary.record.reader import Record
from fritillary.record.replay import replayed


def export(
    file: RecordFile,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-O", metavar="FILE", help="Where to, else stdout."),
    ] = None,
    lines: Annotated[
        bool, typer.Option("--lines", help="One JSON object a line, one per event.")
    ] = False,
    max_time: MaxTime = TIME,
    max_memory: MaxMemory = MEMORY,
) -> None:
    """Write a record as JSON, with each action in notation beside its index.

    Example: fritillary export match.frec --output match.json
    """
    budget = Budget.parse(max_time, max_memory)
    if output is not None:
        spare(output, file)
    nothing = f"{output} was not written" if output else ""
    with telling_of_interrupts(lambda: nothing), naming(file):
        registry = Application().registry
        with budget.spent_by():
            events = exported(record_of(file), registry)
    if output is None:
        if not lines:
            print_json(events)
        for event in events if lines else ():
            print(json_text(event, indent=None))
        return
    text = "\n".join(map(to_json, events)) if lines else to_json(events, indent=2)
    write_text(output, f"{text}\n")


def exported(record: Record, registry: Registry) -> list[dict[str, Any]]:
    """Return the events as data, completed by what the rules say of them.

    Raises:
        RecordError: if the record cannot be replayed.
    """
    replay = replayed(record, registry)
    codec = replay.game.codec
    events = []
    for step in replay.steps():
        data = event_to_data(step.event)
        if step.number == 0:
            data["options"] = codec.options_to_data(replay.options)
        if step.action is not None:
            data["action"] = codec.action_to_data(step.action)
            data["text"] = text_of(
                replay.game, "format_action", replay.game.format_action, step.action
            )
            data["ply"] = step.ply
        events.append({"number": step.number, **data})
    return events
