"""A match that is watched where nobody looks on: a line or an object an event."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import attrs

from fritillary.cli.moments import stamp
from fritillary.cli.output import console, json_text, styled
from fritillary.cli.servers import lost_text
from fritillary.cli.watched import NO_PLY, Watched, found_text
from fritillary_client import (
    ArenaError,
    Event,
    Match,
    MatchResult,
    MatchStatus,
    MatchView,
)
from fritillary_client.matches import Update


def _wall_clock() -> float:
    return time.time()  # noqa: TID251 - says to people when something happened


def _seconds(ms: int) -> float | None:
    return ms / 1000 if ms else None


class LineOutput:
    """Prints a line for each thing that happens, and the result.

    A line has three parts with blanks between them: when it happened, the ply, and what
    happened; `-` stands for a time or a ply that is not known, or that there is not.

    Args:
        watched: what is known of the match.
        now: the time in seconds since 1970-01-01 UTC.
    """

    def __init__(
        self, watched: Watched, now: Callable[[], float] = _wall_clock
    ) -> None:
        self._watched = watched
        self._now = now
        self._out = console()
        self._lost = ""
        self._players = watched.players()
        self._over = watched.match.phase == "ended"
        self._line(f"{NO_PLY}{watched.title()}", _seconds(watched.match.created_at_ms))

    def told(self, update: Update) -> None:
        """Print what there is to say of an update."""
        watched = self._watched
        if self._lost:
            self._line(f"{NO_PLY}{self._lost}", self._now())
            self._lost = ""
        if watched.players() != self._players:
            self._players = watched.players()
            self._line(f"{NO_PLY}players: {self._players}", self._now())
        for line in watched.take(update):
            # A line without a ply is of now, whatever is told besides.
            past = watched.catching_up and not line.startswith(NO_PLY)
            self._line(line, None if past else self._now())
        if isinstance(update, MatchResult):
            ended = watched.match.ended_at_ms if self._over else None
            when = self._now() if ended is None else _seconds(ended)
            self._line(f"{watched.ply:4}  {watched.end_line()}", when)

    def lost(self, error: ArenaError, wait_s: float) -> None:
        """Print that the link was lost."""
        del wait_s
        self._watched.lose()
        if not self._lost:
            self._line(f"{NO_PLY}{lost_text(error)}; trying again", self._now())
            self._lost = found_text(error)

    def close(self) -> None:
        """There is nothing to close."""

    def _line(self, line: str, when: float | None) -> None:
        """Print a line.

        Args:
            line: with its ply, as `Watched.take` returns it.
            when: in seconds since 1970-01-01 UTC; ``None`` if it is not known.
        """
        if line.startswith(NO_PLY):
            line = f"{'-':>4}  {line.removeprefix(NO_PLY)}"
        time_text = "-" if when is None else stamp(when)
        self._out.print(styled(f"{time_text:<20}  {line}"))


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
