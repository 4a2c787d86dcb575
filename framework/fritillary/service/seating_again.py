"""Giving the seats of a match back after a restart of the server."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import frozen

from fritillary.record.terms import PlayerInfo
from fritillary.referee.player import Player
from fritillary.referee.prepare import offer_of
from fritillary.service.children import ChildSeat
from fritillary.service.hosted import HostedMatch
from fritillary.service.hub import Hub, Link
from fritillary.service.limits import Limits
from fritillary.service.remote import RemotePlayer
from fritillary.service.restart import Left
from fritillary.service.seating import refusal


@frozen
class TakenUp:
    """The seats of a match that is taken up.

    Args:
        players: in seat order.
        children: programs that are to be started again.
        used: of the decision that was open, seat and milliseconds.
    """

    players: tuple[Player, ...]
    children: list[ChildSeat]
    used: tuple[int, int] | None


def seats_again(
    left: Left,
    hosted: HostedMatch,
    local: Mapping[int, Player],
    child: Callable[[HostedMatch, int], ChildSeat],
    hub: Hub,
    limits: Limits,
) -> TakenUp:
    """Return the players of a match; those that dial in keep their seats.

    Args:
        left: the match as it was left, with its record.
        hosted: the match.
        local: the players that are here.
        child: makes the seat of a program.
        hub: where the bots are.
        limits: on a bot.
    """
    if left.record is None:
        raise TypeError
    header = left.record.header
    refused = left.refused()
    forfeited = left.forfeited()
    order = hosted.order
    players: list[Player] = []
    children: list[ChildSeat] = []
    for seat, spec in enumerate(order.specs):
        if seat in local:
            players.append(local[seat])
            continue
        again = None if spec.kind == "remote" else child(hosted, seat)
        link = hub.link(spec.name if again is None else again.name)
        player = _player(
            link, hosted, seat, header.seats[seat].player, limits, gone=seat in refused
        )
        if seat not in refused:
            player.take_up(offer_of(order, header, seat))
        if again is not None and seat not in refused | forfeited:
            again.seat_again(player)
            children.append(again)
        players.append(player)
    return TakenUp(tuple(players), children, left.used)


def _player(
    link: Link,
    hosted: HostedMatch,
    seat: int,
    info: PlayerInfo,
    limits: Limits,
    *,
    gone: bool,
) -> RemotePlayer:
    never = refusal("the seat was refused before the restart", "player.absent")
    return RemotePlayer(
        link,
        hosted.wire,
        seat,
        info,
        hosted.order.terms.policy.link,
        max_note_bytes=limits.max_note_bytes,
        changed=hosted.changed,
        refused=never if gone else None,
    )
