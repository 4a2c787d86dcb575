"""Offering the seats of a match, all at once."""

from __future__ import annotations

import asyncio

from fritillary.core.commitment import bot_seed
from fritillary.core.dealer import SEALED_ALGORITHM
from fritillary.record.events import SeatTerms
from fritillary.record.terms import Fault
from fritillary.referee.control import Control, InterruptedWait
from fritillary.referee.player import Player, PlayerFault
from fritillary.referee.seen import Offer
from fritillary.referee.setup import MatchSetup


async def prepare(
    setup: MatchSetup, control: Control
) -> tuple[tuple[bytes, ...], dict[int, PlayerFault]]:
    """Offer every seat and wait until each is ready, or too late.

    Returns:
        The nonce of each seat, and the fault of each seat that did not get ready.

    Raises:
        InterruptedWait: if the match is to be ended.
    """
    nonces = [b""] * len(setup.players)
    faults: dict[int, PlayerFault] = {}
    seats = tuple(
        SeatTerms(player.info, clock)
        for player, clock in zip(setup.players, setup.clocks, strict=True)
    )
    commitment = setup.commitment

    async def offer(seat: int, player: Player) -> None:
        terms = setup.terms
        preparation = setup.clocks[seat].preparation_ms
        ready_ms = terms.ready_ms if preparation is None else preparation
        try:
            nonces[seat] = await control.within(
                (terms.offer_ms + terms.margin_ms) / 1000,
                player.accept(
                    Offer(
                        match_id=setup.match_id,
                        seat=seat,
                        game=setup.game,
                        options=setup.options,
                        seats=seats,
                        terms=terms,
                        algorithm=SEALED_ALGORITHM,
                        commitment=commitment,
                        nonce_wanted=setup.nonces_wanted,
                        bot_seed=bot_seed(setup.seed, seat),
                    )
                ),
            )
            await control.within((ready_ms + terms.margin_ms) / 1000, player.ready())
        except PlayerFault as fault:
            faults[seat] = fault
        except TimeoutError:
            faults[seat] = PlayerFault(
                Fault.REFUSED_TO_START, "the seat did not get ready in time"
            )

    if all(player.inline for player in setup.players):
        for seat, player in enumerate(setup.players):
            await offer(seat, player)
    else:
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(_quietly(offer(seat, player)))
                for seat, player in enumerate(setup.players)
            ]
        if any(task.result() for task in tasks):
            raise InterruptedWait
    if not setup.nonces_wanted:
        return (), faults
    return tuple(nonces), faults


async def _quietly(offer: object) -> bool:
    """Await an offer; return whether it was interrupted."""
    try:
        await offer  # type: ignore[misc]
    except InterruptedWait:
        return True
    return False
