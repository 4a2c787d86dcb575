"""The values of a match as messages, and back: clocks, terms, outcomes, results."""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias

from attrs import frozen

from fritillary.api.v1 import bot_pb2
from fritillary.api.v1 import common_pb2 as pb
from fritillary.codec.packing import from_json, pack, to_json, unpack
from fritillary.core.errors import UsageError
from fritillary.core.outcome import Outcome
from fritillary.plugins.game import Game
from fritillary.record.events import SeatTerms
from fritillary.record.terms import (
    MAX_MS,
    ClockSettings,
    Consequence,
    EndKind,
    Fault,
    FaultRule,
    LinkBank,
    PlayerInfo,
    Policy,
    Source,
    Terms,
)
from fritillary.referee.seen import Finish, MatchResult, Problem

# ----------------------------------------------------------------------- encodings


@frozen
class Coder:
    """Writes and reads plain data.

    Args:
        encoding: its number on the wire.
        encode: data to bytes.
        decode: bytes to data; raises `CodecError`.
    """

    encoding: pb.Encoding.ValueType
    encode: Callable[[Any], bytes]
    decode: Callable[[bytes], Any]


def _json_bytes(data: Any) -> bytes:  # noqa: ANN401 - plain data
    return to_json(data).encode()


MSGPACK: Final = Coder(pb.ENCODING_MSGPACK, pack, unpack)
JSON: Final = Coder(pb.ENCODING_JSON, _json_bytes, from_json)


def coder(encoding: int) -> Coder:
    """Return the coder of an encoding; UNSPECIFIED and unknown ones are MSGPACK."""
    return JSON if encoding == pb.ENCODING_JSON else MSGPACK


# ---------------------------------------------------------------------- enumerations


def _numbers(cls: type[enum.Enum], values: Any, prefix: str) -> dict[Any, Any]:  # noqa: ANN401
    return {one: values.Value(f"{prefix}_{one.name}") for one in cls}


FAULT: Final[dict[Fault, pb.Fault.ValueType]] = _numbers(Fault, pb.Fault, "FAULT")
CONSEQUENCE: Final[dict[Consequence, pb.Consequence.ValueType]] = _numbers(
    Consequence, pb.Consequence, "CONSEQUENCE"
)
END_KIND: Final[dict[EndKind, pb.MatchEndKind.ValueType]] = _numbers(
    EndKind, pb.MatchEndKind, "MATCH_END_KIND"
)
SOURCE: Final[dict[Source, bot_pb2.ActionSource.ValueType]] = _numbers(
    Source, bot_pb2.ActionSource, "ACTION_SOURCE"
)
CLOSURE: Final[Mapping[str, bot_pb2.DecisionClosure.ValueType]] = {
    "accepted": bot_pb2.DECISION_CLOSURE_ACCEPTED,
    "ruled": bot_pb2.DECISION_CLOSURE_RULED,
    "withdrawn": bot_pb2.DECISION_CLOSURE_WITHDRAWN,
}
PHASE: Final[Mapping[str, pb.MatchPhase.ValueType]] = {
    "offered": pb.MATCH_PHASE_OFFERED,
    "preparing": pb.MATCH_PHASE_PREPARING,
    "running": pb.MATCH_PHASE_RUNNING,
    "waiting": pb.MATCH_PHASE_WAITING,
    "paused": pb.MATCH_PHASE_PAUSED,
    "closing": pb.MATCH_PHASE_CLOSING,
    "ended": pb.MATCH_PHASE_ENDED,
    "stranded": pb.MATCH_PHASE_STRANDED,
}

# ------------------------------------------------------------------ values to messages


def problem_info(problem: Problem) -> pb.ErrorInfo:
    """Return what was wrong."""
    return pb.ErrorInfo(code=problem.code, message=problem.message)


def reading(parts: Mapping[str, int]) -> pb.ClockReading:
    """Return what is left of each part of a clock."""
    for value in parts.values():
        if value > MAX_MS:
            parts = {name: min(left, MAX_MS) for name, left in parts.items()}
            break
    return pb.ClockReading(**parts)


#: What is left of each part of a clock, as pairs.
Parts: TypeAlias = tuple[tuple[str, int], ...]


@functools.lru_cache(256)
def status_bytes(
    phase: str,
    waiting_for: tuple[int, ...],
    waiting_left_ms: int | None,
    event_number: int,
    open_decision_id: int | None,
    readings: tuple[Parts, ...],
    message: str,
) -> bytes:
    """Return where a match is as a MatchStatus without match and seat."""
    return bot_pb2.MatchStatus(
        phase=PHASE[phase],
        waiting_for=waiting_for,
        waiting_left_ms=waiting_left_ms,
        event_number=event_number,
        open_decision_id=open_decision_id,
        clocks=[reading(dict(parts)) for parts in readings],
        message=message,
    ).SerializeToString()


def clock(settings: ClockSettings) -> pb.Clock:
    """Return a clock as it was agreed."""
    return pb.Clock(
        base_ms=settings.base_ms,
        increment_ms=settings.increment_ms,
        move_ms=settings.move_ms,
        bank_ms=settings.bank_ms,
        turn_ms=settings.turn_ms,
        preparation_ms=settings.preparation_ms,
    )


def terms(value: Terms) -> pb.MatchTerms:
    """Return the terms of a match, all filled in."""
    policy = value.policy
    return pb.MatchTerms(
        policy=pb.Policy(
            rules=[
                pb.FaultRule(
                    fault=FAULT[rule.fault],
                    retries=rule.retries,
                    consequence=CONSEQUENCE[rule.consequence],
                )
                for rule in policy.rules
            ],
            stand_in=policy.stand_in,
            link=pb.LinkBank(
                loss_ms=policy.link.loss_ms,
                total_ms=policy.link.total_ms,
                restarts=policy.link.restarts,
            ),
        ),
        margin_ms=value.margin_ms,
        ceiling_ms=value.ceiling_ms,
        offer_ms=value.offer_ms,
        ready_ms=value.ready_ms,
    )


def player_info(info: PlayerInfo) -> pb.PlayerInfo:
    """Return who plays, as it describes itself; not how it was named."""
    return pb.PlayerInfo(
        name=info.name, version=info.version, build=info.build, author=info.author
    )


def seat_infos(
    game: Game[Any, Any, Any] | None, seats: Iterable[SeatTerms]
) -> list[pb.SeatInfo]:
    """Return all seats with players and clocks.

    Args:
        game: whose roles they have; ``None`` where it is not known.
        seats: in seat order.
    """
    roles = () if game is None else game.info.roles
    return [
        pb.SeatInfo(
            seat=seat,
            role=roles[seat] if roles else "",
            player=player_info(one.player),
            clock=clock(one.clock),
        )
        for seat, one in enumerate(seats)
    ]


def outcome(value: Outcome) -> pb.Outcome:
    """Return an outcome."""
    return pb.Outcome(reason=value.reason, scores=value.scores, placing=value.placing)


def finish(value: Finish) -> pb.MatchResult:
    """Return how a match ended, without hash and reveal."""
    return pb.MatchResult(
        kind=END_KIND[value.kind],
        code=value.code,
        message=value.message,
        outcome=None if value.outcome is None else outcome(value.outcome),
    )


@functools.lru_cache(256)
def finish_bytes(value: Finish) -> bytes:
    """Return the same as bytes; matches of one game often end alike."""
    return finish(value).SerializeToString()


def result(value: MatchResult) -> pb.MatchResult:
    """Return how a match ended and what it led to."""
    message = finish(value.finish)
    if value.reveal is not None:
        message.final_hash = value.final_hash
        message.reveal.seed = value.reveal.seed
        message.reveal.salt = value.reveal.salt
        message.reveal.nonces.extend(value.reveal.nonces)
    return message


def result_bytes(value: MatchResult) -> bytes:
    """Return the same as bytes."""
    if value.reveal is None:
        return finish_bytes(value.finish)
    reveal = value.reveal
    rest = pb.MatchResult(final_hash=value.final_hash)
    rest.reveal.seed = reveal.seed
    rest.reveal.salt = reveal.salt
    rest.reveal.nonces.extend(reveal.nonces)
    return finish_bytes(value.finish) + rest.SerializeToString()


# ------------------------------------------------------------------ messages to values


def _given(message: Any, *names: str) -> dict[str, int]:  # noqa: ANN401 - any message
    return {name: getattr(message, name) for name in names if message.HasField(name)}


def clock_settings(message: pb.Clock) -> ClockSettings:
    """Return the clock of a message.

    Raises:
        UsageError: if its parts do not go together.
    """
    names = ("base_ms", "increment_ms", "move_ms", "bank_ms", "turn_ms")
    try:
        return ClockSettings(**_given(message, *names, "preparation_ms"))
    except ValueError as error:
        raise UsageError(f"clock: {_why(error)}", code="usage.clock") from error


def match_terms(message: pb.MatchTerms) -> tuple[Terms, int | None]:
    """Return the terms of a message, and the ceiling if it names one.

    Raises:
        UsageError: if they make no sense.
    """
    try:
        policy = _policy(message.policy)
        given = _given(message, "margin_ms", "offer_ms", "ready_ms")
        ceiling = message.ceiling_ms if message.HasField("ceiling_ms") else None
        if ceiling is not None and not 0 < ceiling <= MAX_MS:
            msg = f"a ceiling is 1 to {MAX_MS} ms"
            raise ValueError(msg)
        return Terms(policy=policy, **given), ceiling
    except ValueError as error:
        raise UsageError(f"terms: {_why(error)}", code="usage.terms") from error


def _policy(message: pb.Policy) -> Policy:
    faults = {number: fault for fault, number in FAULT.items()}
    consequences = {number: what for what, number in CONSEQUENCE.items()}
    usual = Policy()
    rules: dict[Fault, FaultRule] = {}
    for rule in message.rules:
        fault = faults.get(rule.fault)
        if fault is None:
            msg = f"the policy names no known fault: {rule.fault}"
            raise ValueError(msg)
        if fault in rules:
            msg = f"the policy has two rules for {fault.value!r}; give one"
            raise ValueError(msg)
        consequence = consequences.get(rule.consequence)
        if consequence is None:
            consequence = usual.rule(fault).consequence
        rules[fault] = FaultRule(fault, consequence, rule.retries)
    link = LinkBank(**_given(message.link, "loss_ms", "total_ms", "restarts"))
    return Policy.of(*rules.values(), stand_in=message.stand_in or "uniform", link=link)


def _why(error: ValueError) -> str:
    # attrs puts its message first among several arguments.
    return str(error.args[0]) if error.args else str(error)


def game_options(game: Game[Any, Any, Any], choice: pb.OptionsChoice) -> Any:  # noqa: ANN401
    """Return the options that were asked for.

    Raises:
        CodecError: if the bytes cannot be read.
        InvalidOptionsError: if they are no options of the game.
    """
    which = choice.WhichOneof("choice")
    if which == "preset":
        return game.options(preset=choice.preset)
    if which == "options" and choice.options.data:
        payload = choice.options
        return game.options(coder(payload.encoding).decode(payload.data))
    return game.options()
