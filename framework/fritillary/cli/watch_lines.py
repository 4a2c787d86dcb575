"""A match that is watched where nobody looks on: a line or an object an event."""

from __future__ import annotations

from typing import Any

import attrs

from fritillary.cli.output import console, json_text, print_note, styled
from fritillary.cli.servers import lost_text
from fritillary.cli.watched import Watched
from fritillary_client import (
    ArenaError,
    Event,
    Match,
    MatchResult,
    MatchStatus,
    MatchView,
)
from fritillary_client.matches import Update


class LineOutput:
    """Prints a line for each event, and the result.

    Args:
        watched: what is known of the match.
    """

    def __init__(self, watched: Watched) -> None:
        self._watched = watched
        self._out = console()
        self._lost = False

    def told(self, update: Update) -> None:
        """Print what there is to say of an update."""
        if self._lost:
            self._lost = False
            print_note("the link is back")
        for line in self._watched.take(update):
            self._out.print(styled(line))
        if isinstance(update, MatchResult):
            self._out.print(styled(self._watched.end_line()))

    def lost(self, error: ArenaError, wait_s: float) -> None:
        """Remark that the link was lost."""
        del wait_s
        if not self._lost:
            self._lost = True
            print_note(f"{lost_text(error)}; trying again")

    def close(self) -> None:
        """There is nothing to close."""


class JsonOutput:
    """Prints one JSON object for each update, in one line.

    Args:
        watched: what is known of the match.
    """

    def __init__(self, watched: Watched) -> None:
        self._watched = watched
        self._lost = False
        print_object({"type": "match", **match_data(watched.match)})

    def told(self, update: Update) -> None:
        """Print an update."""
        if self._lost:
            self._lost = False
            print_object({"type": "found"})
        self._watched.take(update)
        print_object(update_data(update))

    def lost(self, error: ArenaError, wait_s: float) -> None:
        """Print that the link was lost."""
        self._lost = True
        print_object(
            {
                "type": "lost",
                "code": error.code,
                "message": error.message,
                "retry_after_ms": round(wait_s * 1000),
            }
        )

    def close(self) -> None:
        """There is nothing to close."""


def print_object(data: dict[str, Any]) -> None:
    """Print data in one line that whoever reads it gets at once."""
    print(json_text(data, indent=None), flush=True)


def match_data(match: Match) -> dict[str, Any]:
    """Return what is told of a match before it is watched."""
    return {
        "match_id": match.match_id,
        "game": match.full_id,
        "rules_version": match.rules_version,
        "options": match.options,
        "seats": [
            {
                "seat": seat.seat,
                "role": seat.role,
                "name": seat.name,
                "version": seat.version,
                "clock": _given(attrs.asdict(seat.clock)),
            }
            for seat in match.seats
        ],
        "phase": match.phase,
        "ply": match.ply,
        "labels": match.labels,
        "created_at_ms": match.created_at_ms,
    }


def update_data(update: Update) -> dict[str, Any]:
    """Return an update as data; what does not apply is left out."""
    match update:
        case MatchView():
            data = attrs.asdict(update, recurse=False)
            data["seats_to_act"] = list(update.seats_to_act)
            return {"type": "view", **_given(data)}
        case MatchStatus():
            data = attrs.asdict(update, recurse=False)
            data["waiting_for"] = list(update.waiting_for)
            data["clocks"] = [_given(attrs.asdict(one)) for one in update.clocks]
            return {"type": "status", **_given(data)}
        case Event():
            return {"type": "event", **_given(attrs.asdict(update, recurse=False))}
        case MatchResult():
            data = _given(attrs.asdict(update, recurse=False))
            data["scores"] = list(update.scores)
            data["placing"] = list(update.placing)
            data["final_hash"] = update.final_hash.hex()
            if update.reveal is not None:
                data["reveal"] = {
                    "seed": update.reveal.seed.hex(),
                    "salt": update.reveal.salt.hex(),
                    "nonces": [nonce.hex() for nonce in update.reveal.nonces],
                }
            return {"type": "result", **data}


def _given(data: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value for name, value in data.items() if value is not None and value != ""
    }
