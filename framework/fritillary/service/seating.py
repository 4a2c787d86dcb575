"""Waiting for a bot that dials in, and giving it its seat."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable

import attrs

from fritillary.record.terms import Fault
from fritillary.referee.player import PlayerFault
from fritillary.service.hosted import HostedMatch
from fritillary.service.hub import Hub, Link
from fritillary.service.limits import Limits
from fritillary.service.remote import RemotePlayer


async def remote_player(
    hub: Hub, hosted: HostedMatch, seat: int, limits: Limits
) -> RemotePlayer:
    """Wait for a bot that dials in by itself; return its player."""
    link = hub.link(hosted.order.specs[seat].name)
    refused = None
    if not await reserved(link, hosted):
        why = link.obstacle(hosted.order.game) or "called off before it was there"
        refused = refusal(why, "player.absent")
    return seated(link, hosted, seat, limits, refused)


async def reserved(link: Link, hosted: HostedMatch, *others: Awaitable[object]) -> bool:
    """Wait until a bot can be offered the match, as long as an offer may last.

    Args:
        link: the bot.
        hosted: the match.
        others: waiting is in vain as soon as one of these is done.

    Returns:
        Whether it can.
    """
    order = hosted.order
    if not link.obstacle(order.game):
        link.reserved.add(order.match_id)
        return True
    reserving = asyncio.ensure_future(link.reserve(order.match_id, order.game))
    cut = asyncio.ensure_future(hosted.cut.wait())
    waits = {reserving, cut, *map(asyncio.ensure_future, others)}
    try:
        await asyncio.wait(
            waits,
            timeout=(order.terms.offer_ms + order.terms.margin_ms) / 1000,
            return_when=asyncio.FIRST_COMPLETED,
        )
        return reserving.done()
    finally:
        for wait in (reserving, cut):
            wait.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(reserving, cut, return_exceptions=True)


def refusal(why: str, code: str) -> PlayerFault:
    """Return the fault of a seat that nobody can take."""
    return PlayerFault(Fault.REFUSED_TO_START, why, code=code)


def seated(
    link: Link,
    hosted: HostedMatch,
    seat: int,
    limits: Limits,
    refused: PlayerFault | None,
) -> RemotePlayer:
    """Return the player of a seat."""
    order = hosted.order
    info = hosted.infos[seat]
    if link.session is not None and refused is None:
        info = attrs.evolve(link.session.info, player=order.specs[seat].text)
    return RemotePlayer(
        link,
        hosted.wire,
        seat,
        info,
        order.terms.policy.link,
        max_note_bytes=limits.max_note_bytes,
        changed=hosted.changed,
        refused=refused,
    )
