"""The arena: makes matches, runs them, keeps them."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Self

import attrs

import fritillary
from fritillary.core.errors import (
    PluginError,
    ServiceError,
    StorageError,
    UsageError,
)
from fritillary.plugins.discovery import Registry
from fritillary.plugins.game import Game
from fritillary.record.events import MATCH_ID
from fritillary.record.signing import Signer
from fritillary.record.terms import ClockSettings, EndKind, Terms
from fritillary.record.writer import FileSink, MemorySink
from fritillary.referee.lineup import PlayerSpec, local_player, make_bot, parse_player
from fritillary.referee.player import Player
from fritillary.referee.seen import MatchResult
from fritillary.referee.setup import new_match_id, usual_terms
from fritillary.service.children import ChildSeat
from fritillary.service.hosted import HostedMatch, Order
from fritillary.service.hub import Hub
from fritillary.service.limits import Limits
from fritillary.service.remote import RemotePlayer
from fritillary.service.seating import remote_players
from fritillary.service.spawn import ProcessLimits
from fritillary.service.tokens import TokenStore

_log = logging.getLogger(__name__)

#: Makes the player of a kind that the arena does not know, such as ``human``.
Factory = Callable[[PlayerSpec, Game[Any, Any, Any]], Player]

_UNTIMED: Final = ClockSettings()

_USUAL_STAND_IN: Final = "uniform"

_MAX_LABELS: Final = 16
_MAX_LABEL: Final = 64

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
        tokens: where programs that are started get their tokens; must be those of
            the server.
        factories: by kind of player, such as ``human``: what makes it.
        limits: on one bot.
        process_limits: on a program that is started.
        keep_ended: so many ended matches are kept.

    Attributes:
        hub: the bots that dialled in.
        address: where programs dial in; set by the server.
    """

    def __init__(
        self,
        registry: Registry,
        signer: Signer | None = None,
        *,
        records: Path | None = None,
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
        self.address = ""
        self._records = records
        self._factories = dict(factories or {})
        self._keep_ended = keep_ended
        self._matches: dict[str, HostedMatch] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._ended: deque[str] = deque()
        self._followers: set[asyncio.Task[Any]] = set()
        self._count = 0
        self._closing = False

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
        specs = tuple(map(_spec, players))
        rules.check_seats(len(specs))
        chosen = _options(rules, options, preset)
        _check_deal(rules, chosen, len(specs))
        all_clocks = _clocks(clocks, len(specs))
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
            seed=_bytes32("seed", seed),
            salt=_bytes32("salt", salt),
            seed_given=seed is not None or salt is not None,
            nonces_wanted=nonces_wanted,
            labels=_labels(labels or {}),
            sealed=sealed,
        )
        local = self._local_players(order, wait_for_remote=wait_for_remote)
        self._count += 1
        hosted = HostedMatch(
            order, functools.partial(self._sink, match_id), self._count
        )
        self._matches[match_id] = hosted
        self._tasks[match_id] = asyncio.get_running_loop().create_task(
            self._run(hosted, local), name=f"match {match_id}"
        )
        return hosted

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
        self, order: Order, *, wait_for_remote: bool
    ) -> dict[int, Player]:
        """Return the players that are here, and check those that are not."""
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
                if not self.address:
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

    async def _run(self, hosted: HostedMatch, local: Mapping[int, Player]) -> None:
        order = hosted.order
        children: list[ChildSeat] = []
        result: MatchResult | None = None
        failure: BaseException | None = None
        try:
            players = await self._seat(hosted, local, children)
            result = await hosted.play(
                players,
                self.signer,
                framework=fritillary.__version__,
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
            hosted.finished(result, failure)
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
        """Call off what is running, close the records, end all programs."""
        self._closing = True
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


#: Players are named again and again.
_spec: Final = functools.lru_cache(1024)(parse_player)


@functools.lru_cache(64)
def _named_options(game: Game[Any, Any, Any], preset: str) -> Any:  # noqa: ANN401
    """Return options, which are frozen and can be shared."""
    return game.options(None, preset)


@functools.lru_cache(64)
def _check_deal(game: Game[Any, Any, Any], options: Any, seats: int) -> None:  # noqa: ANN401
    """Refuse options with which so many seats cannot be dealt.

    A game that fails in another way is the referee's affair.
    """
    with contextlib.suppress(PluginError):
        game.check_options(options, seats)


def _options(game: Game[Any, Any, Any], options: object, preset: str) -> Any:  # noqa: ANN401
    if isinstance(options, game.info.options):
        return options
    if options is None:
        return _named_options(game, preset)
    if isinstance(options, Mapping):
        return game.options(options, preset)
    msg = f"{game.id}: options are a mapping or {game.info.options.__name__} values"
    raise UsageError(msg, code="usage.options")


def _clocks(
    clocks: ClockSettings | Sequence[ClockSettings] | None, seats: int
) -> tuple[ClockSettings, ...]:
    if clocks is None:
        return (_UNTIMED,) * seats
    if isinstance(clocks, ClockSettings):
        return (clocks,) * seats
    if len(clocks) != seats:
        msg = f"{seats} seats need as many clocks, not {len(clocks)}"
        raise UsageError(msg, code="usage.clock")
    return tuple(clocks)


def _bytes32(what: str, given: bytes | None) -> bytes:
    if given is None:
        return os.urandom(32)
    if len(given) != 32:
        msg = f"a {what} has 32 bytes, not {len(given)}"
        raise UsageError(msg, code=f"usage.{what}")
    return bytes(given)


def _labels(labels: Mapping[str, str]) -> dict[str, str]:
    if len(labels) > _MAX_LABELS or any(
        not name or len(name) > _MAX_LABEL or len(value) > _MAX_LABEL
        for name, value in labels.items()
    ):
        msg = f"at most {_MAX_LABELS} labels of at most {_MAX_LABEL} characters"
        raise UsageError(msg, code="usage.labels")
    return dict(labels)
