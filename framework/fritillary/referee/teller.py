"""Telling seats and spectators what happened, each as it may see it."""
# ruff: noqa: ANN401 - values of any game pass through

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from fritillary.plugins.game import Game
from fritillary.record.terms import Consequence, Fault, Source
from fritillary.referee.gate import Gate
from fritillary.referee.passing import PASSING
from fritillary.referee.player import Player
from fritillary.referee.seen import (
    Acted,
    Body,
    Drawn,
    MatchResult,
    Problem,
    SeatEvent,
)

_log = logging.getLogger(__name__)


class Watcher(Protocol):
    """Who looks on: hears what a spectator may know. Must not block or raise.

    One that raises all the same is logged and told no more.
    """

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
        masks: whether a seat may see an action otherwise than it is.
    """

    def __init__(self, game: Game[Any, Any, Any], players: Sequence[Player]) -> None:
        self.gates = [Gate(game, seat) for seat in range(len(players))]
        self.spectator = Gate(game, None)
        self._everyone = [*self.gates, self.spectator]
        self.masks = game.masks_actions
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
        self._result: MatchResult | None = None

    @property
    def events_of(self) -> list[Callable[[], list[SeatEvent]]]:
        """For each seat a call that gives what happened since its last look."""
        # Not kept here: they keep this object.
        return [functools.partial(self._take, seat) for seat in range(len(self.gates))]

    def watch(self, watcher: Watcher) -> None:
        """Tell a watcher everything so far, and from now on."""
        self._watchers.append(watcher)
        for event in [*self._seen, *self._take(len(self.gates))]:
            self._show(watcher, event)
        if self._result is not None:
            self._show_end(watcher, self._result)

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
        if seat is not None and not self.masks:
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

    def acted_openly(self, ply: int, seat: int, action: Any) -> None:
        """Tell of a player's action that all see as it is, unless `masks`."""
        self._log.append((ply, seat, action, Source.PLAYER))
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
        """Tell everyone the result, whatever becomes of it."""
        self._result = result
        for seat, player in enumerate(players):
            try:
                player.end(result)
            except PASSING:
                raise
            except BaseException:  # noqa: BLE001 - whoever listens badly harms nobody
                _log.exception("the player of seat %d did not take the end", seat)
        for watcher in list(self._watchers):
            self._show_end(watcher, result)

    def events(self, seat: int) -> list[SeatEvent]:
        """Return what happened since the seat's last look."""
        return self._take(seat)

    def _hand_out(self) -> None:
        for seat, notify in self._live:
            for event in self._take(seat):
                try:
                    notify(event)
                except PASSING:
                    raise
                except BaseException:  # noqa: BLE001 - whoever listens badly harms nobody
                    _log.exception("the player of seat %d did not take events", seat)
        if self._watchers:
            for event in self._take(len(self.gates)):
                for watcher in list(self._watchers):
                    self._show(watcher, event)

    def _show(self, watcher: Watcher, event: SeatEvent) -> None:
        if watcher not in self._watchers:
            return
        try:
            watcher.on_event(event)
        except PASSING:
            raise
        except BaseException:  # noqa: BLE001 - whoever listens badly harms nobody
            _log.exception("a watcher raised, and is told no more")
            self.unwatch(watcher)

    def _show_end(self, watcher: Watcher, result: MatchResult) -> None:
        try:
            watcher.on_end(result)
        except PASSING:
            raise
        except BaseException:  # noqa: BLE001 - whoever listens badly harms nobody
            _log.exception("a watcher raised at the end")

    def _take(self, receiver: int) -> list[SeatEvent]:
        gate = self._everyone[receiver]
        log = self._log
        start = self._read[receiver]
        self._read[receiver] = end = len(log)
        events = []
        for index in range(start, end):
            entry = log[index]
            body: Body | None
            if len(entry) == 4:
                ply, seat, action, source = entry
                body = Acted(seat, action, source)
            else:
                ply, bodies = entry
                body = bodies[receiver]
            if body is not None:
                events.append(gate.event(ply, body))
        if receiver == len(self.gates):
            self._seen += events
        return events
