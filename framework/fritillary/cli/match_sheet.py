"""One match at a server, in words and as data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fritillary.cli.clocks import clock_text
from fritillary.cli.output import json_text, say
from fritillary.cli.tables import print_filled, print_table
from fritillary.cli.watch_lines import match_data, update_data
from fritillary.cli.watched import Watched, duration_text
from fritillary.core.moments import moment_text
from fritillary.record.terms import clip
from fritillary_client import Match

_SENTENCE = 500
_NAME = 64


def sheet_data(match: Match, watched: Watched | None = None) -> dict[str, Any]:
    """Return all about a match as data.

    Args:
        match: as the server describes it.
        watched: the same match as spectators see it now; ``None``: it may not be
            looked at, or has ended.
    """
    data = match_data(match)
    data["players"] = list(match.players)
    data["started_at_ms"] = match.started_at_ms
    data["ended_at_ms"] = match.ended_at_ms
    data["problems"] = [
        {"seat": one.seat, "message": one.message} for one in match.problems
    ]
    data["stranded_reason"] = match.stranded_reason
    data["result"] = None if match.result is None else update_data(match.result)
    data["status"] = None
    data["seats_to_act"] = None
    if watched is not None and watched.status is not None:
        data["status"] = update_data(watched.status)
        data["seats_to_act"] = list(watched.acting)
    return data


def print_sheet(match: Match, watched: Watched | None = None) -> None:
    """Print all about a match; the arguments are those of `sheet_data`."""
    about = watched if watched is not None else Watched(match)
    rows = [("match", match.match_id), *_rows(match, about)]
    print_table(("", ""), rows)
    print_filled(
        ("SEAT", "NAME", "PLAYER", "CLOCK", "LEFT", "DOES"),
        [_seat(match, about, seat) for seat in range(len(match.seats))],
    )
    if match.stranded_reason:
        say(f"stranded  {clip(match.stranded_reason, _SENTENCE)}")
    for problem in match.problems:
        name = dict(enumerate(about.names)).get(problem.seat, "")
        who = f"seat {problem.seat} ({name})" if name else f"seat {problem.seat}"
        say(f"problem  {who}: {clip(problem.message, _SENTENCE)}")
    if match.result is not None:
        about.take(match.result)
        say(about.end_line(), style="bold")


def _rows(match: Match, about: Watched) -> Iterator[tuple[str, str]]:
    yield "game", f"{match.full_id}, rules version {match.rules_version}"
    if isinstance(match.options, dict) and match.options:
        yield "options", _pairs(match.options)
    if match.labels:
        yield "labels", _pairs(match.labels)
    phase = about.phase_text()
    status = about.status
    if status is not None and status.waiting_left_ms is not None:
        phase += f", {duration_text(status.waiting_left_ms)} left"
    yield "phase", phase
    yield "ply", str(match.ply)
    yield "made", moment_text(match.created_at_ms)
    if match.started_at_ms is not None:
        yield "started", moment_text(match.started_at_ms)
    if match.ended_at_ms is not None:
        yield "ended", moment_text(match.ended_at_ms)


def _pairs(data: dict[str, Any]) -> str:
    return " ".join(
        f"{name}={value if isinstance(value, str) else json_text(value, indent=None)}"
        for name, value in data.items()
    )


def _seat(match: Match, about: Watched, seat: int) -> tuple[str, ...]:
    """Return the row of a seat."""
    sitting = match.seats[seat]
    name = " ".join(clip(part, _NAME) for part in (sitting.name, sitting.version))
    player = match.players[seat] if seat < len(match.players) else ""
    left = ", ".join(about.clock_texts(seat)[0]) if about.status is not None else ""
    if about.away_text(seat):
        does = about.away_text(seat)
    else:
        does = "to act" if seat in about.acting else ""
    return str(seat), name.strip(), player, clock_text(sitting.clock), left, does
