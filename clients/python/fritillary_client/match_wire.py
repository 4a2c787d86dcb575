"""Between the values of `matches` and the messages of ``MatchService``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper

from fritillary.api.v1 import common_pb2 as common
from fritillary.api.v1 import match_pb2 as wire
from fritillary_client import reading
from fritillary_client.encoding import MSGPACK, Data, Encoding, numbered
from fritillary_client.errors import ConfigurationError
from fritillary_client.matches import (
    FaultRule,
    Match,
    MatchResult,
    MatchStatus,
    MatchView,
    Reveal,
    SeatProblem,
    Terms,
    Update,
)
from fritillary_client.values import ClockSettings

_PHASE: Final = "MATCH_PHASE_"
_CLOCK: Final = tuple(field.name for field in common.Clock.DESCRIPTOR.fields)

#: What watchers are sent.
WATCHED: Final = MSGPACK

PICTURES: Final[Mapping[str, wire.Picture.ValueType]] = {
    "": wire.PICTURE_UNSPECIFIED,
    "text": wire.PICTURE_TEXT,
    "svg": wire.PICTURE_SVG,
}

# --------------------------------------------------------------- values to messages


def _number(kind: EnumTypeWrapper, prefix: str, word: str) -> int:
    """Return the number of a word, such as ``refused-to-start``.

    Raises:
        ConfigurationError: if there is no such word.
    """
    names = {
        name.removeprefix(prefix).lower().replace("_", "-"): number
        for name, number in kind.items()
        if number
    }
    if word not in names:
        what = prefix.strip("_").replace("_", " ").lower()
        msg = f"there is no {what} {word[:40]!r}; known: {', '.join(names)}"
        raise ConfigurationError(msg, code="usage.word")
    return names[word]


def phase(word: str) -> common.MatchPhase.ValueType:
    """Return the number of a phase.

    Raises:
        ConfigurationError: if there is no such phase.
    """
    return _number(common.MatchPhase, _PHASE, word)  # type: ignore[arg-type, return-value]


def clock(settings: ClockSettings) -> common.Clock:
    """Return a clock; raises `ValueError` if a part is no number of the wire."""
    return common.Clock(**{name: getattr(settings, name) for name in _CLOCK})


def terms(value: Terms) -> common.MatchTerms:
    """Return terms.

    Raises:
        ConfigurationError: if a rule names what is not there.
        ValueError: if a number is none of the wire.
    """
    return common.MatchTerms(
        policy=common.Policy(
            rules=[_rule(rule) for rule in value.policy],
            stand_in=value.stand_in,
            link=common.LinkBank(
                loss_ms=value.link_loss_ms,
                total_ms=value.link_total_ms,
                restarts=value.restarts,
            ),
        ),
        margin_ms=value.margin_ms,
        ceiling_ms=value.ceiling_ms,
        offer_ms=value.offer_ms,
        ready_ms=value.ready_ms,
    )


def _rule(rule: FaultRule) -> common.FaultRule:
    message = common.FaultRule(retries=rule.retries)
    message.fault = _number(common.Fault, "FAULT_", rule.fault)  # type: ignore[arg-type, assignment]
    if rule.consequence:
        message.consequence = _number(  # type: ignore[assignment]
            common.Consequence,  # type: ignore[arg-type]
            "CONSEQUENCE_",
            rule.consequence,
        )
    return message


def options(data: Data, preset: str) -> common.OptionsChoice | None:
    """Return which options are wanted; ``None`` for the defaults.

    Raises:
        ConfigurationError: if they are named twice, or cannot be sent.
    """
    if data is not None and preset:
        msg = "a match is made with a preset or with options, not with both"
        raise ConfigurationError(msg, code="usage.options")
    if preset:
        return common.OptionsChoice(preset=preset)
    if data is None:
        return None
    try:
        raw = MSGPACK.encode(data)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        msg = f"the options cannot be sent: {error}"
        raise ConfigurationError(msg, code="usage.options") from error
    payload = common.Payload(encoding=MSGPACK.number, data=raw)
    return common.OptionsChoice(options=payload)


def seats(
    players: Sequence[str], clocks: ClockSettings | Sequence[ClockSettings] | None
) -> list[wire.SeatRequest]:
    """Return who is to sit where.

    Raises:
        ConfigurationError: if there are not as many clocks as players.
        ValueError: if a number is none of the wire.
    """
    if clocks is None or isinstance(clocks, ClockSettings):
        clocks = [clocks or ClockSettings()] * len(players)
    if isinstance(players, str) or len(clocks) != len(players):
        msg = "give a list of players, and one clock for all or one for each"
        raise ConfigurationError(msg, code="usage.clock")
    return [
        wire.SeatRequest(player=player, clock=clock(one))
        for player, one in zip(players, clocks, strict=True)
    ]


# --------------------------------------------------------------- messages to values


def match(message: wire.Match) -> Match:
    """Return a match.

    Raises:
        ProtocolError: if it cannot be read.
    """
    game = message.game
    return Match(
        match_id=message.match_id,
        game=game.id,
        full_id=reading.full_id(game),
        rules_version=game.rules_version,
        variants=tuple((variant.id, variant.version) for variant in game.variants),
        options=_payload(message.options),
        seats=tuple(map(reading.player, message.seats)),
        players=tuple(message.players),
        terms=_terms(message.terms),
        phase=_phase(message.phase),
        ply=message.ply,
        algorithm=message.commitment.algorithm,
        commitment=message.commitment.hash,
        seed_given=None if message.seed_given_unknown else message.seed_given,
        # On the wire they have no order.
        labels=dict(sorted(message.labels.items())),
        created_at_ms=message.created_at_ms,
        started_at_ms=message.started_at_ms
        if message.HasField("started_at_ms")
        else None,
        ended_at_ms=message.ended_at_ms if message.HasField("ended_at_ms") else None,
        result=result(message.result) if message.HasField("result") else None,
        problems=tuple(
            SeatProblem(seat=one.seat, message=one.message) for one in message.problems
        ),
        stranded_reason=message.stranded_reason,
    )


def _payload(payload: common.Payload) -> Data:
    return numbered(payload.encoding).decode(payload.data, "options")


def _phase(number: int) -> str:
    return reading.word(common.MatchPhase.Name, _PHASE, number)


def _terms(message: common.MatchTerms) -> Terms:
    policy = message.policy
    return Terms(
        policy=tuple(
            FaultRule(
                reading.word(common.Fault.Name, "FAULT_", rule.fault),
                reading.word(common.Consequence.Name, "CONSEQUENCE_", rule.consequence),
                rule.retries,
            )
            for rule in policy.rules
        ),
        stand_in=policy.stand_in,
        link_loss_ms=policy.link.loss_ms,
        link_total_ms=policy.link.total_ms,
        restarts=policy.link.restarts,
        margin_ms=message.margin_ms,
        ceiling_ms=message.ceiling_ms,
        offer_ms=message.offer_ms,
        ready_ms=message.ready_ms,
    )


def result(message: common.MatchResult) -> MatchResult:
    """Return how a match ended."""
    reveal = None
    if message.HasField("reveal"):
        reveal = Reveal(
            seed=message.reveal.seed,
            salt=message.reveal.salt,
            nonces=tuple(message.reveal.nonces),
        )
    return MatchResult(
        **reading.result_fields(message), final_hash=message.final_hash, reveal=reveal
    )


def update(message: wire.WatchMatchResponse, encoding: Encoding) -> Update | None:
    """Return what a watcher is told; ``None`` for what later versions add.

    Raises:
        ProtocolError: if it cannot be read.
    """
    kind = message.WhichOneof("update")
    if kind == "view":
        view = message.view
        seen = view.HasField("observation")
        return MatchView(
            event_number=view.event_number,
            ply=view.ply,
            seats_to_act=tuple(view.seats_to_act),
            observation=encoding.decode(view.observation, "an observation")
            if seen
            else None,
            picture=view.picture,
        )
    if kind == "event":
        return reading.event(message.event, encoding)
    if kind == "status":
        status = message.status
        return MatchStatus(
            phase=_phase(status.phase),
            waiting_for=tuple(status.waiting_for),
            waiting_left_ms=status.waiting_left_ms
            if status.HasField("waiting_left_ms")
            else None,
            event_number=status.event_number,
            clocks=tuple(map(reading.clock, status.clocks)),
            message=status.message,
        )
    if kind == "ended":
        return result(message.ended.result)
    return None
