"""What a bot says of its seats: each message goes to the player of the seat.

Decisions do not come here: `Session` hands them over itself, on the shortest way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from fritillary.api.v1 import bot_pb2 as pb
from fritillary.service.hub import UnusableMessageError
from fritillary.service.notices import not_held, over

if TYPE_CHECKING:
    from fritillary.service.remote import RemotePlayer
    from fritillary.service.session import Session


def _player(session: Session, body: Any) -> RemotePlayer | None:  # noqa: ANN401 - any with a seat
    player = session.link.seat(
        body.match_id, body.seat if body.HasField("seat") else None
    )
    if player is not None and not player.holds(session):
        raise not_held()
    return player


def _accept(session: Session, message: pb.BotMessage) -> None:
    player = _player(session, message.accept)
    if player is not None:
        player.accepted(message.accept.nonce)


def _decline(session: Session, message: pb.BotMessage) -> None:
    player = _player(session, message.decline)
    if player is not None:
        player.declined(message.decline.code, message.decline.message)


def _ready(session: Session, message: pb.BotMessage) -> None:
    player = _player(session, message.ready)
    if player is not None:
        player.readied()


def _resign(session: Session, message: pb.BotMessage) -> None:
    player = _player(session, message.resign)
    if player is None:
        raise over(comes=session.link.may_come(message.resign.match_id))
    player.resigned(message.resign.decision_id)


def _ack(session: Session, message: pb.BotMessage) -> None:
    acknowledged(session, message.ack)


def acknowledged(session: Session, ack: pb.Ack) -> None:
    """Note what a bot has received of a match.

    Raises:
        UnusableMessageError: if it is not clear of which seat.
    """
    link = session.link
    seat = ack.seat if ack.HasField("seat") else None
    if ack.ended:
        link.forget_end(ack.match_id, seat)
    try:
        player = link.seat(ack.match_id, seat)
    except UnusableMessageError as error:
        # An Ack may cross with the end of its match.
        if error.code != "match.unknown":
            raise
        return
    closed = ack.closed_decision_id if ack.HasField("closed_decision_id") else 0
    if player is None:
        link.acknowledged(ack.match_id, seat, ack.event_number, closed)
    else:
        player.acknowledged(ack.event_number, closed)


#: By the kind of message: what hands it over, for the session that it came in.
#: They raise `UnusableMessageError` where it changes nothing.
OF_SEATS: Final[Mapping[str, Callable[[Session, pb.BotMessage], None]]] = {
    "accept": _accept,
    "decline": _decline,
    "ready": _ready,
    "resign": _resign,
    "ack": _ack,
}
