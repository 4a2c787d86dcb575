"""Offering the seats of a match, all at once."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any, Protocol

from fritillary.core.commitment import MAX_NONCE_BYTES, bot_seed
from fritillary.plugins.game import Game
from fritillary.record.events import Header
from fritillary.record.terms import Fault, Terms
from fritillary.referee.control import Control, InterruptedWait, Wait
from fritillary.referee.player import Player, PlayerFault
from fritillary.referee.seen import Offer
from fritillary.referee.setup import MatchSetup


class Offered(Protocol):
    """What offers need to know of a match."""

    @property
    def match_id(self) -> str:
        """Of the match."""

    @property
    def game(self) -> Game[Any, Any, Any]:
        """The rules."""

    @property
    def options(self) -> Any:  # noqa: ANN401 - of any game
        """Of the game."""

    @property
    def terms(self) -> Terms:
        """The same for all."""

    @property
    def nonces_wanted(self) -> bool:
        """Whether bots may mix into the deal."""

    @property
    def seed(self) -> bytes:
        """Of the deal."""


def offer_of(setup: Offered, header: Header, seat: int) -> Offer:
    """Return what a seat is offered."""
    return Offer(
        match_id=setup.match_id,
        seat=seat,
        game=setup.game,
        options=setup.options,
        seats=header.seats,
        terms=setup.terms,
        algorithm=header.algorithm,
        commitment=bytes.fromhex(header.commitment),
        nonce_wanted=setup.nonces_wanted,
        bot_seed=bot_seed(setup.seed, seat),
    )


async def prepare(
    setup: MatchSetup, control: Control, header: Header
) -> tuple[tuple[bytes, ...], dict[int, PlayerFault]]:
    """Offer every seat and wait until each is ready, or too late.

    Whatever goes wrong with a player here is the one fault *refused to start*.

    Args:
        setup: of the match.
        control: what was asked of the match from outside.
        header: of its record, which has just been published.

    Returns:
        The nonce of each seat, and the fault of each seat that did not get ready.

    Raises:
        InterruptedWait: if the match is to be ended.
    """
    nonces = [b""] * len(setup.players)
    faults: dict[int, PlayerFault] = {}
    terms = setup.terms

    def take(seat: int, nonce: bytes) -> None:
        if not setup.nonces_wanted:
            return
        if not isinstance(nonce, bytes) or len(nonce) > MAX_NONCE_BYTES:
            msg = f"a nonce has at most {MAX_NONCE_BYTES} bytes"
            raise PlayerFault(Fault.REFUSED_TO_START, msg, code="offer.nonce")
        nonces[seat] = nonce

    async def offer(seat: int, player: Player) -> None:
        offered = offer_of(setup, header, seat)
        ready_ms = terms.ready_within_ms(setup.clocks[seat])
        try:
            if player.inline:
                # Such a player never waits, so there is no need for a timer.
                take(seat, await player.accept(offered))
                await player.ready()
                return
            offer_s = (terms.offer_ms + terms.margin_ms) / 1000
            ready_s = (ready_ms + terms.margin_ms) / 1000
            with contextlib.closing(Wait(control)) as wait:
                take(seat, await wait.within(offer_s, player.accept(offered)))
                await wait.within(ready_s, player.ready())
        except PlayerFault as fault:
            faults[seat] = _refusal(fault)
        except TimeoutError:
            msg = "the seat did not get ready in time"
            faults[seat] = PlayerFault(Fault.REFUSED_TO_START, msg)

    if control.wanted:
        raise InterruptedWait
    waiting = []
    for seat, player in enumerate(setup.players):
        if player.inline:
            await offer(seat, player)
        else:
            waiting.append((seat, player))
    if len(waiting) == 1:
        # Alone it needs no task of its own.
        await offer(*waiting[0])
    elif waiting:
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(_interrupted(offer(seat, player)))
                for seat, player in waiting
            ]
        if any(task.result() for task in tasks):
            raise InterruptedWait
    return (tuple(nonces) if setup.nonces_wanted else ()), faults


def _refusal(fault: PlayerFault) -> PlayerFault:
    """Return a fault as the one that it is before the match."""
    if fault.fault is Fault.REFUSED_TO_START:
        # It has come through frames that hold it.
        return fault.bare()
    if fault.fault is Fault.REFEREE_ERROR:
        raise fault
    return PlayerFault(
        Fault.REFUSED_TO_START,
        fault.message,
        code=fault.code,
        offending=fault.offending,
    )


async def _interrupted(offer: Coroutine[Any, Any, None]) -> bool:
    """Await an offer; return whether it was interrupted."""
    try:
        await offer
    except InterruptedWait:
        return True
    return False
