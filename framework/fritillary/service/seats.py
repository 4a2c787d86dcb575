"""Who plays: from the order of a match to the players in its seats."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from fritillary.core.errors import ServiceError, UsageError
from fritillary.plugins.game import Game
from fritillary.referee.lineup import (
    STARTED,
    PlayerSpec,
    local_player,
    make_bot,
    parse_player,
)
from fritillary.referee.player import Player
from fritillary.service.children import ChildSeat
from fritillary.service.hosted import HostedMatch
from fritillary.service.hub import Hub
from fritillary.service.limits import Limits
from fritillary.service.ordering import Order
from fritillary.service.remote import RemotePlayer
from fritillary.service.restart import Left
from fritillary.service.seating import remote_players
from fritillary.service.seating_again import TakenUp, seats_again
from fritillary.service.spawn import ProcessLimits
from fritillary.service.tokens import TokenStore

#: Makes the player of a kind that the arena does not know, such as ``human``.
Factory = Callable[[PlayerSpec, Game[Any, Any, Any]], Player]

_USUAL_STAND_IN: Final = "uniform"


class Seats:
    """Finds, starts and makes players.

    Args:
        hub: the bots that dialled in.
        tokens: where programs that are started get theirs.
        factories: by kind of player, such as ``human``: what makes it.
        limits: on a bot.
        process_limits: on a program that is started.
        logs: folder for what programs write; ``None`` drops it.
    """

    def __init__(
        self,
        hub: Hub,
        tokens: TokenStore,
        factories: Mapping[str, Factory],
        limits: Limits,
        process_limits: ProcessLimits,
        logs: Path | None,
    ) -> None:
        self._hub = hub
        self._tokens = tokens
        self._factories = dict(factories)
        self._limits = limits
        self._process_limits = process_limits
        self._logs = logs
        self._address = ""
        self._listening = asyncio.Event()

    @property
    def address(self) -> str:
        """Where programs dial in; empty while nobody listens."""
        return self._address

    @address.setter
    def address(self, address: str) -> None:
        self._address = address
        if address:
            self._listening.set()

    def local(
        self, order: Order, *, wait_for_remote: bool, later: bool = False
    ) -> dict[int, Player]:
        """Return the players that are here, and check those that are not.

        Args:
            order: the match.
            wait_for_remote: see `Arena.create`.
            later: the server does not listen yet, but will.

        Raises:
            FritillaryError: if somebody cannot play, or is not there.
        """
        stand_in = order.terms.policy.stand_in
        if stand_in != _USUAL_STAND_IN:
            make_bot(parse_player(stand_in), order.game)
        players: dict[int, Player] = {}
        for seat, spec in enumerate(order.specs):
            factory = self._factories.get(spec.kind)
            if factory is not None:
                players[seat] = factory(spec, order.game)
            elif spec.kind == "local":
                players[seat] = local_player(spec, order.game)
            elif spec.kind == "remote":
                obstacle = self._hub.link(spec.name).obstacle(order.game)
                self._hub.tidy(spec.name)
                if obstacle and not wait_for_remote:
                    raise ServiceError(
                        f"{obstacle}; try again when it is there",
                        code="player.absent",
                        retry_after_ms=1_000,
                    )
            elif spec.kind in STARTED:
                if not self._address and not later:
                    msg = f"player {spec.text[:80]!r} needs a server to dial in to"
                    raise UsageError(msg, code="usage.player")
            else:
                msg = (
                    f"player {spec.text[:80]!r}: nobody can play by hand here; use "
                    "'fritillary play'"
                )
                raise UsageError(msg, code="usage.player")
        return players

    async def take(
        self,
        hosted: HostedMatch,
        local: Mapping[int, Player],
        children: list[ChildSeat],
    ) -> tuple[Player, ...]:
        """Wait until all players are there, or can no longer come.

        Args:
            hosted: the match.
            local: the players that are here, by seat.
            children: gets the seats of programs as they are started.
        """
        specs = hosted.order.specs
        if all(
            spec.kind == "remote" or seat in local for seat, spec in enumerate(specs)
        ):
            found = {**local, **await remote_players(self._hub, hosted, self._limits)}
            return tuple(found[seat] for seat in range(len(specs)))
        # A match that is begun after a restart may be earlier than its server.
        await self._listening.wait()
        started: dict[int, asyncio.Task[RemotePlayer]] = {}
        async with asyncio.TaskGroup() as group:
            for seat, spec in enumerate(specs):
                if seat in local or spec.kind == "remote":
                    continue
                child = self._child(hosted, seat)
                children.append(child)
                started[seat] = group.create_task(
                    child.start(self._address, self._logs)
                )
            remote = await remote_players(self._hub, hosted, self._limits)
        players = {
            **local,
            **remote,
            **{seat: task.result() for seat, task in started.items()},
        }
        return tuple(players[seat] for seat in range(len(players)))

    def give_back(self, hosted: HostedMatch) -> None:
        """Keep no places for a match that comes to nothing."""
        for name in hosted.bots:
            link = self._hub.link(name)
            link.reserved.discard(hosted.id)
            link.changed()
            self._hub.tidy(name)

    # ----------------------------------------------------------------- after a restart

    def again(
        self, left: Left, hosted: HostedMatch, local: Mapping[int, Player]
    ) -> TakenUp:
        """Return the players of a match that goes on; see `seats_again`."""
        return seats_again(left, hosted, local, self._child, self._hub, self._limits)

    async def start_again(self, children: Sequence[ChildSeat]) -> None:
        """Start the programs of a match that is taken up, once somebody listens."""
        if children:
            await self._listening.wait()
            await asyncio.gather(
                *(child.start_again(self._address, self._logs) for child in children)
            )

    def _child(self, hosted: HostedMatch, seat: int) -> ChildSeat:
        return ChildSeat(
            hosted, seat, self._hub, self._tokens, self._limits, self._process_limits
        )
