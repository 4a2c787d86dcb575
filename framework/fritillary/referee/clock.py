"""The clock of one seat: what remains, and what a decision takes from it."""

from __future__ import annotations

from fritillary.bots.protocol import Clock
from fritillary.record.terms import ClockSettings


class SeatClock:
    """Accounts for the time of one seat, in whole milliseconds.

    The record holds what each decision was charged; this class applied to those
    figures gives the same readings again, which is how they are verified. A decision
    may be charged in parts (before a retry, before a pause): only what is left of
    its limit then remains.

    Attributes:
        settings: the clock as it was agreed.
        timed: whether any part limits a decision.
        base_ms: left of the base; ``None`` if there is none.
        bank_ms: left of the bank.
    """

    __slots__ = ("_move_ms", "_turn_ms", "bank_ms", "base_ms", "settings", "timed")

    def __init__(self, settings: ClockSettings) -> None:
        self.settings = settings
        self.timed = settings.timed
        self.base_ms = settings.base_ms
        self.bank_ms = settings.bank_ms or 0
        self._turn_ms = settings.turn_ms
        self._move_ms = settings.move_ms

    def new_turn(self) -> None:
        """Begin a turn: another seat has acted in between."""
        self._turn_ms = self.settings.turn_ms
        self._move_ms = self.settings.move_ms

    def new_move(self) -> None:
        """Begin a decision: an action of the seat was applied, whoever chose it."""
        self._move_ms = self.settings.move_ms

    def _each_ms(self) -> int | None:
        move, turn = self._move_ms, self._turn_ms
        if move is None:
            return turn
        return move if turn is None else min(move, turn)

    def allowance_ms(self) -> int | None:
        """Return how long the decision may still take; ``None`` if untimed."""
        if not self.timed:
            return None
        each = self._each_ms()
        limit = None if each is None else each + self.bank_ms
        if self.base_ms is None:
            return limit
        return self.base_ms if limit is None else min(self.base_ms, limit)

    def charge(self, spent_ms: int) -> None:
        """Take the time of a decision, or of a part of one, from the clock."""
        if not self.timed:
            return
        each = self._each_ms()
        if each is not None:
            self.bank_ms = max(0, self.bank_ms - max(0, spent_ms - each))
        if self._move_ms is not None:
            self._move_ms = max(0, self._move_ms - spent_ms)
        if self._turn_ms is not None:
            self._turn_ms = max(0, self._turn_ms - spent_ms)
        if self.base_ms is not None:
            self.base_ms = max(0, self.base_ms - spent_ms)

    def increment(self) -> None:
        """Add the increment and begin the next decision: one was accepted."""
        if self.base_ms is not None:
            self.base_ms += self.settings.increment_ms or 0
        self.new_move()

    def reading(self, spent_ms: int = 0) -> Clock:
        """Return what a bot is told when it has used ``spent_ms`` already."""
        allowance = self.allowance_ms()
        if allowance is None:
            return UNTIMED
        return Clock(
            max(0, allowance - spent_ms),
            None if self.base_ms is None else max(0, self.base_ms - spent_ms),
        )

    def parts(self, spent_ms: int = 0) -> dict[str, int]:
        """Return every part that the clock has: what is left of it."""
        if not self.timed:
            return {}
        left: dict[str, int | None] = {
            "left_ms": self.allowance_ms(),
            "base_left_ms": self.base_ms,
            "move_left_ms": self._move_ms,
            "turn_left_ms": self._turn_ms,
        }
        parts = {
            name: max(0, value - spent_ms)
            for name, value in left.items()
            if value is not None
        }
        if self.settings.bank_ms is not None:
            over = max(0, spent_ms - (self._each_ms() or 0))
            parts["bank_left_ms"] = max(0, self.bank_ms - over)
        return parts


UNTIMED = Clock()
