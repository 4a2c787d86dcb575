"""The arena: makes matches, runs them, keeps them."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
from collections import deque
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Self

import attrs

import fritillary
from fritillary.core.errors import (
    FritillaryError,
    ServiceError,
    StorageError,
    UsageError,
)
from fritillary.plugins.discovery import Registry
from fritillary.plugins.game import Game
from fritillary.record.events import MATCH_ID
from fritillary.record.reader import Record
from fritillary.record.signing import Signer
from fritillary.record.terms import ClockSettings, EndKind, Terms
from fritillary.record.writer import FileSink, MemorySink
from fritillary.referee.lineup import PlayerSpec, local_player, make_bot, parse_player
from fritillary.referee.player import Player
from fritillary.referee.seen import MatchResult
from fritillary.referee.setup import new_match_id, usual_terms
from fritillary.service.children import ChildSeat
from fritillary.service.hosted import HostedMatch, Order, wall_ms
from fritillary.service.hub import Hub
from fritillary.service.keeping import Keeping, goes_on_later
from fritillary.service.limits import Limits
from fritillary.service.ordering import (
    bytes32,
    check_deal,
    clocks_of,
    labels_of,
    options_of,
    spec_of,
)
from fritillary.service.remote import RemotePlayer
from fritillary.service.restart import Left
from fritillary.service.seating import remote_players
from fritillary.service.seating_again import TakenUp, seats_again, tell_last
from fritillary.service.spawn import ProcessLimits
from fritillary.service.tokens import TokenStore

_log = logging.getLogger(__name__)

#: Makes the player of a kind that the arena does not know, such as ``human``.
Factory = Callable[[PlayerSpec, Game[Any, Any, Any]], Player]

_USUAL_STAND_IN: Final = "uniform"

#: Time that running matches have to close their records when the arena closes.
_CLOSE_S: Final = 5.0

#: Time that whoever tells watchers how their matches ended has after that.
_TELL_S: Final = 2.0


class Arena:
    """Makes and runs matches.

    Use it as an async context manager: on leaving, running matches are called off,
    their records closed and all programs ended.

    Args:
        registry: the games.
        signer: closes records; ``None`` for a fresh key.
        records: folder for ``ID.frec``; ``None`` keeps records in memory.
        private: folder of what is kept for a restart, seeds among it; ``None``: matches
            do not survive one. One arena at a time may use it.
        tokens: where programs that are started get their tokens; must be those of
            the server.
        factories: by kind of player, such as ``human``: what makes it.
        limits: on one bot.
        process_limits: on a program that is started.
        keep_ended: so many ended matches are kept.

    Attributes:
        hub: the bots that dialled in.
    """

    def __init__(
        self,
        registry: Registry,
        signer: Signer | None = None,
        *,
        records: Path | None = None,
        private: Path | None = None,
        tokens: TokenStore | None = None,
        factories: Mapping[str, Factory] | None = None,
        limits: Limits | None = None,
        process_limits: ProcessLimits | None = None,
        keep_ended: int = 1_000,
    ) -> None:
        self.registry = registry
        self.signer = signer or Signer.generate()
        self.tokens = tokens or TokenStore()
        self.limits = limits or Limits()
        self.process_limits = process_limits or ProcessLimits()
        self.hub = Hub()
        self._address = ""
        self._listening = asyncio.Event()
        self._records = records
        self._keeping: Keeping | None = None
        if private is not None:
            if records is None:
                msg = "matches that survive a restart need a folder for records"
                raise UsageError(msg, code="usage.records")
            self._keeping = Keeping(private, records, self.hub)
            self.hub.known = self._end_is_known
        self._factories = dict(factories or {})
        self._keep_ended = keep_ended
        self._matches: dict[str, HostedMatch] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._ended: deque[str] = deque()
        self._followers: set[asyncio.Task[Any]] = set()
        self._count = 0
        self._closing = False

    @property
    def address(self) -> str:
        """Where programs dial in; set by the server, empty before."""
        return self._address

    @address.setter
    def address(self, address: str) -> None:
        self._address = address
        if address:
            self._listening.set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # -------------------------------------------------------------------------- making

    def create(
        self,
        game: str | Game[Any, Any, Any],
        players: Sequence[str],
        *,
        options: Mapping[str, Any] | object | None = None,
        preset: str = "",
        clocks: ClockSettings | Sequence[ClockSettings] | None = None,
        terms: Terms | None = None,
        ceiling_ms: int | None = None,
        match_id: str = "",
        seed: bytes | None = None,
        salt: bytes | None = None,
        nonces_wanted: bool | None = None,
        labels: Mapping[str, str] | None = None,
        sealed: bool = False,
        wait_for_remote: bool = True,
    ) -> HostedMatch:
        """Make a match and start it; must be called in the running loop.

        Args:
            game: full id, or the game itself.
            players: one string for each seat, see `fritillary.referee.lineup`.
            options: as plain data over preset or defaults, or an options value.
            preset: name of published options.
            clocks: one for all seats or one each; ``None``: untimed.
            terms: the same for all; the ceiling follows from the clocks.
            ceiling_ms: of the whole match instead.
            match_id: of the match; empty for a fresh one.
            seed: 32 bytes of the deal; ``None`` draws one.
            salt: 32 bytes of the commitment; ``None`` draws one.
            nonces_wanted: whether bots may mix into the deal; ``None``: where the
                seed was drawn here and a bot dials in.
            labels: free tags, at most 16 of at most 64 characters.
            sealed: the deal is still to be played by others: it is not revealed, and
                the match cannot be watched or fetched.
            wait_for_remote: wait for a ``remote:`` player that is not connected as
                long as an offer may last, instead of refusing.

        Raises:
            FritillaryError: if something about it makes no sense.
        """
        if self._closing:
            msg = "the arena is closing; no match is begun any more"
            raise ServiceError(msg, code="server.stopping", retry_after_ms=1_000)
        name = game if isinstance(game, str) else game.id
        rules = self.registry.game(game) if isinstance(game, str) else game
        match_id = match_id or new_match_id()
        specs = tuple(map(spec_of, players))
        rules.check_seats(len(specs))
        chosen = options_of(rules, options, preset)
        check_deal(rules, chosen, len(specs))
        all_clocks = clocks_of(clocks, len(specs))
        if ceiling_ms is None:
            full = usual_terms(rules, all_clocks, terms)
        else:
            full = attrs.evolve(terms or Terms(), ceiling_ms=ceiling_ms)
        dials_in = any(spec.kind in {"remote", "exec", "python"} for spec in specs)
        if nonces_wanted is None:
            nonces_wanted = seed is None and dials_in
        order = Order(
            match_id=self._free_id(match_id),
            game_name=name,
            game=rules,
            options=chosen,
            specs=specs,
            clocks=all_clocks,
            terms=full,
            seed=bytes32("seed", seed),
            salt=bytes32("salt", salt),
            seed_given=seed is not None or salt is not None,
            nonces_wanted=nonces_wanted,
            labels=labels_of(labels or {}),
            sealed=sealed,
        )
        local = self._local_players(order, wait_for_remote=wait_for_remote)
        created_at_ms = wall_ms()
        keeping = self._keeping
        if keeping is not None:
            # Before anything of the match is published.
            keeping.save(order, created_at_ms)
        self._count += 1
        try:
            hosted = HostedMatch(
                order,
                functools.partial(self._sink, match_id),
                self._count,
                created_at_ms=created_at_ms,
            )
        except BaseException:
            if keeping is not None:
                keeping.forget(match_id)
            raise
        self._begin(hosted, self._run(hosted, local))
        return hosted

    def _begin(self, hosted: HostedMatch, run: Coroutine[Any, Any, None]) -> None:
        self._matches[hosted.id] = hosted
        self._tasks[hosted.id] = asyncio.get_running_loop().create_task(
            run, name=f"match {hosted.id}"
        )

    def _free_id(self, match_id: str) -> str:
        if not MATCH_ID.match(match_id):
            msg = (
                f"match id {match_id[:70]!r} must be 1 to 64 letters, digits, dots, "
                "underscores or hyphens"
            )
            raise UsageError(msg, code="match.id")
        path = None if self._records is None else self._path(match_id)
        if match_id in self._matches or (path is not None and path.exists()):
            msg = f"there is a match {match_id!r} already; choose another id"
            raise ServiceError(msg, code="match.exists")
        return match_id

    def _path(self, match_id: str) -> Path:
        return (self._records or Path()) / f"{match_id}.frec"

    def _sink(self, match_id: str) -> FileSink | MemorySink:
        if self._records is None:
            return MemorySink()
        try:
            self._records.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            msg = f"{self._records}: {error.strerror}"
            raise StorageError(msg, code="storage.folder") from error
        sink = FileSink(self._path(match_id))
        try:
            # Nothing was written yet: until its end the record is for the host alone.
            sink.path.chmod(0o600)
        except OSError as error:
            sink.close()
            sink.path.unlink(missing_ok=True)
            msg = f"{sink.path}: {error.strerror}"
            raise StorageError(msg, code="storage.folder") from error
        return sink

    def _local_players(
        self, order: Order, *, wait_for_remote: bool, later: bool = False
    ) -> dict[int, Player]:
        """Return the players that are here, and check those that are not.

        Args:
            order: the match.
            wait_for_remote: see `create`.
            later: the server does not listen yet, but will.
        """
        stand_in = order.terms.policy.stand_in
        if stand_in != _USUAL_STAND_IN:
            make_bot(parse_player(stand_in), order.game)
        players: dict[int, Player] = {}
        for seat, spec in enumerate(order.specs):
            factory = self._factories.get(spec.kind)
            if factory is not None:
                players[seat] = factory(spec, order.game)
            elif spec.kind == "local":
                players[seat] = local_player(spec, order.game)
            elif spec.kind == "remote":
                obstacle = self.hub.link(spec.name).obstacle(order.game)
                self.hub.tidy(spec.name)
                if obstacle and not wait_for_remote:
                    raise ServiceError(
                        f"{obstacle}; try again when it is there",
                        code="player.absent",
                        retry_after_ms=1_000,
                    )
            elif spec.kind in {"exec", "python"}:
                if not self.address and not later:
                    msg = f"player {spec.text[:80]!r} needs a server to dial in to"
                    raise UsageError(msg, code="usage.player")
            else:
                msg = (
                    f"player {spec.text[:80]!r}: nobody can play by hand here; use "
                    "'fritillary play'"
                )
                raise UsageError(msg, code="usage.player")
        return players

    # ------------------------------------------------------------------------- running

    async def _run(
        self,
        hosted: HostedMatch,
        local: Mapping[int, Player],
        taken: TakenUp | None = None,
        after: Record | None = None,
    ) -> None:
        order = hosted.order
        children: list[ChildSeat] = [] if taken is None else taken.children
        result: MatchResult | None = None
        failure: BaseException | None = None
        used = None
        try:
            if taken is None:
                players = await self._seat(hosted, local, children)
            else:
                players, used = taken.players, taken.used
                await self._start_again(children)
            result = await hosted.play(
                players,
                self.signer,
                framework=fritillary.__version__,
                after=after,
                used=used,
            )
            if hosted.path is not None and not order.sealed:
                hosted.path.chmod(0o644)
        except Exception as error:  # noqa: BLE001 - logged, and told to who waits
            _log.exception("match %s could not be played", order.match_id)
            failure = error
        finally:
            # Also on cancellation.
            if result is None:
                hosted.discard()
                if self._closing and self._keeping is not None:
                    failure = failure or goes_on_later()
            hosted.finished(result, failure)
            self._end_is_known(order.match_id)
            self.hub.counts.match_ended(hosted)
            self._ended.append(order.match_id)
            while len(self._ended) > self._keep_ended:
                del self._matches[self._ended.popleft()]
            try:
                if children:
                    await asyncio.gather(
                        *(child.end(at_once=self._closing) for child in children)
                    )
            finally:
                self._tasks.pop(order.match_id, None)

    async def _start_again(self, children: Sequence[ChildSeat]) -> None:
        """Start the programs of a match that is taken up."""
        if children:
            await self._listening.wait()
            await asyncio.gather(
                *(child.start_again(self.address, self._records) for child in children)
            )

    def _end_is_known(self, match_id: str) -> None:
        hosted = self._matches.get(match_id)
        if hosted is not None and self._keeping is not None:
            self._keeping.end_is_known(hosted)

    # ------------------------------------------------------------------------- restart

    def take_up(self) -> int:
        """Take up the matches that an earlier run of the server has left.

        To be called once, in the running loop, before the server listens: bots that
        come back find their seats. What cannot be taken up is told of in the log.

        Returns:
            How many matches go on.

        Raises:
            StorageError: if another arena uses the same folder.
        """
        keeping = self._keeping
        if keeping is None:
            return 0
        count = 0
        for one in keeping.matches_left(self.registry, self.signer):
            try:
                count += self._take_up(one)
            except FritillaryError as error:
                which = one.order.match_id
                _log.warning("match %s is left as it is: %s", which, error.message)
        keeping.void_without_seed()
        return count

    def _take_up(self, left: Left) -> bool:
        """Take up one match; return whether it goes on."""
        order = left.order
        match_id = order.match_id
        path = self._path(match_id)
        self._count += 1
        sink: Callable[[], FileSink | MemorySink]
        if left.record is None:
            # Not even its header was written: nothing of it is known to anybody.
            path.unlink(missing_ok=True)
            sink = functools.partial(self._sink, match_id)
        else:
            sink = functools.partial(FileSink, path, after=left.length)
        hosted = HostedMatch(
            order,
            sink,
            self._count,
            created_at_ms=left.created_at_ms,
            past=left.result,
        )
        if left.result is not None:
            # For the bots that have not heard of it.
            self._matches[match_id] = hosted
            self._ended.append(match_id)
            hosted.show_past(left.record, left.result)
            tell_last(left, hosted, self.hub, self.limits)
            self._end_is_known(match_id)
            return False
        if not left.begun:
            local = self._local_players(order, wait_for_remote=True, later=True)
            for name in hosted.bots:
                self.hub.link(name).coming.add(match_id)
            run = self._run(hosted, local, after=left.record)
        else:
            taken = seats_again(
                left,
                hosted,
                self._local_players(order, wait_for_remote=True, later=True),
                functools.partial(
                    ChildSeat,
                    hub=self.hub,
                    tokens=self.tokens,
                    limits=self.limits,
                    process_limits=self.process_limits,
                ),
                self.hub,
                self.limits,
            )
            run = self._run(hosted, {}, taken, left.record)
        self._begin(hosted, run)
        return True

    async def _seat(
        self,
        hosted: HostedMatch,
        local: Mapping[int, Player],
        children: list[ChildSeat],
    ) -> tuple[Player, ...]:
        """Wait until all players are there, or can no longer come."""
        specs = hosted.order.specs
        if all(
            spec.kind == "remote" or seat in local for seat, spec in enumerate(specs)
        ):
            found = {**local, **await remote_players(self.hub, hosted, self.limits)}
            return tuple(found[seat] for seat in range(len(specs)))
        # A match that is begun after a restart may be earlier than its server.
        await self._listening.wait()
        started: dict[int, asyncio.Task[RemotePlayer]] = {}
        async with asyncio.TaskGroup() as group:
            for seat, spec in enumerate(specs):
                if seat in local or spec.kind == "remote":
                    continue
                child = ChildSeat(
                    hosted,
                    seat,
                    self.hub,
                    self.tokens,
                    self.limits,
                    self.process_limits,
                )
                children.append(child)
                started[seat] = group.create_task(
                    child.start(self.address, self._records)
                )
            remote = await remote_players(self.hub, hosted, self.limits)
        players = {
            **local,
            **remote,
            **{seat: task.result() for seat, task in started.items()},
        }
        return tuple(players[seat] for seat in range(len(players)))

    # ------------------------------------------------------------------------- looking

    def match(self, match_id: str) -> HostedMatch:
        """Return a match.

        Raises:
            ServiceError: ``match.unknown`` if there is none.
        """
        hosted = self._matches.get(match_id)
        if hosted is None:
            msg = f"there is no match {match_id[:64]!r}"
            raise ServiceError(msg, code="match.unknown")
        return hosted

    def matches(self) -> list[HostedMatch]:
        """Return all matches, newest first."""
        return sorted(self._matches.values(), key=lambda one: -one.number)

    async def wait(self, match_id: str) -> MatchResult:
        """Wait for the end of a match; return its result."""
        return await asyncio.shield(self.match(match_id).ended)

    async def play(
        self,
        game: str | Game[Any, Any, Any],
        players: Sequence[str],
        **settings: Any,  # noqa: ANN401
    ) -> MatchResult:
        """Make a match and wait for its end; see :meth:`create`."""
        return await asyncio.shield(self.create(game, players, **settings).ended)

    @contextlib.contextmanager
    def followed(self) -> Iterator[None]:
        """Count the running task, meanwhile, among those that tell of a match.

        It must end with the match; `close` gives it a moment for that.
        """
        task = asyncio.current_task()
        if task is None or task in self._followers:
            yield
            return
        self._followers.add(task)
        try:
            yield
        finally:
            self._followers.discard(task)

    async def close(self) -> None:
        """Call off what is running, close the records, end all programs.

        Matches that survive a restart are not called off: they stay as they are.
        """
        self._closing = True
        if self._keeping is not None:
            # What is left unfinished goes on with the next start.
            for match_id, task in list(self._tasks.items()):
                hosted = self._matches.get(match_id)
                if hosted is None:
                    continue
                self._keeping.note_used(hosted)
                if hosted.result is None:
                    task.cancel()
        else:
            for hosted in self._matches.values():
                with contextlib.suppress(ServiceError):
                    hosted.abort(
                        EndKind.WITHDRAWN, "server.stopping", "the server is stopping"
                    )
        tasks = list(self._tasks.values())
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=_CLOSE_S)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        # Whoever looks on hears how the matches ended before a server stops.
        if self._followers:
            await asyncio.wait(self._followers, timeout=_TELL_S)
        if self._keeping is not None:
            self._keeping.close()
