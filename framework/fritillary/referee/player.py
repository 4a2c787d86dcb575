"""What the referee plays with: players, whether in process or remote."""
# ruff: noqa: TID251 - gives each bot a generator of its own seed

from __future__ import annotations

import asyncio
import inspect
import random
import threading
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from attrs import field, frozen

from fritillary.bots.protocol import Ask, Bot, Clock, Decision, MatchStart, Resign
from fritillary.core.errors import FritillaryError
from fritillary.record.terms import Fault, PlayerInfo
from fritillary.referee.seen import (
    Closure,
    MatchResult,
    Offer,
    Request,
    SeatEvent,
)


class PlayerFault(FritillaryError):
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


class Player(Protocol):
    """Who occupies a seat in one match. One object plays one match.

    Attributes:
        info: who it is.
        inline: whether ``decide_now`` answers at once, without waiting.
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
        """Take the seat; return a nonce or nothing.

        Raises:
            PlayerFault: refused to start.
        """

    async def ready(self) -> None:
        """Return when the player is ready.

        Raises:
            PlayerFault: refused to start.
        """

    def notify(self, event: SeatEvent) -> None:
        """Hear what happened. Must not block, and must not raise."""

    async def decide(self, request: Request) -> Answer:
        """Return a decision; cancelled when time is up.

        Raises:
            PlayerFault: malformed, disconnected, crashed or flooding.
        """

    def decide_now(self, ask: Ask) -> Any:
        """Return what the bot answers; only if ``inline``."""

    def closed(self, closure: Closure) -> None:
        """Hear how the last request was closed. Must not block or raise."""

    def end(self, result: MatchResult) -> None:
        """Hear the result. Must not block, and must not raise."""


@frozen
class _Seat:
    """Where a local player sits."""

    start: MatchStart
    rng: random.Random = field(init=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "rng", random.Random(self.start.seed))


class LocalPlayer:
    """A bot of this process.

    A bot whose class says ``light = True`` is asked inline. Others are asked in a
    thread of their own, or awaited if their ``decide`` is a coroutine function.

    Args:
        bot: fresh, for one match.
        info: who it is.
    """

    wants_events = False

    def __init__(self, bot: Bot, info: PlayerInfo) -> None:
        self.bot = bot
        self.info = info
        self._async = inspect.iscoroutinefunction(bot.decide)
        self.inline = bool(getattr(bot, "light", False)) and not self._async
        self.decide_now: Callable[[Ask], Any] = bot.decide
        self._seat: _Seat | None = None

    async def accept(self, offer: Offer) -> bytes:
        """Take the seat; local bots bring no nonce."""
        self._seat = _Seat(
            MatchStart(
                offer.match_id,
                offer.game,
                offer.options,
                offer.seat,
                len(offer.seats),
                offer.bot_seed,
            )
        )
        return b""

    async def ready(self) -> None:
        """Let the bot prepare itself."""
        try:
            started = self.bot.start(self._seated.start)
            if inspect.isawaitable(started):
                await started
        except Exception as error:
            raise PlayerFault(
                Fault.REFUSED_TO_START, f"start() raised {_name(error)}"
            ) from error

    @property
    def _seated(self) -> _Seat:
        if self._seat is None:
            msg = "the player has not accepted a seat"
            raise RuntimeError(msg)
        return self._seat

    @property
    def rng(self) -> random.Random:
        """The bot's own generator."""
        return self._seated.rng

    def notify(self, event: SeatEvent) -> None:
        """Do nothing: the bot looks at the events of its asks."""

    async def decide(self, request: Request) -> Answer:
        """Ask the bot."""
        parts = request.reading()
        ask = Ask(
            self._seated.start.game,
            request.seat,
            request.observe,
            request.legal,
            self._seated.rng,
            Clock(parts.get("left_ms"), parts.get("base_left_ms")),
            request.events,
        )
        try:
            if self.inline:
                decided = self.bot.decide(ask)
            elif self._async:
                decided = await self.bot.decide(ask)
            else:
                decided = await _in_thread(self.bot.decide, ask)
        except PlayerFault:
            raise
        except Exception as error:
            raise crashed(error) from error
        return answer_of(decided)

    def closed(self, closure: Closure) -> None:
        """Do nothing: the bot hears of it as an event."""

    def end(self, result: MatchResult) -> None:
        """Tell the bot the outcome."""
        try:
            self.bot.end(result.finish.outcome)
        except Exception:  # noqa: BLE001 - a bot's failure after the end
            return


def crashed(error: Exception) -> PlayerFault:
    """Return the fault of a local bot that raised."""
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


def _name(error: Exception) -> str:
    return type(error).__name__


async def _in_thread(function: Callable[[Ask], Any], ask: Ask) -> Any:
    # Not the loop's executor: its threads are joined at exit, and a bot may hang.
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def settle(result: Any, error: Exception | None) -> None:
        if not future.done():
            if error is None:
                future.set_result(result)
            else:
                future.set_exception(error)

    def run() -> None:
        try:
            result, error = function(ask), None
        except Exception as raised:  # noqa: BLE001 - handed to who waits
            result, error = None, raised
        try:
            loop.call_soon_threadsafe(settle, result, error)
        except RuntimeError:
            return  # the loop has closed meanwhile

    threading.Thread(target=run, daemon=True, name="fritillary-bot").start()
    return await future
