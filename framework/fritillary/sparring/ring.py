"""Where a bot is checked: an arena, its server, the relay, and the bot's program."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Callable, Sequence
from typing import Any, Final, Self

from fritillary.core.errors import ServiceError
from fritillary.plugins.discovery import Registry
from fritillary.record.terms import (
    ClockSettings,
    Consequence,
    EndKind,
    Fault,
    FaultRule,
    LinkBank,
    Policy,
    Terms,
)
from fritillary.referee.lineup import PlayerSpec
from fritillary.service.arena import Arena
from fritillary.service.limits import Limits
from fritillary.service.server import Server
from fritillary.service.session import Session
from fritillary.service.tokens import Role
from fritillary.sparring import madeup
from fritillary.sparring.bout import Bout
from fritillary.sparring.front import Front
from fritillary.sparring.program import Program, command_of
from fritillary.sparring.relay import Relay, Stream
from fritillary.sparring.tape import Entry, Fits, Tape
from fritillary.sparring.verdicts import FailedError, NotCheckedError

#: So many matches at a time are tried, of a bot that takes more.
MOST_MATCHES: Final = 16

#: Messages per second, announced like the other limits.
_RATE: Final = 5_000

#: Seconds that a program has to dial in, at least; starting takes what it takes.
_LEAST_START_S: Final = 20.0

#: Seconds that a person has to start a bot.
_INVITED_S: Final = 120.0

#: In seconds: after the end of the program, what it has sent may be on its way.
_LAST_WORDS_S: Final = 0.5

#: In seconds: for a bot that is not started here to come back at the end, and as much
#: again for it to leave.
_LEAVING_S: Final = 6.0


class Ring:
    """Everything that is needed to play against one bot.

    Use it as an async context manager.

    Args:
        spec: the bot.
        registry: the games; one more is added, which no bot knows.
        tape: keeps what passes.
        wanted: games to be played, by full id; empty: those that the bot announces.
        patience_s: the longest wait for one thing that the bot has to do.
        remark: told in a sentence what happens.
        invited: told how a bot that is not started here can dial in.

    Attributes:
        wanted: games that are asked for.
        installed: ids of all games but the one that no bot knows.
        games: that are played, once the bot has said which it plays.
        fresh: whether the bot has played nothing since its program was started.
        spoiled: whether the bot has failed at something, so that what it does next may
            follow from that.
        kept: what items keep for each other.
        restarts: of the program so far.
    """

    def __init__(
        self,
        spec: PlayerSpec,
        registry: Registry,
        tape: Tape,
        *,
        wanted: Sequence[str] = (),
        patience_s: float,
        remark: Callable[[str], None] = lambda _: None,
        invited: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._command = command_of(spec)
        self._registry = registry
        self.remark = remark
        self._tell_invited = invited
        self._stack = contextlib.AsyncExitStack()
        self._numbers = itertools.count(1)
        self._bouts: list[Bout] = []
        self._address = ""
        self._token = ""
        self._invited = False
        self.tape = tape
        self.patience_s = patience_s
        self.name = spec.name if spec.kind == "remote" else "checked"
        self.wanted = list(wanted)
        self.installed = [name for name, _ in registry.games() if name != madeup.ID]
        self.games: list[str] = []
        self.fresh = True
        self.spoiled = False
        self.kept: dict[str, Any] = {}
        self.restarts = 0
        self.program: Program | None = None
        self.relay = Relay(tape, MOST_MATCHES)
        self.front = Front()
        self.arena: Arena

    async def __aenter__(self) -> Self:
        madeup.add_to(self._registry)
        limits = Limits(max_messages_per_second=_RATE, max_matches=MOST_MATCHES + 1)
        async with contextlib.AsyncExitStack() as stack:
            # Around all: what is left of the program ends last.
            stack.push_async_callback(self._end_program)
            self.arena = await stack.enter_async_context(
                Arena(self._registry, limits=limits)
            )
            server = await stack.enter_async_context(Server(self.arena))
            stack.push_async_callback(self.relay.stop)
            await self.relay.start(server.address)
            stack.push_async_callback(self.front.stop)
            await self.front.start(self.relay.address)
            self._address = self.front.address
            self._token = self.arena.tokens.create(self.name, Role.BOT, passing=True)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._call_off()
        try:
            await self._send_away()
        finally:
            await self._stack.aclose()

    # ----------------------------------------------------------------------- the bot

    @property
    def starts(self) -> bool:
        """Whether the bot is a program that is started here."""
        return self._command is not None

    @property
    def session(self) -> Session | None:
        """The session of the bot at the server."""
        return self.arena.hub.link(self.name).session

    def connected(self) -> bool:
        """Whether the bot is there."""
        return self.relay.stream is not None and self.session is not None

    async def start(self) -> Stream:
        """Start the program, or ask for it; return its stream with its Welcome.

        Raises:
            FailedError: if it does not come.
        """
        since = len(self.tape)
        expected = "the bot dials in and says Hello"
        within = max(3 * self.patience_s, _LEAST_START_S)
        if self._command is not None:
            variables = {
                "FRITILLARY_ADDRESS": self._address,
                "FRITILLARY_TOKEN": self._token,
            }
            self.program = program = Program(self._command, variables)
            try:
                await program.start()
            except ServiceError as error:
                raise FailedError(expected, error.message) from error
            self.tape.note("the program is started")
            program.ended.add_done_callback(lambda _: self._program_ended(program))
        elif not self._invited:
            self._invited = True
            within = _INVITED_S
            self._tell_invited(
                f"waiting {within:g} s for {self.name}; it dials in with "
                f"FRITILLARY_ADDRESS={self._address} FRITILLARY_TOKEN={self._token}"
            )
        self.fresh = True
        found = await self.need(
            lambda entry: entry.kind in {"welcome", "refusal"},
            expected,
            since=since,
            within=within,
        )
        if found.kind == "refusal":
            why = found.body.error
            seen = f"the server refused it: {why.message} ({why.code})"
            raise FailedError(expected, seen)
        return self.relay.streams[found.link - 1]

    def _program_ended(self, program: Program) -> None:
        if not program.ended.cancelled():
            self.tape.note(program.how())

    def must_start(self) -> None:
        """Check that the bot is a program that is started here.

        Raises:
            NotCheckedError: if it is not.
        """
        if not self.starts:
            raise NotCheckedError("needs a bot that is started here, as with exec:")

    async def restart(self) -> Stream:
        """Start the program anew.

        Raises:
            NotCheckedError: if it does not come, or is not started here.
        """
        self.must_start()
        self.restarts += 1
        await self._end_program()
        await self._clear()
        session = self.session
        if session is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self.patience_s):
                    await session.over.wait()
        try:
            return await self.start()
        except FailedError as error:
            msg = f"the bot could not be started again: {error.seen}"
            raise NotCheckedError(msg) from error

    async def _send_away(self) -> None:
        """Say goodbye for good to a bot that is not started here.

        Without that it would dial in again and again.
        """
        if self.starts or not self.relay.streams:
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LEAVING_S):
                while not self.connected():
                    await self.tape.changed()
        stream, session = self.relay.stream, self.session
        if stream is None or session is None:
            return
        session.close("bot.gone", "the check is over")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LEAVING_S):
                await stream.over.wait()
                # A connection that is reset may lose what was said last.
                await self.front.emptied()

    async def _end_program(self) -> None:
        program, self.program = self.program, None
        if program is not None:
            await program.end()

    async def ready(self) -> None:
        """See to it that the bot is there and plays nothing.

        Raises:
            NotCheckedError: if it is gone for good.
        """
        await self._clear()
        if self.spoiled and self.starts:
            self.spoiled = False
            await self.restart()
            return
        self.spoiled = False
        if self.connected() or await self._comes_back():
            return
        if not self.starts:
            raise NotCheckedError("the bot is gone, and is not started here")
        await self.restart()

    async def _comes_back(self) -> bool:
        """Wait for a bot that has lost its link; return whether it has come back."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.patience_s):
                while not self.connected():
                    if self._has_ended():
                        return False
                    await self.tape.changed()
                return True
        return False

    def _has_ended(self) -> bool:
        return self.program is not None and self.program.ended.done()

    def _call_off(self) -> None:
        """Call off what is still being played."""
        for bout in self._bouts:
            with contextlib.suppress(ServiceError):
                bout.hosted.abort(EndKind.WITHDRAWN, "match.aborted", "checked")

    async def _clear(self) -> None:
        """Call off what is still being played, and wait until it is over."""
        self._call_off()
        if self._bouts:
            await asyncio.wait([bout.hosted.ended for bout in self._bouts])
        self._bouts.clear()

    # ----------------------------------------------------------------------- matches

    def seats(self, game: str) -> int:
        """Return how many seats the matches of a game have."""
        return self._registry.game(game).info.min_seats

    async def begin(
        self,
        game: str = "",
        seat: int = 0,
        *,
        seed: int | None = None,
        move_ms: int | None = None,
        late: Consequence = Consequence.SUBSTITUTE,
        attempts: int = 1,
        beside: bool = False,
    ) -> Bout:
        """Begin a match of the bot against `uniform`.

        Args:
            game: id; default the first of those that are played.
            seat: of the bot.
            seed: equal ones make equal deals and equal opponents; ``None``: another
                one for each match.
            move_ms: for one decision; default: the patience.
            late: what follows a late decision; what is illegal is asked again once,
                then replaced.
            attempts: at one decision, which share its time; each has the patience.
            beside: what is being played goes on; else it is called off.
        """
        if not beside:
            await self._clear()
        number = next(self._numbers)
        rules = self._registry.game(game or self.games[0])
        patience_ms = round(self.patience_s * 1000)
        seats = self.seats(rules.id)
        players = ["uniform"] * seats
        players[seat] = f"remote:{self.name}"
        clocks = [ClockSettings()] * seats
        clocks[seat] = ClockSettings(move_ms=move_ms or attempts * patience_ms)
        policy = Policy.of(
            *(
                FaultRule(fault, Consequence.SUBSTITUTE, 1)
                for fault in (Fault.ILLEGAL, Fault.MALFORMED)
            ),
            FaultRule(Fault.LATE, late),
            link=LinkBank(loss_ms=5 * patience_ms, total_ms=20 * patience_ms),
        )
        bout = Bout(
            self.arena.create(
                rules,
                players,
                clocks=clocks,
                terms=Terms(
                    policy=policy,
                    offer_ms=2 * patience_ms,
                    ready_ms=2 * patience_ms,
                ),
                match_id=f"check-{number}",
                seed=(number if seed is None else seed).to_bytes(32, "big"),
                salt=bytes(32),
                nonces_wanted=False,
            ),
            seat,
            since=len(self.tape),
        )
        self._bouts.append(bout)
        self.fresh = False
        return bout

    # ----------------------------------------------------------------------- waiting

    async def need(
        self,
        fits: Fits,
        expected: str,
        *,
        since: int,
        within: float | None = None,
        alive: bool = True,
    ) -> Entry:
        """Wait for an entry of the tape.

        Args:
            fits: what is waited for.
            expected: the same as a sentence, about the bot.
            since: position from which on it counts.
            within: seconds; default the patience.
            alive: whether it is in vain once the program has ended.

        Raises:
            FailedError: if it does not come.
        """
        within = self.patience_s if within is None else within
        loop = asyncio.get_running_loop()
        deadline = loop.time() + within
        while True:
            # A new end only: most of what is there was looked at before.
            upto = len(self.tape)
            found = self.tape.find(fits, since)
            if found is not None:
                return found
            since = upto
            if alive and self._has_ended():
                deadline = min(deadline, loop.time() + _LAST_WORDS_S)
            try:
                async with asyncio.timeout_at(deadline):
                    await self.tape.changed()
            except TimeoutError:
                raise FailedError(expected, self._why_nothing(within)) from None

    def _why_nothing(self, within: float) -> str:
        program = self.program
        if program is not None and program.ended.done():
            return program.how()
        waited = f"nothing of the kind within {within:g} s"
        return waited if self.connected() else f"{waited}; the bot is not connected"

    async def answer(
        self, bout: Bout, after: int, expected: str, *, strict: bool = True
    ) -> Entry | None:
        """Wait for a decision of the bot, or for the end of the match.

        Args:
            bout: the match.
            after: only a decision of a greater id counts.
            expected: of the bot, as a sentence.
            strict: whether it is too much to let a request after that one pass.

        Returns:
            The decision; ``None`` if the match was played to its end without one.

        Raises:
            FailedError: if there is neither, or the match ends for another reason.
        """
        found = await self.need(
            lambda entry: (
                bout.answers(entry, after)
                or bout.ended(entry)
                or (strict and bout.times_out(entry, after))
            ),
            expected,
            since=bout.since,
            within=3 * self.patience_s,
        )
        if bout.answers(found):
            return found
        if not bout.ended(found):
            seen = f"no answer to request {found.body.decision_id} in time"
            raise FailedError(expected, seen)
        if not bout.was_played(found):
            raise FailedError(expected, bout.how(found))
        return None

    async def plays_on(self, expected: str) -> None:
        """See whether the bot plays another match.

        Raises:
            FailedError: if not.
        """
        await self.answer(await self.begin(), 0, expected)
        await self._clear()
