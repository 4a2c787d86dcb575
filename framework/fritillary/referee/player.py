"""What the referee plays with: players, whether in process or remote."""
# ruff: noqa: ANN401, TID251 - values of any game; gives each bot a generator of its own seed

from __future__ import annotations

import asyncio
import inspect
import logging
import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, runtime_checkable

from attrs import frozen

from fritillary.bots.protocol import Ask, Bot, Clock, Decision, MatchStart, Resign
from fritillary.core.errors import FritillaryError
from fritillary.record.terms import MAX_MS, Fault, PlayerInfo
from fritillary.referee.passing import PASSING
from fritillary.referee.seen import (
    Closure,
    MatchResult,
    Offer,
    Request,
    SeatEvent,
)
from fritillary.referee.threads import Hand

_log = logging.getLogger(__name__)


class PlayerFault(FritillaryError):  # noqa: N818 - a fault is no error of ours
    """A player did something wrong; what follows is the policy's business.

    Attributes:
        fault: which.
        offending: the bytes that the player sent, if any.
    """

    def __init__(
        self, fault: Fault, message: str, *, code: str = "", offending: bytes = b""
    ) -> None:
        super().__init__(message, code=code or f"fault.{fault.value}")
        self.fault = fault
        self.offending = offending


@frozen(kw_only=True)
class Answer:
    """A player's decision: exactly one of index, data, text, action, resign.

    Args:
        index: in the action table, or among the legal actions.
        data: the action as plain data.
        text: the action in notation.
        action: the action itself; only from in-process bots.
        resign: the seat gives up.
        note: a remark for the record.
        probabilities: of each legal action, for the record.
        think_ms: as the bot reports it.
        round_trip_ms: of the link as last measured.
    """

    index: int | None = None
    data: Any = None
    text: str | None = None
    action: Any = None
    resign: bool = False
    note: str = ""
    probabilities: Sequence[float] = ()
    think_ms: int | None = None
    round_trip_ms: int | None = None

    @property
    def brief(self) -> bool:
        """Whether the record is told of nothing but the action and its time."""
        think_ms = self.think_ms
        return (
            not self.note
            and not len(self.probabilities)
            and self.round_trip_ms is None
            and (
                think_ms is None or (type(think_ms) is int and 0 <= think_ms <= MAX_MS)
            )
        )


class Player(Protocol):
    """Who occupies a seat in one match. One object plays one match.

    Attributes:
        info: who it is.
        inline: whether ``accept``, ``ready`` and ``decide_now`` answer at once,
            without waiting.
        wants_events: whether ``notify`` and ``closed`` are to be called; local bots
            look at the events of a request instead.
        rng: the player's own generator, if inline.
    """

    info: PlayerInfo
    inline: bool
    wants_events: bool

    @property
    def rng(self) -> random.Random:
        """The player's own generator."""

    async def accept(self, offer: Offer) -> bytes:
        """Take the seat; return a nonce of at most 32 bytes, or nothing.

        Raises:
            PlayerFault: refused to start; any other fault counts as that one here.
        """

    async def ready(self) -> None:
        """Return when the player is ready.

        Raises:
            PlayerFault: refused to start.
        """

    def notify(self, event: SeatEvent) -> None:
        """Hear what happened. Must not block, and must not raise."""

    async def decide(self, request: Request) -> Answer:
        """Return a decision; cancelled when time is up or the request withdrawn.

        Anything else than a `PlayerFault` that comes out of here is the referee's
        own failure and makes the match void.

        Raises:
            PlayerFault: malformed, disconnected, crashed or flooding.
        """

    def decide_now(self, ask: Ask) -> Any:
        """Return what the bot answers; only if ``inline``."""

    def closed(self, closure: Closure) -> None:
        """Hear how the last request was closed. Must not block or raise.

        Called exactly once for each request, if ``wants_events``.
        """

    def end(self, result: MatchResult) -> None:
        """Hear the result, once. Must not block, and must not raise."""


@runtime_checkable
class MayBeLost(Protocol):
    """A player whose link or process can be gone while its clock runs."""

    def lost(self) -> PlayerFault | None:
        """Return the fault that it is, asked when time has run out.

        ``None`` if the player is there and merely late.
        """


@runtime_checkable
class MayReturn(Protocol):
    """A player that has to come back after a restart of the server."""

    async def back(self) -> None:
        """Return when the player is there, or will not come back.

        Asked when a match is taken up after a restart: no clock runs until then.
        """


def _waits(method: Callable[..., Any]) -> bool:
    """Whether a bot's method is a coroutine function."""
    code = getattr(method, "__code__", None)
    if code is None:
        return inspect.iscoroutinefunction(method)
    return bool(code.co_flags & inspect.CO_COROUTINE)


class LocalPlayer:
    """A bot of this process.

    A bot whose class says ``light = True`` is asked inline. Others are asked in a
    thread of their own, one call at a time, or awaited if their ``decide`` is a
    coroutine function. ``end`` is called on the event loop and must be quick.

    Args:
        bot: fresh, for one match.
        info: who it is.

    Attributes:
        rng: the bot's own generator, from its seed; set when the seat is taken.
    """

    wants_events = False

    def __init__(self, bot: Bot, info: PlayerInfo) -> None:
        self.bot = bot
        self.info = info
        self.decide_now: Callable[[Ask], Any] = bot.decide
        self.inline = bool(getattr(bot, "light", False)) and not (
            _waits(bot.decide) or _waits(bot.start)
        )
        self._start: MatchStart | None = None
        self._hand: Hand | None = None

    async def accept(self, offer: Offer) -> bytes:
        """Take the seat; local bots bring no nonce."""
        self._start = MatchStart(
            offer.match_id,
            offer.game,
            offer.options,
            offer.seat,
            len(offer.seats),
            offer.bot_seed,
        )
        self.rng = random.Random(offer.bot_seed)
        return b""

    async def ready(self) -> None:
        """Let the bot prepare itself."""
        try:
            await self._call(self.bot.start, self._seated)
        except PASSING:
            raise
        except BaseException as error:  # noqa: BLE001 - a bot harms nobody else
            msg = f"start() raised {_name(error)}"
            raise PlayerFault(Fault.REFUSED_TO_START, msg) from _shown(error)

    @property
    def _seated(self) -> MatchStart:
        if self._start is None:
            msg = "the player has not accepted a seat"
            raise RuntimeError(msg)
        return self._start

    def notify(self, event: SeatEvent) -> None:
        """Do nothing: the bot looks at the events of its asks."""

    async def decide(self, request: Request) -> Answer:
        """Ask the bot."""
        parts = request.reading()
        here = self.inline or _waits(self.bot.decide)
        ask = Ask(
            self._seated.game,
            request.seat,
            # Another thread may look when the match has gone on without it.
            request.observe if here else request.observe(),
            request.legal,
            self.rng,
            Clock(parts.get("left_ms"), parts.get("base_left_ms")),
            request.events if here else request.events(),
        )
        try:
            return answer_of(await self._call(self.bot.decide, ask))
        except PASSING:
            raise
        except BaseException as error:  # noqa: BLE001 - a bot harms nobody else
            raise crashed(error) from _shown(error)

    async def _call(self, method: Callable[..., Any], argument: Any) -> Any:
        """Call a method of the bot where it belongs."""
        try:
            if self.inline or _waits(method):
                result = method(argument)
            else:
                if self._hand is None:
                    self._hand = Hand()
                result = await self._hand.call(method, argument)
            if result is not None and inspect.isawaitable(result):
                result = await result
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            # Nobody cancelled the referee: something inside the bot was.
            raise _CancelledInsideError from error
        return result

    def closed(self, closure: Closure) -> None:
        """Do nothing: the bot hears of it as an event."""

    def end(self, result: MatchResult) -> None:
        """Tell the bot the outcome, if it was told of the match."""
        if self._start is None:
            return
        try:
            ended = self.bot.end(result.finish.outcome)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - a bot harms nobody else
            _log.info("%s: end() raised", self.info.name, exc_info=error)
            return
        if ended is not None:
            _keep(ended, self.info.name)


class _CancelledInsideError(Exception):
    """Something that a bot waited for was cancelled, not the bot."""


#: Coroutines of bots that hear the end of their match; the loop holds them weakly.
_ending: set[asyncio.Task[None]] = set()


def _keep(ended: Awaitable[None], name: str) -> None:
    """Let a coroutine run to its end, beside everything else."""

    async def run() -> None:
        try:
            await ended
        except PASSING:
            raise
        except BaseException as error:  # noqa: BLE001 - a bot harms nobody else
            _log.info("%s: end() raised", name, exc_info=error)

    task = asyncio.get_running_loop().create_task(run())
    _ending.add(task)
    task.add_done_callback(_ending.discard)


def crashed(error: BaseException) -> PlayerFault:
    """Return the fault of a local bot that raised."""
    _log.info("decide() raised", exc_info=error)
    return PlayerFault(Fault.CRASHED, f"decide() raised {_name(error)}")


def answer_of(decided: Any) -> Answer:
    """Return the answer of what a local bot's ``decide`` returned."""
    if type(decided) is Decision:
        return Answer(
            action=decided.action,
            note=decided.note,
            probabilities=decided.probabilities,
        )
    if type(decided) is Resign:
        return Answer(resign=True)
    return Answer(action=decided)


def _shown(error: BaseException) -> BaseException | None:
    return error.__cause__ if isinstance(error, _CancelledInsideError) else error


def _name(error: BaseException) -> str:
    return type(_shown(error) or error).__name__
