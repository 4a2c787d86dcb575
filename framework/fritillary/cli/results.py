"""How a match ended: read from where it was played, then told or printed as data."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from attrs import field, frozen

from fritillary.cli.claims import Claim
from fritillary.cli.lines import finish_text
from fritillary.cli.output import print_error, print_json, print_note, say
from fritillary.core.errors import StorageError
from fritillary.core.outcome import Outcome
from fritillary.record.events import (
    ActionTaken,
    ChanceDrawn,
    Closed,
    Ended,
    RecordEvent,
    Ruling,
)
from fritillary.record.reader import bad, read_record
from fritillary.record.terms import EndKind, Fault
from fritillary.referee.seen import Finish

#: The end of a match whose seats were not all taken.
_NOT_STARTED: Final = f"fault.{Fault.REFUSED_TO_START.value}"


@frozen(kw_only=True)
class Played:
    """A match that has ended.

    Args:
        match_id: of the match.
        game: its full id.
        players: their names, by seat.
        finish: how it ended.
        plies: how many were played.
        content_hash: of what happened.
        final_hash: closes the record.
        rulings: of the referee, in full.
        problems: what last went wrong with the program of a seat; may hold secrets.
    """

    match_id: str
    game: str
    players: list[str]
    finish: Finish
    plies: int
    content_hash: bytes
    final_hash: bytes
    rulings: tuple[Ruling, ...] = field(default=(), repr=False)
    problems: dict[int, str] = field(factory=dict, repr=False)

    @property
    def code(self) -> int:
        """The exit code: 1 if the match does not count, or never came about."""
        void = self.finish.kind in (EndKind.VOID, EndKind.WITHDRAWN)
        return int(void or self.finish.code == _NOT_STARTED)

    @classmethod
    def of_record(cls, raw: bytes) -> Played:
        """Return what a closed record says.

        Raises:
            RecordError: if it does not hold.
        """
        record = read_record(raw)
        header = record.header
        ended, closed = record.find(Ended), record.find(Closed)
        if ended is None or closed is None:  # pragma: no cover - the reader checks
            raise bad(len(record.events), "the record has no end")
        data = ended.outcome
        outcome = None
        if data is not None:
            outcome = Outcome(data.reason, data.scores, data.placing)
        return cls(
            match_id=header.match_id,
            game=header.game.full_id,
            players=[seat.player.name for seat in header.seats],
            finish=Finish(ended.kind, ended.code, ended.message, outcome),
            plies=sum(
                isinstance(event, (ActionTaken, ChanceDrawn)) for event in record.events
            ),
            content_hash=bytes.fromhex(closed.content_hash),
            final_hash=record.links[-1],
            rulings=rulings_of(record.events),
        )


def rulings_of(events: Iterable[RecordEvent]) -> tuple[Ruling, ...]:
    """Return the rulings among the events of a record."""
    return tuple(event for event in events if isinstance(event, Ruling))


def result_data(played: Played, path: Path | None) -> dict[str, Any]:
    """Return the result of a match as data.

    Args:
        played: the match.
        path: where its record is; ``None`` if it is nowhere.
    """
    finish = played.finish
    outcome = finish.outcome
    return {
        "match_id": played.match_id,
        "game": played.game,
        "players": played.players,
        "kind": finish.kind.value,
        "code": finish.code,
        "message": finish.message,
        "reason": None if outcome is None else outcome.reason,
        "scores": None if outcome is None else list(outcome.scores),
        "placing": None if outcome is None else list(outcome.placing),
        "plies": played.plies,
        "content_hash": played.content_hash.hex(),
        "final_hash": played.final_hash.hex(),
        "record": None if path is None else str(path),
    }


def tell(played: Played, path: Path | None, *, as_json: bool = False) -> None:
    """Print how a match ended, and where its record is."""
    if as_json:
        print_json(result_data(played, path))
    else:
        say(finish_text(played.players, played.finish), style="bold")
        # Both a hash and its heading fit into 80 columns.
        say(f"plies   {played.plies}")
        if played.content_hash:
            say(f"content {played.content_hash.hex()}")
        if path is not None:
            say(f"record  {path}")


def tell_faults(played: Played) -> None:
    """Tell on stderr who could not be started, and by what else a match ended.

    Bots and spectators are told less: the words are between a seat and its referee.
    """
    for ruling in played.rulings:
        if ruling.seat is None:
            continue
        who = f"seat {ruling.seat} ({played.players[ruling.seat]})"
        problem = played.problems.get(ruling.seat, "")
        why = problem or ruling.message
        if ruling.fault is Fault.REFUSED_TO_START:
            print_error(f"{who} did not start: {why}")
        elif (
            ruling is played.rulings[-1]
            and played.finish.code == f"fault.{ruling.fault.value}"
        ):
            if ruling.fault is Fault.DISCONNECTED and problem:
                why = f"{ruling.message}; {problem}"
            elif ruling.fault is not Fault.CRASHED:
                why = ruling.message
            print_note(f"{who}: {why}")


def copied(path: Path | None, claim: Claim | None) -> Path | None:
    """Copy a record to where it is wanted; return where it is to be found.

    Raises:
        StorageError: if it cannot be copied; tells where it is.
    """
    if path is None or claim is None:
        return path
    try:
        claim.put(path.read_bytes())
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror}") from error
    except StorageError as error:
        msg = f"{error.message}; the record is in {path}"
        raise StorageError(msg, code=error.code) from error
    return claim.path
