"""The record of a match at a server: fetched into a file, and verified."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from attrs import frozen

from fritillary.app.application import Application
from fritillary.cli.budget import Budget
from fritillary.cli.codes import error_text, exit_code
from fritillary.cli.files import check_place, naming
from fritillary.cli.interrupted import telling_of_interrupts
from fritillary.cli.loop import run as run_loop
from fritillary.cli.output import print_error, print_json, print_note
from fritillary.cli.reach import Access
from fritillary.cli.results import Played, result_data, tell
from fritillary.cli.servers import our_errors
from fritillary.core.errors import (
    RecordError,
    ServiceError,
    StorageError,
    UsageError,
)
from fritillary.record.whole import put
from fritillary.referee.verify import verify

#: Codes of a record that cannot be played again here, though it may hold.
_NOT_HERE: Final = {"record.game", "record.limit", "record.rules-version"}


@frozen(kw_only=True)
class Order:
    """Which record goes where.

    Args:
        access: to the server.
        match_id: of the match.
        path: of the file; ``None``: named for the match, in the current folder.
        overwrite: replace a file that is there.
        signed_by: public key of who must have signed it, hex; empty: whoever.
        as_json: print what it says as data.
    """

    access: Access
    match_id: str
    path: Path | None = None
    overwrite: bool = False
    signed_by: str = ""
    as_json: bool = False

    @property
    def target(self) -> Path:
        """Where the record goes."""
        return self.path or Path(f"{self.match_id}.frec")


def fetch(app: Application, order: Order) -> int:
    """Fetch a record, put it into its file, verify it; return the exit code.

    Whatever ends it early, there is the whole file or none.

    Raises:
        UsageError: if the file cannot be put there, found before the server is asked.
        ServiceError: if the server refuses, does not answer, or sends another record.
        RecordError: if what it sends is no finished record.
        StorageError: if the file cannot be written.
    """
    path = order.target
    _check_target(path, overwrite=order.overwrite)
    with our_errors("spectator"):
        raw = run_loop(_fetch(order))
    try:
        played = Played.of_record(raw)
    except RecordError as error:
        msg = f"what the server sent is no finished record: {error.message}"
        raise RecordError(msg, code=error.code) from error
    if played.match_id != order.match_id:
        msg = f"the server sent the record of another match, {played.match_id}"
        raise ServiceError(msg, code="record.other")
    _put(raw, path, overwrite=order.overwrite)
    with telling_of_interrupts(lambda: f"{path} is whole, and was not verified"):
        code, holds, remark = _verified(app, order, raw)
    if order.as_json:
        print_json({**result_data(played, path), "verified": holds})
    else:
        tell(played, path)
    if code:
        print_error(remark)
    elif not order.as_json or holds is None:
        print_note(remark)
    return code


async def _fetch(order: Order) -> bytes:
    async with order.access.referee() as referee:
        return await referee.fetch_record(order.match_id)


def _check_target(path: Path, *, overwrite: bool) -> None:
    check_place(path, "record")
    if path.exists() and not path.is_file():
        # To put a file in the place of a device or a pipe is nobody's wish.
        msg = f"{path}: there is something else than a file"
        raise UsageError(msg, code="usage.record")
    if path.exists() and not overwrite:
        raise _taken(path)


def _taken(path: Path) -> UsageError:
    why = "there is a file already; --overwrite replaces it, --output names another"
    return UsageError(f"{path}: {why}", code="usage.record")


def _put(raw: bytes, path: Path, *, overwrite: bool) -> None:
    """Write a file, all of it or nothing.

    Raises:
        UsageError: if there is one now.
        StorageError: if it cannot be written.
    """
    try:
        put(path, raw, overwrite=overwrite)
    except FileExistsError as error:
        raise _taken(path) from error
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror}") from error


def _verified(
    app: Application, order: Order, raw: bytes
) -> tuple[int, bool | None, str]:
    """Say of a record whether it holds.

    Returns:
        The exit code; whether it holds, ``None`` where it cannot be played again here;
        and a sentence.
    """
    path = order.target
    registry = app.registry
    try:
        with naming(path), Budget.parse().spent_by("verify"):
            verified = verify(raw, registry, key=order.signed_by or None)
    except RecordError as error:
        if error.code not in _NOT_HERE:
            return exit_code(error), False, error_text(error)
        why = error.message.removeprefix(f"{path}: ")
        return 0, None, f"chain and signature hold; it was not played again: {why}"
    return 0, True, f"verified; signed by {verified.key}"
