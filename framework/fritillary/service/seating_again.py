"""Giving the seats of a match back after a restart of the server."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import NoReturn

from attrs import frozen

from fritillary.record.events import Ruling
from fritillary.record.reader import Record
from fritillary.record.terms import Fault, PlayerInfo
from fritillary.referee.absent import Absent
from fritillary.referee.player import Player
from fritillary.referee.prepare import offer_of
from fritillary.referee.restore import tell_again
from fritillary.service.children import ChildSeat
from fritillary.service.hosted import HostedMatch
from fritillary.service.hub import Hub, Link
from fritillary.service.lastnews import LastNews
from fritillary.service.limits import Limits
from fritillary.service.past import remote_seats
from fritillary.service.remote import RemotePlayer
from fritillary.service.restart import Left, LeftEnd
from fritillary.service.seating import player_of, refusal

_log = logging.getLogger(__name__)


@frozen
class TakenUp:
    """The seats of a match that is taken up.

    Args:
        players: in seat order.
        children: programs that are to be started again.
        after: the record so far.
        used: of the decision that was open, seat and milliseconds.
    """

    players: tuple[Player, ...]
    children: list[ChildSeat]
    after: Record
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
        if seat in forfeited:
            # Nobody waits for who is asked nothing more.
            player.away = False
        elif again is not None and seat not in refused:
            again.seat_again(player)
        if again is not None:
            children.append(again)
        players.append(player)
    return TakenUp(tuple(players), children, left.record, left.used)


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
    return player_of(link, hosted, seat, info, limits, never if gone else None)


# ------------------------------------------------------- a match that has ended


def last_news(left: Left | LeftEnd, limits: Limits) -> dict[tuple[int, str], LastNews]:
    """Return what the bots of a match may have missed, by seat and bot.

    It runs a loop of its own, and is to be called in a thread: the match is played
    again.

    Args:
        left: the match as it was left, with its record and its result.
        limits: on a bot.

    Raises:
        TypeError: if it has not ended.
    """
    # Nobody is connected there: all that is told is kept.
    hub = Hub()

    async def tell() -> dict[tuple[int, str], LastNews]:
        if isinstance(left, LeftEnd):
            match_id = left.result.match_id
            seats = list(remote_seats(left.record))
            hub.keep_ends(left.result, seats)
        else:
            hosted = HostedMatch(
                left.order,
                _no_sink,
                created_at_ms=left.created_at_ms,
                result=None if left.past is None else left.past.result,
            )
            match_id = hosted.id
            seats = list(hosted.remote_seats())
            tell_last(left, hosted, hub, limits)
        return {
            (seat, name): news
            for seat, name in seats
            if isinstance(news := hub.link(name).kept_end(match_id).get(seat), LastNews)
        }

    return asyncio.run(tell())


def _no_sink() -> NoReturn:
    raise TypeError


def tell_last(left: Left, hosted: HostedMatch, hub: Hub, limits: Limits) -> None:
    """Keep the end of a match for its bots, and what they may have missed before it.

    Args:
        left: the match as it was left, with its record and its result.
        hosted: the match.
        hub: where the bots are.
        limits: on a bot.
    """
    found, past = left.record, left.past
    if found is None or past is None:
        raise TypeError
    result = past.result
    # What can be told of a match is told; the end at the least.
    hub.keep_ends(result, hosted.remote_seats())
    failed = any(
        isinstance(event, Ruling) and event.fault is Fault.REFEREE_ERROR
        for event in found.events
    )
    if failed:
        return
    refused = left.refused()
    listening = {}
    for seat, name in hosted.remote_seats():
        if seat not in refused:
            info = found.header.seats[seat].player
            player = _player(hub.link(name), hosted, seat, info, limits, gone=False)
            player.take_up(offer_of(left.order, found.header, seat))
            listening[seat] = player
    if not listening:
        return
    players = tuple(
        listening.get(seat) or Absent(terms.player)
        for seat, terms in enumerate(found.header.seats)
    )
    try:
        tell_again(left.order.setup(players), found, result)
    except Exception:  # noqa: BLE001 - whatever the rules raise; the end is told
        _log.exception("match %s: what came before its end is not told", hosted.id)
        for player in listening.values():
            player.end(result)
