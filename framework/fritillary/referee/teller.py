"""Telling seats and spectators what happened, each as it may see it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from fritillary.plugins.game import Game
from fritillary.record.terms import Consequence, Fault, Source
from fritillary.referee.gate import Gate
from fritillary.referee.player import Player
from fritillary.referee.seen import (
    Acted,
    Body,
    Drawn,
    MatchResult,
    Problem,
    SeatEvent,
)


class Watcher(Protocol):
    """Who looks on: hears what a spectator may know. Must not block or raise."""

    def on_event(self, event: SeatEvent) -> None:
        """Hear what happened."""

    def on_end(self, result: MatchResult) -> None:
        """Hear the result."""


class Teller:
    """Keeps what happened, and hands it out through the gates.

    What happened is kept once; a receiver's view of it is built when it is wanted:
    at once for remote players and watchers, at the next look for local bots.

    Args:
        game: the rules.
        players: in seat order.

    Attributes:
        gates: one for each seat.
        spectator: the gate of all who look on.
    """

    def __init__(self, game: Game[Any, Any, Any], players: Sequence[Player]) -> None:
        self.gates = [Gate(game, seat) for seat in range(len(players))]
        self.spectator = Gate(game, None)
        self._everyone = [*self.gates, self.spectator]
        self._masks = game.masks_actions
        #: (ply, seat, action, source) where all see an action as it is, else
        #: (ply, body for each gate); a body may be None: not seen at all.
        self._log: list[tuple[Any, ...]] = []
        self._read = [0] * len(self._everyone)
        self._live: list[tuple[int, Callable[[SeatEvent], None]]] = [
            (seat, player.notify)
            for seat, player in enumerate(players)
            if player.wants_events
        ]
        self._watchers: list[Watcher] = []
        self._seen: list[SeatEvent] = []

    def watch(self, watcher: Watcher) -> None:
        """Tell a watcher everything so far, and from now on."""
        for event in [*self._seen, *self._take(len(self.gates))]:
            watcher.on_event(event)
        self._watchers.append(watcher)

    def unwatch(self, watcher: Watcher) -> None:
        """Tell a watcher no more."""
        if watcher in self._watchers:
            self._watchers.remove(watcher)

    def before_action(
        self, state: Any, seat: int | None, action: Any, source: Source
    ) -> tuple[Any, ...]:
        """Return what all will see of an action, before it is applied.

        Args:
            state: before the action.
            seat: who acts; ``None`` for chance.
            action: the truth.
            source: whose choice it was.
        """
        if seat is not None and not self._masks:
            return (seat, action, source)
        bodies: list[Body | None] = []
        for gate in self._everyone:
            view = gate.action(state, seat, action)
            if view is None:
                bodies.append(None)
            elif seat is None:
                bodies.append(Drawn(view))
            else:
                bodies.append(Acted(seat, view, source))
        return (bodies,)

    def acted(self, ply: int, what: tuple[Any, ...]) -> None:
        """Tell of an action: ``what`` comes from `before_action`."""
        self._log.append((ply, *what))
        if self._live or self._watchers:
            self._hand_out()

    def tell(self, ply: int, body: Body) -> None:
        """Tell everyone the same."""
        self._log.append((ply, [body] * len(self._everyone)))
        self._hand_out()

    def ruled(
        self,
        ply: int,
        seat: int | None,
        fault: Fault,
        consequence: Consequence,
        problem: Problem,
        retries_left: int = 0,
    ) -> None:
        """Tell of a ruling; only the seat at fault is told the details."""
        bodies: list[Body | None] = [
            gate.ruling(seat, fault, consequence, problem, retries_left)
            for gate in self._everyone
        ]
        self._log.append((ply, bodies))
        self._hand_out()

    def ended(self, players: Sequence[Player], result: MatchResult) -> None:
        """Tell everyone the result."""
        for player in players:
            player.end(result)
        for watcher in list(self._watchers):
            watcher.on_end(result)

    def events(self, seat: int) -> list[SeatEvent]:
        """Return what happened since the seat's last look."""
        return self._take(seat)

    def _hand_out(self) -> None:
        for seat, notify in self._live:
            for event in self._take(seat):
                notify(event)
        if self._watchers:
            for event in self._take(len(self.gates)):
                for watcher in list(self._watchers):
                    watcher.on_event(event)

    def _take(self, receiver: int) -> list[SeatEvent]:
        gate = self._everyone[receiver]
        start = self._read[receiver]
        self._read[receiver] = len(self._log)
        events = []
        for ply, *what in self._log[start:]:
            body: Body | None = Acted(*what) if len(what) == 3 else what[0][receiver]
            if body is not None:
                events.append(gate.event(ply, body))
        if receiver == len(self.gates):
            self._seen += events
        return events
