"""``fritillary verify``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fritillary.app.application import Application
from fritillary.cli.budget import MEMORY, TIME, Budget, MaxMemory, MaxTime
from fritillary.cli.codes import CHECK, error_text, exit_code
from fritillary.cli.files import naming
from fritillary.cli.interrupted import telling_of_interrupts
from fritillary.cli.output import print_error, print_json, say
from fritillary.cli.values import Json, public_key
from fritillary.core.errors import RecordError, UsageError
from fritillary.record.reader import read_file
from fritillary.referee.verify import Verified
from fritillary.referee.verify import verify as verify_record

Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...",
        help="Finished match records; of a folder, all that it holds (*.frec).",
    ),
]


def verify(
    files: Files,
    key: Annotated[
        str,
        typer.Option(
            "--key",
            metavar="HEX",
            help="The public key that must have signed the records.",
        ),
    ] = "",
    max_time: MaxTime = TIME,
    max_memory: MaxMemory = MEMORY,
    as_json: Json = False,
) -> None:
    """Replay records and check everything that the referee did.

    Chain, signature, commitment, deal, chance, legality, clocks, rulings and
    outcome are checked; the first event that does not hold is named. Exit code 3 if a
    record does not hold, 1 if that cannot be found out: its game is not installed, or
    playing it again takes more time or memory than it may.

    Example: fritillary verify match.frec
    """
    signer = public_key(key) if key else None
    budget = Budget.parse(max_time, max_memory)
    registry = Application().registry
    paths = [path for file in files for path in _records(file)]
    worst = done = 0
    results: list[dict[str, object]] = []
    with telling_of_interrupts(lambda: f"{done} of {len(paths)} were checked"):
        for path in paths:
            try:
                with naming(path), budget.spent_by():
                    verified = verify_record(read_file(path), registry, key=signer)
            except RecordError as error:
                code = exit_code(error)
                worst = max(worst, code)
                # That a record does not hold is a result, that nobody knows is none.
                if as_json and code == CHECK:
                    message = error.message.removeprefix(f"{path}: ")
                    results.append(
                        {
                            "file": str(path),
                            "holds": False,
                            "code": error.code,
                            "message": message,
                        }
                    )
                else:
                    print_error(error_text(error))
            else:
                if as_json:
                    results.append(
                        {"file": str(path), "holds": True, **about(verified)}
                    )
                else:
                    _print(path, verified)
            done += 1
    if results:
        print_json(results)
    if worst:
        raise typer.Exit(worst)


def _records(path: Path) -> list[Path]:
    """Return the records that are meant by a path, in the order of their names.

    Raises:
        UsageError: if it is a folder without any.
    """
    if not path.is_dir():
        return [path]
    found = sorted(path.glob("*.frec"))
    if not found:
        msg = f"{path}: the folder holds no match records (*.frec)"
        raise UsageError(msg, code="usage.record")
    return found


def about(verified: Verified) -> dict[str, object]:
    """Return what was verified as data."""
    outcome = verified.ended.outcome
    return {
        "game": verified.game_id,
        "plies": verified.plies,
        "kind": verified.ended.kind.value,
        "reason": None if outcome is None else outcome.reason,
        "placing": None if outcome is None else list(outcome.placing),
        "content_hash": verified.content_hash,
        "final_hash": verified.final_hash,
        "key": verified.key,
    }


def _print(path: Path, verified: Verified) -> None:
    say(("verified", "bold green"), f" {path}")
    say(f"  {verified.game_id}, {verified.plies} plies, {_end(verified)}")
    say(f"  content {verified.content_hash}")
    say(f"  signed by {verified.key}")


def _end(verified: Verified) -> str:
    ended = verified.ended
    if ended.outcome is None:
        return f"{ended.kind.value} ({ended.message})"
    winners = [s for s, place in enumerate(ended.outcome.placing) if place == 1]
    who = " and ".join(f"seat {seat}" for seat in winners)
    return f"{ended.kind.value}, {ended.outcome.reason}, won by {who}"
