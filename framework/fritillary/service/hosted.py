"""A match of the arena: what is asked for, what is going on, what came of it."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from attrs import field, frozen

from fritillary.api.v1 import bot_pb2, common_pb2, match_pb2
from fritillary.core.commitment import commitment
from fritillary.core.dealer import SEALED_ALGORITHM
from fritillary.core.errors import ServiceError, StorageError
from fritillary.plugins.game import Game
from fritillary.record.events import Paused, SeatTerms
from fritillary.record.reader import Record
from fritillary.record.signing import Signer
from fritillary.record.terms import ClockSettings, EndKind, Terms, clip
from fritillary.record.writer import FileSink, MemorySink
from fritillary.referee.lineup import PlayerSpec, named
from fritillary.referee.match import Match
from fritillary.referee.player import Player
from fritillary.referee.seen import MatchResult
from fritillary.referee.setup import MatchSetup
from fritillary.referee.teller import Watcher
from fritillary.service import wire
from fritillary.service.framing import MATCH_STATUS, framed, head_of
from fritillary.service.remote import RemotePlayer
from fritillary.service.seatwire import MatchWire

_SENTENCE = 500

#: Time for the referee to attend to what is asked of it.
_MOMENT_S = 1.0


#: Between the folders of a path, wherever it is from.
_SEPARATOR: Final = re.compile(r"[\\/]")


def shown(spec: PlayerSpec) -> str:
    """Return how a player is named to everybody, as in the record.

    Of a command that is the program's name: its arguments may hold secrets, and
    folders tell about the host.
    """
    if spec.kind == "exec":
        return f"exec:{_SEPARATOR.split(spec.name)[-1]}"
    return spec.text


def wall_ms() -> int:
    """Return milliseconds since 1970-01-01 UTC."""
    return time.time_ns() // 1_000_000  # noqa: TID251 - dates matches for people


@frozen(kw_only=True, eq=False)
class Order:
    """A match as it was asked for, checked and filled in.

    Args:
        match_id: of the match.
        game_name: the full id under which the game was asked for.
        game: the rules.
        options: of the game.
        specs: the players, taken apart.
        clocks: one for each seat.
        terms: the same for all.
        seed: of the deal.
        salt: of the commitment.
        seed_given: whether seed or salt came from outside.
        nonces_wanted: whether bots may mix their own bytes into the deal.
        labels: free tags.
        sealed: the deal is still to be played by others.
    """

    match_id: str
    game_name: str
    game: Game[Any, Any, Any]
    options: Any
    specs: tuple[PlayerSpec, ...]
    clocks: tuple[ClockSettings, ...]
    terms: Terms
    seed: bytes = field(repr=False)
    salt: bytes = field(repr=False)
    seed_given: bool = False
    nonces_wanted: bool = False
    labels: dict[str, str] = field(factory=dict)
    sealed: bool = False

    def setup(self, players: tuple[Player, ...]) -> MatchSetup:
        """Return what the referee needs."""
        settings: dict[str, Any] = {"players": players, "clocks": self.clocks}
        return MatchSetup(
            game=self.game,
            options=self.options,
            terms=self.terms,
            match_id=self.match_id,
            seed=self.seed,
            salt=self.salt,
            nonces_wanted=self.nonces_wanted,
            labels=self.labels,
            **settings,
        )


class HostedMatch:
    """One match of the arena, from its order until long after its end.

    Args:
        order: what is played.
        open_sink: opens what the record goes to; called when nothing else can fail.
        number: counts the matches of the arena.
        created_at_ms: since 1970-01-01 UTC; ``None``: now.
        past: the result of a match that had ended before the server was restarted.

    Attributes:
        sink: where the record goes.
        match: the referee's; ``None`` until the players are there.
        players: those that dial in, by seat.
        infos: who plays, by seat.
        problems: seat and sentence for each thing that went wrong with a program, its
            last words included. For host and referees: they may hold secrets.
        ended: the result, once there is one.
    """

    def __init__(
        self,
        order: Order,
        open_sink: Callable[[], FileSink | MemorySink],
        number: int,
        *,
        created_at_ms: int | None = None,
        past: MatchResult | None = None,
    ) -> None:
        self.order = order
        self.number = number
        self.wire = MatchWire(
            order.match_id,
            order.game,
            order.options,
            len(order.specs),
            order.game_name,
        )
        self.match: Match | None = None
        self.players: dict[int, RemotePlayer] = {}
        self.infos = [
            named(_SEPARATOR.split(spec.name)[-1], shown(spec)) for spec in order.specs
        ]
        self.problems: list[tuple[int, str]] = []
        self.created_at_ms = wall_ms() if created_at_ms is None else created_at_ms
        self._past = past
        self.started_at_ms: int | None = None
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
        self.sink = open_sink()

    @property
    def id(self) -> str:
        """The match id."""
        return self.order.match_id

    @property
    def path(self) -> Path | None:
        """Where the record is; ``None`` in memory."""
        return self.sink.path if isinstance(self.sink, FileSink) else None

    @property
    def result(self) -> MatchResult | None:
        """The result; ``None`` while there is none."""
        return self.match.result if self.match is not None else self._past

    @property
    def over(self) -> bool:
        """Whether nothing changes any more."""
        return self.ended.done()

    @property
    def ply(self) -> int:
        """Plies so far."""
        if self.match is None:
            return 0 if self._past is None else self._past.plies
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
        message = clip(message, _SENTENCE) or "called off"
        if self.match is not None:
            if not self.match.abort(kind, code, message):
                raise self._wrong_phase("abort")
        elif self.over:
            raise self._wrong_phase("abort")
        else:
            self._cut_finish = (kind, code, message)
            self.cut.set()

    def pause(self, message: str) -> None:
        """Stop the clocks.

        Raises:
            ServiceError: ``match.phase`` if it is not running.
        """
        message = clip(message, _SENTENCE)
        if self.match is None or not self.match.pause(message):
            raise self._wrong_phase("pause")
        self._pause_message = message

    def resume(self) -> None:
        """Go on after a pause.

        Raises:
            ServiceError: ``match.phase`` if there is none.
        """
        if self.match is None or not self.match.resume():
            raise self._wrong_phase("resume")

    def _wrong_phase(self, what: str) -> ServiceError:
        msg = f"match {self.id} is {self.phase}; there is nothing to {what}"
        return ServiceError(msg, code="match.phase")

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
            self.sink,
            signer,
            phase_changed=self._phase_changed,
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

    def show_past(self, found: Record | None, result: MatchResult) -> None:
        """Be a match that had ended before the server was restarted."""
        self.sink.close()
        if found is not None:
            self.infos = [seat.player for seat in found.header.seats]
        self.finished(result, None)

    def remote_seats(self) -> Iterator[tuple[int, str]]:
        """Yield number and bot of the seats that bots took which dial in."""
        for seat, spec in enumerate(self.order.specs):
            if spec.kind == "remote":
                yield seat, spec.name

    def discard(self) -> None:
        """Remove a record into which nothing was written; its id is free again."""
        sink = self.sink
        if isinstance(sink, FileSink):
            with contextlib.suppress(StorageError, OSError):
                sink.close()
                if sink.path.stat().st_size == 0:
                    sink.path.unlink()

    def _phase_changed(self, phase: str) -> None:
        if phase == "running" and self.started_at_ms is None:
            self.started_at_ms = wall_ms()
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
                    parts["link_left_ms"] = player.link_left_ms
            readings.append(tuple(parts.items()))
        return tuple(readings)

    def _status(self, seat: int | None, head: bytes) -> bytes:
        phase = self.phase
        waiting_for = self._waited_for(phase)
        waiting_left_ms = None
        if phase == "waiting" and waiting_for:
            waiting_left_ms = max(
                self.players[one].waiting_left_ms for one in waiting_for
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

    def to_proto(self, *, for_referee: bool) -> match_pb2.Match:
        """Return the match as it stands.

        Args:
            for_referee: tell how the players were named, and what went wrong with
                programs.
        """
        order = self.order
        seats = map(SeatTerms, self.infos, order.clocks)
        message = match_pb2.Match(
            match_id=self.id,
            game=self.wire.ref,
            options=common_pb2.Payload(
                encoding=common_pb2.ENCODING_MSGPACK,
                data=self.wire.dialect(wire.MSGPACK).options,
            ),
            seats=wire.seat_infos(order.game, seats),
            players=[spec.text for spec in order.specs] if for_referee else [],
            problems=[
                match_pb2.SeatProblem(seat=seat, message=what)
                for seat, what in (self.problems if for_referee else ())
            ],
            terms=wire.terms(order.terms),
            phase=wire.PHASE[self.phase],
            ply=self.ply,
            commitment=common_pb2.Commitment(
                algorithm=SEALED_ALGORITHM,
                hash=commitment(
                    self.id,
                    order.game.codec.encode_options(order.options),
                    order.seed,
                    order.salt,
                ),
            ),
            seed_given=order.seed_given,
            labels=order.labels,
            created_at_ms=self.created_at_ms,
            started_at_ms=self.started_at_ms,
            ended_at_ms=self.ended_at_ms,
        )
        if self.result is not None:
            message.result.CopyFrom(wire.result(self.result))
        return message

    # ------------------------------------------------------------------------- watching

    def watch(self, watcher: Watcher) -> None:
        """Let somebody look on; the match must have its players."""
        if self.match is not None:
            self.match.teller.watch(watcher)

    def unwatch(self, watcher: Watcher) -> None:
        """Let somebody look on no more."""
        if self.match is not None:
            self.match.teller.unwatch(watcher)

    def record(self) -> bytes:
        """Return the bytes of the record so far; only for who may have them."""
        if isinstance(self.sink, MemorySink):
            return self.sink.getvalue()
        return self.sink.path.read_bytes()
