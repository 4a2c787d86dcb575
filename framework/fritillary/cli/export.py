"""``fritillary export``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fritillary.app.application import Application
from fritillary.cli.asked import text_of
from fritillary.cli.files import naming, record_of, spare
from fritillary.cli.interrupted import telling_of_interrupts
from fritillary.cli.output import json_text, print_json
from fritillary.codec.packing import to_json
from fritillary.core.errors import StorageError
from fritillary.record.events import event_to_data
from fritillary.record.reader import Record
from fritillary.record.replay import replayed


def export(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A match record.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-O", metavar="FILE", help="Where to, else stdout."),
    ] = None,
    lines: Annotated[
        bool, typer.Option("--lines", help="One JSON object a line, one per event.")
    ] = False,
) -> None:
    """Write a record as JSON, with each action in notation beside its index.

    Example: fritillary export match.frec --output match.json
    """
    if output is not None:
        spare(output, file)
    nothing = f"{output} was not written" if output else ""
    with telling_of_interrupts(lambda: nothing), naming(file):
        record = record_of(file)
        events = exported(record, Application())
    if output is None:
        if not lines:
            print_json(events)
        for event in events if lines else ():
            print(json_text(event, indent=None))
        return
    text = "\n".join(map(to_json, events)) if lines else to_json(events, indent=2)
    try:
        output.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise StorageError(f"{output}: {error.strerror}") from error


def exported(record: Record, app: Application) -> list[dict[str, Any]]:
    """Return the events as data, completed by what the rules say of them.

    Raises:
        RecordError: if the record cannot be replayed.
    """
    replay = replayed(record, app.registry)
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
