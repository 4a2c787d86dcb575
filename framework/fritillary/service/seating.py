"""Waiting for a bot that dials in, and giving it its seat."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Iterable
from typing import Any

import attrs

from fritillary.core.weak import weakly
from fritillary.record.terms import Fault, PlayerInfo
from fritillary.referee.player import PlayerFault
from fritillary.service.hosted import HostedMatch
from fritillary.service.hub import Hub, Link
from fritillary.service.limits import Limits
from fritillary.service.ordering import Order, shown
from fritillary.service.remote import RemotePlayer


async def remote_players(
    hub: Hub, hosted: HostedMatch, limits: Limits
) -> dict[int, RemotePlayer]:
    """Wait for the bots that dial in by themselves; return their players by seat.

    Places are kept in the order of the bots' names: two matches of the same bots
    cannot each hold the one that the other waits for.
    """
    specs = hosted.order.specs
    seats = [seat for seat, spec in enumerate(specs) if spec.kind == "remote"]
    deadline = _deadline(hosted)
    players = {}
    for seat in sorted(seats, key=lambda seat: specs[seat].name):
        link = hub.link(specs[seat].name)
        refused = None
        if not await reserved(link, hosted, deadline):
            why = link.obstacle(hosted.order.game) or "called off before it was there"
            refused = refusal(why, "player.absent")
        players[seat] = seated(link, hosted, seat, limits, refused)
    return players


def _deadline(hosted: HostedMatch) -> float:
    terms = hosted.order.terms
    wait_ms = terms.offer_ms + terms.margin_ms
    return asyncio.get_running_loop().time() + wait_ms / 1000


async def reserved(
    link: Link,
    hosted: HostedMatch,
    deadline: float | None = None,
    others: Iterable[Awaitable[object]] = (),
) -> bool:
    """Wait until a bot can be offered the match.

    Args:
        link: the bot.
        hosted: the match.
        deadline: by the clock of the loop; ``None``: as long as an offer may last.
        others: waiting is in vain as soon as one of these is done.

    Returns:
        Whether it can.
    """
    order = hosted.order
    if not link.obstacle(order.game):
        link.reserved.add(order.match_id)
        link.coming.discard(order.match_id)
        return True
    if deadline is None:
        deadline = _deadline(hosted)
    link.expected += 1
    cut = asyncio.ensure_future(hosted.cut.wait())
    vain: set[asyncio.Future[Any]] = {cut, *map(asyncio.ensure_future, others)}
    try:
        while await _kept_place(link, order, vain, deadline):
            session = link.session
            if session is not None and session.plays(order.game):
                return True
            # Its link was lost again at once: who comes next may be another build.
            link.reserved.discard(order.match_id)
        return False
    finally:
        link.coming.discard(order.match_id)
        link.expected -= 1
        cut.cancel()
        await asyncio.gather(cut, return_exceptions=True)


async def _kept_place(
    link: Link,
    order: Order,
    vain: set[asyncio.Future[Any]],
    deadline: float,
) -> bool:
    """Wait for a place in a bot's matches; return whether there is one in time.

    Args:
        link: the bot.
        order: of the match.
        vain: waiting is in vain as soon as one of these is done.
        deadline: by the clock of the loop.
    """
    reserving = asyncio.ensure_future(link.reserve(order.match_id, order.game))
    try:
        await asyncio.wait(
            {reserving, *vain},
            timeout=max(0, deadline - asyncio.get_running_loop().time()),
            return_when=asyncio.FIRST_COMPLETED,
        )
        return reserving.done()
    finally:
        reserving.cancel()
        await asyncio.gather(reserving, return_exceptions=True)


def refusal(why: str, code: str) -> PlayerFault:
    """Return the fault of a seat that nobody can take."""
    return PlayerFault(Fault.REFUSED_TO_START, why, code=code)


@functools.lru_cache(256)
def _named(info: PlayerInfo, text: str) -> PlayerInfo:
    return attrs.evolve(info, player=text)


def seated(
    link: Link,
    hosted: HostedMatch,
    seat: int,
    limits: Limits,
    refused: PlayerFault | None,
) -> RemotePlayer:
    """Return the player of a seat."""
    info = hosted.infos[seat]
    if link.session is not None and refused is None:
        info = _named(link.session.info, shown(hosted.order.specs[seat]))
    return player_of(link, hosted, seat, info, limits, refused)


def player_of(
    link: Link,
    hosted: HostedMatch,
    seat: int,
    info: PlayerInfo,
    limits: Limits,
    refused: PlayerFault | None,
) -> RemotePlayer:
    """Return the player of a seat, whose bot is known already.

    Args:
        link: the bot.
        hosted: the match.
        seat: which.
        info: who plays.
        limits: on the bot.
        refused: why the seat cannot be taken at all.
    """
    return RemotePlayer(
        link,
        hosted.wire,
        seat,
        info,
        hosted.order.terms.policy.link,
        max_note_bytes=limits.max_note_bytes,
        changed=weakly(hosted.changed),
        trouble=functools.partial(weakly(hosted.trouble), seat),
        refused=refused,
    )
