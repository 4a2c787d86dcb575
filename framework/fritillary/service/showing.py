"""A match as a message, for whoever asks about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fritillary.api.v1 import common_pb2, match_pb2
from fritillary.core.dealer import SEALED_ALGORITHM
from fritillary.record.events import SeatTerms
from fritillary.service import wire

if TYPE_CHECKING:
    from fritillary.service.hosted import HostedMatch


def match_message(hosted: HostedMatch, *, for_referee: bool) -> match_pb2.Match:
    """Return a match as it stands.

    Args:
        hosted: the match.
        for_referee: tell how the players were named, and what went wrong with
            programs.
    """
    order = hosted.order
    seats = map(SeatTerms, hosted.infos, order.clocks)
    message = match_pb2.Match(
        match_id=hosted.id,
        game=hosted.wire.ref,
        options=common_pb2.Payload(
            encoding=common_pb2.ENCODING_MSGPACK,
            data=hosted.wire.dialect(wire.MSGPACK).options,
        ),
        seats=wire.seat_infos(order.game, seats),
        players=[spec.text for spec in order.specs] if for_referee else [],
        problems=[
            match_pb2.SeatProblem(seat=seat, message=what)
            for seat, what in (hosted.problems if for_referee else ())
        ],
        terms=wire.terms(order.terms),
        phase=wire.PHASE[hosted.phase],
        ply=hosted.ply,
        commitment=common_pb2.Commitment(
            algorithm=SEALED_ALGORITHM, hash=hosted.commitment
        ),
        seed_given=order.seed_given or False,
        seed_given_unknown=order.seed_given is None,
        labels=order.labels,
        created_at_ms=hosted.created_at_ms,
        started_at_ms=hosted.started_at_ms,
        ended_at_ms=hosted.ended_at_ms,
    )
    if hosted.result is not None:
        message.result.CopyFrom(wire.result(hosted.result))
    return message
