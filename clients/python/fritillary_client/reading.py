"""From messages of the server to the values that bots see."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fritillary.api.v1 import bot_pb2 as wire
from fritillary.api.v1 import common_pb2 as common
from fritillary_client.encoding import Encoding
from fritillary_client.errors import ProtocolError
from fritillary_client.values import (
    Clock,
    ClockSettings,
    Deal,
    Event,
    MatchInfo,
    Outcome,
    Player,
)

_CLOCK = tuple(field.name for field in common.ClockReading.DESCRIPTOR.fields)
_SETTINGS = tuple(field.name for field in common.Clock.DESCRIPTOR.fields)

#: So much of a text from the server is shown in one line.
_SHOWN = 300


def word(name: Callable[..., str], prefix: str, number: int) -> str:
    """Return the word for an enum value; unknown ones are of a later version."""
    try:
        return name(number).removeprefix(prefix).lower().replace("_", "-")
    except ValueError:
        return "unknown"


def shown(text: str) -> str:
    """Return text from elsewhere as it may be shown in one line of a terminal."""
    clean = "".join(
        char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text
    )
    return clean if len(clean) <= _SHOWN else f"{clean[:_SHOWN]}..."


def clock(message: common.ClockReading) -> Clock:
    """Return a reading of a clock."""
    return Clock(
        **{name: getattr(message, name) for name in _CLOCK if message.HasField(name)}  # type: ignore[arg-type]
    )


def clock_settings(message: common.Clock) -> ClockSettings:
    """Return a clock as it was agreed."""
    return ClockSettings(
        **{name: getattr(message, name) for name in _SETTINGS if message.HasField(name)}  # type: ignore[arg-type]
    )


def player(message: common.SeatInfo) -> Player:
    """Return who sits where."""
    return Player(
        seat=message.seat,
        role=message.role,
        name=message.player.name,
        version=message.player.version,
        author=message.player.author,
        clock=clock_settings(message.clock),
    )


def full_id(game: common.GameRef) -> str:
    """Return the id of a game with its variants, such as ``lepidoptery+no-pass``."""
    return "+".join([game.id, *(variant.id for variant in game.variants)])


def match_info(offer: wire.MatchOffer, encoding: Encoding) -> MatchInfo:
    """Return what an offer tells about a match.

    Raises:
        ProtocolError: if the offer makes no sense.
    """
    if not offer.match_id or not 0 <= offer.seat < len(offer.seats):
        msg = (
            f"the server offered seat {offer.seat} of {len(offer.seats)} in match "
            f"{offer.match_id[:64]!r}"
        )
        raise ProtocolError(msg)
    game = offer.game
    listed = offer.HasField("table")
    return MatchInfo(
        match_id=offer.match_id,
        game=game.id,
        full_id=full_id(game),
        rules_version=game.rules_version,
        variants=tuple((variant.id, variant.version) for variant in game.variants),
        seat=offer.seat,
        seats=len(offer.seats),
        players=tuple(map(player, offer.seats)),
        options=encoding.decode(offer.options, "options") if offer.options else {},
        seed=offer.bot_seed,
        table_size=offer.table.size if listed else None,
        table_hash=offer.table.hash if listed else b"",
        schemas_hash=offer.schemas_hash,
        margin_ms=offer.terms.margin_ms,
        ceiling_ms=(
            offer.terms.ceiling_ms if offer.terms.HasField("ceiling_ms") else None
        ),
        nonce_wanted=offer.nonce_wanted,
        resumed=offer.resumed,
    )


def result_fields(result: common.MatchResult) -> dict[str, Any]:
    """Return the fields of a `Result`."""
    return {
        "kind": word(common.MatchEndKind.Name, "MATCH_END_KIND_", result.kind),
        "code": result.code,
        "message": result.message,
        "reason": result.outcome.reason,
        "scores": tuple(result.outcome.scores),
        "placing": tuple(result.outcome.placing),
    }


def outcome(result: common.MatchResult, seat: int, deal: Deal) -> Outcome:
    """Return how a match ended, for a seat of it."""
    return Outcome(seat=seat, deal=deal, **result_fields(result))


def report(info: MatchInfo, outcome: Outcome) -> str:
    """Return in one line how a match ended for a seat."""
    head = f"match {info.match_id}, {info.full_id}, seat {info.seat}: {outcome.kind}"
    if outcome.counts:
        head = f"{head}, place {outcome.place} of {info.seats}, {outcome.reason}"
    why = f": {outcome.message} [{outcome.code}]" if outcome.code else ""
    broken = "; the deal is not the one that was promised"
    return shown(f"{head}{why}{broken if outcome.deal == 'broken' else ''}")


def event(message: wire.Event, encoding: Encoding) -> Event:
    """Return an event with its action decoded.

    Raises:
        ProtocolError: if the action cannot be read.
    """
    number, ply = message.number, message.ply
    kind = message.WhichOneof("body")
    if kind == "action":
        acted = message.action
        return Event(
            number=number,
            ply=ply,
            kind=kind,
            seat=acted.seat,
            action=encoding.decode(acted.action, "an action"),
            text=acted.text,
            index=acted.index if acted.HasField("index") else None,
            source=word(wire.ActionSource.Name, "ACTION_SOURCE_", acted.source),
        )
    if kind == "chance":
        drawn = encoding.decode(message.chance.action, "a chance action")
        return Event(
            number=number, ply=ply, kind=kind, action=drawn, text=message.chance.text
        )
    if kind == "ruling":
        ruling = message.ruling
        return Event(
            number=number,
            ply=ply,
            kind=kind,
            seat=ruling.seat if ruling.HasField("seat") else None,
            fault=word(common.Fault.Name, "FAULT_", ruling.fault),
            consequence=word(
                common.Consequence.Name, "CONSEQUENCE_", ruling.consequence
            ),
            code=ruling.error.code,
            message=ruling.error.message,
        )
    if kind == "resigned":
        return Event(number=number, ply=ply, kind=kind, seat=message.resigned.seat)
    if kind == "paused":
        return Event(number=number, ply=ply, kind=kind, message=message.paused.message)
    if kind == "ended":
        ended = message.ended
        return Event(
            number=number, ply=ply, kind=kind, code=ended.code, message=ended.message
        )
    return Event(number=number, ply=ply, kind=kind or "unknown")
