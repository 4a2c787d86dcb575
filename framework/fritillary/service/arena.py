"""The arena: makes matches, runs them, keeps them."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Self

from fritillary.core.errors import ServiceError, UsageError
from fritillary.plugins.discovery import Registry
from fritillary.plugins.game import Game
from fritillary.record.events import MATCH_ID
from fritillary.record.signing import Signer
from fritillary.record.terms import ClockSettings, EndKind, Terms
from fritillary.referee.seen import MatchResult
from fritillary.service import journal
from fritillary.service.archive import Archive
from fritillary.service.ended import EndedMatch
from fritillary.service.hosted import HostedMatch, wall_ms
from fritillary.service.hub import Hub
from fritillary.service.keeping import Keeping
from fritillary.service.limits import Limits
from fritillary.service.ordering import Order, order_of
from fritillary.service.owed import Owed
from fritillary.service.proglogs import forget_daily
from fritillary.service.records import Records
from fritillary.service.running import Running
from fritillary.service.seats import Factory, Seats
from fritillary.service.spawn import ProcessLimits
from fritillary.service.stranded import Stranded
from fritillary.service.taking_up import TakingUp
from fritillary.service.tokens import TokenStore

#: Time that whoever tells watchers how their matches ended has when the arena closes.
_TELL_S: Final = 2.0


def _unknown(match_id: str) -> ServiceError:
    msg = f"there is no match {match_id[:64]!r}"
    return ServiceError(msg, code="match.unknown")


def _no_seed(_: str) -> None:
    """Return no seed: none is kept."""


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
        keep_ended: so many ended matches are kept in memory.

    Attributes:
        hub: the bots that dialled in.
        running: the matches in memory.
        archive: the matches that have ended, as their records tell; ``None`` if those
            are in memory.
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
        self._records = Records(records)
        self._seats = Seats(
            self.hub,
            self.tokens,
            factories or {},
            self.limits,
            self.process_limits,
            records,
        )
        self._keeping: Keeping | None = None
        if private is not None:
            if records is None:
                msg = "matches that survive a restart need a folder for records"
                raise UsageError(msg, code="usage.records")
            self._keeping = Keeping(private, records, self.hub)
            self.hub.known = self._keeping.heard
        self.archive: Archive | None = None
        self._earlier: TakingUp | None = None
        self._owed: Owed | None = None
        if records is not None:
            keeping = self._keeping
            seed_of = _no_seed if keeping is None else keeping.seed_of
            self.archive = Archive(records, registry, seed_of)
            if keeping is not None:
                terms = (registry, self.signer, self.limits)
                read = functools.partial(keeping.news_of, *terms)
                self._owed = Owed(self.hub, read, self.archive.in_thread)
                self._earlier = TakingUp(
                    registry,
                    self.signer,
                    keeping=keeping,
                    records=self._records,
                    seats=self._seats,
                    hub=self.hub,
                    owed=self._owed,
                    in_thread=self.archive.in_thread,
                )
        self._tidying: asyncio.Task[None] | None = None
        self.running = Running(
            self._seats, self.signer, self.hub.counts, self._keeping, keep_ended
        )
        self._followers: set[asyncio.Task[Any]] = set()
        self._last_made_ms = 0
        self._closing = False

    @property
    def address(self) -> str:
        """Where programs dial in; set by the server, empty before."""
        return self._seats.address

    @address.setter
    def address(self, address: str) -> None:
        self._seats.address = address

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
        order = order_of(
            self.registry,
            game,
            players,
            options=options,
            preset=preset,
            clocks=clocks,
            terms=terms,
            ceiling_ms=ceiling_ms,
            match_id=match_id,
            seed=seed,
            salt=salt,
            nonces_wanted=nonces_wanted,
            labels=labels,
            sealed=sealed,
        )
        match_id = self._free_id(order)
        local = self._seats.local(order, wait_for_remote=wait_for_remote)
        # No two at the same time: lists have them in this order.
        self._last_made_ms = max(wall_ms(), self._last_made_ms + 1)
        hosted = HostedMatch(
            order,
            functools.partial(self._records.new, match_id),
            created_at_ms=self._last_made_ms,
            started=self._noting_start(match_id),
        )
        if self._keeping is not None:
            # Before anything of the match is published; where it is kept, its record
            # is there.
            try:
                self._keeping.save(order, hosted.created_at_ms)
            except BaseException:
                hosted.discard()
                raise
        journal.match_made(hosted)
        self.running.begin(hosted, local)
        return hosted

    def _noting_start(self, match_id: str) -> Callable[[int], None]:
        if self._earlier is None:
            return lambda _: None
        return self._earlier.noting_start(match_id)

    def _free_id(self, order: Order) -> str:
        match_id = order.match_id
        if not MATCH_ID.match(match_id):
            msg = (
                f"match id {match_id[:70]!r} must be 1 to 64 letters, digits, dots, "
                "underscores or hyphens"
            )
            raise UsageError(msg, code="match.id")
        kept = self._keeping is not None and self._keeping.has(match_id)
        there = match_id in self.running.matches or match_id in self.stranded
        if there or kept or self._records.has(match_id):
            msg = f"there is a match {match_id!r} already; choose another id"
            raise ServiceError(msg, code="match.exists")
        for spec in order.specs:
            # One that does not know it yet would take the new match for the old one.
            if spec.kind == "remote" and self.hub.owes_end(spec.name, match_id):
                msg = (
                    f"bot {spec.name!r} has yet to hear how an earlier match "
                    f"{match_id!r} ended; choose another id"
                )
                raise ServiceError(msg, code="match.exists")
        return match_id

    # ------------------------------------------------------------------------- restart

    def take_up(self, *, programs: bool = True) -> int:
        """Take up the matches that an earlier run of the server has left.

        To be called once, in the running loop, before the server listens: bots that
        come back find their seats. What cannot be taken up is told of in the log.

        Args:
            programs: whether those that play in them may be started.

        Returns:
            How many matches go on.

        Raises:
            StorageError: if another arena uses the same folder.
        """
        if self._earlier is None:
            return 0
        count = 0
        for hosted, local, taken in self._earlier.matches(programs=programs):
            self.running.begin(hosted, local, taken)
            count += 1
        if self.archive is not None:
            tidy = forget_daily(self.archive.records, self.archive.in_thread)
            self._tidying = asyncio.create_task(tidy)
        return count

    @property
    def stranded(self) -> Mapping[str, Stranded]:
        """The matches that could not be taken up, and have not ended, by id."""
        return {} if self._earlier is None else self._earlier.stranded

    async def abort_stranded(
        self, match_id: str, kind: EndKind, message: str
    ) -> EndedMatch | Stranded:
        """End a match that could not be taken up.

        Args:
            match_id: of one of `stranded`.
            kind: void or withdrawn.
            message: why, for all.

        Returns:
            The match that has ended; one that could not be recorded is known no more.

        Raises:
            FritillaryError: if its files cannot be used; then it stays as it is. If
                it was ended meanwhile: ``match.phase``.
        """
        if self._earlier is None:
            raise _unknown(match_id)
        if self._closing:
            msg = "the arena is closing; no match is ended any more"
            raise ServiceError(msg, code="server.stopping", retry_after_ms=1_000)
        aside = await self._earlier.abort(match_id, kind, message)
        found = aside or await self.find(match_id)
        if isinstance(found, HostedMatch):  # pragma: no cover - its id was taken
            raise _unknown(match_id)
        return found

    # ------------------------------------------------------------------------- looking

    def match(self, match_id: str) -> HostedMatch:
        """Return a match that goes on, or has ended not long ago.

        Raises:
            ServiceError: ``match.unknown`` if there is none.
        """
        hosted = self.running.matches.get(match_id)
        if hosted is not None:
            return hosted
        keeping = self._keeping if MATCH_ID.match(match_id) else None
        if keeping is not None and keeping.has(match_id):
            msg = (
                f"match {match_id} could not be taken up when the server was started; "
                "its log says why, and a later start may succeed"
            )
            raise ServiceError(msg, code="match.unknown")
        raise _unknown(match_id)

    async def find(self, match_id: str) -> HostedMatch | EndedMatch | Stranded:
        """Return a match, whenever it was played.

        Raises:
            ServiceError: ``match.unknown`` if there is none.
        """
        stranded = self.stranded.get(match_id)
        if stranded is not None:
            return stranded
        if match_id not in self.running.matches and self.archive is not None:
            past = await self.archive.find(match_id)
            # It may have been made meanwhile.
            if past is not None and match_id not in self.running.matches:
                return past
        return self.match(match_id)

    def matches(self) -> list[HostedMatch]:
        """Return the matches in memory, newest first."""
        return sorted(
            self.running.matches.values(), key=lambda one: one.place, reverse=True
        )

    async def wait(self, match_id: str) -> MatchResult:
        """Wait for the end of a match; return its result.

        Raises:
            ServiceError: ``match.unknown`` if there is none, ``match.phase`` if it is
                stranded.
        """
        found = await self.find(match_id)
        if isinstance(found, Stranded):
            raise found.refusal("wait for", for_referee=True)
        if isinstance(found, EndedMatch):
            return found.result
        return await asyncio.shield(found.ended)

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
        await self.running.close()
        # Whoever looks on hears how the matches ended before a server stops.
        if self._followers:
            await asyncio.wait(self._followers, timeout=_TELL_S)
        if self._owed is not None:
            await self._owed.close()
        if self._tidying is not None:
            self._tidying.cancel()
        if self._earlier is not None:
            await self._earlier.close()
        if self._keeping is not None:
            self._keeping.close()
