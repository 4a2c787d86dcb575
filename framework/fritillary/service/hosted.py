"""A match of the arena: what is asked for, what is going on, what came of it."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import io
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from fritillary.api.v1 import bot_pb2, match_pb2
from fritillary.core.commitment import commitment
from fritillary.core.errors import ServiceError, StorageError
from fritillary.core.weak import weakly
from fritillary.record.events import Paused
from fritillary.record.reader import Record
from fritillary.record.signing import Signer
from fritillary.record.terms import EndKind, PlayerInfo, clip
from fritillary.record.writer import FileSink, MemorySink
from fritillary.referee.match import Match
from fritillary.referee.player import Player
from fritillary.referee.seen import MatchResult
from fritillary.referee.teller import Watcher
from fritillary.service import wire
from fritillary.service.ended import open_record, wrong_phase
from fritillary.service.framing import MATCH_STATUS, framed, head_of
from fritillary.service.ordering import Order, named_of
from fritillary.service.past import PlayedAgain
from fritillary.service.places import Place
from fritillary.service.remote import RemotePlayer
from fritillary.service.seatwire import MatchWire
from fritillary.service.showing import match_message

#: Longest message of a referee, in characters.
SENTENCE = 500

#: So many of the problems of each bot are kept: the last ones. None of them makes
#: those of others be forgotten.
_KEPT_PROBLEMS = 16

#: Time for the referee to attend to what is asked of it.
_MOMENT_S = 1.0


def wall_ms() -> int:
    """Return milliseconds since 1970-01-01 UTC."""
    return time.time_ns() // 1_000_000  # noqa: TID251 - dates matches for people


class HostedMatch:
    """One match of the arena, from its order until long after its end.

    Args:
        order: what is played.
        open_sink: opens what the record goes to; called when nothing else can fail,
            and not for a match that has ended.
        created_at_ms: since 1970-01-01 UTC; ``None``: now.
        started_at_ms: when all seats were ready, of a match that is taken up.
        started: called with that time of another one when it comes.
        result: of a match that has ended and that is only told of.

    Attributes:
        sink: where the record goes; ``None`` if it was written long ago.
        match: the referee's; ``None`` until the players are there.
        players: those that dial in, by seat.
        infos: who plays, by seat.
        problems: seat and sentence for each thing that went wrong with a bot, the last
            words of a program included. For host and referees: they may hold secrets.
        ended: the result, once there is one.
    """

    def __init__(
        self,
        order: Order,
        open_sink: Callable[[], FileSink | MemorySink],
        *,
        created_at_ms: int | None = None,
        started_at_ms: int | None = None,
        started: Callable[[int], None] = lambda _: None,
        result: MatchResult | None = None,
    ) -> None:
        self.order = order
        self.wire = MatchWire(
            order.match_id,
            order.game,
            order.options,
            len(order.specs),
            order.game_name,
        )
        self.match: Match | PlayedAgain | None = None
        self.players: dict[int, RemotePlayer] = {}
        self.infos: list[PlayerInfo] = list(map(named_of, order.specs))
        self.problems: list[tuple[int, str]] = []
        self.created_at_ms = wall_ms() if created_at_ms is None else created_at_ms
        self._told_result = result
        self.started_at_ms = started_at_ms
        self._started = started
        self.ended_at_ms: int | None = None
        self.ended: asyncio.Future[MatchResult] = (
            asyncio.get_running_loop().create_future()
        )
        #: Set when the match is to end before its players are there.
        self.cut = asyncio.Event()
        self._cut_finish: tuple[EndKind, str, str] | None = None
        self._pause_message = ""
        self._told: tuple[str, list[int]] = ("offered", [])
        self._watchers: list[Callable[[], None]] = []
        self.bots = {spec.name for spec in order.specs if spec.kind == "remote"}
        self.sink: FileSink | MemorySink | None = None
        if result is None:
            self.sink = open_sink()
        else:
            self.ended.set_result(result)

    @property
    def id(self) -> str:
        """The match id."""
        return self.order.match_id

    @property
    def place(self) -> Place:
        """Where it stands in lists."""
        return Place.of(self.created_at_ms, self.id)

    @property
    def path(self) -> Path | None:
        """Where the record is; ``None`` in memory."""
        return self.sink.path if isinstance(self.sink, FileSink) else None

    @property
    def result(self) -> MatchResult | None:
        """The result; ``None`` while there is none."""
        if self.match is not None:
            return self.match.result
        return self._told_result

    @property
    def sealed(self) -> bool:
        """Whether others are still to play its deal."""
        return self.order.sealed

    @property
    def unrecorded(self) -> bool:
        """Whether it has ended, and its record does not tell of it."""
        return self.over and self.ended.exception() is not None

    @property
    def commitment(self) -> bytes:
        """The hash that binds the host to the deal."""
        order = self.order
        options = order.game.codec.encode_options(order.options)
        return commitment(self.id, options, order.seed, order.salt)

    @property
    def over(self) -> bool:
        """Whether nothing changes any more."""
        return self.ended.done()

    @property
    def ply(self) -> int:
        """Plies so far."""
        if self.match is None:
            return 0
        return self.match.ply

    @property
    def phase(self) -> str:
        """Where the match is, lost links and unfinished preparation included."""
        if self.match is None:
            return "ended" if self.over else "offered"
        phase = self.match.phase
        if phase == "running" and any(one.away for one in self.players.values()):
            return "waiting"
        if phase == "offered" and all(
            one.has_accepted for one in self.players.values()
        ):
            return "preparing"
        return phase

    # ------------------------------------------------------------------- from outside

    def abort(self, kind: EndKind, code: str, message: str) -> None:
        """End the match.

        Raises:
            ServiceError: ``match.phase`` if it has ended.
        """
        message = clip(message, SENTENCE) or "called off"
        if self.match is not None:
            if not self.match.abort(kind, code, message):
                raise wrong_phase(self.id, self.phase, "abort")
        elif self.over:
            raise wrong_phase(self.id, self.phase, "abort")
        else:
            self._cut_finish = (kind, code, message)
            self.cut.set()

    def pause(self, message: str) -> None:
        """Stop the clocks.

        Raises:
            ServiceError: ``match.phase`` if it is not running.
        """
        message = clip(message, SENTENCE)
        if self.match is None or not self.match.pause(message):
            raise wrong_phase(self.id, self.phase, "pause")
        self._pause_message = message

    def resume(self) -> None:
        """Go on after a pause.

        Raises:
            ServiceError: ``match.phase`` if there is none.
        """
        if self.match is None or not self.match.resume():
            raise wrong_phase(self.id, self.phase, "resume")

    # ------------------------------------------------------------------------ running

    async def play(
        self,
        players: tuple[Player, ...],
        signer: Signer,
        *,
        after: Record | None = None,
        **settings: Any,  # noqa: ANN401 - those of Match
    ) -> MatchResult:
        """Play the match among its players.

        Args:
            players: in seat order.
            signer: closes the record.
            after: the record so far, of a match that is taken up.
            settings: of `Match`.
        """
        self.infos = [player.info for player in players]
        self.players = {
            seat: player
            for seat, player in enumerate(players)
            if isinstance(player, RemotePlayer)
        }
        for seat, player in self.players.items():
            player.status_source(functools.partial(self._status_entry, seat))
        match = Match(
            self.order.setup(players),
            self._open_sink(),
            signer,
            phase_changed=weakly(self._phase_changed),
            created_at_ms=self.created_at_ms,
            reveal=not self.order.sealed,
            after=after,
            **settings,
        )
        self.match = match
        paused = None if after is None else after.find(Paused)
        if paused is not None:
            self._pause_message = paused.message
        if self._cut_finish is not None:
            match.abort(*self._cut_finish)
        return await match.run()

    def finished(self, result: MatchResult | None, error: BaseException | None) -> None:
        """Note the result, or that there is none."""
        self.ended_at_ms = wall_ms()
        if not self.ended.done():
            if result is not None:
                self.ended.set_result(result)
            else:
                msg = f"match {self.id} ended without a result"
                self.ended.set_exception(
                    error or ServiceError(msg, code="match.aborted")
                )
                self.ended.exception()
        self.changed()

    def trouble(self, seat: int, what: str) -> None:
        """Tell host and referees in a sentence what is wrong with a bot."""
        self.problems.append((seat, what))
        own = [at for at, (one, _) in enumerate(self.problems) if one == seat]
        if len(own) > _KEPT_PROBLEMS:
            del self.problems[own[0]]

    def remote_seats(self) -> Iterator[tuple[int, str]]:
        """Yield number and bot of the seats that bots took which dial in."""
        for seat, spec in enumerate(self.order.specs):
            if spec.kind == "remote":
                yield seat, spec.name

    def _open_sink(self) -> FileSink | MemorySink:
        if self.sink is None:  # pragma: no cover - a match is played once
            raise TypeError
        return self.sink

    def discard(self) -> None:
        """Remove the record of a match of which nothing was published."""
        self.close_record()
        if isinstance(self.sink, FileSink):
            with contextlib.suppress(OSError):
                self.sink.path.unlink()

    def close_record(self) -> None:
        """Write nothing more; the record stays as it is."""
        if self.sink is not None:
            with contextlib.suppress(StorageError):
                self.sink.close()

    def _phase_changed(self, phase: str) -> None:
        if phase == "running" and self.started_at_ms is None:
            self.started_at_ms = wall_ms()
            self._started(self.started_at_ms)
        for player in self.players.values():
            player.pause(phase == "paused")
        self.changed()

    def changed(self) -> None:
        """Tell seats and watchers where the match is, if that is something new."""
        phase = self.phase
        if phase == "ended" and not self.over:
            # Play is over for the referee; the arena has not noted it yet.
            return
        now = (phase, self._waited_for(phase) if phase == "waiting" else [])
        if now == self._told:
            return
        self._told = now
        if phase not in {"closing", "ended"}:
            for player in self.players.values():
                player.send_status()
        for watcher in list(self._watchers):
            watcher()

    def on_change(self, watcher: Callable[[], None]) -> None:
        """Call a watcher when the phase changes."""
        self._watchers.append(watcher)

    def off_change(self, watcher: Callable[[], None]) -> None:
        """Call a watcher no more."""
        if watcher in self._watchers:
            self._watchers.remove(watcher)

    async def until(self, *phases: str) -> None:
        """Wait a moment for the referee to bring the match into one of some phases."""
        moved = asyncio.Event()
        self.on_change(moved.set)
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_MOMENT_S):
                    while self.phase not in phases and not self.over:
                        moved.clear()
                        await moved.wait()
        finally:
            self.off_change(moved.set)

    # ---------------------------------------------------------------------- as messages

    def _waited_for(self, phase: str) -> list[int]:
        players = self.players.items()
        if phase == "offered":
            return [seat for seat, one in players if not one.has_accepted]
        if phase == "preparing":
            return [seat for seat, one in players if not one.is_ready]
        if phase == "waiting":
            return [seat for seat, one in players if one.away]
        return []

    def _readings(self) -> tuple[wire.Parts, ...]:
        if self.match is None:
            return ()
        readings = []
        opened = self.match.open_ms
        for seat, clock in enumerate(self.match.clocks):
            player = self.players.get(seat)
            parts = None if player is None else player.reading()
            if parts is None:
                here = opened is not None and opened[0] == seat
                parts = clock.parts(opened[1] if opened is not None and here else 0)
                if player is not None:
                    parts["link_left_ms"] = player.loss.left_ms
            readings.append(tuple(parts.items()))
        return tuple(readings)

    def _status(self, seat: int | None, head: bytes) -> bytes:
        phase = self.phase
        waiting_for = self._waited_for(phase)
        waiting_left_ms = None
        if phase == "waiting" and waiting_for:
            waiting_left_ms = max(
                self.players[one].loss.waiting_left_ms for one in waiting_for
            )
        event_number = 0
        if self.match is not None:
            teller = self.match.teller
            gate = teller.spectator if seat is None else teller.gates[seat]
            event_number = gate.number
        return head + wire.status_bytes(
            phase,
            tuple(waiting_for),
            waiting_left_ms,
            event_number,
            None if seat is None else self.players[seat].open_decision_id,
            self._readings(),
            self._pause_message if phase == "paused" else "",
        )

    def status(self) -> bot_pb2.MatchStatus:
        """Return where the match is, for spectators."""
        head = bot_pb2.MatchStatus(match_id=self.id).SerializeToString()
        return bot_pb2.MatchStatus.FromString(self._status(None, head))

    def _status_entry(self, seat: int) -> bytes:
        return framed(MATCH_STATUS, self._status(seat, head_of(self.id, seat)))

    # ------------------------------------------------------------------------- watching

    def watch(self, watcher: Watcher) -> None:
        """Let somebody look on; the match must have its players."""
        if self.match is not None:
            self.match.teller.watch(watcher)

    def unwatch(self, watcher: Watcher) -> None:
        """Let somebody look on no more."""
        if self.match is not None:
            self.match.teller.unwatch(watcher)

    def to_proto(self, *, for_referee: bool) -> match_pb2.Match:
        """Return the match as it stands; see `match_message`."""
        return match_message(self, for_referee=for_referee)

    def record(self) -> bytes:
        """Return the bytes of the record so far; only for who may have them.

        Raises:
            StorageError: if they cannot be read.
        """
        with self.open_record() as file:
            try:
                return file.read()
            except OSError as error:
                msg = f"the record of match {self.id}: {error.strerror}"
                raise StorageError(msg, code="storage") from error

    def open_record(self) -> BinaryIO:
        """Open the record so far; only for who may have it.

        Raises:
            StorageError: if it cannot be opened.
        """
        if isinstance(self.sink, MemorySink):
            return io.BytesIO(self.sink.getvalue())
        path = self.path
        if path is None:  # pragma: no cover - a record is in memory or in a file
            raise TypeError
        return open_record(path, self.id)
