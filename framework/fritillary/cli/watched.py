"""What is known of a match that is watched, and how it is said."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

from fritillary.cli.clocks import clock_text
from fritillary.cli.lines import event_text, finish_text
from fritillary.cli.servers import finish_of, names_of
from fritillary.record.terms import clip
from fritillary_client import (
    ArenaError,
    Clock,
    ClockSettings,
    Event,
    Match,
    MatchResult,
    MatchStatus,
    MatchView,
)
from fritillary_client.matches import Update

_SENTENCE = 200

#: Before a line that is no event of the match, where an event has its ply.
NO_PLY: Final = " " * 6

#: Phases in which the clock of the seat that is asked runs.
_RUNNING = ("running", "waiting")

#: Phases that an event tells of, or the end.
_TOLD_OTHERWISE = ("paused", "closing", "ended")


class Watched:
    """A match as spectators know it, from update to update.

    Args:
        match: as the server described it.
        now: a monotonic clock in seconds.

    Attributes:
        match: the same, or as it was described later.
        names: of the players, by seat.
        view: the last one; ``None`` before the first.
        status: the last one; ``None`` before the first.
        ply: plies up to the last event.
        result: ``None`` before the end.
        catching_up: whether what is told is past.
        renamed: whether the players may have told other names than are known here.
    """

    def __init__(
        self, match: Match, *, now: Callable[[], float] = time.monotonic
    ) -> None:
        self.match = match
        self.names = names_of(match)
        self.view: MatchView | None = None
        self.status: MatchStatus | None = None
        self.ply = 0
        self.result: MatchResult | None = None
        self.catching_up = True
        self.renamed = match.phase in {"offered", "preparing"}
        self._now = now
        self._told_at = now()
        self._asked_at: float | None = None
        self._lost_at: float | None = None
        self._past = 0
        self._number = 0
        self._untold = ""
        self._phase = ""

    def title(self) -> str:
        """Return which match it is: its id, game, players and clocks."""
        return f"match {self.match.match_id}, {self.match.full_id}, {self.players()}"

    def players(self) -> str:
        """Return who plays, with which clocks."""
        names = [name or f"seat {seat}" for seat, name in enumerate(self.names)]
        clocks = [clock_text(seat.clock) for seat in self.match.seats]
        if len(set(clocks)) == 1:
            clock = "no clock" if clocks[0] == "none" else clocks[0]
            return f"{' : '.join(names)}, {clock}"
        both = zip(names, clocks, strict=True)
        return " : ".join(f"{name} ({clock})" for name, clock in both)

    def describe(self, match: Match) -> None:
        """Take what the server says of the match later on."""
        self.match = match
        self.names = names_of(match)
        self.renamed = match.phase in {"offered", "preparing"}

    def take(self, update: Update) -> list[str]:
        """Take an update; return the lines that tell of it."""
        match update:
            case MatchView():
                if self.view is None or self._lost_at is not None:
                    # What happened without a link to hear of it is past as well.
                    self._past = update.event_number
                    self.catching_up = self._number < self._past or self.view is None
                self.view = update
                return []
            case MatchStatus():
                return self._take_status(update)
            case Event():
                return self._take_event(update)
            case MatchResult():
                self.result = update
                return []

    def _take_status(self, status: MatchStatus) -> list[str]:
        self.status = status
        self._told_at = self._now()
        self._lost_at = None
        if self.view is not None and self._number >= self._past:
            self.catching_up = False
        before, self._phase = self._phase, status.phase
        if before == status.phase or status.phase in _TOLD_OTHERWISE:
            return []
        if status.phase == "running" and before in {"", "paused", "closing"}:
            return []
        back = before == "waiting" and status.phase == "running"
        line = f"{NO_PLY}{'all seats are back' if back else self.phase_text()}"
        if status.waiting_left_ms is not None:
            line += f", {duration_text(status.waiting_left_ms)} left"
        if self.catching_up:
            # It is of now: what is past comes first.
            self._untold = line
            return []
        return [line]

    def _take_event(self, event: Event) -> list[str]:
        self.ply = event.ply
        lines = []
        text = event_text(self.names, event)
        if text and event.kind != "ended":
            lines.append(f"{event.ply:4}  {text}")
        self._number = event.number
        if self._number > self._past:
            self.catching_up = False
            self._asked_at = self._now()
        if self._number >= self._past and self._untold:
            lines.append(self._untold)
            self._untold = ""
        return lines

    def end_line(self) -> str:
        """Return how the match ended."""
        if self.result is None:
            return ""
        return finish_text(self.names, finish_of(self.result))

    # -------------------------------------------------------------------- of now

    def lose(self) -> None:
        """Stop all clocks: without a link nobody knows whether they run."""
        if self._lost_at is None:
            self._lost_at = self._now()
        self._asked_at = None

    def since_told_ms(self) -> int:
        """Return the age of the status, in milliseconds."""
        now = self._now() if self._lost_at is None else self._lost_at
        return int((now - self._told_at) * 1000)

    def thinks_text(self) -> str:
        """Return for how long the seat that is asked thinks, as far as it was seen."""
        if self._asked_at is None:
            return "thinks"
        minutes, seconds = divmod(int(self._now() - self._asked_at), 60)
        if minutes:
            return f"thinks for {minutes}:{seconds:02}"
        return f"thinks for {seconds} s" if seconds else "thinks"

    @property
    def acting(self) -> Sequence[int]:
        """The seats that are asked, as far as spectators may know."""
        if self.view is None or self.status is None or self.result is not None:
            return ()
        return self.view.seats_to_act if self.status.phase in _RUNNING else ()

    def phase_text(self) -> str:
        """Return where the match is."""
        status = self.status
        if status is None:
            return self.match.phase
        who = " and ".join(map(self._who, status.waiting_for))
        match status.phase:
            case "offered" if who:
                return f"waiting for {who} to take the seat"
            case "offered":
                return "the seats are being taken"
            case "preparing":
                return f"waiting for {who or 'the players'} to get ready"
            case "waiting":
                return f"waiting for {who or 'a seat'}, whose link was lost"
            case "paused" if status.message:
                return f"paused: {clip(status.message, _SENTENCE)}"
        return status.phase

    def away_text(self, seat: int) -> str:
        """Return for how long a seat is waited for; empty if it is there."""
        status = self.status
        if status is None or status.phase != "waiting" or self.result is not None:
            return ""
        if seat not in status.waiting_for:
            return ""
        if status.waiting_left_ms is None:
            return "away"
        left = max(0, status.waiting_left_ms - self.since_told_ms())
        return f"away, {duration_text(left)} to come back"

    def _who(self, seat: int) -> str:
        name = self.names[seat] if seat < len(self.names) else ""
        return f"seat {seat} ({name})" if name else f"seat {seat}"

    def clock_texts(self, seat: int) -> tuple[list[str], bool]:
        """Return the parts of a seat's clock as they are now, and whether it is short.

        Args:
            seat: which.
        """
        status = self.status
        settings = self.match.seats[seat].clock
        if status is None or seat >= len(status.clocks):
            return _parts(_full(settings), settings), False
        spent_ms = self.since_told_ms() if seat in self.acting else 0
        clock = ticked(status.clocks[seat], spent_ms)
        left = clock.left_ms
        short = bool(spent_ms) and left is not None and left < _SHORT_MS
        return _parts(clock, settings), short


def found_text(error: ArenaError) -> str:
    """Return what is said when a link is there again.

    Args:
        error: with which it was lost.
    """
    stopped = error.code == "server.stopping"
    return "the server is back" if stopped else "the link is back"


#: A clock with less than this shows tenths of seconds, and stands out.
_SHORT_MS = 10_000


def ticked(clock: Clock, spent_ms: int) -> Clock:
    """Return a reading as it is some time later, while the seat is asked.

    Args:
        clock: the reading.
        spent_ms: since then.
    """
    limits = [
        limit for limit in (clock.move_left_ms, clock.turn_left_ms) if limit is not None
    ]

    def less(left: int | None, spent: int = spent_ms) -> int | None:
        return None if left is None else max(0, left - spent)

    # The bank is touched once move or turn are over time.
    over = max(0, spent_ms - min(limits)) if limits else 0
    return Clock(
        left_ms=less(clock.left_ms),
        base_left_ms=less(clock.base_left_ms),
        move_left_ms=less(clock.move_left_ms),
        turn_left_ms=less(clock.turn_left_ms),
        bank_left_ms=less(clock.bank_left_ms, over),
        link_left_ms=clock.link_left_ms,
    )


def _full(settings: ClockSettings) -> Clock:
    return Clock(
        base_left_ms=settings.base_ms,
        move_left_ms=settings.move_ms,
        turn_left_ms=settings.turn_ms,
        bank_left_ms=settings.bank_ms,
    )


def _parts(clock: Clock, settings: ClockSettings) -> list[str]:
    parts = []
    for name, left, whole in (
        ("", clock.base_left_ms, settings.base_ms),
        ("move ", clock.move_left_ms, settings.move_ms),
        ("turn ", clock.turn_left_ms, settings.turn_ms),
        ("bank ", clock.bank_left_ms, settings.bank_ms),
    ):
        if left is not None and whole is not None:
            parts.append(f"{name}{duration_text(left)}")
    return parts


def duration_text(ms: int) -> str:
    """Return a time that is left, such as ``9.4 s``, ``1:05`` or ``2:00:00``.

    Args:
        ms: milliseconds, 0 or more.
    """
    if ms < _SHORT_MS:
        # Cut, not rounded: 0.0 is nothing at all.
        return f"{ms // 100 / 10:.1f} s"
    minutes, seconds = divmod(ms // 1000, 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02}:{seconds:02}"
    return f"{minutes}:{seconds:02}"
