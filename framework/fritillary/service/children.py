"""The seat of a program that we start: started, restarted, ended.

What a program was started with and what it wrote may hold secrets. The record and the
seats are told its name and how it ended; the rest is kept in a log for the host and in
`HostedMatch.problems` for referees.
"""

from __future__ import annotations

import asyncio
import secrets
import sys
from pathlib import Path
from typing import Final

from fritillary.core.errors import ServiceError
from fritillary.record.terms import Fault
from fritillary.referee.lineup import PlayerSpec
from fritillary.referee.player import PlayerFault
from fritillary.service.hosted import HostedMatch
from fritillary.service.hub import Hub
from fritillary.service.limits import Limits
from fritillary.service.proglogs import write_log
from fritillary.service.remote import RemotePlayer
from fritillary.service.seating import refusal, reserved, seated
from fritillary.service.spawn import Child, ProcessLimits, minimal_environment
from fritillary.service.tokens import Role, TokenStore

#: Time that a program has to end by itself after its match.
_PATIENCE_S = 1.0

#: So many of the programs of a seat, one after the other, are in its log.
_KEPT_CHILDREN: Final = 4

_NOT_STARTED: Final = "the program cannot be started"


def command_of(spec: PlayerSpec) -> tuple[str, ...]:
    """Return the words that start a player."""
    if spec.kind in {"python", "stdio"}:
        return (sys.executable, "-m", "fritillary", "bot", spec.text)
    return spec.command


class ChildSeat:
    """A seat of a match that a program takes.

    Args:
        hosted: the match.
        seat: which.
        hub: where the bots are.
        tokens: where the program gets its token.
        limits: on a bot.
        process_limits: on a program.

    Attributes:
        name: under which the program dials in.
    """

    def __init__(
        self,
        hosted: HostedMatch,
        seat: int,
        hub: Hub,
        tokens: TokenStore,
        limits: Limits,
        process_limits: ProcessLimits,
    ) -> None:
        self._hosted = hosted
        self._seat = seat
        self._hub = hub
        self._tokens = tokens
        self._limits = limits
        self._process_limits = process_limits
        self.name = f"program-{secrets.token_hex(8)}"
        self._token = tokens.create(self.name, Role.BOT, passing=True)
        self._player: RemotePlayer | None = None
        self._address = ""
        self._logs: Path | None = None
        self._child: Child | None = None
        self._children: list[Child] = []
        self._supervisor: asyncio.Task[None] | None = None
        self._over = False

    async def start(self, address: str, logs: Path | None) -> RemotePlayer:
        """Start the program, wait until it has dialled in, return its player.

        Args:
            address: where it dials in.
            logs: folder for what it writes; ``None`` drops it.
        """
        self._address = address
        self._logs = logs
        link = self._hub.link(self.name)
        try:
            child = await self._launch()
        except ServiceError as error:
            self._trouble(error.message)
            never = refusal(_NOT_STARTED, error.code)
            return seated(link, self._hosted, self._seat, self._limits, never)
        exit_ = asyncio.ensure_future(child.wait())
        refused = None
        if not await reserved(link, self._hosted, others=[exit_]):
            if exit_.done():
                why = child.how_it_ended(exit_.result(), " before it dialled in")
                refused = refusal(why, "player.ended")
                self._trouble(why, child)
            elif self._hosted.cut.is_set():
                refused = refusal("called off before it was there", "player.absent")
            else:
                offer_s = self._hosted.order.terms.offer_ms / 1000
                why = f"the program did not dial in within {offer_s:g} s"
                refused = refusal(why, "player.silent")
                self._trouble(why, child)
        player = seated(link, self._hosted, self._seat, self._limits, refused)
        player.loss.program = True
        if refused is None:
            self._begin(player, exit_)
        return player

    def _begin(self, player: RemotePlayer, exit_: asyncio.Future[int]) -> None:
        self._player = player
        self._supervisor = asyncio.create_task(self._supervise(player, exit_))

    def seat_again(self, player: RemotePlayer) -> None:
        """Take a player whose match goes on after a restart of the server."""
        self._player = player
        player.loss.program = True

    async def start_again(self, address: str, logs: Path | None) -> None:
        """Start the program of a seat that was taken before a restart.

        Args:
            address: where it dials in.
            logs: folder for what it writes; ``None`` drops it.
        """
        player = self._player
        if player is None:
            # Its seat is forfeited: nobody is asked any more.
            return
        self._address = address
        self._logs = logs
        try:
            child = await self._launch()
        except ServiceError as error:
            self._trouble(error.message)
            player.fail(PlayerFault(Fault.CRASHED, _NOT_STARTED))
            return
        self._begin(player, asyncio.ensure_future(child.wait()))

    async def _launch(self) -> Child:
        environment = minimal_environment(
            {"FRITILLARY_ADDRESS": self._address, "FRITILLARY_TOKEN": self._token}
        )
        spec = self._hosted.order.specs[self._seat]
        child = Child(command_of(spec), environment, self._process_limits)
        self._child = child
        self._children.append(child)
        if len(self._children) > _KEPT_CHILDREN:
            # The first one often says best what is wrong.
            del self._children[1]
        await child.start()
        return child

    def _trouble(self, what: str, child: Child | None = None) -> None:
        """Tell host and referees what went wrong, with the program's last words."""
        last = "" if child is None else child.last_words()
        problem = f"{what}; its last words: {last}" if last else what
        self._hosted.trouble(self._seat, problem)

    async def _supervise(
        self, player: RemotePlayer, exit_: asyncio.Future[int]
    ) -> None:
        """Start the program again when it dies during the match, or let it fail."""
        restarts = self._hosted.order.terms.policy.link.restarts
        while True:
            code = await exit_
            child = self._child
            if self._over or self._hosted.result is not None or child is None:
                return
            if not player.is_ready:
                why = child.how_it_ended(code, " before it was ready")
                self._trouble(why, child)
                player.fail(refusal(why, "player.ended"))
                return
            why = child.how_it_ended(code)
            self._trouble(why, child)
            if restarts <= 0:
                player.fail(PlayerFault(Fault.CRASHED, why))
                return
            restarts -= 1
            # Unless it comes back in time, this is what the seat has lost by.
            player.loss.crash = PlayerFault(Fault.CRASHED, why)
            await child.end()
            try:
                child = await self._launch()
            except ServiceError as error:
                self._trouble(error.message)
                player.fail(PlayerFault(Fault.CRASHED, f"{why}; {_NOT_STARTED} again"))
                return
            exit_ = asyncio.ensure_future(child.wait())

    async def end(self, *, at_once: bool) -> None:
        """End the program, and write down what it said.

        Args:
            at_once: do not wait for it to end by itself.
        """
        self._over = True
        if self._supervisor is not None:
            self._supervisor.cancel()
        # It may have failed, and not have come to its end before the match has.
        left = self._player is not None and self._player.away
        self._hub.forget(self.name)
        try:
            if self._child is not None:
                code = await self._child.end(0.0 if at_once else _PATIENCE_S)
                if left and code:
                    self._trouble(self._child.how_it_ended(code), self._child)
        finally:
            for child in self._children:
                child.kill()
            self._tokens.forget(self._token)
        self._write_log()

    def _write_log(self) -> None:
        """Write down what was started, what it wrote and what went wrong."""
        if self._logs is None:
            return
        spec = self._hosted.order.specs[self._seat]
        problems = [what for seat, what in self._hosted.problems if seat == self._seat]
        parts = [f"player {spec.text}\n".encode("utf-8", "replace")]
        for child in self._children:
            parts += (child.out.getvalue(), child.err.getvalue())
        parts += (f"{what}\n".encode("utf-8", "replace") for what in problems)
        write_log(self._logs, self._hosted.id, self._seat, parts)
