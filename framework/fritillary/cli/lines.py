"""What happens in a match, in one line each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fritillary.cli.asked import notation
from fritillary.plugins.game import Game
from fritillary.record.terms import Source, clip
from fritillary.referee.seen import (
    Acted,
    Body,
    Drawn,
    Finish,
    GaveUp,
    Halted,
    Ruled,
    WentOn,
)

if TYPE_CHECKING:
    from fritillary_client import Event

_SENTENCE = 200


def body_text(game: Game[Any, Any, Any], names: list[str], body: Body) -> str:
    """Return one line on what happened here.

    Args:
        game: the rules.
        names: of the players, by seat.
        body: as a spectator sees it.
    """
    match body:
        case Acted(seat=seat, action=action, source=source):
            return _acted(names, seat, notation(game, action), source.value)
        case Drawn(action=action):
            return f"chance: {notation(game, action)}"
        case Ruled(seat=seat, fault=fault, consequence=consequence, problem=problem):
            return _ruled(names, seat, fault.value, consequence.value, problem.message)
        case GaveUp(seat=seat):
            return f"{_who(names, seat)} resigns"
        case Halted(message=message):
            return _paused(message)
        case WentOn():
            return "resumed"
        case Finish():
            return finish_text(names, body)


def event_text(names: list[str], event: Event) -> str:
    """Return one line on what happened at a server; empty for what has none.

    Args:
        names: of the players, by seat.
        event: as a spectator is told.
    """
    seat = event.seat
    text = clip(event.text, _SENTENCE)
    match event.kind:
        case "action":
            return _acted(names, seat, text, event.source)
        case "chance":
            return f"chance: {text}"
        case "ruling":
            message = clip(event.message, _SENTENCE)
            return _ruled(names, seat, event.fault, event.consequence, message)
        case "resigned":
            return f"{_who(names, seat)} resigns"
        case "paused":
            return _paused(event.message)
        case "resumed":
            return "resumed"
    return ""


def finish_text(names: list[str], finish: Finish) -> str:
    """Return how a match ended, in one line."""
    outcome = finish.outcome
    if outcome is None:
        return f"{finish.kind.value}: {finish.message}"
    who = " and ".join(_who(names, seat) for seat in outcome.winners)
    won = f"won by {who}" if len(outcome.winners) < len(names) else "a draw"
    scores = " : ".join(map(str, outcome.scores))
    why = f" ({finish.message})" if finish.message else f", {outcome.reason}"
    return f"{finish.kind.value}: {won}, {scores}{why}"


def _who(names: list[str], seat: int | None) -> str:
    if seat is None or seat >= len(names):
        return f"seat {seat}"
    return f"seat {seat} ({names[seat]})"


def _acted(names: list[str], seat: int | None, text: str, source: str) -> str:
    how = "" if source == Source.PLAYER.value else f" ({source})"
    return f"{_who(names, seat)}: {text}{how}"


def _ruled(
    names: list[str], seat: int | None, fault: str, consequence: str, message: str
) -> str:
    who = "" if seat is None else f"{_who(names, seat)}: "
    return f"ruling: {who}{fault} -> {consequence} ({message})"


def _paused(message: str) -> str:
    return f"paused {clip(message, _SENTENCE)}".rstrip()
