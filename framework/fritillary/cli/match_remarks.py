"""A match at a server that nobody watches: a remark on what holds it up."""

from __future__ import annotations

from fritillary.cli.output import print_note
from fritillary.cli.servers import lost_text
from fritillary.cli.watched import Watched, duration_text, found_text
from fritillary.record.terms import clip
from fritillary_client import ArenaError, Event, MatchStatus
from fritillary_client.matches import Update

_SENTENCE = 200


class RemarkOutput:
    """Tells on standard error of pauses, lost links, and that the match goes on.

    Args:
        watched: what is known of the match.
        quiet: tell nothing but of a lost link to the server.
    """

    def __init__(self, watched: Watched, *, quiet: bool = False) -> None:
        self._watched = watched
        self._quiet = quiet
        self._lost = ""
        self._held_up = False

    def told(self, update: Update) -> None:
        """Remark on an update, if it is worth it."""
        if self._lost:
            print_note(self._lost)
            self._lost = ""
        before = self._watched.status
        self._watched.take(update)
        if self._quiet:
            return
        if isinstance(update, MatchStatus):
            self._told_status(update, before)
        elif isinstance(update, Event) and not self._watched.catching_up:
            if update.kind == "paused":
                why = f": {clip(update.message, _SENTENCE)}" if update.message else ""
                print_note(f"paused at ply {update.ply}{why}")
            elif update.kind == "resumed":
                print_note("resumed")

    def _told_status(self, status: MatchStatus, before: MatchStatus | None) -> None:
        if status.phase == "waiting":
            away = None if before is None else before.waiting_for
            if not self._held_up or status.waiting_for != away:
                left = ""
                if status.waiting_left_ms is not None:
                    left = f", {duration_text(status.waiting_left_ms)} left"
                print_note(f"{self._watched.phase_text()}{left}")
            self._held_up = True
        elif self._held_up:
            self._held_up = False
            if status.phase == "running":
                print_note("all are there again; the match goes on")

    def lost(self, error: ArenaError, wait_s: float) -> None:
        """Remark that the link to the server was lost, once."""
        del wait_s
        self._watched.lose()
        if not self._lost:
            print_note(f"{lost_text(error)}; trying again")
            self._lost = found_text(error)

    def close(self) -> None:
        """There is nothing to close."""
