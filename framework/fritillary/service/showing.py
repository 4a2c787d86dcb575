"""A match as a message, for whoever asks about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fritillary.api.v1 import common_pb2, match_pb2
from fritillary.core.dealer import SEALED_ALGORITHM
from fritillary.record.events import SeatTerms
from fritillary.record.terms import Terms
from fritillary.referee.seen import MatchResult
from fritillary.service import wire

if TYPE_CHECKING:
    from fritillary.service.ended import EndedMatch
    from fritillary.service.hosted import HostedMatch
    from fritillary.service.stranded import Stranded


def match_message(hosted: HostedMatch, *, for_referee: bool) -> match_pb2.Match:
    """Return a match as it stands.

    Args:
        hosted: the match.
        for_referee: tell how the players were named, and what went wrong with
            programs.
    """
    order = hosted.order
    seats = map(SeatTerms, hosted.infos, order.clocks)
    return _message(
        game=hosted.wire.ref,
        options=hosted.wire.dialect(wire.MSGPACK).options,
        terms=order.terms,
        algorithm=SEALED_ALGORITHM,
        commitment=hosted.commitment,
        result=hosted.result,
        match_id=hosted.id,
        seats=wire.seat_infos(order.game, seats),
        players=[spec.text for spec in order.specs] if for_referee else [],
        problems=[
            match_pb2.SeatProblem(seat=seat, message=what)
            for seat, what in (hosted.problems if for_referee else ())
        ],
        phase=wire.PHASE[hosted.phase],
        ply=hosted.ply,
        seed_given=order.seed_given or False,
        seed_given_unknown=order.seed_given is None,
        labels=order.labels,
        created_at_ms=hosted.created_at_ms,
        started_at_ms=hosted.started_at_ms,
        ended_at_ms=hosted.ended_at_ms,
    )


def ended_message(ended: EndedMatch, *, for_referee: bool) -> match_pb2.Match:
    """Return a match that ended long ago, as its record tells.

    What no record tells is left out: when all seats were ready, and what went wrong
    with programs.

    Args:
        ended: the match.
        for_referee: tell how the players were named.
    """
    header = ended.past.header
    return _message(
        game=ended.ref,
        # The encoding of options in records is that of messages.
        options=bytes.fromhex(header.options),
        terms=header.terms,
        algorithm=header.algorithm,
        commitment=bytes.fromhex(header.commitment),
        result=ended.result,
        match_id=ended.id,
        seats=wire.seat_infos(ended.game, header.seats),
        players=[seat.player.player for seat in header.seats] if for_referee else [],
        phase=wire.PHASE[ended.phase],
        ply=ended.result.plies,
        seed_given_unknown=True,
        labels=header.labels,
        created_at_ms=header.created_at_ms,
        ended_at_ms=ended.ended_at_ms,
    )


def stranded_message(one: Stranded, *, for_referee: bool) -> match_pb2.Match:
    """Return a match that could not be taken up, as it stood.

    Args:
        one: the match.
        for_referee: tell how the players were named, and the reason in full.
    """
    kept = one.kept
    return _message(
        game=one.ref,
        options=bytes.fromhex(kept.options),
        terms=kept.terms,
        algorithm=SEALED_ALGORITHM,
        commitment=one.commitment,
        result=one.result,
        match_id=one.id,
        seats=wire.seat_infos(None, one.seats),
        players=kept.players if for_referee else [],
        phase=wire.PHASE[one.phase],
        ply=one.ply,
        seed_given=kept.seed_given,
        labels=kept.labels,
        created_at_ms=one.created_at_ms,
        started_at_ms=one.started_at_ms,
        ended_at_ms=one.ended_at_ms,
        stranded_reason=one.reason if for_referee else one.told,
    )


def _message(
    *,
    game: common_pb2.GameRef,
    options: bytes,
    terms: Terms,
    algorithm: str,
    commitment: bytes,
    result: MatchResult | None,
    **fields: Any,  # noqa: ANN401 - those of the message
) -> match_pb2.Match:
    message = match_pb2.Match(
        game=game,
        options=common_pb2.Payload(encoding=common_pb2.ENCODING_MSGPACK, data=options),
        terms=wire.terms(terms),
        commitment=common_pb2.Commitment(algorithm=algorithm, hash=commitment),
        **fields,
    )
    if result is not None:
        message.result.CopyFrom(wire.result(result))
    return message
