"""What a bot is: the same shape in process and in every client."""

# ruff: noqa: ANN401, TID251 - values of any game; bots get a generator of their own

from __future__ import annotations

import random
import time
from collections.abc import Awaitable, Iterable, Sequence
from typing import Any, Protocol, runtime_checkable

from attrs import field, frozen

from fritillary.core.outcome import Outcome
from fritillary.plugins.game import Game


@frozen
class Clock:
    """What remains to a seat, in milliseconds; ``None`` where there is no limit.

    Args:
        move_ms: until this decision must be made, everything considered.
        left_ms: on the seat's own clock, before this decision.
    """

    move_ms: int | None = None
    left_ms: int | None = None


@frozen
class MatchStart:
    """What a bot is told before a match.

    Args:
        match_id: of the match.
        game: the rules, with codec and table.
        options: of the game.
        seat: where the bot sits.
        seats: how many there are.
        seed: a number below 2**53 of the bot's own; the same deal gives the same.
    """

    match_id: str
    game: Game[Any, Any, Any]
    options: Any
    seat: int
    seats: int
    seed: int = 0


def _tuple(values: Iterable[float]) -> tuple[float, ...]:
    return tuple(values)


@frozen
class Decision:
    """What a bot answers.

    Args:
        action: one of the legal actions.
        note: for the record, which others read after the match; at most 2,000
            characters are kept.
        probabilities: of each legal action, in order, for the record.
    """

    action: Any
    note: str = ""
    probabilities: tuple[float, ...] = field(default=(), converter=_tuple)


@frozen
class Resign:
    """The bot gives up the match."""


class Ask:
    """A question to a bot; what is costly is built when it is looked at.

    Attributes:
        game: the rules.
        seat: who is asked.
        clock: what remained when the bot was asked.
        rng: seeded from the bot's own seed; use it to be reproducible.
    """

    __slots__ = (
        "_arrived",
        "_events",
        "_legal",
        "_observation",
        "clock",
        "game",
        "rng",
        "seat",
    )

    def __init__(
        self,
        game: Game[Any, Any, Any],
        seat: int,
        observation: Any,
        legal: Any,
        rng: random.Random,
        clock: Clock,
        events: Any = (),
    ) -> None:
        self.game = game
        self.seat = seat
        self._observation = observation
        self._legal = legal
        self.rng = rng
        self.clock = clock
        self._events = events
        self._arrived = time.monotonic()

    def time_left_ms(self) -> float | None:
        """Return what is left of the decision now; ``None`` if there is no limit."""
        left = self.clock.move_ms
        return (
            None if left is None else left - (time.monotonic() - self._arrived) * 1000
        )

    @property
    def observation(self) -> Any:
        """All that the seat may know."""
        if callable(self._observation):
            self._observation = self._observation()
        return self._observation

    @property
    def legal(self) -> Sequence[Any]:
        """The legal actions, in table order, never empty."""
        if callable(self._legal):
            self._legal = self._legal()
        return self._legal  # type: ignore[no-any-return]

    @property
    def events(self) -> Sequence[Any]:
        """What happened since the bot was last asked, as its seat may see it."""
        if callable(self._events):
            self._events = self._events()
        return self._events  # type: ignore[no-any-return]


@runtime_checkable
class Bot(Protocol):
    """A program that answers asks; any method may be ``async``.

    One instance plays one match. A class that says ``light = True`` decides within
    microseconds and never waits: the referee then asks it without a thread.
    """

    def start(self, info: MatchStart) -> Awaitable[None] | None:
        """Prepare for a match."""

    def decide(self, ask: Ask) -> Any:
        """Return a `Decision`, a bare legal action, or `Resign`."""

    def end(self, outcome: Outcome | None) -> Awaitable[None] | None:
        """Hear the outcome; ``None`` if the match was void."""


class BaseBot:
    """A bot with empty ``start`` and ``end``; subclasses write ``decide``."""

    def start(self, info: MatchStart) -> None:
        """Prepare for a match."""

    def end(self, outcome: Outcome | None) -> None:
        """Hear the outcome."""


class UniformBot(BaseBot):
    """Chooses each legal action with equal probability."""

    light = True

    def decide(self, ask: Ask) -> Any:
        """Return one of the legal actions."""
        legal = ask.legal
        return legal[int(ask.rng.random() * len(legal))]
